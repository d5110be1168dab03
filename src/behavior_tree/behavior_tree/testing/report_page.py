# SPDX-License-Identifier: Apache-2.0
"""The coverage page: one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape
from itertools import groupby

from behavior_tree.testing.coverage import METRICS, Coverage, NodeCoverage, Ratio

_STYLE = """
body{font:14px/1.45 'DejaVu Sans',Verdana,sans-serif;margin:2em auto;max-width:84em;padding:0 1em;
color:#222;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}h3{font-size:1em;margin:1em 0 .3em}
table{border-collapse:collapse;width:100%}td,th{padding:.22em .6em;text-align:left}
th{border-bottom:2px solid #888}td{border-bottom:1px solid #e4e4e4}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.type{color:#777}.missing{color:#a11}.all{background:#eefaf0}.part{background:#fff8e0}
.none{background:#fdecec}
.bar{display:inline-block;width:4em;height:.7em;background:#f2c4c4;vertical-align:middle;
margin-right:.5em}.bar i{display:block;height:100%;background:#4c9f62}
"""
_STATUSES = ("SUCCESS", "FAILURE", "RUNNING", "SKIPPED")


def coverage_page(coverage: Coverage, title: str = "Coverage of trees") -> str:
    """The page: a summary, then every file with its trees, node by node."""
    files = list(enumerate(coverage.files))
    rows = [_summary_row(coverage, file, f"f{index}") for index, file in files]
    parts = [
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        "<table><tr><th>file</th>",
        *(f"<th>{metric}</th>" for metric in METRICS),
        "</tr>",
        *rows,
        _summary_row(coverage, None, ""),
        "</table>",
    ]
    for index, file in files:
        parts.append(f"<h2 id='f{index}'>{escape(file)}</h2>")
        parts += _file(coverage.in_file(file))
    return "".join([*parts, "</body></html>\n"])


def _summary_row(coverage: Coverage, file: str | None, anchor: str) -> str:
    cells = "".join(_bar(coverage.ratio(metric, file)) for metric in METRICS)
    name = "<b>all</b>" if file is None else f"<a href='#{anchor}'>{escape(file)}</a>"
    return f"<tr><td>{name}</td>{cells}</tr>"


def _bar(ratio: Ratio) -> str:
    return (
        f"<td class='number'><span class='bar'><i style='width:{ratio.percent:.0f}%'></i></span>"
        f"{ratio.percent:.1f} % <span class='type'>{ratio.reached}/{ratio.total}</span></td>"
    )


def _file(nodes: list[NodeCoverage]) -> list[str]:
    parts = []
    for tree, group in groupby(nodes, key=lambda node: node.tree):
        parts.append(f"<h3>{escape(tree)}</h3><table><tr><th>line</th><th>node</th>")
        parts += [f"<th class='number'>{status}</th>" for status in _STATUSES]
        parts += ["<th>not seen</th></tr>", *map(_node, group), "</table>"]
    return parts


def _node(node: NodeCoverage) -> str:
    missing = node.missing()
    kind = "none" if not node.results else "part" if missing else "all"
    counts = "".join(
        f"<td class='number'>{node.results.get(status) or ''}</td>" for status in _STATUSES
    )
    indent = f"padding-left:{node.depth * 1.2 - 0.6:g}em"
    type_id = "" if node.type_id == node.name else escape(node.type_id)
    return (
        f"<tr class='{kind}'><td class='number'>{node.place[1]}</td>"
        f"<td style='{indent}'>{escape(node.name)} <span class='type'>{type_id}</span></td>{counts}"
        f"<td class='missing'>{escape(', '.join(missing))}</td></tr>"
    )
