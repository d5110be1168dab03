# SPDX-License-Identifier: Apache-2.0
"""`explain_page`: a post-mortem as one HTML file, without scripts and without the internet.

Every text of a recording comes from somebody else: all of it goes through `_text`. The page also
forbids the browser to run or fetch anything.
"""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime

from behavior_recording.explain.pictures import Picture, pictures
from behavior_recording.explain.postmortem import FAILED, FINISHED, Event, PostMortem
from behavior_recording.explain.scene_drawing import View, scene_views
from behavior_recording.explain.style import STYLE
from behavior_recording.explain.timeline import timeline_svg
from behavior_recording.replay.story import label
from behavior_recording.replay.text import entry_text, shown_status

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_SYMBOLS = {
    "RUNNING": "▶",
    "SUCCESS": "✔",
    "FAILURE": "✘",
    "SKIPPED": "↷",
    "halted": "■",
    "": "○",
}
_MOST_NODES, _MOST_ENTRIES, _LONGEST = 600, 200, 1500


def explain_page(found: PostMortem) -> str:
    """The page.

    Args:
        found: what to tell
    """
    title = f"{found.run.tree_id or 'Run'} {found.verdict.word}"
    parts = [
        *_head(found),
        *_cause(found),
        *_pictures(pictures(found.history, found.moment.time)),
        *_scene(found, scene_views(found.history, found.moment.time)),
        *_timeline(found),
        *_events(found),
        '<div class="two">',
        *_tree(found),
        *_blackboard(found),
        "</div>",
        *_commands(found),
        *_look_closer(found),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)}</title>",
            f"<style>{STYLE}</style></head><body><main>",
            *parts,
            f"<footer>From the recording {_text(found.history.path.name)}. Times count from the "
            "beginning of the run.</footer>",
            "</main></body></html>",
            "",
        ]
    )


def _text(text: object) -> str:
    """Anybody's text, harmless and of bounded length."""
    shown = str(text)
    if len(shown) > _LONGEST:
        shown = f"{shown[: _LONGEST // 2]} … {shown[-_LONGEST // 2 :]}"
    return html.escape("".join(c if c.isprintable() or c in "\n\t" else "�" for c in shown))


def _section(title: str, body: Iterator[str] | list[str], kind: str = "") -> Iterator[str]:
    yield f'<section class="{kind}"><h2>{title}</h2>' if kind else f"<section><h2>{title}</h2>"
    yield from body
    yield "</section>"


def _since(found: PostMortem, time: int) -> str:
    return f"{(time - found.story.begin) / 1e9:.2f} s"


# -- what was asked, how it ended -----------------------------------------------------------------


def _head(found: PostMortem) -> Iterator[str]:
    story, verdict = found.story, found.verdict
    kind = verdict.word if verdict.word in (FAILED, FINISHED) else "other"
    begun = datetime.fromtimestamp(story.begin / 1e9, UTC)
    yield f"<header><h1>{_text(found.run.tree_id or 'A tree')}</h1>"
    yield f'<p><span class="badge {kind}">{verdict.word}</span>{_text(verdict.text)}</p>'
    given = [each for each in found.given if each.value is not None]
    facts = {
        "Asked for": f"mission {found.run.action_id}" if found.run.action_id else "",
        "With": ", ".join(f"{each.key} = {entry_text(each)}" for each in given[:8]),
        "Began": f"{begun:%Y-%m-%d %H:%M:%S} UTC",
        "Took": f"{(story.end - story.begin) / 1e9:.1f} s, {story.ticks} ticks",
    }
    shown = (f"<span>{key} <b>{_text(value)}</b></span>" for key, value in facts.items() if value)
    yield f'<div class="facts">{"".join(shown)}</div></header>'


