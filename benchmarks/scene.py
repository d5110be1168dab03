# SPDX-License-Identifier: Apache-2.0
"""What the detection scene costs: points in shapes, tracks, and the age of an object's pose.

    python benchmarks/scene.py [--only points tracks age] [--json FILE]

points  points of a 640x480 camera (307 200) in 8 shapes, two of each of four kinds, in one compiled
        pass, against plain numpy in the same run; the counts must agree. Two clouds: a table with
        things on it as a camera sees it, and points all over the place, which no processor can
        guess. The same with two convex meshes more. At most 10 ms.
tracks  200 detections against 200 tracks in one image. At most 5 ms.
age     a detector in a process of its own sends 8 things at 30 Hz, the scene runs in another one.
        Time from the stamp of an image until `/scene/objects` with a pose that is at least as new
        arrives here, over DDS; every image counts. Below 40 ms for 95 of 100.

Exit code 1: a figure falls short. Points and tracks are judged by the medians of processor time;
ages are times on the clock, so let nothing else run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from behavior_motion.collision.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from behavior_scene import ObjectClass, ObjectLibrary, Tracker, checked_detection
from behavior_scene.clouds.cloud import Cloud, Field, cloud_view
from behavior_scene.clouds.points_in_shape import (
    PlacedShape,
    count_points,
    count_points_plainly,
    prepare,
)

ROWS, COLUMNS, STEP = 480, 640, 32
POINTS_LIMIT = 10e-3
TRACKS_LIMIT = 5e-3
AGE_LIMIT = 40e-3
DOMAIN = "65"
RATE, THINGS, WARM_UP, IMAGES = 30.0, 8, 60, 600

Figures = dict[str, float]


def seconds_of(work: Callable[[], object], repetitions: int) -> tuple[float, float]:
    """Medians of processor time and of wall time [s]."""
    wall, processor = [], []
    for _ in range(repetitions):
        begin, worked = time.perf_counter(), time.thread_time()
        work()
        processor.append(time.thread_time() - worked)
        wall.append(time.perf_counter() - begin)
    return statistics.median(processor), statistics.median(wall)


# -- points ----------------------------------------------------------------------------------------


def cloud(points: np.ndarray[Any, Any], rng: np.random.Generator) -> Cloud:
    """A coloured cloud, organised as a camera sends it."""
    buffer = np.zeros((ROWS, COLUMNS, STEP // 4), dtype=np.float32)
    buffer[..., :3] = points
    buffer[..., 4].view(np.uint32)[:] = rng.integers(0, 2**24, (ROWS, COLUMNS))
    offsets = {"x": 0, "y": 4, "z": 8, "rgb": 16}
    return cloud_view(
        buffer.tobytes(),
        {name: Field(offset, 7) for name, offset in offsets.items()},
        shape=(ROWS, COLUMNS),
        point_step=STEP,
        row_step=STEP * COLUMNS,
        big_endian=False,
        frame="camera",
        stamp=1.0,
    )


def camera_points(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """A table with bumps on it from a camera 1 m away, 2 mm of noise, some pixels without depth."""
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, COLUMNS), np.linspace(-0.4, 0.4, ROWS))
    depth = 1.0 - 0.2 * np.maximum(np.sin(12 * u) * np.sin(9 * v), 0.0)
    depth += rng.normal(0.0, 0.002, depth.shape)
    depth[rng.random(depth.shape) < 0.05] = np.nan
    return np.stack([u * depth, v * depth, depth], axis=-1)


def shapes_about(centre: tuple[float, float, float], spread: float) -> list[PlacedShape]:
    """Two of each kind, turned and strewn about a place; convex meshes last."""
    rng = np.random.default_rng(3)
    kinds = [
        Sphere(0.10),
        Sphere(0.06),
        Box((0.15, 0.10, 0.20)),
        Box((0.05, 0.25, 0.10)),
        Capsule(radius=0.05, height=0.20),
        Capsule(radius=0.08, height=0.10),
        Cylinder(radius=0.08, height=0.12),
        Cylinder(radius=0.05, height=0.25),
        Mesh(vertices=rng.uniform(-0.1, 0.1, (20, 3))),
        Mesh(vertices=rng.uniform(-0.1, 0.1, (8, 3))),
    ]
    placed = []
    for kind in kinds:
        pose = np.eye(4)
        pose[:3, :3] = Rotation.random(rng=rng).as_matrix()
        pose[:3, 3] = centre + rng.uniform(-spread, spread, 3)
        placed.append(PlacedShape(kind, pose))
    return placed


def measure_points() -> Figures:
    """Ours and numpy's time for every case."""
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    problem = prepare(wait=True)
    if problem:
        raise SystemExit(f"the compiled pass cannot be had: {problem}")
    compiled = time.perf_counter() - begin
    print(f"points in shapes, {ROWS * COLUMNS} points (compiled or loaded in {compiled:.1f} s)")
    everywhere = rng.uniform(-0.5, 0.5, (ROWS, COLUMNS, 3))
    cases = {
        "camera": (cloud(camera_points(rng), rng), shapes_about((0.0, 0.0, 0.9), 0.3)),
        "everywhere": (cloud(everywhere, rng), shapes_about((0.0, 0.0, 0.0), 0.4)),
    }
    figures: Figures = {}
    for name, (points, shapes) in cases.items():
        for count in (8, 10):
            chosen = shapes[:count]
            ours, plain = count_points(points, chosen), count_points_plainly(points, chosen)
            if [found.count for found in ours] != [found.count for found in plain]:
                raise SystemExit(f"points {name}: the compiled pass and numpy disagree")
            inside = sum(found.count for found in ours)
            median, wall = seconds_of(lambda p=points, c=chosen: count_points(p, c), 60)
            numpy_median, _ = seconds_of(lambda p=points, c=chosen: count_points_plainly(p, c), 5)
            key = f"points_{name}_{count}"
            figures[f"{key}_ms"] = 1e3 * median
            figures[f"{key}_numpy_ms"] = 1e3 * numpy_median
            print(
                f"  {name:10}  {count:2} shapes, {inside:6} inside: {1e3 * median:6.2f} ms"
                f" (wall {1e3 * wall:.2f}), numpy {1e3 * numpy_median:6.1f} ms,"
                f" {numpy_median / median:.0f} times"
            )
    return figures


