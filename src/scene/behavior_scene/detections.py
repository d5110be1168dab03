# SPDX-License-Identifier: Apache-2.0
"""What a detector saw at one instant: immutable, checked on entry, expressed in the world frame.

A detector may send anything. :func:`checked_detections` turns the raw numbers of one message into
:class:`Detection` objects, or says in one word (:class:`Defect`) why one cannot be used, so that
the caller counts it and goes on. It never raises. All of a message are checked together: one by
one, 200 would cost a third of the time between two images.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from behavior_ros.messages.limits import LONGEST_NAME

Array = NDArray[np.float64]

QUATERNION_NORM_TOLERANCE = 0.01
"""Quaternions whose norm differs from 1 by more than this are refused, others are normalised."""
FARTHEST = 1e6
"""[m] what lies beyond, or is larger, is no measurement: squares of it would swamp all others."""
LARGEST_VARIANCE = 1e6
"""[m^2] or [rad^2]; a detector that knows less than this knows nothing."""
UNKNOWN_COVARIANCE = (0.0,) * 36
_ASYMMETRY = 1e-6
"""Part of the largest variance by which a covariance may miss symmetry or definiteness: float32."""


class Defect(enum.Enum):
    """Why a detection was not used; the value is the key on the diagnostics."""

    NOT_FINITE = "not_finite"
    TOO_FAR = "too_far"
    BAD_QUATERNION = "bad_quaternion"
    BAD_SIZE = "bad_size"
    BAD_COVARIANCE = "bad_covariance"
    BAD_POINTS = "bad_points"
    NO_CLASS = "no_class"
    UNKNOWN_CLASS = "unknown_class"
    LOW_CONFIDENCE = "low_confidence"
    UNKNOWN_FRAME = "unknown_frame"
    FROM_THE_FUTURE = "from_the_future"
    FROM_THE_PAST = "from_the_past"
    TOO_MANY = "too_many"
    DOUBLE = "double"

    @property
    def explanation(self) -> str:
        """What it means and how to mend it, for people."""
        return _EXPLANATIONS[self]


_EXPLANATIONS = {
    Defect.DOUBLE: (
        "The detection tells again of a thing that another one of the image tells of: they are no "
        "further apart than their noise. Let the detector suppress overlapping boxes."
    ),
    Defect.NOT_FINITE: (
        "A number of the detection is NaN, infinite or missing. Let the detector leave out what it "
        "could not measure, e.g. pixels without depth."
    ),
    Defect.TOO_FAR: (
        f"The position is more than {FARTHEST:.0e} m off. See that the detector reports metres."
    ),
    Defect.BAD_QUATERNION: (
        "The norm of the orientation is not 1. A detector that knows no orientation must send "
        "x=0 y=0 z=0 w=1; see also that the order is x, y, z, w."
    ),
    Defect.BAD_SIZE: (
        "An edge of the bounding box is negative or absurdly long. Send edge lengths in metres, "
        "zeros when they are not known."
    ),
    Defect.BAD_COVARIANCE: (
        "The covariance is not 36 finite numbers that form a symmetric, positive semidefinite "
        "matrix. Send zeros (or -1 as the first number) when it is not known."
    ),
    Defect.BAD_POINTS: "The points of the detection are not N x 3 numbers [m].",
    Defect.NO_CLASS: (
        "The detection has no hypothesis, or one without a name of at most "
        f"{LONGEST_NAME} printable characters. Fill in results[].hypothesis.class_id."
    ),
    Defect.UNKNOWN_CLASS: (
        "The class is not in the object library. Add it there, set accept_unlisted: true in the "
        "library, or let the detector ignore the class."
    ),
    Defect.LOW_CONFIDENCE: (
        "The detection was too unsure to be taken for a new thing and continues no known one. This "
        "is normal for detectors with a low threshold; if real things are missed, lower the "
        "acceptance_confidence of their class."
    ),
    Defect.UNKNOWN_FRAME: (
        "The pose of the detection's frame at the time of the image is not known. See that its "
        "frame_id is on /tf and that the robot's and the camera's transforms are published."
    ),
    Defect.FROM_THE_FUTURE: (
        "The stamp is ahead of the scene's clock. Synchronise the clocks of the computers, and see "
        "that use_sim_time is the same for the detector and the scene."
    ),
    Defect.FROM_THE_PAST: (
        "The image is older than maximum_age, or older than one that the same detector sent "
        "before. See that it stamps with the time of the image, that one detector per topic "
        "publishes, and that the computer keeps up."
    ),
    Defect.TOO_MANY: (
        "More detections in one image, or more things followed at once, than the scene looks at; "
        "the most confident were used. Raise the detector's thresholds or maximum_detections."
    ),
}


@dataclass(frozen=True, slots=True)
class Detection:
    """One object seen at one instant."""

    class_id: str
    """What the detector calls it."""
    stamp: float
    """Time of the image [s]."""
    confidence: float
    """0..1."""
    world_T_object: Array
    """Pose of the object's centre, 4x4, read-only [m]."""
    size: tuple[float, float, float]
    """Edge lengths of the bounding box [m]; zeros: the detector does not know."""
    covariance: tuple[float, ...]
    """36 numbers, row-major x y z roll pitch yaw in the world frame; all 0: unknown."""
    detector: str = ""
    """Who saw it."""
    points: Array | None = None
    """Nx3, read-only: the points of the cloud that belong to it, in the world frame [m]."""


