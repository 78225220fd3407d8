"""The look of a page: light and dark, on phone, screen and paper; every text has a contrast of 4.5 or more."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --soft: #545d68; --page: #ffffff; --box: #f4f6f8; --line: #d4dae0;
  --link: #00588a; --yes: #0b6b4b; --no: #a33a00; --unknown: #545d68; --tint: 0, 114, 178; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaee; --soft: #aab4bf; --page: #14181c; --box: #1e242a; --line: #3a434d;
    --link: #7cc4f0; --yes: #5fd0a5; --no: #ff9d6b; --unknown: #aab4bf; --tint: 86, 180, 233; }
  figure img { filter: invert(0.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0.6rem 0 0.3rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 0.6rem; padding-top: 0.7rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 0.4rem; }
p, ul { margin: 0.5rem 0; max-width: 46rem; }
ul { padding-left: 1.2rem; }
a { color: var(--link); }
nav { font-size: 0.9rem; color: var(--soft); }
nav a { margin-right: 0.9rem; white-space: nowrap; }
header p { margin: 0 0 0.4rem; }
.soft { color: var(--soft); font-size: 0.92rem; }
.lead { font-size: 1.12rem; }
.answers { display: grid; gap: 0.7rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr));
  padding: 0; margin: 1rem 0; }
.answer { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.7rem 0.9rem;
  min-width: 0; }
.answer h3 { margin: 0 0 0.2rem; }
.answer p, .answer ul { margin: 0.2rem 0 0; font-size: 0.92rem; }
.badge { display: inline-block; border: 2px solid; border-radius: 1rem; padding: 0 0.6rem; font-size: 0.85rem;
  font-weight: 700; margin-right: 0.4rem; }
.yes { color: var(--yes); } .no { color: var(--no); } .partly, .doubtful, .not-known { color: var(--unknown); }
.wide { overflow-x: auto; max-width: 100%; margin: 0.7rem 0; }
.wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.22rem 0.65rem 0.22rem 0; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
th[scope="row"], th:first-child { text-align: left; font-weight: 500; white-space: normal; min-width: 8rem;
  max-width: 18rem; overflow-wrap: anywhere; }
thead th { color: var(--soft); font-weight: 600; max-width: 12rem; overflow-wrap: break-word; white-space: normal; }
.said th { text-align: left; }
.said td { text-align: left; white-space: normal; min-width: 6rem; max-width: 30rem; overflow-wrap: anywhere; }
.columns td:last-child { min-width: 20rem; }
.confusion td { padding: 0.3rem 0.65rem; border: 1px solid var(--line); }
.pictures { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0.6rem 0; max-width: 34rem; min-width: 0; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: 0.88rem; color: var(--soft); }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.88rem; }
summary { cursor: pointer; color: var(--link); padding: 0.25rem 0; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2 { break-after: avoid; }
  figure, .answer, tr { break-inside: avoid; }
  .wide { overflow: visible; }
  th, td { white-space: normal; }
  details::details-content { content-visibility: visible; height: auto; }
  .pictures { grid-template-columns: 1fr 1fr; }
}
"""