# -- tracks ----------------------------------------------------------------------------------------


def measure_tracks() -> Figures:
    """Time of one image with as many detections as there are tracks."""
    number, images = 200, 60
    rng = np.random.default_rng(1)
    places = rng.uniform(-2.0, 2.0, (number, 3))
    tracker = Tracker(ObjectLibrary({f"class_{k}": ObjectClass(f"class_{k}") for k in range(4)}))
    times = []
    for image in range(images):
        stamp = 1.0 + image / 30.0
        detections = [
            checked_detection(
                class_id=f"class_{index % 4}",
                stamp=stamp,
                confidence=0.9,
                position=place + rng.normal(0.0, 0.003, 3),
                quaternion=(0.0, 0.0, 0.0, 1.0),
                world_T_frame=np.eye(4),
            )
            for index, place in enumerate(places)
        ]
        times.append(seconds_of(lambda d=detections: tracker.update(d), 1))
    median, wall = (statistics.median(column) for column in zip(*times[5:], strict=True))
    print(
        f"tracks: {number} detections against {len(tracker.tracks)} tracks: {1e3 * median:.2f} ms"
        f" (wall {1e3 * wall:.2f})"
    )
    return {"tracks_ms": 1e3 * median, "tracks": len(tracker.tracks)}


# -- age -------------------------------------------------------------------------------------------


