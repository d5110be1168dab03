# SPDX-License-Identifier: Apache-2.0
"""What simulated cameras and the detector cost, and how exact they are.

Twelve blocks, drawn at 320x240, with noise: drawing (in its own process, the way there and back
included), finding, and the errors for each way to place an object. Run: ``python
benchmarks/perception.py [--frames N]``; ends with status 1 where drawing and finding together take
more than 60 ms of processor time per frame, with status 2 where there is no OpenGL.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import yaml

from behavior_scene import library_from_dict
from behavior_scene.detector import (
    CameraModel,
    DepthPoints,
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
from behavior_sim.worlds.config import WorldConfig, parse_world
from behavior_sim.worlds.world import World

WORLDS = Path(__file__).resolve().parents[1] / "config/worlds"
BLOCKS, CAMERA = 12, "camera"
LIMIT = 60.0
"""[ms] of processor time per frame."""


def world() -> WorldConfig:
    """The world of block stacking with twelve blocks."""
    data: dict[str, Any] = yaml.safe_load((WORLDS / "block_stacking.yaml").read_text())
    data["robot"] = yaml.safe_load((WORLDS / data["robot"]).read_text())
    block = next(iter(data["objects"].values()))
    names = [f"block_{k}" for k in range(BLOCKS)]
    region = {"x": [0.35, 0.75], "y": [-0.35, 0.25]}
    place = {"region": region, "clearance": 0.09, "yaw": [-3.1415, 3.1415]}
    data["objects"] = dict.fromkeys(names, block)
    data["layouts"] = {"default": dict.fromkeys(names, place)}
    return parse_world(data, "perception")


def cpu(process: psutil.Process) -> float:
    """Processor time of this process and its children [s]."""
    times = [process.cpu_times(), *(child.cpu_times() for child in process.children())]
    return float(sum(item.user + item.system for item in times))


def draw(config: WorldConfig, frames: int) -> tuple[list[tuple[CameraFrame, World]], float, float]:
    """Pictures of start states, with the processor and wall time [ms] that one takes."""
    cameras = CameraProcess(config)
    me = psutil.Process()
    try:
        worlds = [World(config, seed) for seed in range(frames)]
        requests = [
            CameraRequest(nanoseconds=seed, qpos=w.data.qpos, cameras={CAMERA: True}, seed=seed)
            for seed, w in enumerate(worlds)
        ]
        cameras.render(requests[0])
        begin, begin_cpu = time.perf_counter(), cpu(me)
        pictures = [cameras.render(request)[0] for request in requests]
        spent_cpu, spent = cpu(me) - begin_cpu, time.perf_counter() - begin
    finally:
        cameras.close()
    both = list(zip(pictures, worlds, strict=True))
    return both, 1e3 * spent_cpu / frames, 1e3 * spent / frames


def find(
    config: WorldConfig, pictures: list[tuple[CameraFrame, World]], center: str
) -> tuple[np.ndarray, float, float]:
    """Errors of the centres [mm], with the processor and wall time [ms] that a frame takes."""
    camera = config.cameras[CAMERA]
    f = camera.focal_length
    model = CameraModel(camera.width, camera.height, f, f, *camera.center)
    size = list(next(iter(config.objects.values())).size)
    library = library_from_dict(
        {"classes": {name: {"shape": "box", "size": size} for name in config.objects}}
    )
    finder = Finder(parse_settings(f"default: {{center: {center}}}", library))
    errors: list[float] = []
    spent_cpu = spent = 0.0
    for picture, world_of in pictures:
        frame = Frame(
            points=DepthPoints(picture.depth, model),
            labels=picture.mask,
            regions=[Region(i.label, i.class_id, i.score) for i in picture.instances],
            camera=model,
            reference_T_camera=picture.world_T_optical,
        )
        begin, begin_cpu = time.perf_counter(), time.process_time()
        found = finder.find(frame)
        spent_cpu += time.process_time() - begin_cpu
        spent += time.perf_counter() - begin
        errors += [
            float(np.linalg.norm(e.pose[:3, 3] - world_of.object_pose(e.class_id)[:3, 3]))
            for e in found
        ]
    count = len(pictures)
    return 1e3 * np.array(errors), 1e3 * spent_cpu / count, 1e3 * spent / count


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--frames", type=int, default=40)
    options = parser.parse_args(arguments)
    config = world()
    try:
        pictures, draw_cpu, draw_wall = draw(config, options.frames)
    except CameraError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{BLOCKS} blocks, 320x240, {options.frames} frames; milliseconds per frame")
    print(f"{'drawing':24}{draw_cpu:8.1f} cpu{draw_wall:8.1f} wall")
    total = 0.0
    for center in ("surface", "shape", "fit"):
        errors, find_cpu, find_wall = find(config, pictures, center)
        total = draw_cpu + find_cpu
        middle, most = np.percentile(errors, [50, 95])
        print(
            f"{'finding, ' + center:24}{find_cpu:8.1f} cpu{find_wall:8.1f} wall;  {len(errors)} "
            f"centres off by {middle:.2f} mm (median), {most:.2f} mm (95 of 100)"
        )
    print(f"{'together (fit)':24}{total:8.1f} cpu, at most {LIMIT:.0f}")
    return 0 if total <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