def _cause(found: PostMortem) -> Iterator[str]:
    if found.cause is None:
        good = found.verdict.word == FINISHED
        text = "Nothing was left undone." if good else "The tree itself did not fail."
        trouble = len(found.story.failures)
        if trouble:
            told = "one failure with a reason was" if trouble == 1 else f"{trouble} failures were"
            text += f" On the way {told} told; see What happened."
        yield from _section(
            "Outcome", [f'<p class="first">{text}</p>'], "cause good" if good else "cause"
        )
        return
    yield from _section("First cause", _cause_body(found), "cause")


def _cause_body(found: PostMortem) -> Iterator[str]:
    cause, story = found.cause, found.story
    assert cause is not None
    node = story.tree.nodes[cause.uid]
    said = cause.reason or f"{label(node)} returned FAILURE and gave no reason"
    yield f'<p class="first">{_text(said)}</p>'
    attempts = [each for each in story.failures if each.uid == cause.uid]
    often = f", its failure number {len(attempts)} in this run" if len(attempts) > 1 else ""
    yield (f'<p class="where">{_text(node.path)} at {_since(found, cause.time)}{often}</p>')
    earliest = story.failures[0] if story.failures else None
    if earliest is not None and earliest.reason != cause.reason:
        yield (
            f'<p class="where">The run\'s first failure was another one: '
            f"{_text(earliest.reason)} ({_text(story.path(earliest.uid))} at "
            f"{_since(found, earliest.time)})</p>"
        )
    if found.verdict.remedy:
        yield f'<p class="remedy"><b>What to do:</b> {_text(found.verdict.remedy)}</p>'
    yield '<ul class="chain">'
    for link in found.chain:
        name = label(story.tree.nodes[link.uid])
        why = f' <span class="why">{_text(link.reason)}</span>' if link.reason else ""
        kind = ' class="root"' if link.uid == cause.uid else ""
        indent = f"margin-left:{18 * min(link.depth, 20)}px"
        yield f'<li{kind} style="{indent}">{_SYMBOLS["FAILURE"]} {_text(name)}{why}</li>'
    yield "</ul>"


# -- the moment -----------------------------------------------------------------------------------


def _pictures(found: list[Picture]) -> Iterator[str]:
    if not found:
        return
    figures = (
        f'<figure><img alt="{_text(each.topic)}" src="data:image/jpeg;base64,{each.jpeg}">'
        f"<figcaption>{_text(each.topic)}, {each.age:.2f} s before</figcaption></figure>"
        for each in found
    )
    yield from _section("What the cameras saw", ['<div class="pictures">', *figures, "</div>"])


def _scene(found: PostMortem, views: list[View]) -> Iterator[str]:
    if not views:
        return
    figures = (
        f"<figure>{each.svg}<figcaption>{each.title}</figcaption></figure>" for each in views
    )
    title = f"The scene at {_since(found, found.moment.time)}, as it was believed to be"
    yield from _section(title, ['<div class="pictures">', *figures, "</div>"])


def _timeline(found: PostMortem) -> Iterator[str]:
    marks = [(each.time, each.command) for each in found.commands]
    legend = "".join(
        f'<span><i style="background:var(--{kind})"></i>{word}</span>'
        for kind, word in (
            ("success", "succeeded"),
            ("failure", "failed"),
            ("halted", "halted"),
            ("running", "went on at the end"),
            ("accent", "command from outside"),
        )
    )
    svg = timeline_svg(found.story, marks, found.moment.time)
    yield from _section("Timeline", [svg, f'<div class="legend">{legend}</div>'])


