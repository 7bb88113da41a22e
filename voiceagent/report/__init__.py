"""The report of one session, from its records: as plain data and as one file to read. Pure.

`figures.report` is the data, `html.report_html` the page. Every figure comes from
`voiceagent.rhythm`; here they are only gathered, named and drawn.
"""
