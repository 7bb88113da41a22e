"""The report's style sheet: the palette and type of the page that people talk to."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #f6f7f4; --raised: #ffffff; --ink: #16201b; --ink-soft: #56615b;
  --line: #dfe3dd; --line-strong: #b4bcb5;
  --accent: #0b6b50; --agent: #8cc3b0; --on-user: #ffffff;
  --alarm: #a8321a; --alarm-fill: #e2937f; --alarm-soft: #fbeee9;
  --p0: #4a5a7a; --p1: #7d8fb3; --p2: #a77b1f; --p3: #d6b25e;
  --p4: #2f7f86; --p5: #9a9f9b; --p6: #79679c;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, P052, Charter, Georgia,
    "Liberation Serif", serif;
  --sans: -apple-system, "Segoe UI", Roboto, Cantarell, "Noto Sans", "Helvetica Neue",
    "Liberation Sans", Arial, sans-serif;
  --edge: clamp(1.125rem, 5vw, 2rem);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #101512; --raised: #181e1b; --ink: #e6ebe7; --ink-soft: #9ba7a0;
    --line: #28302c; --line-strong: #4a554f;
    --accent: #63cfa6; --agent: #2f6b56; --on-user: #101512;
    --alarm: #ff9c83; --alarm-fill: #b4513a; --alarm-soft: #2a1a15;
    --p0: #8fa3cc; --p1: #5d6f96; --p2: #d9ad50; --p3: #8f7230;
    --p4: #5fb6bd; --p5: #7c847f; --p6: #a693cc;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); font: 400 1rem/1.5 var(--sans);
  -webkit-text-size-adjust: 100%; }
body { margin: 0; overflow-wrap: anywhere; }
main { max-width: 72rem; margin: 0 auto; padding: 0 var(--edge) 5rem; }
h1, h2, p, ul, ol, dl, dd, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.soft, .lead { color: var(--ink-soft); }
.small { font-size: 0.875rem; }
a { color: var(--accent); }

header { padding: clamp(2rem, 6vw, 4rem) 0 2rem; }
.kicker { font-size: 0.9375rem; font-weight: 600; color: var(--accent); }
h1 { max-width: 46rem; margin: 0.375rem 0 1rem; text-wrap: balance;
  font: 400 clamp(1.875rem, 5.5vw, 3rem)/1.12 var(--serif); letter-spacing: -0.02em; }
header .small { margin-top: 0.25rem; }
section { padding-top: 3rem; }
h2 { font: 400 1.625rem/1.2 var(--serif); letter-spacing: -0.01em; }
section > .lead { max-width: 44rem; margin: 0.375rem 0 1.25rem; text-wrap: pretty; }
h2 + p:not(.lead) { margin-top: 0.5rem; color: var(--ink-soft); }
h2 + .route, h2 + .scroll { margin-top: 1rem; }

.keys { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr));
  gap: 0 2rem; }
.key { padding: 0.875rem 0 1.125rem; border-top: 1px solid var(--line); }
dt { font-size: 0.875rem; font-weight: 500; color: var(--ink-soft); }
.value, .soft-value { font: 400 1.75rem/1.25 var(--serif); font-variant-numeric: tabular-nums; }
.soft-value { color: var(--ink-soft); }
.note-text { margin-top: 0.125rem; font-size: 0.8125rem; line-height: 1.45;
  color: var(--ink-soft); text-wrap: pretty; }

.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0.5rem 0 0.75rem;
  font-size: 0.8125rem; color: var(--ink-soft); }
.legend li { display: flex; align-items: center; gap: 0.5rem; }
.swatch { flex: none; width: 1.25rem; height: 0.75rem; border-radius: 2px; }
.swatch.user { background: var(--ink); }
.swatch.agent { background: var(--agent); }
.swatch.agent.estimated { background: none; border: 1.5px dashed var(--accent); }
.swatch.pause--micro { background: var(--paper); border: 1px solid var(--line-strong);
  width: 0.5rem; margin: 0 0.375rem; }
.swatch.pause--awkward { background: var(--alarm-fill); border: 1px solid var(--alarm); }
.swatch.pause--severe { background: var(--alarm); height: 1.125rem; }
.swatch.underrun-key { border: 1px solid var(--ink);
  background: repeating-linear-gradient(135deg, var(--ink) 0 1.5px, var(--paper) 1.5px 4px); }
.swatch.barge-key { background: var(--ink); clip-path: polygon(20% 0, 80% 0, 50% 100%); }
.swatch.token-key { background: repeating-linear-gradient(90deg, var(--ink-soft) 0 1px,
  transparent 1px 4px); border-radius: 0; }
.swatch.rest { border: 1px dashed var(--ink-soft); }
.swatch.part--0 { background: var(--p0); } .swatch.part--1 { background: var(--p1); }
.swatch.part--2 { background: var(--p2); } .swatch.part--3 { background: var(--p3); }
.swatch.part--4 { background: var(--p4); } .swatch.part--5 { background: var(--p5); }
.swatch.part--6 { background: var(--p6); }

.defs { position: absolute; }
.timeline { position: relative; overflow: auto; max-height: min(44rem, 85vh);
  background: var(--raised); border: 1px solid var(--line); border-radius: 0.5rem; }
.row { display: flex; width: max-content; min-width: 100%; border-top: 1px solid var(--line); }
.row > svg { display: block; flex: none; }
.row--axis { position: sticky; top: 0; z-index: 2; background: var(--raised); border-top: 0; }
.row:target { background: var(--alarm-soft); }
.row:target > .row__label { background: var(--alarm-soft); }
.row__label { position: sticky; left: 0; z-index: 1; flex: none; width: 11.75rem;
  padding: 0.5rem 0.5rem 0.375rem 0.875rem; background: var(--raised);
  border-right: 1px solid var(--line); font-size: 0.8125rem; line-height: 1.5;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
.row__when { color: var(--ink-soft); } .row__when b { color: var(--ink); }
svg text { font: 400 11px var(--sans); fill: var(--ink-soft);
  font-variant-numeric: tabular-nums; }
.axis, .zero { stroke: var(--line-strong); stroke-width: 1; }
.zero { stroke-dasharray: 2 3; }
rect.user { fill: var(--ink); }
text.on-user { fill: var(--on-user); }
rect.agent { fill: var(--agent); }
rect.estimated { fill-opacity: 0.25; stroke: var(--accent); stroke-dasharray: 4 3; }
rect.part { stroke: var(--raised); stroke-width: 0.75; }
rect.part--0 { fill: var(--p0); } rect.part--1 { fill: var(--p1); }
rect.part--2 { fill: var(--p2); } rect.part--3 { fill: var(--p3); }
rect.part--4 { fill: var(--p4); } rect.part--5 { fill: var(--p5); }
rect.part--6 { fill: var(--p6); }
rect.rest { fill: none; stroke: var(--ink-soft); stroke-dasharray: 2 2; }
rect.pause--fine, rect.pause--unknown { fill: var(--raised); fill-opacity: 0.55; }
rect.pause--micro { fill: var(--raised); }
rect.pause--awkward { fill: var(--alarm-fill); stroke: var(--alarm); stroke-width: 0.75; }
rect.pause--severe { fill: var(--alarm); }
rect.underrun { fill: url(#hatch); }
.hatch-ground { fill: var(--raised); fill-opacity: 0.35; } .hatch-line { fill: var(--ink); }
text.pause-text { fill: var(--alarm); font-weight: 600; }
text.note { fill: var(--ink-soft); } text.alarm { fill: var(--alarm); font-weight: 600; }
.token { stroke: var(--ink-soft); stroke-width: 0.75; fill: none; }
.barge { fill: var(--ink); } .barge-line { stroke: var(--ink); stroke-width: 1.25; }

.class { font-weight: 600; color: var(--ink); }
.class--noticeable { color: var(--ink-soft); }
.class--overlap, .class--awkward, .class--bad, .class--broken, .class--severe {
  color: var(--alarm); }
.class--severe, .class--bad, .class--broken { text-decoration: underline;
  text-underline-offset: 0.2em; }

.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr));
  gap: 2rem 2.5rem; align-items: start; }
figcaption { margin-bottom: 0.5rem; font-weight: 600; font-size: 0.9375rem; }
.strip { display: block; width: 100%; max-width: 24rem; height: auto; }
.limit { stroke: var(--line-strong); stroke-width: 1; }
text.limit-text { font-size: 10px; paint-order: stroke; stroke: var(--paper); stroke-width: 4; }
text.band { font-size: 12px; fill: var(--ink); } text.band--alarm { fill: var(--alarm); }
text.band--middling { fill: var(--ink-soft); } text.count { font-size: 12px; fill: var(--ink); }
.dot--fine { fill: var(--accent); } .dot--middling { fill: var(--ink-soft); }
.dot--alarm { fill: var(--alarm); } .dot { fill-opacity: 0.8; }
.dot--cold { fill: none; stroke: var(--ink); stroke-width: 1.25; stroke-dasharray: 2 1.5; }

.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr));
  gap: 1.5rem 2.5rem; margin-top: 1.5rem; align-items: start; }
.pair > * { min-width: 0; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; width: 100%; font-size: 0.8125rem; overflow-wrap: normal;
  font-variant-numeric: tabular-nums; }
caption { padding: 0.5rem 0; text-align: left; font-weight: 600; font-size: 0.875rem; }
th, td { padding: 0.3125rem 1rem 0.3125rem 0; border-top: 1px solid var(--line);
  text-align: left; vertical-align: top; font-weight: 400; }
thead th { color: var(--ink-soft); border-top: 0; white-space: nowrap; }
tbody td { min-width: 3rem; }
tbody th { min-width: 5.5rem; }

details { margin-top: 0.5rem; }
summary { width: fit-content; max-width: 100%; min-height: 2rem; padding: 0.25rem 0;
  cursor: pointer; color: var(--ink-soft); font-size: 0.9375rem; }
summary:hover { color: var(--ink); }
.route { margin: 0; padding: 0.375rem 0 0.5rem; border-top: 1px solid var(--line); }
.route__turn { display: inline-block; min-width: 4.25rem; color: var(--ink); }
.badge { padding: 0.0625rem 0.5rem; border: 1px solid var(--line-strong); border-radius: 1rem;
  color: var(--ink); font-size: 0.8125rem; }

.moments li { display: grid; grid-template-columns: 4.5rem 11rem 1fr auto; gap: 0 1rem;
  align-items: baseline; padding: 0.4375rem 0; border-top: 1px solid var(--line);
  font-size: 0.875rem; font-variant-numeric: tabular-nums; }
.moment__at { color: var(--ink-soft); }
.moment__why { color: var(--ink-soft); }
.moments audio { grid-column: 2 / -1; width: 100%; max-width: 22rem; height: 2.25rem;
  margin-top: 0.375rem; }

@media (max-width: 40rem) {
  .row__label { width: 7.25rem; padding: 0.5rem 0.375rem 0.25rem 0.625rem; font-size: 0.75rem; }
  .keys { grid-template-columns: 1fr 1fr; gap: 0 1.25rem; }
  .value, .soft-value { font-size: 1.375rem; }
  .moments li { grid-template-columns: 4rem 1fr auto; }
  .moment__why { grid-column: 2 / -1; grid-row: 2; }
  .timeline { max-height: 32rem; }
  th, td { padding-right: 0.625rem; }
  tbody td { min-width: 2.25rem; }
  summary { min-height: 2.75rem; padding: 0.625rem 0; }
}
@page { size: A4 landscape; margin: 12mm; }
@media print {
  main { max-width: none; padding: 0; }
  :root { color-scheme: light; --paper: #fff; --raised: #fff; --ink: #000; --ink-soft: #444;
    --line: #ccc; --line-strong: #999; --accent: #0b6b50; --agent: #8cc3b0; --on-user: #fff;
    --alarm: #a8321a; --alarm-fill: #e2937f; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .timeline { max-height: none; overflow: visible; border: 0; }
  .row--axis, .row__label { position: static; }
  .row > svg { flex: 0 1 auto; min-width: 0; height: auto; max-width: calc(100% - 11.75rem); }
  .row { width: 100%; break-inside: avoid; }
  .key, li, figure, tr { break-inside: avoid; }
  audio { display: none; }
}
@media (forced-colors: active) { .swatch, rect, polygon, circle { forced-color-adjust: none; } }
"""
