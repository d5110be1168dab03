# SPDX-License-Identifier: Apache-2.0
"""What a hand that hides the thing it reaches for does to the thing's pose, and how to prevent it.

A camera over the shoulder of the simulated Panda sees a block on the table; detector and scene are
those of the stack. The hand goes over the block in steps, reads its pose from the scene before
each, and grasps. On the way the hand hides a part of the block: the middle of what is still seen is
no longer that of the block. The same episodes are run

- with the middle of the faces seen, which detectors of masks and depth commonly report,
- with the middle of the block that belongs to it if nothing hides the block,
- with the block frozen before the hand comes (FREEZE of the scene),
- with the detector told to report nothing that is mostly hidden (`minimum_visible`), and
- with the block's shape fitted to the points.

Run: ``python benchmarks/scene_occlusion.py [--episodes N] [--picture FILE]``; prints a table and
ends with status 1 where the effect does not show: the pose must be dragged along without freezing
and must not with it. Status 2: there is no OpenGL.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image, ImageDraw

from behavior_motion import IkOptions, MotionPlanner, create_planner, load_robot
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
from behavior_sim.cameras.camera_process import (
    CameraError,
    CameraFrame,
    CameraProcess,
    CameraRequest,
)
from behavior_sim.control.joint_trajectory_controller import TrajectoryPoints
from behavior_sim.simulation import Simulation
from behavior_sim.worlds.config import WorldConfig, load_world, parse_world
from behavior_sim.worlds.layouts import Pose, pose_of
from behavior_sim.worlds.resources import find_world

CONFIG = Path(__file__).resolve().parents[1] / "config"
BLOCK, CAMERA = "blue_block", "shoulder_camera"
PERIOD = 0.1
"""[s] between pictures."""
HEIGHTS = (0.20, 0.12, 0.06, 0.004)
"""Of the tool over the block's middle, one step each [m]."""
PAUSE = 0.5
"""[s] that the hand waits after each step."""
FAR, NEAR = 0.010, 0.004
"""[m] a pose dragged further than FAR is corrupted, one within NEAR is clean."""


@dataclass(frozen=True)
class Variant:
    """A way to deal with what the hand hides."""

    name: str
    settings: str
    """Of the detector."""
    freeze: bool = False


VARIANTS = (
    Variant("middle of faces", "default: {center: surface}"),
    Variant("middle of shape", "default: {center: shape}"),
    Variant("middle of shape, frozen", "default: {center: shape}", freeze=True),
    Variant("mostly hidden refused", "default: {center: shape, minimum_visible: 0.85}"),
    Variant("fitted shape", "default: {center: fit}"),
)


@dataclass
class Sample:
    """One picture."""

    time: float
    pose: Pose
    """As the scene has it."""
    truth: Pose
    frame: CameraFrame | None


@dataclass
class Episode:
    """What came of one grasp."""

    samples: list[Sample] = field(default_factory=list)
    before: Pose | None = None
    """As the scene had it before the hand came."""
    start: int = 0
    """Number of pictures until the hand came."""
    down: int = 0
    """Number of pictures until the fingers went down."""
    held: bool = False

    @property
    def approach(self) -> list[Sample]:
        """Until the fingers went down."""
        return self.samples[: self.down]

    @property
    def drag(self) -> float:
        """How far the scene's pose went on the way, although nothing touched the block [m]."""
        before = self.before
        assert before is not None
        return max(_apart(sample.pose, before) for sample in self.approach[self.start :])

    @property
    def offset(self) -> float:
        """How far from the block's middle the fingers went down [m]."""
        last = self.approach[-1]
        return _apart(last.pose, last.truth)


def _apart(a: Pose, b: Pose) -> float:
    """Level distance of two poses [m]: the height does not matter to a grasp from above."""
    return float(np.linalg.norm(a[:2, 3] - b[:2, 3]))


def world() -> WorldConfig:
    """The world of block stacking with one block, and a camera over the robot's shoulder."""
    data: dict[str, Any] = yaml.safe_load(load_world(find_world("block_stacking")).text)
    data["objects"] = {BLOCK: data["objects"][BLOCK]}
    region = {"x": [0.42, 0.58], "y": [-0.12, 0.12]}
    data["layouts"] = {"default": {BLOCK: {"region": region, "yaw": [-3.1415, 3.1415]}}}
    data["cameras"] = {
        CAMERA: {
            "position": [0.05, 0.40, 1.00],
            "target": [0.5, 0.0, 0.02],
            "fov": 0.6,
            "noise": {"depth": 0.001, "depth_step": 0.0005, "edge_dropout": 0.3},
        }
    }
    return parse_world(data, "occlusion")


