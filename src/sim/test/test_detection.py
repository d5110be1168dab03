# SPDX-License-Identifier: Apache-2.0
"""The detector's statistics, field and delay."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_sim.worlds.detection import DOUBLE_OFFSET, DetectionFrame, Detector, DetectorConfig
from behavior_sim.worlds.layouts import pose_of

FIELD = {"x": (0.0, 1.0), "y": (-0.8, 0.8), "z": (-0.1, 1.0)}
POSE = pose_of([0.5, 0.1, 0.03], 0.4)
PERFECT = DetectorConfig(**dict.fromkeys(vars(DetectorConfig()), 0.0))
CLASSES = {"a": "cup", "b": "mug"}


def frames(
    config: DetectorConfig, count: int, seed: int = 0, visible: float = 1.0
) -> list[DetectionFrame]:
    detector = Detector(FIELD, config, seed, classes=CLASSES)
    for k in range(count):
        detector.capture(0.1 * k, {"a": POSE, "b": POSE}, {"a": visible})
    return detector.due(0.1 * count + config.latency)


def test_the_default_detector_makes_every_mistake() -> None:
    """Whatever is shown to work by default works with all of them."""
    for name, value in vars(DetectorConfig()).items():
        assert value > 0.0, name


@pytest.mark.slow
def test_noise_has_the_spread_asked_for() -> None:
    config = replace(PERFECT, position_noise=0.002, orientation_noise=0.02)
    poses = [d.pose for frame in frames(config, 2000) for d in frame.detections]
    shifts = np.array([pose[:3, 3] - POSE[:3, 3] for pose in poses])
    turns = np.array([Rotation.from_matrix(p[:3, :3] @ POSE[:3, :3].T).as_rotvec() for p in poses])
    for values, spread in ((shifts, 0.002), (turns, 0.02)):
        assert values.std(axis=0) == pytest.approx(spread, rel=0.06)
        assert np.abs(values.mean(axis=0)).max() < 4 * spread / np.sqrt(len(values))


def test_no_noise_is_the_truth() -> None:
    (frame,) = frames(PERFECT, 1)
    assert frame.detections[0].pose == pytest.approx(POSE)
    assert 0.0 < frame.detections[0].score <= 1.0


@pytest.mark.slow
def test_dropout() -> None:
    seen = [len(frame.detections) for frame in frames(replace(PERFECT, dropout=0.3), 3000)]
    assert np.mean(seen) / 2 == pytest.approx(0.7, abs=0.025)
    assert not any(len(f.detections) for f in frames(replace(PERFECT, dropout=1.0), 10))


@pytest.mark.parametrize("place", [(1.1, 0, 0), (-0.1, 0, 0), (0.5, 0.9, 0), (0.5, 0, 1.2)])
def test_field(place) -> None:
    detector = Detector(FIELD, PERFECT)
    detector.capture(0.0, {"out": pose_of(place), "in": POSE})
    (frame,) = detector.due(0.0)
    assert [detection.name for detection in frame.detections] == ["in"]


def test_latency() -> None:
    detector = Detector(FIELD, replace(PERFECT, latency=0.15))
    for t in (0.0, 0.1, 0.2):
        detector.capture(t, {"a": POSE})
    assert [frame.time for frame in detector.due(0.14)] == []
    assert [frame.time for frame in detector.due(0.26)] == [0.0, 0.1]
    assert [frame.time for frame in detector.due(0.26)] == []
    detector.reset(0)
    assert detector.due(9.0) == []


def test_same_seed_same_noise() -> None:
    config = replace(DetectorConfig(), dropout=0.2)

    def poses(seed: int) -> list[np.ndarray]:
        return [d.pose for f in frames(config, 20, seed) for d in f.detections]

    assert all((a == b).all() for a, b in zip(poses(1), poses(1), strict=True))
    assert not (poses(1)[0] == poses(2)[0]).all()


@pytest.mark.slow
def test_what_something_stands_before_is_not_reported_or_less_surely() -> None:
    config = replace(PERFECT, position_noise=0.002, minimum_visible=0.3)
    names = {d.name for frame in frames(config, 10, visible=0.2) for d in frame.detections}
    assert names == {"b"}
    half = [d for frame in frames(config, 2000, visible=0.5) for d in frame.detections]
    shifts = np.array([d.pose[:3, 3] - POSE[:3, 3] for d in half if d.name == "a"])
    assert shifts.std() == pytest.approx(0.004, rel=0.06)
    assert {d.name: d.deviation for d in half} == {"a": 0.004, "b": 0.002}


@pytest.mark.slow
def test_classes_are_confused_as_often_as_asked_for() -> None:
    config = replace(PERFECT, confusion=0.2)
    found = [d for frame in frames(config, 3000) for d in frame.detections]
    wrong = [d for d in found if d.class_id != CLASSES[d.name]]
    assert len(wrong) / len(found) == pytest.approx(0.2, abs=0.02)
    assert {(d.name, d.class_id) for d in wrong} == {("a", "mug"), ("b", "cup")}
    assert all(d.class_id == CLASSES[d.name] for f in frames(PERFECT, 50) for d in f.detections)


@pytest.mark.slow
def test_objects_are_doubled_as_often_as_asked_for() -> None:
    config = replace(PERFECT, doubles=0.3)
    pairs = [[d for d in frame.detections if d.name == "a"] for frame in frames(config, 3000)]
    doubled = [pair for pair in pairs if len(pair) == 2]
    assert len(doubled) / len(pairs) == pytest.approx(0.3, abs=0.03)
    beside = np.array([second.pose[:3, 3] - first.pose[:3, 3] for first, second in doubled])
    assert beside.std() == pytest.approx(DOUBLE_OFFSET, rel=0.06)
    assert all(second.score < first.score for first, second in doubled)
