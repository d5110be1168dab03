# SPDX-License-Identifier: Apache-2.0
"""The scene's servers by the book, see `behavior_ros.conformance`."""

import threading

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")

from behavior_msgs.action import CheckScene, ManageScene  # noqa: E402
from behavior_msgs.msg import SceneQuestion  # noqa: E402
from scene_rig import Rig  # noqa: E402

from behavior_ros.conformance import SERVER_RULES, ServerUnderTest, broken_rules  # noqa: E402

NEVER = SceneQuestion(object="world", reference="blue_block", maximum=1.0)
SERVERS = {
    "/scene/manage": (ManageScene, lambda: ManageScene.Goal(operation=ManageScene.Goal.FREEZE)),
    "/scene/check": (CheckScene, lambda: CheckScene.Goal(question=NEVER, timeout=1000.0)),
}


@pytest.mark.parametrize("name", SERVERS)
def test_the_scenes_servers(name, monkeypatch):
    rig = Rig()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(rig.context.get_domain_id()))
    kind, goal = SERVERS[name]
    told = []

    def check():
        with ServerUnderTest(kind, name, goal) as subject:
            told.append(broken_rules(SERVER_RULES, subject))

    try:
        thread = threading.Thread(target=check, daemon=True)
        thread.start()
        rig.until(lambda: not thread.is_alive(), 600.0)
        assert told == [[]]
    finally:
        rig.close()