def send_detections() -> None:
    """The detector's process: images at the rate until it is killed."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

    from behavior_ros import QOS_SENSOR, to_time

    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("benchmark_detector")
    publisher = node.create_publisher(Detection3DArray, "/detections", QOS_SENSOR)
    due, image = time.time(), 0
    while True:
        due += 1.0 / RATE
        time.sleep(max(0.0, due - time.time()))
        image += 1
        message = Detection3DArray()
        message.header.frame_id = "world"
        message.header.stamp = to_time(time.time())
        for obj in range(THINGS):
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id, result.hypothesis.score = f"thing_{obj}", 0.9
            result.pose.pose.position.x = 0.2 * obj
            result.pose.pose.position.y = 0.1 * np.sin(0.05 * image)
            message.detections.append(Detection3D(results=[result]))
        publisher.publish(message)


@contextlib.contextmanager
def process(*command: str) -> Iterator[None]:
    """A process for the time of the block."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
        if running.poll() is not None:
            raise SystemExit(f"{command} ended by itself with {running.returncode}")
    finally:
        running.terminate()
        running.wait(10.0)


def measure_age() -> Figures:
    """Ages of poses as they arrive here."""
    os.environ |= {"ROS_DOMAIN_ID": DOMAIN, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    import rclpy
    from behavior_msgs.msg import SceneObjectArray

    from behavior_ros import QOS_EVENT_LOG, seconds

    ages: dict[float, float] = {}
    newest = -1.0

    def take(message: SceneObjectArray) -> None:
        nonlocal newest
        now = time.time()
        if len(message.objects) < THINGS:
            return
        stamp = min(seconds(obj.last_seen) for obj in message.objects)
        # Images between the last one and this one never came through by themselves.
        missed = max(round((stamp - newest) * RATE), 1) if newest > 0.0 else 1
        if stamp > newest:
            for back in range(missed):
                ages[stamp - back / RATE] = now - stamp + back / RATE
            newest = stamp

    rclpy.init()
    node = rclpy.create_node("benchmark_reader")
    node.create_subscription(SceneObjectArray, "/scene/objects", take, QOS_EVENT_LOG)
    begin = time.monotonic()
    with (
        process(sys.executable, "-m", "behavior_scene.node.scene_node"),
        process(sys.executable, str(Path(__file__).resolve()), "--send"),
    ):
        while len(ages) < WARM_UP + IMAGES:
            if time.monotonic() - begin > 60.0 + 2.0 * (WARM_UP + IMAGES) / RATE:
                raise SystemExit(f"age: {len(ages)} images only; does the scene start?")
            rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    rclpy.shutdown()
    measured = np.array(list(ages.values())[WARM_UP:])
    median, p95, p99 = (float(q) for q in np.percentile(measured, [50, 95, 99]))
    print(
        f"age of a pose, {THINGS} things at {RATE:g} Hz, {len(measured)} images: median"
        f" {1e3 * median:.1f} ms, 95 % {1e3 * p95:.1f} ms, 99 % {1e3 * p99:.1f} ms,"
        f" most {1e3 * float(measured.max()):.1f} ms"
    )
    return {"age_median_ms": 1e3 * median, "age_p95_ms": 1e3 * p95, "age_p99_ms": 1e3 * p99}


PARTS = {"points": measure_points, "tracks": measure_tracks, "age": measure_age}


def verdicts(figures: Figures) -> list[tuple[bool, str]]:
    """Whether each figure is good enough, in words."""
    limits = {
        key: POINTS_LIMIT for key in figures if key.startswith("points_") and "numpy" not in key
    }
    limits |= {"tracks_ms": TRACKS_LIMIT, "age_p95_ms": AGE_LIMIT}
    found = []
    for key, limit in limits.items():
        if key in figures:
            good = figures[key] <= 1e3 * limit
            aim = " (aim 5)" if limit == POINTS_LIMIT else ""
            found.append((good, f"{key} {figures[key]:.2f}, at most {1e3 * limit:g}{aim}"))
    return found


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--send", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        send_detections()
    figures: Figures = {}
    for name in options.only:
        figures |= PARTS[name]()
    results = verdicts(figures)
    for good, text in results:
        print(f"{'ok  ' if good else 'FAIL'} {text}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
