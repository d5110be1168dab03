# SPDX-License-Identifier: Apache-2.0
"""Planned motions as plain values for JSON, to be handed over and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from behavior_motion.checks import Matrix, as_pose
from behavior_motion.planning.options import OrientationConstraint, PlanOptions
from behavior_motion.planning.planner import PlanRequest, RequestKind
from behavior_motion.planning.previewed import PlannedMotion
from behavior_motion.trajectories.trajectory import Trajectory

_CURVE = ("times", "positions", "velocities", "accelerations")
"""Fields of a trajectory beside the names."""


def motion_row(motion: PlannedMotion) -> dict[str, Any]:
    """A motion for JSON: metres, radians, seconds; all digits, as rounded knots mean jerks.

    A tenth of a micrometre of a knot is 4 m/s^3 between knots of 10 ms, and a joint with gentle
    limits would be slowed down for that.
    """
    request, trajectory = motion.request, motion.trajectory
    return {
        "kind": request.kind.value,
        "targets": [target.tolist() for target in request.targets],
        "frame": request.frame,
        "options": asdict(request.options),
        "min_fraction": request.min_fraction,
        "joint_names": list(trajectory.joint_names),
        **{name: getattr(trajectory, name).tolist() for name in _CURVE},
        "goal_index": motion.goal_index,
        "waypoint_times": list(motion.waypoint_times),
        "objects": {name: pose.tolist() for name, pose in motion.objects.items()},
        "held": {name: pose.tolist() for name, pose in motion.held.items()},
    }


def motion_of_row(row: Mapping[str, Any]) -> PlannedMotion:
    """The motion of a row, which may come from anywhere.

    Raises:
        ValueError: it is none; the text says why.
    """
    try:
        return _motion_of_row(row)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ValueError(f"no planned motion: {type(error).__name__}: {error}") from error


def _motion_of_row(row: Mapping[str, Any]) -> PlannedMotion:
    wishes = dict(row["options"])
    if (constraint := wishes.pop("path_constraints")) is not None:
        constraint = OrientationConstraint(**constraint)
    if not all(wish is None or isinstance(wish, int | float) for wish in wishes.values()):
        raise ValueError("options: numbers wanted")
    names = tuple(map(str, row["joint_names"]))
    targets = tuple(_finite(target) for target in row["targets"])
    if not targets or not 0 <= row["goal_index"] < len(targets):
        raise ValueError("goal_index: one of the targets wanted")
    if any(t.shape not in ((len(names),), (4, 4)) for t in targets):
        raise ValueError("targets: joint vectors and 4x4 poses wanted")
    trajectory = Trajectory(names, *(_finite(row[name]) for name in _CURVE))
    if not trajectory.duration > 0.0 or trajectory.times[0] != 0.0:
        raise ValueError("times: a duration above zero, from 0 on, wanted")
    waypoint_times = _finite(row["waypoint_times"])
    if waypoint_times.ndim != 1:
        raise ValueError("waypoint_times: a list of numbers wanted")
    return PlannedMotion(
        request=PlanRequest(
            RequestKind(row["kind"]),
            targets,
            str(row["frame"]),
            PlanOptions(**wishes, path_constraints=constraint),
            float(row["min_fraction"]),
        ),
        trajectory=trajectory,
        goal_index=int(row["goal_index"]),
        waypoint_times=tuple(waypoint_times.tolist()),
        objects={str(n): as_pose("objects", pose) for n, pose in row["objects"].items()},
        held={str(n): as_pose("held", pose) for n, pose in row["held"].items()},
    )


def _finite(values: Any) -> Matrix:
    array = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("NaN or infinity")
    return array