def _events(found: PostMortem) -> Iterator[str]:
    rows = [_event(found, each) for each in found.events]
    if found.omitted:
        middle = f'<tr><td></td><td colspan="2">{found.omitted} more are left out here</td></tr>'
        rows.insert(len(rows) // 2, middle)
    head = '<div class="scroll"><table><tr><th>Time</th><th>What</th><th></th></tr>'
    yield from _section("What happened", [head, *rows, "</table></div>"])


def _event(found: PostMortem, event: Event) -> str:
    kind = ' class="value failure-text"' if event.kind == "failure" else ' class="value"'
    return (
        f'<tr><td class="time">{_since(found, event.time)}</td>'
        f'<td class="value">{_text(event.text)}</td><td{kind}>{_text(event.detail)}</td></tr>'
    )


def _tree(found: PostMortem) -> Iterator[str]:
    yield from _section(f"The tree at {_since(found, found.moment.time)}", list(_nodes(found)))


def _nodes(found: PostMortem) -> Iterator[str]:
    moment = found.moment
    blamed = {link.uid for link in found.chain}
    yield '<div class="scroll tree">'
    for node in list(moment.tree.nodes.values())[:_MOST_NODES]:
        status = shown_status(moment, node.uid)
        ports = " ".join(f"{key}={text}" for key, text in node.ports.items())
        ports = ports if len(ports) < 120 else f"{ports[:119]}…"
        reason = moment.reasons.get(node.uid, "") if status == "FAILURE" else ""
        kind = " ".join(["never"] * (not status) + ["blame"] * (node.uid in blamed))
        why = f' <span class="why">{_text(reason)}</span>' if reason else ""
        yield (
            f'<div class="{kind}" style="padding-left:{18 * min(node.depth, 60)}px">'
            f'<span class="{status}">{_SYMBOLS.get(status, "?")} {_text(label(node))}</span> '
            f'<span class="ports">{_text(ports)}</span>{why}</div>'
        )
    more = len(moment.tree.nodes) - _MOST_NODES
    if more > 0:
        yield f"<div>and {more} more nodes</div>"
    yield "</div>"


def _blackboard(found: PostMortem) -> Iterator[str]:
    entries = sorted(found.moment.blackboard.values(), key=lambda each: (each.board, each.key))
    if not entries:
        yield from _section("Blackboard", ['<p class="none">It was empty.</p>'])
        return
    rows = [
        f'<tr><td class="value"><code>{_text(f"{e.board}/{e.key}" if e.board else e.key)}</code>'
        f'</td><td class="value"><code>{_text(entry_text(e))}</code></td></tr>'
        for e in entries[:_MOST_ENTRIES]
    ]
    if len(entries) > _MOST_ENTRIES:
        rows.append(f'<tr><td colspan="2">and {len(entries) - _MOST_ENTRIES} more</td></tr>')
    head = '<div class="scroll"><table><tr><th>Entry</th><th>Value</th></tr>'
    yield from _section("Blackboard", [head, *rows, "</table></div>"])


# -- what else ------------------------------------------------------------------------------------


def _commands(found: PostMortem) -> Iterator[str]:
    if not found.commands:
        return
    rows = [
        f'<tr><td class="time">{_since(found, each.time)}</td>'
        f'<td class="value">{_text(each.command)}</td><td class="value">{_text(each.channel)}</td>'
        f'<td class="value">{_text(each.answer or ("accepted" if each.accepted else "refused"))}'
        "</td></tr>"
        for each in found.commands[-_MOST_ENTRIES:]
    ]
    head = "<table><tr><th>Time</th><th>Command</th><th>By</th><th>Answer</th></tr>"
    body = ['<div class="scroll">', head, *rows, "</table></div>"]
    yield from _section("Commands of operators and clients", body)


def _look_closer(found: PostMortem) -> Iterator[str]:
    file = shlex.quote(found.history.path.name)
    lines = [f"behavior console --record {file}", f"behavior replay {file}"]
    if found.cause is not None:
        node = found.story.tree.nodes[found.cause.uid]
        wanted = shlex.quote(f"{node.path} FAILURE")
        lines.append(f"behavior replay {file} --until {wanted}")
    lines.append(f"behavior replay {file} --with-tree CHANGED.xml")
    body = "\n".join(_text(line) for line in lines)
    yield from _section("Look closer", [f"<pre>{body}</pre>"])
