# SPDX-License-Identifier: Apache-2.0
"""The action ``/mission/preview``: how would this mission go? It runs in a copy of the world.

A goal is a mission as for ``/mission/execute``. It succeeds if the mission would; its result tells
why not, how long it takes, what is touched and how near anything comes. Each preview is a process
of its own, so that one that breaks or is cancelled leaves the server as it was.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction, MissionFeedback
from diagnostic_msgs.msg import KeyValue
from rclpy.node import Node

from behavior_bringup.preview.order import NAVIGATE
from behavior_ros import WorkerActionServer

COMMAND = (sys.executable, "-m", "behavior_bringup.cli", "preview")
_LOOK = 0.1
"""[s] wall time between two looks at whether the goal was cancelled."""
_GIVE_UP = 20.0
"""[s] wall time that a cancelled preview gets to let the copy rest."""
_USAGE = 2
"""Exit code of a wrong request."""


class PreviewServer(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves previews, one at a time.

    Args:
        stack: name of the stack that they are for
        command: the command line that previews, without mission and options
    """

    def __init__(self, stack: str, command: Sequence[str] = COMMAND) -> None:
        super().__init__("preview", start_parameter_services=False)
        namespace = self.get_namespace()
        self._command = [*command, f"--name={stack}"]
        self._command += [f"--namespace={namespace}"] if namespace != "/" else []
        self._free = threading.Lock()
        self._server = WorkerActionServer(self, ExecuteMission, "mission/preview", self._work)

    def destroy_node(self) -> None:
        """End what runs, and leave."""
        self._server.destroy()
        super().destroy_node()

    def _work(self, goal: Any) -> ExecuteMission.Result:
        mission = _named(goal.goal.mission)
        if mission.type != MissionAction.RUN_BEHAVIOR or mission.name[:1] in ("", "-"):
            return _result(
                MissionFeedback.INVALID_REQUEST,
                "only a mission with a name can be previewed, type RUN_BEHAVIOR, and a drive to a"
                " place, NAVIGATE_TO_POSE",
            )
        if not self._free.acquire(blocking=False):
            return _result(MissionFeedback.BUSY, "another preview runs: wait for its end")
        try:
            return self._preview(mission, goal.cancelled)
        finally:
            self._free.release()

    def _preview(self, mission: Any, cancelled: threading.Event) -> ExecuteMission.Result:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as words:
            report = Path(folder, "preview.json")
            parameters = [f"--param={each.key}={each.value}" for each in mission.parameters]
            command = [*self._command, f"--json={report}", *parameters, mission.name]
            code = _run(command, cancelled, words)
            if cancelled.is_set():
                return _result(MissionFeedback.CANCELED_BY_CLIENT, "the preview was cancelled")
            if report.exists():
                return _found(json.loads(report.read_text(encoding="utf-8")))
            wrong = MissionFeedback.INVALID_REQUEST
            return _result(
                wrong if code == _USAGE else MissionFeedback.SERVER_LOST, _last_words(words, code)
            )


def _named(mission: Any) -> Any:
    """A drive to a place by the name that the command has for it; others as they are."""
    if mission.type != MissionAction.NAVIGATE_TO_POSE:
        return mission
    at, turn = mission.goal.pose.position, mission.goal.pose.orientation
    values = {"x": at.x, "y": at.y, "yaw": 2.0 * math.atan2(turn.z, turn.w)}
    texts = {"frame": mission.goal.header.frame_id or "map", **values}
    return MissionAction(
        type=MissionAction.RUN_BEHAVIOR,
        name=NAVIGATE,
        parameters=[KeyValue(key=key, value=str(value)) for key, value in texts.items()],
    )


def _run(command: Sequence[str], cancelled: threading.Event, words: IO[bytes]) -> int:
    """Run a preview to its end, or until it is cancelled; returns its exit code."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(
        command, stdin=null, stdout=null, stderr=words, start_new_session=True
    )
    try:
        while not cancelled.is_set():
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_GIVE_UP)
        return -signal.SIGKILL
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _found(row: Mapping[str, Any]) -> ExecuteMission.Result:
    """What a preview has found, from its report."""
    would = "succeed" if row["success"] else "fail"
    touched = ", ".join(each["name"] for each in row["touched"]) or "nothing"
    text = f"{row['mission']} would {would} after {row['duration_s']:.1f} s: {row['reason']}."
    text += f" It touches {touched}."
    if near := row["clearance"]:
        millimetres = 1e3 * near["distance_m"]
        text += f" It keeps {millimetres:.0f} mm from all else, {near['link']} from {near['name']}."
    code = MissionFeedback.SUCCESS if row["success"] else MissionFeedback.TREE_FAILED
    return _result(code, text, row["duration_s"])


def _result(code: int, message: str, duration: float = 0.0) -> ExecuteMission.Result:
    return ExecuteMission.Result(code=code, message=message, duration=float(duration))


def _last_words(words: IO[bytes], code: int) -> str:
    words.seek(0)
    lines = words.read().decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("behavior: ") if lines else f"it ended with exit code {code}"
