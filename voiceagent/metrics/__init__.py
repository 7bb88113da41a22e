"""Metrics for operators, from turn records: Prometheus always, OpenTelemetry where it is wanted.

What a number means is decided in ``voiceagent.rhythm``; here it is only counted. What is unknown
gives no sample and is counted by its reason.
"""