class Cell:
    """The simulated robot, its camera, the detector and the scene."""

    def __init__(
        self,
        config: WorldConfig,
        cameras: CameraProcess,
        planner: MotionPlanner,
        *,
        color: bool = False,
    ) -> None:
        self._color = color
        self._config = config
        self._cameras = cameras
        self._planner = planner
        camera = config.cameras[CAMERA]
        f = camera.focal_length
        self.model = CameraModel(camera.width, camera.height, f, f, *camera.center)
        self._library = load_library(CONFIG / "scenes/block_stacking.yaml")

    def run(self, variant: Variant, seed: int) -> Episode:
        """One grasp."""
        self._simulation = Simulation(self._config, seed=seed)
        self._finder = Finder(parse_settings(variant.settings, self._library))
        self._scene = Scene(self._library, lambda link, time: None)
        self._seed = seed
        episode = Episode()
        self._watch(episode, 1.0)
        if variant.freeze:
            self._scene.freeze([BLOCK], True)
        episode.before, episode.start = self._pose(), len(episode.samples)
        for height in HEIGHTS:
            episode.down = len(episode.samples)
            aim = episode.samples[-1].pose
            self._move(episode, aim, height)
            self._watch(episode, PAUSE)
        self._grip(episode)
        self._move(episode, aim, 0.15)
        episode.held = BLOCK in self._simulation.world.held_objects()
        return episode

    def _move(self, episode: Episode, aim: Pose, height: float) -> None:
        """Bring the tool over a pose, fingers along its nearest axis."""
        yaw = float(np.arctan2(aim[1, 0], aim[0, 0]))
        yaw -= np.pi / 2 * round(yaw / (np.pi / 2))
        # Heights over the table are known: the fingers must not go through it.
        target = pose_of([aim[0, 3], aim[1, 3], 0.026 + height], yaw) @ np.diag([1, -1, -1, 1])
        options = IkOptions(avoid_collisions=False)
        arm = self._simulation.world.arm_positions
        joints = self._planner.inverse_kinematics(target, seed=arm, options=options)
        if joints.q is None:
            raise RuntimeError(f"out of reach: {joints.message}")
        goal = self._simulation.arm.start(
            self._simulation.time,
            TrajectoryPoints(
                joints=self._config.robot.arm.joints,
                times=np.array([1.0]),
                positions=np.asarray(joints.q)[None],
            ),
        )
        self._watch(episode, 1.0 + PERIOD, lambda: goal.outcome is not None)

    def _grip(self, episode: Episode) -> None:
        goal = self._simulation.gripper.start(self._simulation.time, 0.0, 0.0)
        self._watch(episode, 2.0, lambda: goal.outcome is not None)

    def _watch(
        self, episode: Episode, duration: float, done: Callable[[], bool] = lambda: False
    ) -> None:
        """Let time pass, and look every `PERIOD`."""
        steps = round(PERIOD / self._config.timestep)
        for _ in range(round(duration / PERIOD)):
            self._simulation.advance(steps)
            episode.samples.append(self._look())
            if done():
                return

    def _look(self) -> Sample:
        simulation = self._simulation
        request = CameraRequest(
            nanoseconds=round(simulation.time * 1e9),
            qpos=simulation.world.data.qpos,
            cameras={CAMERA: self._color},
            seed=self._seed,
        )
        frame = next(iter(self._cameras.render(request)), None)
        found = [] if frame is None else self._find(frame)
        detections = [self._detection(estimate) for estimate in found]
        self._scene.update(detections, simulation.time, simulation.time, CAMERA)
        return Sample(
            time=simulation.time,
            pose=self._pose(),
            truth=simulation.world.object_pose(BLOCK),
            frame=frame,
        )

    def _pose(self) -> Pose:
        """Where the scene has the block; far away as long as it has none."""
        known = self._scene.snapshot(self._simulation.time).objects.get(BLOCK)
        return pose_of([9.0, 9.0, 9.0]) if known is None else known.world_T_object

    def _find(self, frame: CameraFrame) -> list[Estimate]:
        return self._finder.find(
            Frame(
                points=DepthPoints(frame.depth, self.model),
                labels=frame.mask,
                regions=[Region(i.label, i.class_id, i.score) for i in frame.instances],
                camera=self.model,
                reference_T_camera=frame.world_T_optical,
            )
        )

    def _detection(self, estimate: Estimate) -> Detection:
        turn = np.zeros(4)
        yaw = np.arctan2(estimate.pose[1, 0], estimate.pose[0, 0])
        turn[2:] = np.sin(yaw / 2), np.cos(yaw / 2)
        detection = checked_detection(
            class_id=estimate.class_id,
            stamp=self._simulation.time,
            confidence=estimate.score,
            position=estimate.pose[:3, 3].tolist(),
            quaternion=turn.tolist(),
            world_T_frame=np.eye(4),
            size=estimate.size,
            covariance=estimate.covariance.ravel().tolist(),
        )
        if not isinstance(detection, Detection):
            raise RuntimeError(f"the detector told nonsense: {detection}")
        return detection


