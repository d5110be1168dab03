# SPDX-License-Identifier: Apache-2.0
"""Cameras: what they are, what they see of a known world, and what their noise does."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import yaml

from behavior_sim.cameras.camera_noise import find_instances, noise_generator, noisy_depth
from behavior_sim.cameras.camera_process import (
    CameraError,
    CameraFrame,
    CameraProcess,
    CameraRequest,
)
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.camera_config import CameraConfig, CameraNoise
from behavior_sim.worlds.config import WorldConfig, parse_world, replaced_noise
from behavior_sim.worlds.model import coordinate_names
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.world import World

CLEAN = CameraNoise()
CUBE = 0.0515


@pytest.fixture(scope="session")
def process(config: WorldConfig) -> Iterator[CameraProcess]:
    try:
        made = CameraProcess(config)
    except CameraError as error:
        pytest.skip(f"no OpenGL here: {error}")
    yield made
    made.close()


def take(
    process: CameraProcess, world: World, camera: str = "camera", noise: CameraNoise = CLEAN
) -> CameraFrame:
    request = CameraRequest(
        nanoseconds=1, qpos=world.data.qpos, cameras={camera: True}, noise={camera: noise}
    )
    (frame,) = process.render(request)
    return frame


def points_of(frame: CameraFrame, camera: CameraConfig, label: int) -> np.ndarray:
    """Points (n, 3) in the world of the pixels with a label."""
    rows, columns = np.nonzero(frame.mask == label)
    depth = frame.depth[rows, columns].astype(float)
    cx, cy = camera.center
    rays = np.stack([(columns - cx), (rows - cy), np.full(len(rows), camera.focal_length)], axis=1)
    points = rays / camera.focal_length * depth[:, None]
    return points @ frame.world_T_optical[:3, :3].T + frame.world_T_optical[:3, 3]


def changed(config: WorldConfig, **values: object) -> dict:
    data = yaml.safe_load(config.text)
    data["cameras"]["camera"].update(values)
    return data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"up": [-0.7, 0.0, -0.85]}, "cameras.camera.up: lies in the direction of sight"),
        ({"fov": 4.0}, "cameras.camera.fov"),
        ({"rate": 0}, "cameras.camera.rate"),
        ({"zoom": 2}, "unknown zoom"),
        ({"target": [1.0]}, "three numbers"),
        ({"noise": {"score": [0.5, 0.1]}}, "cameras.camera.noise.score"),
        ({"noise": {"edge_dropout": 2.0}}, "cameras.camera.noise.edge_dropout"),
        ({"noise": {"fog": 1.0}}, "unknown fog"),
    ],
)
def test_wrong_descriptions_are_refused(config: WorldConfig, values: dict, problem: str) -> None:
    with pytest.raises(WorldError, match=problem):
        parse_world(changed(config, **values))


def test_a_camera_needs_a_link_that_exists(config: WorldConfig) -> None:
    with pytest.raises(WorldError, match=r"no link 'nose'; there are world, .*panda_hand"):
        World(parse_world(changed(config, parent="nose")))


def test_optical_frame_follows_rep_103() -> None:
    camera = CameraConfig(position=(0.0, 0.0, 1.0), target=(1.0, 0.0, 1.0), fov=1.0)
    x, y, z = camera.optical_turn.T
    assert z == pytest.approx([1.0, 0.0, 0.0]), "z looks ahead"
    assert x == pytest.approx([0.0, -1.0, 0.0]), "x to the right"
    assert y == pytest.approx([0.0, 0.0, -1.0]), "y down"
    assert np.linalg.det(camera.optical_turn) == pytest.approx(1.0)


@pytest.mark.parametrize("camera", ["camera", "wrist_camera"])
def test_points_lie_on_the_objects(
    process: CameraProcess, config: WorldConfig, simulation: Simulation, camera: str
) -> None:
    """Back-projected pixels lie on the surface of the block that their label names."""
    world = simulation.world
    frame = take(process, world, camera)
    names = list(world.visible_objects)
    assert len(frame.instances) >= 3
    for instance in frame.instances:
        points = points_of(frame, config.cameras[camera], instance.label)
        pose = world.object_pose(names[instance.label - 1])
        local = (points - pose[:3, 3]) @ pose[:3, :3]
        surface = np.abs(local).max(axis=1)
        assert surface == pytest.approx(CUBE / 2, abs=0.0015), instance.class_id
        assert instance.class_id == names[instance.label - 1]
        left, top, columns, rows = instance.box
        shown = np.argwhere(frame.mask == instance.label)
        assert shown.min(axis=0).tolist() == [top, left]
        assert (shown.max(axis=0) + 1 - shown.min(axis=0)).tolist() == [rows, columns]


def test_colours_agree_with_labels(process: CameraProcess, simulation: Simulation) -> None:
    frame = take(process, simulation.world)
    assert frame.rgb is not None
    for instance in frame.instances:
        mean = frame.rgb[frame.mask == instance.label].mean(axis=0)
        color = simulation.world.visible_objects[instance.class_id].color
        assert np.argmax(mean) == np.argmax(color), instance.class_id


def test_the_robot_hides_what_is_behind_it(process: CameraProcess, simulation: Simulation) -> None:
    """The arm is drawn: its hulls are in a group that MuJoCo hides unless told otherwise."""
    world = simulation.world
    free = np.count_nonzero(take(process, world).mask == 1)
    eye = np.array(simulation.config.cameras["camera"].position)
    hand = world.body_pose("panda_hand")[:3, 3]
    start = world.model.joint("blue_block").qposadr[0]
    world.data.qpos[start : start + 3] = hand + 0.3 * (hand - eye)
    hidden = np.count_nonzero(take(process, world).mask == 1)
    assert hidden < 0.5 * free


def test_beyond_the_range_there_is_no_depth(process: CameraProcess, config: WorldConfig) -> None:
    frame = take(process, World(config), "wrist_camera")
    assert np.isfinite(frame.depth).all(), "the hand looks at the ground"
    assert frame.depth.max() < 1.0


def test_a_state_of_another_world_is_refused(process: CameraProcess) -> None:
    with pytest.raises(CameraError, match="has 37 numbers, not 3"):
        process.render(CameraRequest(nanoseconds=0, qpos=np.zeros(3), cameras={"camera": False}))
    assert process.coordinates[:2] == ["panda_joint1", "panda_joint2"]


def test_names_of_coordinates(simulation: Simulation, process: CameraProcess) -> None:
    assert coordinate_names(simulation.world.model) == process.coordinates
    assert len(process.coordinates) == simulation.world.model.nq


def test_noise_is_the_same_for_the_same_seed_and_time(
    process: CameraProcess, simulation: Simulation
) -> None:
    noise = CameraNoise(depth=0.002, edge_dropout=0.5, class_confusion=0.5, score=(0.02, 0.99))

    def frame(nanoseconds: int, seed: int) -> CameraFrame:
        request = CameraRequest(
            nanoseconds=nanoseconds,
            qpos=simulation.world.data.qpos,
            cameras={"camera": False},
            seed=seed,
            noise={"camera": noise},
        )
        return process.render(request)[0]

    first, again = frame(100, 1), frame(100, 1)
    assert np.array_equal(first.depth, again.depth, equal_nan=True)
    assert first.instances == again.instances
    assert first.rgb is None, "nobody asked for colours"
    for other in (frame(200, 1), frame(100, 2)):
        assert not np.array_equal(first.depth, other.depth, equal_nan=True)


def test_depth_noise_grows_with_the_square_of_the_distance() -> None:
    rng = noise_generator(0, "camera", 0)
    for distance in (0.5, 2.0):
        depth = np.full((200, 200), distance, np.float32)
        noisy = noisy_depth(depth, CameraNoise(depth=0.002), rng)
        assert noisy.dtype == np.float32
        assert np.std(noisy - depth) == pytest.approx(0.002 * distance**2, rel=0.05)
    beyond = np.full((4, 4), np.inf, np.float32)
    noisy = noisy_depth(beyond, CameraNoise(depth=0.1, depth_step=0.01, edge_dropout=1.0), rng)
    assert np.isposinf(noisy).all()


def test_depth_comes_in_steps_of_disparity() -> None:
    depth = np.linspace(0.9, 1.1, 10_000, dtype=np.float32)[None]
    stepped = noisy_depth(depth, CameraNoise(depth_step=0.01), noise_generator(0, "camera", 0))
    levels = np.unique(stepped)
    assert np.diff(levels) == pytest.approx(0.01 * levels[:-1] * levels[1:], rel=0.01)
    assert np.abs(stepped - depth).max() < 0.007


def test_only_edges_drop_out() -> None:
    depth = np.full((40, 40), 1.0, np.float32)
    depth[:, 20:] = 2.0
    noisy = noisy_depth(depth, CameraNoise(edge_dropout=1.0), noise_generator(0, "camera", 0))
    lost = np.isnan(noisy)
    assert lost[:, 19:21].all()
    assert not lost[:, :19].any()
    assert not lost[:, 21:].any()


@pytest.mark.slow
def test_detector_faults_have_the_rates_asked_for() -> None:
    mask = np.repeat(np.arange(4, dtype=np.uint16), 10)[None].repeat(10, axis=0)
    classes = ["a", "b", "b"]
    noise = CameraNoise(object_dropout=0.3, class_confusion=0.2, score=(0.02, 0.5))
    found = [
        find_instances(mask, classes, noise, noise_generator(0, "camera", time))
        for time in range(2000)
    ]
    flat = [instance for instances in found for instance in instances]
    assert len(flat) / 6000 == pytest.approx(0.7, abs=0.03)
    wrong = [i for i in flat if i.class_id != classes[i.label - 1]]
    assert len(wrong) / len(flat) == pytest.approx(0.2, abs=0.03)
    scores = [i.score for i in flat]
    assert 0.02 <= min(scores) < 0.03
    assert 0.48 < max(scores) <= 0.5
    small = replace(noise, minimum_pixels=101, object_dropout=0.0)
    assert find_instances(mask, classes, small, noise_generator(0, "camera", 0)) == ()


def test_parameters_replace_single_values(config: WorldConfig) -> None:
    noise = replaced_noise(config, {"latency": 0.2}, "noise")
    before = config.cameras["camera"].noise
    assert noise["camera"] == replace(before, latency=0.2)
    with pytest.raises(WorldError, match="noise: unknown blur"):
        replaced_noise(config, {"blur": 1}, "noise")


def test_lost_frames_are_not_there(process: CameraProcess, simulation: Simulation) -> None:
    request = CameraRequest(
        nanoseconds=0,
        qpos=simulation.world.data.qpos,
        cameras={"camera": False, "wrist_camera": False},
        noise={"camera": CameraNoise(frame_dropout=1.0)},
    )
    assert [frame.camera for frame in process.render(request)] == ["wrist_camera"]
