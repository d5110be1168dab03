# SPDX-License-Identifier: Apache-2.0
"""An operator's page, the console's node and the executor's: a run from its form to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from behavior_msgs.msg import MissionFeedback
from console_client import PageClient
from operated import start
from rclpy.node import Node
from std_msgs.msg import String

from behavior_console.ros_stack import RosStack
from behavior_ros import QOS_REQUESTS
from behavior_ros.testing import Spinner, until


def shows(page: PageClient, channel: str, **wanted: Any) -> None:
    """Wait until a channel has these values."""

    def there() -> bool:
        row = page.state.get(channel)
        return row is not None and all(row.get(key) == value for key, value in wanted.items())

    page.until(there)


def test_each_approved_mission_has_its_own_motions_until_it_ends(spinner: Spinner) -> None:
    node, other = Node("approver"), Node("robot")
    spinner.start(node, other)
    stack = spinner.do(lambda: RosStack(node))
    heard: list[str] = []
    spinner.do(
        lambda: other.create_subscription(
            String, "motion/previewed", lambda message: heard.append(message.data), QOS_REQUESTS
        )
    )
    until(lambda: node.count_subscribers("motion/previewed") > 0)
    told = spinner.do(lambda: other.create_publisher(MissionFeedback, "mission/feedback", 10))
    until(lambda: told.get_subscription_count() > 0)
    for mission in "ab":
        spinner.do(lambda mission=mission: stack.use_motions("[1]", mission))
    until(lambda: heard == ["a\n[1]", "b\n[1]"])
    for mission in "ca":
        feedback = MissionFeedback(action_id=mission, state=MissionFeedback.FINISHED)
        spinner.do(lambda feedback=feedback: told.publish(feedback))
    until(lambda: len(heard) == 3)
    assert heard[-1] == "a\n"


@pytest.mark.timeout(120)
def test_an_operator_runs_a_mission_from_its_form_to_its_end(
    spinner: Spinner, tmp_path: Path
) -> None:
    address = urlsplit(start(spinner, tmp_path))
    token = address.query.removeprefix("token=")
    with PageClient(address.port, token).hello() as page:
        page.show(
            "missions", "mission", "run_control", "queue", "orders", "tree", "blackboard", "reasons"
        )
        page.until(lambda: bool(page.state.get("missions")))
        (form,) = page.state["missions"]
        assert [each["name"] for each in form["parameters"]] == ["room", "far"]
        assert form["parameters"][0]["choices"] == ["hall", "lab"]
        assert form["parameters"][1]["unit"] == "m"
        assert page.command("mission.preflight", name="look")["ok"]
        refused = page.command("mission.start", name="look", parameters={"room": "bath"})
        assert refused["value"] == {"problems": {"room": "'bath' is none of hall, lab"}}

        assert page.command("run.stop")["ok"]
        started = page.command("mission.start", name="look", parameters={"room": "lab"})
        assert started["ok"], started
        first = started["value"]["action_id"]
        shows(page, "run_control", held=["count"])
        page.until(lambda: bool((page.state.get("tree") or {}).get("nodes")))
        rest = next(row[0] for row in page.state["tree"]["nodes"] if row[3] == "rest")
        assert page.command("run.break", uid=rest)["ok"]
        assert page.command("run.go")["ok"]
        shows(page, "run_control", failed=["found"], stands=True)
        page.until(lambda: "room" in str(page.state["blackboard"]))
        assert not page.command("blackboard.set", key="n", value="two")["ok"]
        assert page.command("blackboard.set", key="n", value="2")["ok"]
        assert page.command("run.retry", node="found")["ok"]
        shows(page, "run_control", held=["rest"], failed=[])
        assert page.command("run.step")["ok"]
        shows(page, "run_control", held=[])

        second = page.command("mission.start", name="look")["value"]["action_id"]
        page.until(lambda: [row["action_id"] for row in page.state.get("queue") or []] == [second])
        third = page.command("mission.start", name="look")["value"]["action_id"]
        waiting = lambda: [row["action_id"] for row in page.state.get("queue") or []]  # noqa: E731
        page.until(lambda: waiting() == [second, third])
        assert page.command("mission.move", action_id=third, place=1)["ok"]
        page.until(lambda: waiting() == [third, second])
        assert page.state["orders"][third]["parameters"] == {}
        assert page.command("mission.cancel", action_id=third)["ok"]
        assert page.command("mission.cancel", action_id=second)["ok"]
        page.until(lambda: page.state["queue"] == [])
        assert page.command("mission.pause", action_id=first)["ok"]
        shows(page, "mission", action_id=first, state="paused")
        assert page.command("mission.resume", action_id=first)["ok"]
        shows(page, "mission", action_id=first, state="running")
        began = page.now
        page.until(lambda: page.now > began + 1.0)
        assert page.command("stop")["ok"]
        shows(page, "mission", action_id=first, state="canceled")
        page.say(at=began + 0.7)
        shows(page, "mission", action_id=first, state="running")
        page.say(at=1.0)
        page.until(lambda: page.problems)
        assert "longer ago than the console remembers" in page.problems[0]["text"]
        page.say(at=None)
        shows(page, "mission", action_id=first, state="canceled")
        assert page.command("run.release")["ok"]
        drive = page.command("mission.start", steps=[{"navigate": {"x": 1.0, "y": 2.0}}])
        assert "no mission 'navigation" in drive["message"]  # this robot does not drive
        assert "autonomy/set_level" in page.command("mode.set", level="manual")["message"]
        assert "scene/freeze" in page.command("scene.freeze", names=["red"])["message"]