def run_all(
    episodes: int, *, variants: Sequence[Variant] = VARIANTS, color: bool = False
) -> dict[Variant, list[Episode]]:
    """The variants on the same episodes; with colours for pictures.

    Raises:
        CameraError: no OpenGL.
    """
    config = world()
    cameras = CameraProcess(config)
    try:
        planner = create_planner(load_robot(CONFIG / "robots/panda.yaml"))
        cell = Cell(config, cameras, planner, color=color)
        return {
            variant: [cell.run(variant, seed) for seed in range(episodes)] for variant in variants
        }
    finally:
        cameras.close()


def table(results: dict[Variant, list[Episode]]) -> str:
    """What came of it, in millimetres."""
    lines = [
        f"{'':24}{'dragged [mm]':>22}{'grasp offset [mm]':>22}{'held':>10}",
        f"{'':24}{'median':>12}{'largest':>10}{'median':>12}{'largest':>10}",
    ]
    for variant, episodes in results.items():
        drags = 1e3 * np.array([episode.drag for episode in episodes])
        offsets = 1e3 * np.array([episode.offset for episode in episodes])
        held = sum(episode.held for episode in episodes)
        lines.append(
            f"{variant.name:24}{np.median(drags):12.1f}{drags.max():10.1f}"
            f"{np.median(offsets):12.1f}{offsets.max():10.1f}{held:7d}/{len(episodes)}"
        )
    return "\n".join(lines)


def problems(results: dict[Variant, list[Episode]]) -> list[str]:
    """What does not show as it should."""
    by_name = {variant.name: episodes for variant, episodes in results.items()}

    def median(name: str, of: Callable[[Episode], float]) -> float:
        return float(np.median([of(episode) for episode in by_name[name]]))

    found = []
    for name in ("middle of faces", "middle of shape"):
        drag = median(name, lambda episode: episode.drag)
        if drag < FAR:
            found.append(f"{name}: dragged by {1e3 * drag:.1f} mm only, {1e3 * FAR:.0f} expected")
    for name in ("middle of shape, frozen", "mostly hidden refused", "fitted shape"):
        offset = median(name, lambda episode: episode.offset)
        if offset > NEAR:
            found.append(f"{name}: off by {1e3 * offset:.1f} mm, {1e3 * NEAR:.0f} allowed")
    moved = max(episode.drag for episode in by_name["middle of shape, frozen"])
    if moved > 0.0:
        found.append(f"a frozen block moved by {1e3 * moved:.3g} mm")
    return found


# -- picture --------------------------------------------------------------------------------------

_SHOWN = ("middle of shape", "middle of shape, frozen")
_COLORS = {"truth": (20, 150, 60), "scene": (220, 40, 40)}


def _pixel(model: CameraModel, frame: CameraFrame, point: np.ndarray) -> tuple[float, float]:
    x, y, z = np.linalg.solve(frame.world_T_optical, [*point, 1.0])[:3]
    return model.cx + model.fx * x / z, model.cy + model.fy * y / z


