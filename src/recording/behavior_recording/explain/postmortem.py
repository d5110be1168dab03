# SPDX-License-Identifier: Apache-2.0
"""`PostMortem`: what was asked, what happened, and why, of one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from behavior_recording.errors import RecordingError
from behavior_recording.moments import RecordedEntry, TreeMoment
from behavior_recording.recording import RecordedCommand, RecordedRun
from behavior_recording.replay.history import History
from behavior_recording.replay.story import Span, Story
from behavior_tree.basic_types import NodeStatus

FAILURE = NodeStatus.FAILURE
FAILED, FINISHED, CANCELED = "failed", "succeeded", "was ended"
_STATES = {4: FINISHED, 5: FAILED, 6: CANCELED}
"""`behavior_msgs/MissionFeedback`'s numbers of states in which a mission is over."""
_MOST_EVENTS = 120


@dataclass(frozen=True)
class Link:
    """One node in the chain of reasons, from the root down to what failed first."""

    uid: int
    depth: int
    """Below the root, among the nodes of the chain."""
    reason: str
    """In its own words; empty: it failed because of what is below."""
    time: int
    """[ns]."""


@dataclass(frozen=True)
class Verdict:
    """How it ended."""

    word: str
    """`failed`, `succeeded`, `was ended` or `went on`."""
    text: str = ""
    """What the executor says of it."""
    remedy: str = ""
    """What to do about it."""


@dataclass(frozen=True)
class Event:
    """Something worth a line in the story."""

    time: int
    kind: str
    """`failure`, `command`, `edit`, `begin` or `end`."""
    text: str
    detail: str = ""


@dataclass(frozen=True)
class PostMortem:
    """All that a page tells."""

    history: History
    run: RecordedRun
    story: Story
    verdict: Verdict
    moment: TreeMoment
    """The tree when it went wrong; where it did not, at the end."""
    given: tuple[RecordedEntry, ...] = ()
    """Blackboard entries at the beginning."""
    chain: tuple[Link, ...] = ()
    """The nodes that failed, parents before children."""
    cause: Link | None = None
    """The link that began it."""
    commands: tuple[RecordedCommand, ...] = ()
    events: tuple[Event, ...] = ()
    omitted: int = 0
    """Events that are left out in the middle."""


def examine(history: History, run: RecordedRun) -> PostMortem:
    """Find out why a run ended as it did.

    Raises:
        RecordingError: its tree is not in the recording
    """
    story = Story.read(history, run)
    chain = tuple(_chain(story)) if story.status is FAILURE else ()
    at = story.last_tick.time if chain and story.last_tick is not None else story.end
    moment = history.moment(at)
    begin = history.moment(story.begin)
    if moment is None or begin is None:
        raise RecordingError(f"{history.path}: no tree is known at the end of this run")
    commands = tuple(each for each in history.commands() if each.time <= story.end)
    events = sorted(_events(story, commands), key=lambda each: each.time)
    omitted = max(len(events) - _MOST_EVENTS, 0)
    if omitted:
        events = [*events[: _MOST_EVENTS // 2], *events[-_MOST_EVENTS // 2 :]]
    return PostMortem(
        history,
        run,
        story,
        _verdict(history, story),
        moment,
        tuple(begin.blackboard.values()),
        chain,
        _first(story, chain),
        commands,
        tuple(events),
        omitted,
    )


def _chain(story: Story) -> Iterator[Link]:
    """The nodes for whose failures the root failed, from the root down, children in their order."""
    last = {span.uid: span for span in story.spans}
    waiting = [(story.tree.root.uid, 0, Span(0, story.begin, story.end, FAILURE))]
    while waiting:
        uid, depth, above = waiting.pop()
        node, span = story.tree.nodes.get(uid), last.get(uid)
        if node is None or span is None or span.result is not FAILURE:
            continue
        if not above.begin <= span.end <= above.end:
            continue  # an earlier attempt
        yield Link(uid, depth, span.reason, span.end)
        waiting += [(child, depth + 1, span) for child in reversed(node.children)]


def _first(story: Story, chain: tuple[Link, ...]) -> Link | None:
    """Of the links without one below them, the first that says why; else the first."""
    parents = {story.tree.nodes[link.uid].parent for link in chain}
    order = {span.uid: place for place, span in enumerate(story.spans)}
    ends = sorted(
        (link for link in chain if link.uid not in parents), key=lambda link: order[link.uid]
    )
    return next((link for link in ends if link.reason), next(iter(ends), None))


def _verdict(history: History, story: Story) -> Verdict:
    """What the executor says; without one, what the tree came to."""
    last: Any = None
    for message in history.missions():
        value = message.value
        if value.action_id == story.run.action_id and value.state in _STATES:
            last = value
    if last is not None:
        return Verdict(_STATES[last.state], last.text or story.note, last.failure.remedy)
    if story.status is FAILURE:
        return Verdict(FAILED, story.note)
    if story.status is NodeStatus.SUCCESS:
        return Verdict(FINISHED, story.note)
    return Verdict(CANCELED if story.run.end is not None else "went on", story.note)


def _events(story: Story, commands: tuple[RecordedCommand, ...]) -> Iterator[Event]:
    yield Event(story.begin, "begin", f"{story.run.tree_id or 'the tree'} begins")
    for failure in story.failures:
        yield Event(failure.time, "failure", story.path(failure.uid), failure.reason)
    for command in commands:
        answer = command.answer or ("accepted" if command.accepted else "refused")
        yield Event(command.time, "command", f"{command.command} ({command.channel})", answer)
    for edit in story.run.edits:
        yield Event(edit.time, "edit", "the tree was edited", edit.note)
    word = "halted" if story.status is NodeStatus.IDLE else story.status.name
    yield Event(story.end, "end", f"the last tick came to {word}", story.note)
