# SPDX-License-Identifier: Apache-2.0
"""The arm's motion as it is decided, with the braking at its end."""

import numpy as np
from fakes import ROBOT_FILE

from behavior_motion import JointLimits, load_robot
from behavior_skills.arm.streaming import Instant, Reference


def test_no_joint_brakes_beyond_its_range_because_another_one_is_faster():
    robot = load_robot(ROBOT_FILE)
    q, qd = np.array(robot.named["home"]), np.zeros(7)
    q[6], qd[6] = robot.upper[6] - 0.04, 0.8  # [rad], [rad/s]: 0.033 rad are enough
    qd[0] = 2.0  # takes longer
    reference = Reference(JointLimits.of(robot, 1.0, 1.0), 0.0, Instant(q, qd, 0.0 * q))
    motion = reference.motion()
    assert motion.positions.max(axis=0)[6] < robot.upper[6]
    assert np.all(motion.velocities[-1] == 0.0)
    assert motion.positions[-1, 0] > q[0] + 0.1