def _is_name(class_id: str) -> bool:
    return 0 < len(class_id) <= LONGEST_NAME and class_id.isprintable()


def frozen(matrix: NDArray[Any]) -> Array:
    """A read-only float64 copy of `matrix`, so that snapshots can be shared between threads."""
    copy = np.array(matrix, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def checked_detection(
    *,
    class_id: str,
    stamp: float,
    confidence: float,
    position: Sequence[float],
    quaternion: Sequence[float],
    world_T_frame: Array,
    size: Sequence[float] = (0.0, 0.0, 0.0),
    covariance: Sequence[float] = (),
    detector: str = "",
    points: ArrayLike | None = None,
) -> Detection | Defect:
    """Build one detection from the raw numbers of a detector.

    Args:
        class_id: what the detector calls the object; empty is a defect.
        stamp: time of the image [s].
        confidence: 0..1; values outside are clipped.
        position: of the object's centre in the detector's frame [m].
        quaternion: x, y, z, w in the detector's frame.
        world_T_frame: 4x4 pose of the detector's frame in the world.
        size: edge lengths of the bounding box [m]; zeros: unknown.
        covariance: 36 numbers in the detector's frame; empty, all zero or -1 first: unknown.
        detector: who saw it.
        points: Nx3 of the cloud, in the detector's frame [m]; rows with NaN are left out.

    Returns:
        The detection, or why it cannot be used.
    """
    (result,) = checked_detections(
        class_ids=[class_id],
        stamps=[stamp],
        confidences=[confidence],
        positions=[position],
        quaternions=[quaternion],
        world_T_frames=[world_T_frame],
        sizes=[size],
        covariances=[covariance],
        detector=detector,
        points=[points],
    )
    return result


def checked_detections(
    *,
    class_ids: Sequence[str],
    stamps: Sequence[float],
    confidences: Sequence[float],
    positions: Sequence[Sequence[float]],
    quaternions: Sequence[Sequence[float]],
    world_T_frames: Sequence[Array],
    sizes: Sequence[Sequence[float]],
    covariances: Sequence[Sequence[float]],
    detector: str = "",
    points: Sequence[ArrayLike | None] | None = None,
) -> list[Detection | Defect]:
    """Build the detections of one message; entry i of every argument belongs to detection i.

    Meaning and units of the entries as in :func:`checked_detection`.

    Returns:
        For each entry the detection, or why it cannot be used.
    """
    count = len(class_ids)
    numbers = np.concatenate(
        [
            _rows(stamps, count, 1),
            _rows(confidences, count, 1),
            _rows(positions, count, 3),
            _rows(quaternions, count, 4),
            _rows(sizes, count, 3),
        ],
        axis=1,
    )
    position, quaternion, size = numbers[:, 2:5], numbers[:, 5:9], numbers[:, 9:12]
    world_T_frame = _rows(world_T_frames, count, 16).reshape(count, 4, 4)
    covariance, known, bad_covariance = _covariances(covariances, count)
    with np.errstate(all="ignore"):  # defective rows may overflow; they are not used
        norm = np.sqrt((quaternion * quaternion).sum(axis=1))
        poses = np.empty((count, 4, 4))
        poses[:] = world_T_frame @ _pose_matrices(position, quaternion / norm[:, None])
        turned = _rotated(covariance, world_T_frame[:, :3, :3])
    defects = _first_of(
        {
            Defect.NO_CLASS: np.array([not _is_name(name) for name in class_ids], dtype=bool),
            Defect.NOT_FINITE: ~np.isfinite(numbers).all(axis=1),
            Defect.UNKNOWN_FRAME: ~np.isfinite(world_T_frame).all(axis=(1, 2)),
            Defect.TOO_FAR: ~(np.abs(poses[:, :3, 3]).max(axis=1, initial=0.0) <= FARTHEST),
            Defect.BAD_QUATERNION: ~(np.abs(norm - 1.0) <= QUATERNION_NORM_TOLERANCE),
            Defect.BAD_SIZE: ~((size >= 0.0) & (size <= FARTHEST)).all(axis=1),
            Defect.BAD_COVARIANCE: bad_covariance,
        },
        count,
    )
    poses.flags.writeable = False
    found: list[Detection | Defect] = []
    rows = zip(numbers[:, 0].tolist(), numbers[:, 1].clip(0.0, 1.0).tolist(), strict=True)
    for i, (stamp, confidence) in enumerate(rows):
        cloud = None if points is None else _cloud(points[i], world_T_frame[i])
        defect = defects[i] or (cloud if isinstance(cloud, Defect) else None)
        if defect is not None or isinstance(cloud, Defect):
            found.append(defect or Defect.BAD_POINTS)
            continue
        found.append(
            Detection(
                class_id=class_ids[i],
                stamp=stamp,
                confidence=confidence,
                world_T_object=poses[i],
                size=tuple(size[i].tolist()),
                covariance=tuple(turned[i].ravel().tolist()) if known[i] else UNKNOWN_COVARIANCE,
                detector=detector,
                points=cloud,
            )
        )
    return found


def _first_of(found: dict[Defect, Any], count: int) -> list[Defect | None]:
    """The first defect that each of `count` entries has; `found` has a mask for each."""
    defects: list[Defect | None] = [None] * count
    if np.logical_or.reduce(list(found.values())).any():
        for defect, bad in reversed(found.items()):
            for index in bad.nonzero()[0]:
                defects[index] = defect
    return defects


def _rows(values: Sequence[Any], count: int, width: int) -> Array:
    """`values` as count x width numbers; a row that does not fit is NaN."""
    try:
        return np.asarray(values, dtype=np.float64).reshape(count, width)
    except (TypeError, ValueError, OverflowError):
        rows = np.full((count, width), np.nan)
        for index, value in enumerate(values):
            try:
                rows[index] = np.asarray(value, dtype=np.float64).reshape(width)
            except (TypeError, ValueError, OverflowError):
                continue
        return rows


def _pose_matrices(position: Array, quaternion: Array) -> Array:
    """Nx4x4 of Nx3 positions and Nx4 unit quaternions (x, y, z, w)."""
    x, y, z, w = quaternion.T
    matrices = np.zeros((len(position), 4, 4))
    matrices[:, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrices[:, 0, 1] = 2.0 * (x * y - z * w)
    matrices[:, 0, 2] = 2.0 * (x * z + y * w)
    matrices[:, 1, 0] = 2.0 * (x * y + z * w)
    matrices[:, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrices[:, 1, 2] = 2.0 * (y * z - x * w)
    matrices[:, 2, 0] = 2.0 * (x * z - y * w)
    matrices[:, 2, 1] = 2.0 * (y * z + x * w)
    matrices[:, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    matrices[:, :3, 3] = position
    matrices[:, 3, 3] = 1.0
    return matrices


def _covariances(
    values: Sequence[Sequence[float]], count: int
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """Nx6x6 covariances, which of them are known, and which are none."""
    known = np.array([np.size(row) > 0 for row in values], dtype=bool)
    matrices = np.zeros((count, 36))
    if known.any():
        rows = [row for row, is_known in zip(values, known, strict=True) if is_known]
        matrices[known] = _rows(rows, len(rows), 36)
    known = known & (matrices != 0.0).any(axis=1) & (matrices[:, 0] != -1.0)
    matrices[~known] = 0.0
    bad = known & ~(np.abs(matrices) <= LARGEST_VARIANCE).all(axis=1)
    matrices[bad] = 0.0
    square = matrices.reshape(count, 6, 6)
    (check,) = (known & ~bad).nonzero()
    if check.size:
        some = square[check]
        slack = _ASYMMETRY * np.abs(some).max(axis=(1, 2))
        skew = np.abs(some - some.transpose(0, 2, 1)).max(axis=(1, 2))
        square[check] = some = 0.5 * (some + some.transpose(0, 2, 1))
        bad[check] = (skew > slack) | (_least_eigenvalues(some) < -slack)
    return square, known, bad


def _least_eigenvalues(matrices: Array) -> Array:
    """Of N x 6 x 6 symmetric ones; those that cannot have a negative one are not looked at: 0."""
    # Gershgorin: no eigenvalue is further from an entry of the diagonal than the others of its row
    # add up to.
    diagonal = matrices.diagonal(axis1=1, axis2=2)
    least = (diagonal - (np.abs(matrices).sum(axis=2) - np.abs(diagonal))).min(axis=1)
    values = np.zeros(len(matrices))
    (doubtful,) = (least < 0.0).nonzero()
    if doubtful.size:
        values[doubtful] = np.linalg.eigvalsh(matrices[doubtful])[:, 0]
    return values


def _rotated(covariance: Array, world_R_frame: Array) -> Array:
    turn = np.zeros((len(covariance), 6, 6))
    turn[:, :3, :3] = turn[:, 3:, 3:] = world_R_frame
    return np.asarray(turn @ covariance @ turn.transpose(0, 2, 1))


def _cloud(points: ArrayLike | None, world_T_frame: Array) -> Array | Defect | None:
    if points is None:
        return None
    try:
        cloud = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return Defect.BAD_POINTS
    if cloud.ndim != 2 or cloud.shape[1] != 3:
        return Defect.BAD_POINTS
    cloud = cloud[np.isfinite(cloud).all(axis=1)]
    return frozen(cloud @ world_T_frame[:3, :3].T + world_T_frame[:3, 3])
