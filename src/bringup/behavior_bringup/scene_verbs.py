# SPDX-License-Identifier: Apache-2.0
"""What each verb of `behavior scene` does. ROS is imported only when one runs."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from behavior_bringup.environment import enter_domain
from behavior_bringup.errors import BringupError
from behavior_bringup.stack import Stack

if TYPE_CHECKING:
    from behavior_bringup.scene_client import SceneClient

MOVED = 0.005
"""[m] that an object must move to be told of by `watch`."""
COLUMNS = ("name", "class", "state", "position", "confidence", "age")

Row = dict[str, Any]


def list_objects(options: argparse.Namespace) -> int:
    """List the objects of the scene, or its tracks, with place [m] and age [s]."""
    from behavior_bringup import scene_requests

    with _client() as client:
        if options.tracks:
            rows = scene_requests.track_rows(client.tracks())
        else:
            rows = scene_requests.object_rows(client.objects())
    if options.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        extra = ("detections", "frequency") if options.tracks else ("held_by", "text")
        _show(rows, (*COLUMNS, *extra))
    else:
        _say("Nothing is followed" if options.tracks else "The scene has no objects")
    return 0


def watch(options: argparse.Namespace) -> int:
    """Print a line for each object that appears, moves, changes its state or goes."""
    from behavior_bringup import scene_requests

    end = math.inf if options.duration is None else time.monotonic() + options.duration
    known: dict[str, Row] = {}
    with _client() as client:
        seen = None
        client.objects()
        while time.monotonic() < end:
            try:
                client.wait(lambda: client.newest is not seen, 0.2)  # noqa: B023 (used at once)
            except KeyboardInterrupt:
                break
            if client.newest is seen:
                continue
            seen = client.newest
            rows = scene_requests.object_rows(client.objects(), options.names)
            for row in changes(known, rows):
                _tell(row, as_json=options.json)
    return 0


def changes(known: dict[str, Row], rows: Sequence[Row]) -> list[Row]:
    """What is worth telling of a snapshot, compared with what was told before.

    Args:
        known: the rows told last, by name; brought up to date.
        rows: objects of the new snapshot.

    Returns:
        Rows of objects that are new, have moved by `MOVED` or changed their state; objects that
        went have the state "gone".
    """
    told = []
    for row in rows:
        before = known.get(row["name"])
        if (
            before is None
            or before["state"] != row["state"]
            or math.dist(before["position"], row["position"]) > MOVED
        ):
            known[row["name"]] = row
            told.append(row)
    for name in known.keys() - {row["name"] for row in rows}:
        told.append({**known.pop(name), "state": "gone"})
    return told


def change(options: argparse.Namespace) -> int:
    """Change the scene, and wait until the change is in force."""
    from behavior_bringup import scene_requests

    goal = scene_requests.goal_from(options)
    console = Console(stderr=True)
    told: list[str] = []

    def show(feedback: Any) -> None:
        text = "; ".join(feedback.pending)
        if text and [text] != told[-1:]:
            told.append(text)
            console.print(f"waiting: {text}", highlight=False, markup=False, soft_wrap=True)

    with _client() as client:
        result = client.manage(goal, show)
    _require(result)
    rows = [scene_requests.object_row(item) for item in result.objects]
    if options.json:
        print(json.dumps({"revision": result.revision, "objects": rows}, indent=2))
        return 0
    names = ", ".join(row["name"] for row in rows)
    _say(f"{options.operation}: {names or 'done'} (revision {result.revision})")
    return 0


def ask(options: argparse.Namespace) -> int:
    """Ask a question; exit code 0: yes, 1: no or no answer. Points are counted on a new cloud."""
    from behavior_msgs.action import CheckScene

    from behavior_bringup import scene_requests
    from behavior_ros import seconds

    with _client() as client:
        needs_now = options.ago is not None
        now = seconds(client.objects().header.stamp) if needs_now else 0.0
        question = scene_requests.question_from(options, now)
        goal = CheckScene.Goal(
            question=question, once=options.wait is None, timeout=options.wait or 0.0
        )
        result = client.check(goal, _Live(quiet=options.wait is None or options.json))
    answered = (CheckScene.Result.SUCCESS, CheckScene.Result.ANSWER_IS_NO)
    late = result.code == CheckScene.Result.TIMED_OUT and result.answer.revision > 0
    if result.code not in answered and not late:
        _require(result)
    if options.json:
        print(json.dumps(scene_requests.answer_row(result.answer), indent=2))
    else:
        _say(f"{'yes' if result.answer.answer else 'no'}: {result.answer.text}")
    return 0 if result.answer.answer else 1


class _Live:
    """Shows the value of a question while its answer is awaited, twice a second."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet)
        self._told = -math.inf

    def __call__(self, feedback: Any) -> None:
        if time.monotonic() - self._told >= 0.5:
            self._told = time.monotonic()
            text = feedback.answer.text
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)


def where(options: argparse.Namespace) -> int:
    """Tell where things were last seen, from the scene's memory."""
    from behavior_msgs.srv import WhereSeen

    from behavior_bringup import scene_requests

    request = WhereSeen.Request(
        name=options.name, class_id=options.class_id, limit=options.limit or 0
    )
    with _client() as client:
        response = client.where(request)
    _require(response)
    rows = [scene_requests.sighting_row(item) for item in response.sightings]
    if options.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        _show(rows, ("name", "class", "time", "frame", "position", "confidence"))
    else:
        _say("Nothing was seen")
    return 0


@contextmanager
def _client() -> Iterator[SceneClient]:
    """A client in the domain of the stack that is up, else in the one of the environment."""
    from behavior_bringup.scene_client import SceneClient

    state = Stack().state()
    enter_domain(state.domain if state else None)
    with SceneClient() as client:
        yield client


def _require(result: Any) -> None:
    if result.code != 0:
        text = str(result.message) or f"refused with code {result.code}"
        raise BringupError(f"{text[:1].upper()}{text[1:]}")


def _show(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Print a table; into a file or pipe as wide as it has to be."""
    table = Table()
    for column in columns:
        table.add_column(column, no_wrap=column != "text")
    for row in rows:
        table.add_row(*(_text(row[column]) for column in columns))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table, highlight=False)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_text(part) for part in value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _tell(row: Row, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(row), flush=True)
        return
    held = f" by {row['held_by']}" if row["held_by"] else ""
    why = f": {row['text']}" if row["text"] else ""
    _say(f"{row['name']} {row['state']}{held} at {_text(row['position'])}{why}")


def _say(text: str) -> None:
    Console().print(text, highlight=False, markup=False, soft_wrap=True)
