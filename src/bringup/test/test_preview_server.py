# SPDX-License-Identifier: Apache-2.0
"""The action ``/mission/preview``, with a program in place of previews."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from behavior_msgs.action import ExecuteMission
from behavior_msgs.msg import MissionAction, MissionFeedback
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped

from behavior_bringup.preview.server import PreviewServer
from behavior_ros import remote_actions
from behavior_ros.testing import Spinner, ros, spinner, until

__all__ = ["ros", "spinner"]

PROGRAM = """
import argparse, json, pathlib, signal, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("mission")
for name in ("--name", "--json"):
    parser.add_argument(name)
parser.add_argument("--param", action="append", default=[])
options = parser.parse_args()
if options.mission == "nobody":
    print("some warning", file=sys.stderr)
    print("behavior: There is no mission 'nobody'", file=sys.stderr)
    sys.exit(2)
if options.mission == "endless":
    def end(number, frame):
        pathlib.Path(ENDED).touch()
        sys.exit(130)
    signal.signal(signal.SIGTERM, end)
    pathlib.Path(BEGUN).touch()
    while True:  # one long sleep may miss a signal that came just before it
        time.sleep(0.05)
if options.mission == "breaks":
    sys.exit(1)
row = dict(mission=options.mission, success=options.mission == "good", duration_s=3.25,
           reason=f"{options.name} {' '.join(options.param)}", touched=[{"name": "cup"}],
           clearance={"distance_m": 0.014, "link": "hand", "name": "wall"})
pathlib.Path(options.json).write_text(json.dumps(row))
sys.exit(not row["success"])
"""
Ask = Callable[..., Any]


@pytest.fixture
def ask(spinner: Spinner, tmp_path: Path) -> Ask:
    """Sends a goal."""
    files = f"BEGUN, ENDED = {str(tmp_path / 'begun')!r}, {str(tmp_path / 'ended')!r}"
    spinner.start(PreviewServer("mine", [sys.executable, "-c", f"{files}\n{PROGRAM}"]))
    asker = spinner.node("asker")
    action = remote_actions(asker).action(ExecuteMission, "mission/preview")
    until(action.ready, timeout=60.0)

    def send(**mission: Any) -> Any:
        goal = ExecuteMission.Goal(mission=MissionAction(**mission))
        return spinner.do(lambda: action.send(goal, server_timeout=60.0))

    return send


def result_of(sent: Any) -> Any:
    until(lambda: sent.outcome is not None, timeout=60.0)
    return sent.outcome.result


@pytest.mark.timeout(300)
def test_a_preview_tells_how_it_would_go(ask: Ask) -> None:
    good = result_of(ask(name="good", parameters=[KeyValue(key="order", value="a;b")]))
    assert good.code == 0
    assert good.message == (
        "good would succeed after 3.2 s: mine order=a;b. It touches cup. It keeps 14 mm from all"
        " else, hand from wall."
    )
    assert good.duration == 3.25
    goal = PoseStamped()
    goal.header.frame_id, goal.pose.position.x, goal.pose.orientation.w = "map", 8.5, 1.0
    drive = result_of(ask(type=MissionAction.NAVIGATE_TO_POSE, goal=goal))
    assert drive.message.startswith("navigate would fail")  # by the program above
    assert all(text in drive.message for text in ("frame=map", "x=8.5", "y=0.0", "yaw=0.0"))
    bad = result_of(ask(name="bad"))
    assert (bad.code, bad.message[:14]) == (MissionFeedback.TREE_FAILED, "bad would fail")
    nobody = result_of(ask(name="nobody"))
    assert nobody.code == MissionFeedback.INVALID_REQUEST
    assert nobody.message == "There is no mission 'nobody'"
    broken = result_of(ask(name="breaks"))
    assert (broken.code, broken.message) == (
        MissionFeedback.SERVER_LOST,
        "it ended with exit code 1",
    )
    for wrong in ({"name": "--approve"}, {"name": ""}, {"type": MissionAction.LOAD_MAP}):
        assert result_of(ask(**wrong)).code == MissionFeedback.INVALID_REQUEST


@pytest.mark.timeout(300)
def test_one_at_a_time_and_a_cancelled_one_ends(ask: Ask, spinner: Spinner, tmp_path: Path) -> None:
    endless = ask(name="endless")
    until((tmp_path / "begun").exists, timeout=60.0)
    assert result_of(ask(name="good")).code == MissionFeedback.BUSY
    spinner.do(endless.cancel)
    assert result_of(endless).code == MissionFeedback.CANCELED_BY_CLIENT
    assert (tmp_path / "ended").exists()
    assert result_of(ask(name="good")).code == 0
