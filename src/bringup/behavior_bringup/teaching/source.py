# SPDX-License-Identifier: Apache-2.0
"""Where a motion that is taught comes from: a recording, or the arm of a running stack."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.connection import enter
from behavior_bringup.terminal import say

if TYPE_CHECKING:
    from behavior_skills.arm.shown_motion import MotionWatch

_JOINTS = "joint_states"
_DAY = 86400.0
_DEPTH = 100
_FIRST = 30.0
"""[s] wall time until the first states of the whole arm."""
_LONGEST = 1800.0
"""[s] of a recorded piece: what is longer was hardly meant."""


def recorded_motion(path: Path, watch: MotionWatch, start: float, end: float | None) -> None:
    """Hand the joint states of a recording to a watch.

    Args:
        path: of an MCAP file.
        watch: gets them.
        start: of the piece [s] after the recording's beginning.
        end: of the piece [s]; None: that of the recording.

    Raises:
        BringupError: it cannot be read, has no joint states there, or the piece is none.
        ValueError: its time steps back.
    """
    from behavior_recording import Recording, RecordingError

    try:
        with Recording(path) as recording:
            length = 1e-9 * (recording.end - recording.start)
            last = length if end is None else min(end, length)
            if not 0.0 <= start < last <= start + _LONGEST:
                raise BringupError(
                    f"{path} lasts {length:.1f} s: give --start and --end of a piece in it of at"
                    f" most {_LONGEST:.0f} s"
                )
            names = [name for name in recording.topics if name.rpartition("/")[2] == _JOINTS]
            piece = (recording.start + int(1e9 * each) for each in (start, last))
            for message in recording.messages(names, start=next(piece), end=next(piece)):
                _add(watch, message.value)
    except RecordingError as error:
        raise BringupError(str(error)) from error


def live_motion(watch: MotionWatch, stack: str, namespace: str, duration: float | None) -> None:
    """Hand the joint states of a running stack to a watch, until Ctrl-C or for a time.

    Args:
        watch: gets them.
        stack: name of the stack.
        namespace: of its nodes; empty: none.
        duration: [s] wall time; None: until Ctrl-C.

    Raises:
        BringupError: the stack is not up, or nobody tells of the arm's joints.
        ValueError: its time steps back.
    """
    enter(stack)
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState

    from behavior_bringup.client import StackClient

    quick = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
    with StackClient(namespace) as client:
        client.listen(JointState, _JOINTS, lambda state: _add(watch, state), quick)
        if not client.wait(lambda: len(watch) > 0, _FIRST):
            raise BringupError(
                f"No states of {', '.join(watch.missing)} come on {_JOINTS}: is it this --robot?"
            )
        say("Move the arm now; Ctrl-C when all was shown.", Console(stderr=True))
        with suppress(KeyboardInterrupt):
            client.work(duration or _DAY)


def _add(watch: MotionWatch, state: Any) -> None:
    stamp = state.header.stamp
    watch.add(stamp.sec + 1e-9 * stamp.nanosec, list(state.name), list(state.position))
