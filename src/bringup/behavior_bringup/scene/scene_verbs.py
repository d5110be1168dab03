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

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.stacks.connection import SCENE, enter
from behavior_bringup.suggestions import choose
from behavior_bringup.terminal import print_json, say, sentence, show_table

if TYPE_CHECKING:
    from behavior_bringup.scene.scene_client import SceneClient

MOVED = 0.005
"""[m] that an object must move to be told of by `watch`."""
COLUMNS = ("name", "class", "state", "position", "confidence", "age")
OBJECT_COLUMNS = ("name", "class", "state", "position", "size", "top", "age", "held_by", "text")
"""Lengths in metres, `age` in seconds; `top` is the height of the object's highest point."""
WRONG_REQUESTS = ("INVALID_REQUEST", "UNKNOWN_OBJECT", "UNKNOWN_LINK")
"""Codes of requests that nothing but another request can mend; exit code 2."""

Row = dict[str, Any]


def list_objects(options: argparse.Namespace) -> int:
    """List the objects of the scene, or its tracks, with place [m] and age [s]."""
    from behavior_bringup.scene import scene_requests

    with _client(options.stack, options.namespace) as client:
        if options.tracks:
            rows = scene_requests.track_rows(client.tracks())
        else:
            rows = scene_requests.object_rows(client.objects())
    if options.json:
        print_json(rows)
    elif rows:
        _show(rows, (*COLUMNS, "detections", "frequency") if options.tracks else OBJECT_COLUMNS)
    else:
        say("Nothing is followed" if options.tracks else "The scene has no objects")
    return 0


def info(options: argparse.Namespace) -> int:
    """Tell of objects how large and high they are, and where to place others on them."""
    from behavior_bringup.scene import scene_requests

    with _client(options.stack, options.namespace) as client:
        message = client.objects()
        rows = {row["name"]: row for row in scene_requests.object_rows(message)}
    for name in options.names:
        if name not in rows:
            raise UsageError(f"The scene has no object '{name}': {choose(name, rows)}")
    output = [
        {**rows[name], "targets_on_top": scene_requests.targets_on(rows[name], rows)}
        for name in options.names
    ]
    if options.json:
        print_json(output)
        return 0
    for row in output:
        _print_details(row)
    return 0


def _print_details(row: Row) -> None:
    held = f" by {row['held_by']}" if row["held_by"] else ""
    why = f": {row['text']}" if row["text"] else ""
    say(f"{row['name']}: {row['class']}, {row['state']}{held}{why}, seen {row['age']:.1f} s ago")
    say(f"  centre  {_text(row['position'])} m in {row['frame']}")
    if row["size"] is None:
        say("  its size is not known")
        return
    say(f"  size    {_text(row['size'])} m ({row['shape']}, along its own axes)")
    say(f"  height  {row['height']:.3f} m, from {row['bottom']:.3f} to {row['top']:.3f} m")
    if row["targets_on_top"]:
        say("  to place others on it, let their centres rest at")
        for name, target in row["targets_on_top"].items():
            say(f"    {name}  {target}")


def watch(options: argparse.Namespace) -> int:
    """Print a line for each object that appears, moves, changes its state or goes."""
    from behavior_bringup.scene import scene_requests

    end = math.inf if options.duration is None else time.monotonic() + options.duration
    known: dict[str, Row] = {}
    with _client(options.stack, options.namespace) as client:
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
                _print_row(row, as_json=options.json)
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
    output = []
    for row in rows:
        before = known.get(row["name"])
        if (
            before is None
            or before["state"] != row["state"]
            or math.dist(before["position"], row["position"]) > MOVED
        ):
            known[row["name"]] = row
            output.append(row)
    for name in known.keys() - {row["name"] for row in rows}:
        output.append({**known.pop(name), "state": "gone"})
    return output


def change(options: argparse.Namespace) -> int:
    """Change the scene, and wait until the change is in force."""
    from behavior_bringup.scene import scene_requests

    goal = scene_requests.goal_from(options)
    console = Console(stderr=True)
    output: list[str] = []

    def show(feedback: Any) -> None:
        text = "; ".join(feedback.pending)
        if text and [text] != output[-1:]:
            output.append(text)
            console.print(f"waiting: {text}", highlight=False, markup=False, soft_wrap=True)

    with _client(options.stack, options.namespace) as client:
        result = client.manage(goal, show)
    _require(result)
    rows = [scene_requests.object_row(item) for item in result.objects]
    if options.json:
        print(json.dumps({"revision": result.revision, "objects": rows}, indent=2))
        return 0
    names = ", ".join(row["name"] for row in rows)
    say(f"{options.operation}: {names or 'done'} (revision {result.revision})")
    return 0


def ask(options: argparse.Namespace) -> int:
    """Ask a question; exit code 0: yes, 1: no or no answer. Points are counted on a new cloud."""
    from behavior_msgs.action import CheckScene

    from behavior_bringup.scene import scene_requests
    from behavior_ros import seconds

    with _client(options.stack, options.namespace) as client:
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
        say(f"{'yes' if result.answer.answer else 'no'}: {result.answer.text}")
    return 0 if result.answer.answer else 1


class _Live:
    """Shows the value of a question while its answer is awaited, twice a second."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet)
        self._printed = -math.inf

    def __call__(self, feedback: Any) -> None:
        if time.monotonic() - self._printed >= 0.5:
            self._printed = time.monotonic()
            text = feedback.answer.text
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)


def where(options: argparse.Namespace) -> int:
    """Tell where things were last seen, from the scene's memory."""
    from behavior_msgs.srv import WhereSeen

    from behavior_bringup.scene import scene_requests

    request = WhereSeen.Request(
        name=options.name, class_id=options.class_id, limit=options.limit or 0
    )
    with _client(options.stack, options.namespace) as client:
        response = client.where(request)
    _require(response)
    rows = [scene_requests.sighting_row(item) for item in response.sightings]
    if options.json:
        print_json(rows)
    elif rows:
        _show(rows, ("name", "class", "time", "frame", "position", "confidence"))
    else:
        say("Nothing was seen")
    return 0


@contextmanager
def _client(stack: str, namespace: str) -> Iterator[SceneClient]:
    """A client in the domain of a stack, else in the one of the environment."""
    enter(stack, SCENE)
    from behavior_bringup.scene.scene_client import SceneClient

    with SceneClient(namespace) as client:
        yield client


def _require(result: Any) -> None:
    if result.code != 0:
        from behavior_ros import code_text

        name = code_text(type(result), result.code)
        text = sentence(str(result.message) or f"refused: {name}")
        raise UsageError(text) if name in WRONG_REQUESTS else BringupError(text)


def _show(rows: Sequence[Row], columns: Sequence[str]) -> None:
    texts = ([_text(row[column]) for column in columns] for row in rows)
    show_table(columns, texts, whole=[column for column in columns if column != "text"])


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_text(part) for part in value)
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _print_row(row: Row, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(row), flush=True)
        return
    held = f" by {row['held_by']}" if row["held_by"] else ""
    why = f": {row['text']}" if row["text"] else ""
    say(f"{row['name']} {row['state']}{held} at {_text(row['position'])}{why}")
