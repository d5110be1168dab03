# SPDX-License-Identifier: Apache-2.0
"""What is derived from points, on depth images of simulated worlds with all their cameras' noise.

The images are those of the stacks' cameras, the detector has the stacks' settings, and scene and
definitions are those of `config/scenes`; only ROS is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from behavior_bringup.stacks.description import load_stack, resolve, stack_file
from behavior_scene import Scene, load_library
from behavior_scene.detections import Detection, checked_detection
from behavior_scene.detector import (
    CameraModel,
    DepthPoints,
    Estimate,
    Finder,
    Frame,
    Region,
    parse_settings,
)
from behavior_scene.library import ObjectLibrary
from behavior_scene.objects.definitions import Definition, definitions_from
from behavior_sim.cameras.camera_process import (
    CameraError,
    CameraFrame,
    CameraProcess,
    CameraRequest,
)
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world, parse_world
from behavior_sim.worlds.resources import find_world

ROOT = Path(__file__).parents[3]


class Eyes:
    """A world, its cameras, their detectors and the scene.

    Args:
        config: the world.
        library: what the scene knows.
        settings: of the detector of each camera that has one.
    """

    def __init__(
        self, config: WorldConfig, library: ObjectLibrary, settings: Mapping[str, str]
    ) -> None:
        try:
            self._process = CameraProcess(config)
        except CameraError as error:
            pytest.skip(f"no OpenGL here: {error}")
        self._config, self._library = config, library
        self._finders = {
            camera: Finder(parse_settings(classes, library)) for camera, classes in settings.items()
        }
        self._now = 1.0
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Start state of a seed, and an empty scene."""
        self.simulation = Simulation(self._config, seed=seed)
        self._cloud: tuple[np.ndarray, float] | None = None
        self.scene = Scene(
            self._library,
            lambda link, time: np.eye(4) if link == "world" else None,
            cloud=lambda: self._cloud,
        )

    def close(self) -> None:
        """End the drawing."""
        self._process.close()

    def look(self, times: int = 10) -> None:
        """Take pictures of the world as it is, a tenth of a second apart."""
        for _ in range(times):
            self._now += 0.1
            request = CameraRequest(
                nanoseconds=round(self._now * 1e9),
                qpos=self.simulation.world.data.qpos,
                cameras=dict.fromkeys(self._finders, False),
            )
            for frame in self._process.render(request):
                self._take(frame)

    def _take(self, frame: CameraFrame) -> None:
        camera = self._config.cameras[frame.camera]
        f = camera.focal_length
        model = CameraModel(camera.width, camera.height, f, f, *camera.center)
        points, pose = DepthPoints(frame.depth, model), frame.world_T_optical
        rows, columns = np.nonzero(np.isfinite(frame.depth))
        self._cloud = points.at(rows, columns) @ pose[:3, :3].T + pose[:3, 3], self._now
        found = self._finders[frame.camera].find(
            Frame(
                points=points,
                labels=frame.mask,
                regions=[Region(i.label, i.class_id, i.score) for i in frame.instances],
                camera=model,
                reference_T_camera=pose,
            )
        )
        detections = [self._detection(estimate) for estimate in found]
        self.scene.update(detections, self._now, self._now, frame.camera)

    def _detection(self, estimate: Estimate) -> Detection:
        detection = checked_detection(
            class_id=estimate.class_id,
            stamp=self._now,
            confidence=estimate.score,
            position=estimate.pose[:3, 3].tolist(),
            quaternion=Rotation.from_matrix(estimate.pose[:3, :3]).as_quat().tolist(),
            world_T_frame=np.eye(4),
            size=estimate.size,
            covariance=estimate.covariance.ravel().tolist(),
        )
        assert isinstance(detection, Detection)
        return detection

    def derive(self, name: str, definition: Definition) -> str:
        """Set an object up; why that cannot be, or nothing."""
        return self.scene.establish(name, definition, self._now)

    @property
    def now(self) -> float:
        """[s]"""
        return self._now

    def pose(self, name: str) -> np.ndarray:
        """world_T_object of an object of the scene."""
        return self.scene.snapshot(self._now).objects[name].world_T_object

    def text(self, name: str) -> str:
        """What the scene says of an object."""
        return self.scene.snapshot(self._now).objects[name].text


def eyes_of(world: str) -> Eyes:
    """The eyes of a stack: its world, library, cameras and settings."""
    stack = resolve(load_stack(stack_file(world)), environment="pip", arguments={"cameras": True})
    detectors = [
        node.parameters
        for process in stack
        for node in process.nodes
        if node.target.endswith(":DetectorNode")
    ]
    return Eyes(
        load_world(find_world(world)),
        load_library(ROOT / "config" / "scenes" / f"{world}.yaml"),
        {each["camera"].lstrip("/"): each["classes"] for each in detectors},
    )


