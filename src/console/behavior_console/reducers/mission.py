# SPDX-License-Identifier: Apache-2.0
"""Missions, the control of runs, commands and the health of the parts, as channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from behavior_console.channels import Channels
from behavior_console.reducers.plain import seconds, short

_STATES = ("waiting", "initializing", "running", "paused", "finished", "failed", "canceled")
_ENDED = ("finished", "failed", "canceled")
_LEVELS = ("ok", "warning", "error", "stale")
_AUTONOMY = ("halted", "manual", "teleoperation", "autonomous")
_CAUSES = (
    "none",
    "other",
    "invalid_input",
    "server_lost",
    "rejected",
    "timed_out",
    "canceled",
    "reported",
)


def take_feedback(channels: Channels, message: Any) -> None:
    """``behavior_msgs/MissionFeedback``: the mission that is shown, those that wait, events."""
    stamp, state = seconds(message.header.stamp), _word(_STATES, message.state)
    row = _mission_row(message, stamp, state)
    with channels.lock:
        shown = channels.value("mission") or {}
        queue = channels.value("queue") or []
        waiting = [each for each in queue if not _same(each, row)]
        if state == "waiting":
            places = [place for place, each in enumerate(queue) if _same(each, row)]
            place = places[0] if places else len(waiting)
            channels.set("queue", [*waiting[:place], row, *waiting[place:]])
            return
        if len(waiting) != len(queue):
            channels.set("queue", waiting)
        ends_another = state in _ENDED and not _same(shown, row)
        if not (ends_another and shown.get("state") in ("initializing", "running", "paused")):
            channels.set("mission", row)
        if not _same(shown, row) or shown.get("state") != state:
            channels.add("events", [_mission_event(row)])


def order_queue(channels: Channels, action_ids: Sequence[str]) -> None:
    """Bring the missions that wait into an order; those that are not in it come last."""
    place = {action_id: number for number, action_id in enumerate(action_ids)}
    with channels.lock:
        waiting = channels.value("queue") or []
        ordered = sorted(waiting, key=lambda row: place.get(row["action_id"], len(place)))
        if ordered != waiting:
            channels.set("queue", ordered)


def _mission_row(message: Any, stamp: float, state: str) -> dict[str, Any]:
    failure = message.failure
    return {
        "t": stamp,
        "action_id": message.action_id,
        "name": message.name,
        "state": state,
        "code": int(message.code),
        "text": short(message.text),
        "cause": {
            "class": _word(_CAUSES, failure.kind),
            "node": failure.node,
            "sentence": short(failure.sentence),
            "evidence": short(failure.evidence),
            "remedy": short(failure.remedy),
        }
        if failure.kind
        else None,
        "progress": float(message.progress) if message.progress >= 0.0 else None,
        "elapsed": float(message.elapsed),
        "active_path": message.active_path,
        "skill": message.skill,
        "phase": message.phase,
        "detail": short(message.detail),
        "distance_remaining": float(message.distance_remaining)
        if message.distance_remaining >= 0.0
        else None,
        "autonomy": _word(_AUTONOMY, message.autonomy),
        "ended": state in _ENDED,
    }


_IN_EVENTS = {"id": "action_id", "name": "name", "state": "state"}


def _mission_event(row: dict[str, Any]) -> dict[str, Any]:
    failed = row["state"] == "failed"
    why = f": {row['text']}" if row["text"] else ""
    return {
        "t": row["t"],
        "kind": "fault" if failed else "mission",
        "text": f"{row['name']}: {row['state']}{why}",
        "uid": None,
        "node": row["cause"]["node"] if row["cause"] else "",
        "mission": {key: row[name] for key, name in _IN_EVENTS.items()},
        "level": "error" if failed else "info",
    }


def take_run_control(channels: Channels, message: Any) -> None:
    """``behavior_msgs/RunControlState``."""
    channels.set(
        "run_control",
        {
            "controlled": bool(message.controlled),
            "automatic": bool(message.automatic),
            "concurrent": bool(message.concurrent),
            "stands": bool(message.stands),
            "held": list(message.held),
            "failed": list(message.failed),
            "breakpoints": list(message.breakpoints),
            "prepared": list(message.prepared),
        },
    )


def take_command(channels: Channels, message: Any) -> None:
    """``behavior_msgs/OperatorCommand``: what anybody asked the executor for."""
    answer = f": {message.answer}" if message.answer else ""
    refused = "" if message.accepted else "refused, "
    channels.add(
        "events",
        [
            {
                "t": seconds(message.header.stamp),
                "kind": "command",
                "text": short(f"{refused}{message.command}{answer}"),
                "uid": None,
                "level": "info" if message.accepted else "warning",
            }
        ],
    )


def take_level(channels: Channels, message: Any) -> None:
    """``behavior_msgs/AutonomyLevel``: who moves the robot."""
    stamp, before = seconds(message.header.stamp), channels.value("mode") or {}
    row = {
        "selected": _word(_AUTONOMY, message.selected),
        "effective": _word(_AUTONOMY, message.effective),
        "deadman_enabled": bool(message.deadman_enabled),
        "deadman_alive": bool(message.deadman_alive),
    }
    if row == {key: before.get(key) for key in row}:
        return
    with channels.lock:
        channels.set("mode", {**row, "since": stamp})
        event = {"t": stamp, "kind": "mode", "uid": None, "level": "info"}
        mode = row["effective"]
        channels.add("events", [{**event, "text": f"mode: {mode}", "mode": mode}])


def take_diagnostics(channels: Channels, message: Any) -> None:
    """``diagnostic_msgs/DiagnosticArray``: how the parts of the stack are."""
    stamp = seconds(message.header.stamp)
    with channels.lock:
        changes = {}
        for status in message.status:
            level = _word(_LEVELS, _octet(status.level))
            before = channels.entry("health", status.name) or {}
            since = before.get("since", stamp) if before.get("level") == level else stamp
            changes[status.name] = {
                "level": level,
                "message": short(status.message),
                "since": since,
                "values": {each.key: short(each.value) for each in status.values[:100]},
            }
        channels.patch("health", changes)


def _octet(level: Any) -> int:
    """Diagnostic levels come as one byte."""
    return level[0] if isinstance(level, bytes) else int(level)


def _word(words: tuple[str, ...], number: int) -> str:
    return words[number] if 0 <= number < len(words) else f"number {number}"


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one) and one.get("action_id") == other["action_id"]