def _view(sample: Sample, model: CameraModel, text: str) -> Image.Image:
    """Camera's view around the block, with its true middle and the one of the scene."""
    assert sample.frame is not None
    assert sample.frame.rgb is not None
    scale, half = 4, 40
    u, v = _pixel(model, sample.frame, sample.truth[:3, 3])
    left, top = round(u) - half, round(v) - half
    rgb = sample.frame.rgb.copy()
    rgb[sample.frame.mask > 0] = rgb[sample.frame.mask > 0] // 2 + [60, 60, 110]
    picture = Image.fromarray(rgb).crop((left, top, left + 2 * half, top + 2 * half))
    picture = picture.resize((2 * half * scale, 2 * half * scale), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(picture)
    for name, pose in (("truth", sample.truth), ("scene", sample.pose)):
        u, v = _pixel(model, sample.frame, pose[:3, 3])
        x, y = (u - left + 0.5) * scale, (v - top + 0.5) * scale
        draw.line((x - 12, y, x + 12, y), fill=_COLORS[name], width=3)
        draw.line((x, y - 12, x, y + 12), fill=_COLORS[name], width=3)
    draw.rectangle((0, 0, 2 * half * scale, 22), fill=(255, 255, 255))
    draw.text((6, 3), text, fill=(20, 20, 20), font_size=15)
    return picture


def _curves(episodes: dict[str, Episode], size: tuple[int, int]) -> Image.Image:
    """Distance of the scene's pose from the truth over time."""
    picture = Image.new("RGB", size, (255, 255, 255))
    draw = ImageDraw.Draw(picture)
    left, bottom, width, height = 60, size[1] - 40, size[0] - 80, size[1] - 80
    end = max(episode.approach[-1].time for episode in episodes.values())
    top = 1e3 * max(_apart(s.pose, s.truth) for e in episodes.values() for s in e.approach)
    top = max(10.0, 10.0 * np.ceil(top / 10.0))

    def place(time: float, error: float) -> tuple[float, float]:
        return left + width * time / end, bottom - height * min(error, top) / top

    for level in np.arange(0.0, top + 1.0, top / 5):
        draw.line((*place(0.0, level), *place(end, level)), fill=(225, 225, 225))
        draw.text(
            (10, place(0.0, level)[1] - 8), f"{level:.0f} mm", fill=(90, 90, 90), font_size=13
        )
    for second in range(1, int(end) + 1):
        draw.text((place(second, 0.0)[0] - 8, bottom + 6), f"{second} s", fill=(90, 90, 90))
    colors = ((220, 40, 40), (30, 90, 200))
    for (name, episode), color in zip(episodes.items(), colors, strict=True):
        points = [
            place(s.time, 1e3 * _apart(s.pose, s.truth)) for s in episode.approach if s.time > 0.3
        ]
        draw.line(points, fill=color, width=3)
        draw.text((left + 20, 30 + 22 * colors.index(color)), name, fill=color, font_size=17)
    text = "distance of the scene's pose (red) from the truth (green) until the fingers go down"
    draw.text((left, 6), text, fill=0, font_size=15)
    return picture


def save_picture(results: dict[Variant, list[Episode]], path: Path) -> None:
    """Views of both runs of the episode in which freezing matters most, and the error over time."""
    runs = {v.name: episodes for v, episodes in results.items() if v.name in _SHOWN}
    index = int(np.argmax([episode.drag for episode in runs[_SHOWN[0]]]))
    shown = {name: episodes[index] for name, episodes in runs.items()}
    camera = world().cameras[CAMERA]
    f = camera.focal_length
    model = CameraModel(camera.width, camera.height, f, f, *camera.center)
    rows = []
    for name, episode in shown.items():
        samples = [s for s in episode.approach if s.frame is not None]
        chosen = [samples[round(k * (len(samples) - 1) / 3)] for k in range(4)]
        rows.append([_view(s, model, f"{name}, {s.time:.1f} s") for s in chosen])
    edge = rows[0][0].width
    sheet = Image.new("RGB", (4 * edge, 2 * edge + 320), (255, 255, 255))
    for row, views in enumerate(rows):
        for column, view in enumerate(views):
            sheet.paste(view, (column * edge, row * edge))
    sheet.paste(_curves(shown, (4 * edge, 320)), (0, 2 * edge))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, optimize=True)


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and say whether the effect shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--picture", type=Path, help="PNG to write")
    options = parser.parse_args(arguments)
    try:
        results = run_all(options.episodes, color=options.picture is not None)
    except CameraError as error:
        print(error, file=sys.stderr)
        return 2
    print(table(results))
    if options.picture:
        save_picture(results, options.picture)
        print(f"picture: {options.picture}")
    found = problems(results)
    print("\n".join(found) or "as expected: dragged along, unless frozen, refused or fitted")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