@pytest.mark.slow
@pytest.mark.parametrize("world", ["block_stacking", "sorting", "shelf"])
def test_everything_is_found_in_the_pictures_of_a_world(world: str) -> None:
    """As near as an evaluation wants the scene to be before it begins, and twice as near."""
    eyes = eyes_of(world)
    try:
        for seed in range(2):
            eyes.begin(seed)
            eyes.simulation.advance(300)
            eyes.look()
            assert disagreements(eyes.simulation, eyes) == []
    finally:
        eyes.close()


def disagreements(simulation: Simulation, eyes: Eyes, tolerance: float = 0.015) -> list[str]:
    """What is not where the scene has one of its class."""
    objects = eyes.scene.snapshot(eyes.now).objects.values()
    wrong = []
    for name, pose in simulation.world.visible_poses().items():
        class_id = simulation.world.visible_objects[name].class_id
        apart = [
            float(np.linalg.norm(item.world_T_object[:3, 3] - pose[:3, 3]))
            for item in objects
            if item.class_id == class_id
        ]
        if min(apart, default=math.inf) > tolerance:
            wrong.append(f"{name}: {min(apart, default=math.inf):.3f} m")
    return wrong


@pytest.fixture(scope="module")
def door() -> Iterator[Eyes]:
    eyes = eyes_of("door")
    yield eyes
    eyes.close()


@pytest.mark.parametrize(
    ("opening", "words"), [(0.0, "shut"), (0.3, "push"), (0.6, "push"), (0.9, "push")]
)
def test_the_frame_of_the_simulated_door_is_found(door: Eyes, opening: float, words: str) -> None:
    """Hinge, opening and the way it opens; the same definitions as in the stack of the door."""
    door.begin(0)
    world = door.simulation.world
    world.data.qpos[world.model.joint("door_panel").qposadr[0]] = opening
    mujoco.mj_forward(world.model, world.data)
    door.look()
    library = load_library(ROOT / "config" / "scenes" / "door.yaml")
    definitions = definitions_from(library.objects, "door")
    for name in ("door_leaf", "door_plane", "door_frame"):
        assert door.derive(name, definitions[name]) == ""
    frame, config = door.pose("door_frame"), door.simulation.config.doors["door"]
    assert frame[:2, 3] == pytest.approx(config.position[:2], abs=0.05)
    # x runs from the hinge to the latch post, which does not turn with the leaf.
    towards_post = math.atan2(frame[1, 0], frame[0, 0])
    assert towards_post == pytest.approx(config.yaw, abs=math.radians(7.0))
    leaf = door.pose("door_leaf")
    to_hinge = math.atan2(leaf[1, 0], leaf[0, 0])
    assert to_hinge == pytest.approx(config.yaw + math.pi + opening, abs=math.radians(3.0))
    assert words in door.text("door_frame")


def table_world(distance: float, yaw: float) -> WorldConfig:
    """A table before the robot: its near edge `distance` [m] ahead, turned by `yaw` [rad]."""
    data: dict[str, Any] = yaml.safe_load(load_world(find_world("shelf")).text)
    depth, height = 0.6, 0.75
    middle = np.array([distance, 0.0]) + depth / 2 * np.array([math.cos(yaw), math.sin(yaw)])
    data["fixtures"] = {
        "table": {
            "position": [*middle.tolist(), 0.0],
            "yaw": yaw,
            "color": [0.6, 0.5, 0.4],
            "boxes": {
                "top": {"size": [depth, 1.6, 0.04], "position": [0.0, 0.0, height - 0.02]},
                "leg": {"size": [0.1, 0.1, height - 0.04], "position": [0.0, 0.0, 0.35]},
            },
        }
    }
    data["cameras"] = {
        "camera": {
            **data["cameras"]["camera"],
            "position": [-0.4, 0.0, 1.7],
            "target": [1.2, 0.0, 0.6],
            "fov": 0.9,
        }
    }
    return parse_world(data, "table")


@pytest.mark.parametrize(("distance", "yaw"), [(1.2, 0.25), (0.9, -0.3)])
def test_the_edge_of_a_simulated_table_is_approached(distance: float, yaw: float) -> None:
    eyes = Eyes(table_world(distance, yaw), ObjectLibrary(), {"camera": "{}"})
    try:
        eyes.look()
        table = {"kind": "approach_table", "frame": "world", "min_capsule_points": 100}
        definitions = definitions_from({"table_edge": table}, "test")
        assert eyes.derive("table_edge", definitions["table_edge"]) == ""
        edge = eyes.pose("table_edge")
        assert edge[:2, 3] == pytest.approx([distance, 0.0], abs=0.06)
        assert math.atan2(edge[1, 0], edge[0, 0]) == pytest.approx(yaw, abs=math.radians(5.0))
    finally:
        eyes.close()


def test_a_room_without_a_table_has_none() -> None:
    eyes = Eyes(table_world(5.0, 0.0), ObjectLibrary(), {"camera": "{}"})
    try:
        eyes.look(2)
        table = {"kind": "approach_table", "frame": "world", "min_capsule_points": 100}
        definitions = definitions_from({"table_edge": table}, "test")
        assert "no table" in eyes.derive("table_edge", definitions["table_edge"])
    finally:
        eyes.close()
