# SPDX-License-Identifier: Apache-2.0
"""How skills move an arm, by the book: see `behavior_ros.conformance`."""

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")

from control_msgs.action import FollowJointTrajectory
from fakes import ROBOT_FILE

from behavior_motion import Trajectory, load_robot
from behavior_motion.robot.robot_file import DriverSection
from behavior_ros.actions.remote_action import SERVER_TIMEOUT
from behavior_ros.conformance import CLIENT_RULES, ClientsUnderTest, broken_rules
from behavior_ros.testing import ros, spinner  # noqa: F401
from behavior_skills.interfaces import SkillFailure
from behavior_skills.node.drivers.driver import DriverParts, Role, make_driver

ACTION = "/arm_controller/follow_joint_trajectory"


class Motion:
    """One motion of an arm by its controller."""

    def __init__(self, driver, trajectory):
        self.driver, self.trajectory = driver, trajectory

    def start(self):
        self.command = self.driver.execute(self.trajectory, lambda: None, lambda: None)

    def cancel(self):
        self.command.cancel()

    def ended(self):
        try:
            done = self.command.done()
        except SkillFailure:
            return "failed"
        return "" if done is None else "succeeded" if done.ok else "failed"


def test_motions_of_an_arm(spinner):  # noqa: F811
    spinner.start()
    robot = load_robot(ROBOT_FILE)
    parts = DriverParts(node=spinner.node("skills"), robot=robot)
    section = DriverSection(driver="follow_joint_trajectory", action=ACTION)
    driver = spinner.do(make_driver, Role.ARM, section, parts)
    home = robot.named["home"]
    q = np.stack([home, home + 0.1])
    trajectory = Trajectory(robot.joint_names, np.array([0.0, 1.0]), q, 0 * q, 0 * q)
    # Where it could differ from the leaves, whose test has all rules.
    names = ("aborted", "cancelled before acceptance", "restart", "result lost", "two clients")
    rules = [rule for rule in CLIENT_RULES if rule.name in names]
    with ClientsUnderTest(
        FollowJointTrajectory,
        ACTION,
        lambda: Motion(driver, trajectory),
        patience=SERVER_TIMEOUT,
    ) as subject:
        assert broken_rules(rules, subject) == []
