# SPDX-License-Identifier: Apache-2.0
"""How the page looks, by day and by night."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --card: #ffffff; --ink: #1c2430; --soft: #5d6878; --line: #dfe3e9;
  --failure: #c62f2f; --failure-soft: #fdeeee; --success: #1c7f45; --success-soft: #e8f6ee;
  --running: #b56a00; --skipped: #4062b8; --halted: #8a8f98; --accent: #2f6fd6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1b212a; --ink: #e4e8ee; --soft: #9aa6b6; --line: #2e3743;
    --failure: #ff7b72; --failure-soft: #3a2022; --success: #56c781; --success-soft: #17301f;
    --running: #e3a33b; --skipped: #86a4f0; --halted: #7d8694; --accent: #78a9ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.55 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 27px; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 13px; letter-spacing: .07em; text-transform: uppercase; color: var(--soft);
  margin: 0 0 12px; font-weight: 600; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 20px 22px; margin-top: 18px; }
.badge { display: inline-block; border-radius: 999px; padding: 3px 13px; font-weight: 600;
  font-size: 14px; margin-right: 8px; }
.badge.failed { color: var(--failure); background: var(--failure-soft); }
.badge.succeeded { color: var(--success); background: var(--success-soft); }
.badge.other { color: var(--running); border: 1px solid var(--line); }
.facts { display: flex; flex-wrap: wrap; gap: 4px 26px; color: var(--soft); margin: 10px 0 0; }
.facts b { color: var(--ink); font-weight: 600; }
.cause { border-left: 5px solid var(--failure); }
.cause.good { border-left-color: var(--success); }
.cause .first { font-size: 20px; line-height: 1.35; font-weight: 600; margin: 0 0 4px;
  overflow-wrap: anywhere; }
.where { color: var(--soft); margin: 0; overflow-wrap: anywhere; }
.remedy { background: var(--success-soft); border-radius: 8px; padding: 10px 14px; margin: 14px 0 0;
  overflow-wrap: anywhere; }
.chain { list-style: none; padding: 0; margin: 16px 0 0; }
.chain li { padding: 4px 0 4px 14px; border-left: 2px solid var(--line); overflow-wrap: anywhere; }
.chain li.root { border-left-color: var(--failure); }
.chain .why { color: var(--failure); }
.scroll { overflow: auto; max-height: 620px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.value { overflow-wrap: anywhere; } td.time { white-space: nowrap; color: var(--soft);
  font-variant-numeric: tabular-nums; }
code, .tree, pre { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace;
  font-size: 13px; }
.tree div { white-space: nowrap; padding: 1px 0; }
.tree .ports { color: var(--soft); } .tree .why { color: var(--failure); }
.tree .never { opacity: .55; } .tree .blame { background: var(--failure-soft); border-radius: 5px; }
.FAILURE, .failure-text { color: var(--failure); } .SUCCESS { color: var(--success); }
.RUNNING { color: var(--running); } .SKIPPED { color: var(--skipped); }
.halted, .IDLE { color: var(--halted); }
.two { display: grid; gap: 18px; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
@media (max-width: 900px) { .two { grid-template-columns: minmax(0, 1fr); gap: 0; } }
.pictures { display: flex; flex-wrap: wrap; gap: 14px; }
figure { margin: 0; flex: 1 1 320px; max-width: 560px; }
figure img { width: 100%; border-radius: 8px; display: block; }
figcaption { color: var(--soft); font-size: 13px; margin-top: 5px; overflow-wrap: anywhere; }
.scene { width: 100%; height: auto; display: block; font-size: 12px; }
.scene text { fill: var(--ink); } .scene text.ruler { fill: var(--soft); font-size: 11px; }
.scene line { stroke: var(--halted); stroke-width: 5; stroke-linecap: round; }
.scene line.ruler { stroke: var(--soft); stroke-width: 2; }
.scene polygon { stroke: var(--ink); stroke-width: 1; fill-opacity: .75; }
.scene polygon.uncertain { fill-opacity: .2; stroke-dasharray: 4 3; }
.timeline { width: 100%; height: auto; display: block; font-size: 12px; }
.timeline text { fill: var(--ink); } .timeline .time { fill: var(--soft); text-anchor: middle;
  font-size: 11px; }
.timeline .grid { stroke: var(--line); } .timeline .now { stroke: var(--failure);
  stroke-width: 1.5; stroke-dasharray: 5 3; }
.timeline .mark { fill: var(--accent); }
.timeline rect.success { fill: var(--success); opacity: .8; }
.timeline rect.failure { fill: var(--failure); } .timeline rect.running { fill: var(--running); }
.timeline rect.skipped { fill: var(--skipped); } .timeline rect.halted { fill: var(--halted); }
.legend { display: flex; flex-wrap: wrap; gap: 6px 18px; color: var(--soft); font-size: 13px;
  margin-top: 10px; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px;
  margin-right: 6px; vertical-align: -1px; }
pre { background: var(--page); border-radius: 8px; padding: 12px 14px; margin: 0; overflow: auto; }
.none { color: var(--soft); margin: 0; }
footer { color: var(--soft); font-size: 13px; margin-top: 22px; overflow-wrap: anywhere; }
@media print { body { background: #fff; } .scroll { max-height: none; } }
"""
