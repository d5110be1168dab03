# SPDX-License-Identifier: Apache-2.0
"""How well each detection of an image fits each track, and which belongs to which.

A pair is looked at when both are of one class and the detection lies within the class's `gate`, or,
for classes of unknown number, where the prediction makes it plausible: within three standard
deviations, not faster than `maximum_speed`, and denser than false detections are. Its cost is minus
twice the logarithm of the density with which the track predicts the detection, plus, where both
are known, how much the size and (if the class says so) the orientation differ. The prediction
knows three ways for things to go on: at rest, in motion, and, rarely, somewhere within the gate
because they were pushed or badly seen. Leaving both alone costs as much as a detection at the edge
of the gate that only the third explains, and the sum over the image is made least
(:func:`behavior_scene.tracking.assignment.optimal_assignment`).

A sure detection of another class may continue a track too, at a price, where rest or motion
explains it and sizes agree: detectors mistake one class for another, and no two things are in one
place.

Two rounds: sure detections with all tracks; then the unsure ones with those confirmed tracks that
are left, and only where rest or motion explains them. So a thing that is hardly recognised goes on
being followed, while false detections of a detector with a low threshold neither start tracks nor
pull at those that are seen well (two rounds: Y. Zhang et al., ByteTrack, ECCV 2022).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from behavior_scene.detections import Array
from behavior_scene.tracking.assignment import Indices, optimal_assignment
from behavior_scene.tracking.measurements import Measurements
from behavior_scene.tracking.motion_model import Motion, Traits, log_densities, predicted
from behavior_scene.tracking.noise_estimate import Noise
from behavior_scene.tracking.tracks import Constants, Track

Mask = NDArray[np.bool_]

JUMP_PROBABILITY = 1e-3
"""That a thing is seen where neither rest nor motion explains it."""
LOG_PLAUSIBLE_DENSITY = math.log(0.5)
"""Of a detection beyond the gate, to continue a track [1/m^3]: well above that of false ones."""
GATE_DEVIATIONS = 3.0
UNSURE_SQUARED_DISTANCE = 16.3
"""Squared Mahalanobis distance of an unsure detection at most: 99.9 % of the right ones."""
CLASS_COST = 12.0
"""Of a detection of another class: that of a detector that is wrong once in twenty times, doubled
so that a track of the right class is always the better choice."""
MISTAKEN_RADIUS = 0.1
"""[m] within which a detection of another class is looked for."""
SIZE_DEVIATION = 0.3
"""Of the natural logarithm of each edge of the bounding boxes."""
TURN_DEVIATION = 0.3
"""[rad] of the orientation between two images."""
CUE_LIMIT = 9.0
"""What differing sizes, or orientations, cost at most: boxes shrink when something is in front."""
HELD_DEVIATION = 0.02
"""[m] of where a hand is expected to carry an object."""
_LOG_2PI = math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class Expectations:
    """T tracks as arrays, at the time of an image."""

    tracks: Sequence[Track]
    times: Array
    """T [s] of the prediction: that of the image, unless the track is ahead of it."""
    dt: Array
    """T [s], how far that is ahead of the state of each."""
    motion: Motion
    """Predicted."""
    traits: Traits
    noise: Noise
    """What was learned of the noise of their detections."""
    centres: Array
    """T x 3, predicted positions over all hypotheses [m]."""
    anchors: Array
    """T x 3: where each was seen last, or is carried now [m]."""
    gates: Array
    """T [m] of the classes."""
    reaches: Array
    """T [m], how far beyond the gate each is looked for."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Which detection belongs to which track, and whether it was to be expected there."""

    rows: Indices
    """M indices of tracks."""
    columns: Indices
    """M indices of detections."""
    jumps: Mask
    """M, True: neither rest nor motion explains the detection."""
    log_densities: Array
    """M, logarithm of the probability density of the detection [1/m^3]."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """M candidates."""

    rows: Indices
    columns: Indices
    distances: Array
    """M [m] to the nearest of prediction and anchor."""
    mistaken: Mask
    """M, True: track and detection are of different classes."""


def expectations(
    tracks: Sequence[Track], stamp: float, expected: Mapping[str, Array]
) -> Expectations:
    """Where the tracks should be at `stamp` [s].

    Args:
        tracks: all, of any class.
        stamp: time of the image.
        expected: 4x4 poses by track name where they are known otherwise.
    """
    constants = np.array([track.constants for track in tracks]).reshape(-1, len(Constants._fields))
    gates, speeds, time_constants, countless = constants.T[:4]
    traits = Traits(speeds, time_constants)
    since = np.array([track.time for track in tracks])
    times = np.maximum(since, stamp)
    dt = times - since
    state = Motion.unpacked(np.array([t.motion for t in tracks]).reshape(-1, Motion.WIDTH))
    motion = predicted(state, dt, traits)
    noise = Noise.unpacked(np.array([t.noise for t in tracks]).reshape(-1, Noise.WIDTH))
    anchors = noise.positions[:, 0].copy()
    held = [row for row, track in enumerate(tracks) if track.name in expected]
    for row in held:
        anchors[row] = expected[tracks[row].name][:3, 3]
        motion.mean[row, :, :3] = anchors[row]
        motion.covariance[row, :, :3, :3] += HELD_DEVIATION**2 * np.eye(3)
    mean, covariance = motion.moments()
    deviation = np.sqrt(covariance[:, :3, :3].trace(axis1=1, axis2=2) / 3.0)
    reach = np.minimum(GATE_DEVIATIONS * deviation, traits.maximum_speed * dt)
    return Expectations(
        tracks=tracks,
        times=times,
        dt=dt,
        motion=motion,
        traits=traits,
        noise=noise,
        centres=mean[:, :3],
        anchors=anchors,
        gates=gates,
        reaches=countless * reach,
    )


def associate(there: Expectations, seen: Measurements, sure: Mask) -> Matches:
    """Choose the detection of each track in both rounds.

    Args:
        there: the tracks.
        seen: the detections, at the time of the tracks.
        sure: which of the detections count in the first round.
    """
    pairs = _candidates(there, seen)
    log_density, squared = log_densities(
        there.motion,
        seen.positions,
        np.where(seen.given[:, None, None], seen.noise, 0.0),
        rows=pairs.rows,
        columns=pairs.columns,
        more=np.where(seen.given[pairs.columns], 0.0, there.noise.variance[pairs.rows]),
    )
    gate = there.gates[pairs.rows]
    log_jump, log_jump_at_gate = _log_jumps(pairs.distances, gate)
    total = np.logaddexp(log_density, log_jump)
    worth = 2.0 * (total - log_jump_at_gate)
    # Rounding must not exclude what lies at the very edge of the gate.
    near = (pairs.distances <= gate) & (worth >= -1e-9)
    cues = _cue_costs(there, seen, pairs)
    admissible = near | (total >= LOG_PLAUSIBLE_DENSITY)
    gain = worth + 2.0 * CUE_LIMIT + 1e-6 - cues
    of_sure, probable = sure[pairs.columns], squared <= UNSURE_SQUARED_DISTANCE
    if pairs.mistaken.any():
        admissible &= ~pairs.mistaken | (probable & (cues < CUE_LIMIT) & of_sure)
        gain[pairs.mistaken] -= CLASS_COST
    (first,) = (admissible & of_sure).nonzero()
    chosen = first[optimal_assignment(pairs.rows[first], pairs.columns[first], gain[first])]
    if not of_sure.all():
        left = np.array([track.confirmed for track in there.tracks], dtype=bool)
        left[pairs.rows[chosen]] = False
        unsure = admissible & ~of_sure & left[pairs.rows] & ~pairs.mistaken & probable
        (second,) = unsure.nonzero()
        more = second[optimal_assignment(pairs.rows[second], pairs.columns[second], gain[second])]
        chosen = np.concatenate([chosen, more])
    return Matches(
        pairs.rows[chosen],
        pairs.columns[chosen],
        log_jump[chosen] > log_density[chosen],
        total[chosen],
    )


def _candidates(there: Expectations, seen: Measurements) -> _Pairs:
    """Pairs of one class within the gates, and those of different classes near each other.

    A track stands for its class only while its detections mostly say so; see `Track.doubts`.
    """
    codes: dict[str, int] = {}
    track_class = [codes.setdefault(t.object_class.name, len(codes)) for t in there.tracks]
    seen_class = [codes.setdefault(d.class_id, len(codes)) for d in seen.detections]
    alike = np.equal.outer(np.array(track_class, dtype=np.intp), seen_class)
    both = cdist(np.concatenate([there.centres, there.anchors]), seen.positions)
    off_centre = both[: len(there.tracks)]
    off = np.minimum(off_centre, both[len(there.tracks) :])
    rows, columns = (alike & (off <= (there.gates + there.reaches)[:, None])).nonzero()
    of_class = _Pairs(rows, columns, off[rows, columns], np.zeros(len(rows), dtype=bool))
    if len(codes) < 2:
        return of_class
    near = np.argwhere(~alike & (off_centre <= MISTAKEN_RADIUS)).tolist()
    mistaken = [
        (row, column)
        for row, column in near
        if not there.tracks[row].doubts(seen.detections[column].class_id)
    ]
    if not mistaken:
        return of_class
    more_rows, more_columns = np.array(mistaken).T
    return _Pairs(
        np.concatenate([rows, more_rows]),
        np.concatenate([columns, more_columns]),
        np.concatenate([of_class.distances, off_centre[more_rows, more_columns]]),
        np.concatenate([of_class.mistaken, np.ones(len(mistaken), dtype=bool)]),
    )


def _log_jumps(distances: Array, gates: Array) -> tuple[Array, Array]:
    """Logarithms of the probability densities that things were pushed `distances` away, and to
    the edges of their gates.
    """
    deviation = 0.5 * gates
    squared = (distances / deviation) ** 2
    constant = math.log(JUMP_PROBABILITY) - 1.5 * _LOG_2PI
    nowhere = constant - 3.0 * np.log(deviation)
    return nowhere - 0.5 * squared, nowhere - 0.5 * 2.0**2  # the edge is two deviations away


def _cue_costs(there: Expectations, seen: Measurements, pairs: _Pairs) -> Array:
    """What is added to the costs for different size and orientation; at most `CUE_LIMIT` each."""
    cost = np.zeros(len(pairs.rows))
    if seen.sizes.any():
        known = _log_sizes(np.array([track.size for track in there.tracks]).reshape(-1, 3))
        found = _log_sizes(seen.sizes)
        ratio = (known[pairs.rows] - found[pairs.columns]) / (math.sqrt(2.0) * SIZE_DEVIATION)
        squared = (ratio * ratio).sum(axis=1)
        cost += np.where(np.isfinite(squared), np.minimum(squared, CUE_LIMIT), 0.0)
    compare = [track.object_class.compare_orientation for track in there.tracks]
    if any(compare):
        turned = np.array(compare)[pairs.rows].nonzero()[0]
        poses = np.array([track.world_T_object for track in there.tracks])
        first = poses[pairs.rows[turned], :3, :3]
        second = seen.poses[pairs.columns[turned], :3, :3]
        cosine = 0.5 * (np.einsum("nab,nab->n", first, second) - 1.0)
        angle = np.arccos(cosine.clip(-1.0, 1.0))
        cost[turned] += np.minimum((angle / TURN_DEVIATION) ** 2, CUE_LIMIT)
    return cost


def _log_sizes(sizes: Array) -> Array:
    """Logarithms of the edges; NaN where the box is not known."""
    known = (sizes > 0.0).all(axis=1, keepdims=True)
    return np.log(np.where(known, sizes, np.nan))
