# SPDX-License-Identifier: Apache-2.0
"""An evaluation as one HTML file that needs nothing else, no script and no network."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.evaluation.statistics import histogram, wilson
from behavior_bringup.evaluation.store import Stored

_WIDTH, _HEIGHT, _FOOT = 420, 130, 18
"""Of a picture [px]."""
_STRATA = 5
"""Parts of a factor's interval that successes are counted for."""
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2733; background: #fff }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.2rem }
table { border-collapse: collapse; margin: .6rem 0 } td, th { padding: .2rem .8rem .2rem 0;
  text-align: left; vertical-align: top; border-bottom: 1px solid #dde3e9 }
.big { font-size: 2.2rem; font-weight: 650 } .quiet { color: #5c6b7a }
.bar { position: relative; height: 18px; background: #eef1f4; border-radius: 4px; max-width: 30rem }
.bar div { position: absolute; height: 100%; border-radius: 4px }
.interval { background: #b9d7c3 } .share { background: #2f7d4f; width: 3px }
figure { display: inline-block; margin: 0 1.5rem 1rem 0 } figcaption { color: #5c6b7a }
rect { fill: #4879a8 } text { font: 11px system-ui, sans-serif; fill: #5c6b7a }
details { margin: .5rem 0 } summary { cursor: pointer } pre { white-space: pre-wrap; margin: 0 }
.success { color: #2f7d4f } .failure, .memory, .lost { color: #b23b2e }
"""


def page(stored: Stored, folder: Path) -> str:
    """The page.

    Args:
        stored: the evaluation.
        folder: that the page will lie in, for the links to recordings.
    """
    records = sorted(stored.records, key=lambda record: record.key)
    name = escape(str(stored.about.get("mission", stored.file.stem)))
    body = [
        f"<h1>Evaluation of {name}</h1>",
        _headline(records),
        _shortfall(stored, records),
        "<h2>Times</h2>",
        *_distributions(records),
        "<h2>Failures</h2>",
        *_failures(records, stored.file.parent, folder),
        *_factors(records),
        "<h2>Episodes</h2>",
        _episodes(records, stored.file.parent, folder),
        "<h2>What was evaluated</h2>",
        _pairs({**stored.about, **stored.versions, "file": str(stored.file)}),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Evaluation of {name}</title><style>{_STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _headline(records: Sequence[EpisodeRecord]) -> str:
    count = sum(record.succeeded for record in records)
    interval = wilson(count, len(records))
    low, high = 100 * interval.low, 100 * interval.high
    share = 100 * count / len(records) if records else 0.0
    return (
        f'<p><span class="big">{count} of {len(records)}</span> episodes succeeded: {share:.1f} %,'
        f" with 95 % confidence between {low:.1f} and {high:.1f} % (Wilson).</p>"
        f'<div class="bar"><div class="interval" style="left:{low:.2f}%;width:{high - low:.2f}%">'
        f'</div><div class="share" style="left:{min(share, 99.2):.2f}%"></div></div>'
    )


def _shortfall(stored: Stored, records: Sequence[EpisodeRecord]) -> str:
    wanted = stored.planned.get("episodes", 0)
    if len(records) >= wanted:
        return ""
    return f'<p class="quiet">{wanted - len(records)} of {wanted} planned episodes are missing.</p>'


def _distributions(records: Sequence[EpisodeRecord]) -> Iterable[str]:
    good = [record for record in records if record.succeeded]
    measured: dict[str, list[float | None]] = {
        "simulated time of the successful ones [s]": [r.sim_time_s for r in good],
        "wall time of the successful ones [s]": [r.wall_time_s for r in good],
        "memory of an episode's processes, at most [MB]": [r.peak_memory_mb for r in records],
    }
    for caption, values in measured.items():
        known = [value for value in values if value is not None]
        if known:
            yield _picture(known, caption)


def _picture(values: Sequence[float], caption: str) -> str:
    """A histogram."""
    counts, edges = histogram(values)
    step, highest = _WIDTH / len(counts), max(counts)
    bars = "".join(
        f'<rect x="{index * step + 1:.1f}" y="{_HEIGHT * (1 - count / highest):.1f}"'
        f' width="{step - 2:.1f}" height="{_HEIGHT * count / highest:.1f}">'
        f"<title>{count} from {edges[index]:.1f} to {edges[index + 1]:.1f}</title></rect>"
        for index, count in enumerate(counts)
    )
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    labels = (
        f'<text x="0" y="{_HEIGHT + 14}">{edges[0]:.1f}</text>'
        f'<text x="{_WIDTH}" y="{_HEIGHT + 14}" text-anchor="end">{edges[-1]:.1f}</text>'
    )
    return (
        f'<figure><svg width="{_WIDTH}" height="{_HEIGHT + _FOOT}" role="img"'
        f' aria-label="{escape(caption)}">{bars}{labels}</svg>'
        f"<figcaption>{escape(caption)}; median {middle:.1f}</figcaption></figure>"
    )


def kind_of(reason: str) -> str:
    """What reasons that differ in numbers only have in common: its first line without them."""
    first = reason.splitlines()[0] if reason else "no reason given"
    return re.sub(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", "…", first)


def _failures(records: Sequence[EpisodeRecord], store: Path, folder: Path) -> Iterable[str]:
    groups: dict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        if not record.succeeded:
            groups[record.outcome, kind_of(record.reason)].append(record)
    if not groups:
        yield "<p>None.</p>"
    for (outcome, kind), group in sorted(groups.items(), key=lambda item: -len(item[1])):
        rows = "".join(
            f"<tr><td>{_seed(r)}</td><td><pre>{escape(r.reason)}</pre></td>"
            f"<td>{_recording(r, store, folder)}</td></tr>"
            for r in group
        )
        yield (
            f'<details><summary><b>{len(group)}</b> <span class="{escape(outcome)}">'
            f"{escape(outcome)}</span>: {escape(kind)}</summary><table>{rows}</table></details>"
        )


def _factors(records: Sequence[EpisodeRecord]) -> Iterable[str]:
    """Successes by part of each factor's interval."""
    names = sorted({name for record in records for name in record.variation})
    if names:
        yield "<h2>What was varied</h2>"
    for name in names:
        values = [record.variation[name] for record in records if name in record.variation]
        low, high = min(values), max(values)
        if low == high:
            yield f"<p>{escape(name)}: {low:.4g} in all episodes</p>"
            continue
        rows = []
        for part in range(_STRATA):
            start, end = (low + (high - low) * (part + k) / _STRATA for k in (0, 1))
            here = [
                record.succeeded
                for record in records
                if name in record.variation
                and min(int((record.variation[name] - low) / (high - low) * _STRATA), _STRATA - 1)
                == part
            ]
            share = f"{100 * sum(here) / len(here):.0f} %" if here else ""
            count = f"{sum(here)} of {len(here)}"
            rows.append(
                f"<tr><td>{start:.4g} to {end:.4g}</td><td>{count}</td><td>{share}</td></tr>"
            )
        yield (
            f"<figure><table><tr><th>{escape(name)}</th><th>succeeded</th><th></th></tr>"
            f"{''.join(rows)}</table></figure>"
        )


def _episodes(records: Sequence[EpisodeRecord], store: Path, folder: Path) -> str:
    rows = "".join(
        f'<tr><td>{_seed(r)}</td><td class="{escape(r.outcome)}">{escape(r.outcome)}</td>'
        f"<td>{'' if r.sim_time_s is None else f'{r.sim_time_s:.1f}'}</td>"
        f"<td>{r.wall_time_s:.1f}</td>"
        f"<td>{'' if r.peak_memory_mb is None else f'{r.peak_memory_mb:.0f}'}</td>"
        f"<td>{escape('; '.join([*r.reason.splitlines()[:1], *r.disturbances]))}</td>"
        f"<td>{_recording(r, store, folder)}</td></tr>"
        for r in records
    )
    heads = ("seed", "outcome", "simulated [s]", "wall [s]", "memory [MB]", "reason", "recording")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<details><summary>all</summary><table><tr>{head}</tr>{rows}</table></details>"


def _seed(record: EpisodeRecord) -> str:
    return escape(" ".join(filter(None, (record.variant, str(record.seed)))))


def _recording(record: EpisodeRecord, store: Path, folder: Path) -> str:
    if not record.recording:
        return ""
    link = quote(os.path.relpath((store / record.recording).resolve(), folder.resolve()))
    return f'<a href="{escape(link)}">{escape(Path(record.recording).name)}</a>'


def _pairs(values: Mapping[str, object]) -> str:
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(_text(value))}</td></tr>"
        for name, value in values.items()
        if value not in (None, "", [], {})
    )
    return f"<table>{rows}</table>"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
