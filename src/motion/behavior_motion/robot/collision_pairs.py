# SPDX-License-Identifier: Apache-2.0
"""Which links of a robot can touch each other at all: pairs that cannot need no checks.

As MoveIt's Setup Assistant finds them: a robot is put into many random states, and pairs that never
come near each other are taken to do so nowhere. That is no proof, so pairs that come nearer than a
margin stay. See https://moveit.picknik.ai/main/doc/examples/setup_assistant (Self-Collisions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pinocchio as pin

from behavior_motion.robot.meshes import replace_meshes
from behavior_motion.robot.model import (
    RobotModel,
    adjacent,
    drop_pairs,
    whole_model,
)

SAMPLES = 100_000
"""Number of random states; ten times as many as the Setup Assistant's default."""
MARGIN = 0.005
"""[m] Pairs that come nearer than this may touch."""


def never_touching(
    robots: Sequence[RobotModel], *, samples: int = SAMPLES, margin: float = MARGIN, seed: int = 0
) -> list[tuple[str, str]]:
    """Pairs of links that no joint connects and that do not come near each other in random states.

    Args:
        robots: All groups of one robot.
        samples: Number of states.
        margin: [m] How near.
        seed: Of the states.
    """
    model, geometry = whole_model(robots[0].urdf)
    replace_meshes(geometry)
    geometry.addAllCollisionPairs()
    drop_pairs(geometry, lambda a, b: adjacent(model, a.parentJoint, b.parentJoint))
    data, shapes = model.createData(), geometry.createData()
    for request in shapes.collisionRequests:
        request.security_margin = margin
    left = set(range(len(geometry.collisionPairs)))
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        pin.computeCollisions(model, data, geometry, shapes, _state(model, robots, rng), False)
        for index in [i for i in left if shapes.collisionResults[i].isCollision()]:
            left.remove(index)
            shapes.deactivateCollisionPair(index)
    return _links(model, geometry, left)


def _state(model: Any, robots: Iterable[RobotModel], rng: np.random.Generator) -> Any:
    """Random positions of all joints that a group moves; the others stand as the URDF has them."""
    q = pin.neutral(model)
    for robot in robots:
        grip = robot.gripper
        width = rng.uniform(grip.closed_width, grip.open_width)
        names = (*robot.joint_names, *grip.joint_names)
        values = (*robot.random_configuration(rng), *grip.joint_positions(width))
        for name, value in zip(names, values, strict=True):
            q[model.joints[model.getJointId(name)].idx_q] = value
    return q


def _links(model: Any, geometry: Any, never: set[int]) -> list[tuple[str, str]]:
    """The pairs of links all of whose pairs of shapes are among those."""
    owner = [model.frames[item.parentFrame].name for item in geometry.geometryObjects]
    pairs = [(owner[pair.first], owner[pair.second]) for pair in geometry.collisionPairs]
    touching = {frozenset(pair) for i, pair in enumerate(pairs) if i not in never}
    found = {frozenset(pairs[i]) for i in never} - touching
    return sorted((min(pair), max(pair)) for pair in found)


def to_srdf(name: str, pairs: Iterable[tuple[str, str]]) -> str:
    """An SRDF that disables the checks of those pairs."""
    lines = [
        f'  <disable_collisions link1={quoteattr(a)} link2={quoteattr(b)} reason="Never"/>'
        for a, b in pairs
    ]
    head = f'<?xml version="1.0"?>\n<robot name={quoteattr(name)}>\n'
    return head + "\n".join(lines) + "\n</robot>\n"
