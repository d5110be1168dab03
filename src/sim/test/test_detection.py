# SPDX-License-Identifier: Apache-2.0
"""The detector's statistics, field and delay."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_sim import Detector, DetectorConfig
from behavior_sim.layouts import pose_of

FIELD = {"x": (0.0, 1.0), "y": (-0.8, 0.8), "z": (-0.1, 1.0)}
POSE = pose_of([0.5, 0.1, 0.03], 0.4)


def frames(config: DetectorConfig, count: int, seed: int = 0):
    detector = Detector(FIELD, config, seed)
    for k in range(count):
        detector.capture(0.1 * k, {"a": POSE, "b": POSE})
    return detector.due(0.1 * count + config.latency)


def test_noise_has_the_spread_asked_for() -> None:
    config = DetectorConfig(position_noise=0.002, orientation_noise=0.02)
    poses = [d.pose for frame in frames(config, 2000) for d in frame.detections]
    shifts = np.array([pose[:3, 3] - POSE[:3, 3] for pose in poses])
    turns = np.array([Rotation.from_matrix(p[:3, :3] @ POSE[:3, :3].T).as_rotvec() for p in poses])
    for values, spread in ((shifts, 0.002), (turns, 0.02)):
        assert values.std(axis=0) == pytest.approx(spread, rel=0.06)
        assert np.abs(values.mean(axis=0)).max() < 4 * spread / np.sqrt(len(values))


def test_no_noise_is_the_truth() -> None:
    (frame,) = frames(DetectorConfig(position_noise=0.0, orientation_noise=0.0), 1)
    assert frame.detections[0].pose == pytest.approx(POSE)
    assert 0.0 < frame.detections[0].score <= 1.0


def test_dropout() -> None:
    seen = [len(frame.detections) for frame in frames(DetectorConfig(dropout=0.3), 3000)]
    assert np.mean(seen) / 2 == pytest.approx(0.7, abs=0.025)
    assert not any(len(f.detections) for f in frames(DetectorConfig(dropout=1.0), 10))


@pytest.mark.parametrize("place", [(1.1, 0, 0), (-0.1, 0, 0), (0.5, 0.9, 0), (0.5, 0, 1.2)])
def test_field(place) -> None:
    detector = Detector(FIELD, DetectorConfig())
    detector.capture(0.0, {"out": pose_of(place), "in": POSE})
    (frame,) = detector.due(0.0)
    assert [detection.name for detection in frame.detections] == ["in"]


def test_latency() -> None:
    detector = Detector(FIELD, DetectorConfig(latency=0.15))
    for t in (0.0, 0.1, 0.2):
        detector.capture(t, {"a": POSE})
    assert [frame.time for frame in detector.due(0.14)] == []
    assert [frame.time for frame in detector.due(0.26)] == [0.0, 0.1]
    assert [frame.time for frame in detector.due(0.26)] == []
    detector.reset(0)
    assert detector.due(9.0) == []


def test_same_seed_same_noise() -> None:
    config = DetectorConfig(dropout=0.2)

    def poses(seed: int) -> list[np.ndarray]:
        return [d.pose for f in frames(config, 20, seed) for d in f.detections]

    assert all((a == b).all() for a, b in zip(poses(1), poses(1), strict=True))
    assert not (poses(1)[0] == poses(2)[0]).all()
