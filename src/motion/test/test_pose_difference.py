# SPDX-License-Identifier: Apache-2.0
"""Distances and angles between poses."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_motion.pose_difference import angle_between, distance_between


def pose(x=0.0, turn=(0.0, 0.0, 0.0)):
    matrix = np.eye(4)
    matrix[0, 3] = x
    matrix[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    return matrix


def test_distances_do_not_count_turns():
    assert distance_between(pose(0.1), pose(-0.2, (0.0, 1.0, 0.0))) == pytest.approx(0.3)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, np.pi])
def test_angles_are_exact_however_small(angle):
    turned = pose(5.0, (0.0, 0.6 * angle, 0.8 * angle))
    assert angle_between(pose(), turned) == pytest.approx(angle, rel=1e-6, abs=1e-12)
    assert angle_between(turned, pose()) == pytest.approx(angle, rel=1e-6, abs=1e-12)
