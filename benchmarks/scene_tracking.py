# SPDX-License-Identifier: Apache-2.0
"""Tracking quality on sequences with known truth: ours against the greedy rule it replaces.

    python benchmarks/scene_tracking.py [--seeds 20] [--quick] [--json FILE] [--only TEXT]

Both see the same images in the same order (`tracking_scenarios`), with the same parameters: filter
0.5 (ours: at 10 Hz), acceptance 0.25, 1 Hz, 2 s, at least 3 detections. What counts are tracks
that either calls stable (or once did) and saw within the last second; `tracking_score` says how
they are judged. The greedy rule is `greedy_tracker`, written from its description. Ours uses the
defaults of the object library for all scenarios. Exit code 1 if ours is not better everywhere.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from behavior_scene import ObjectLibrary, Tracker, TrackerParameters

sys.path.insert(0, str(Path(__file__).resolve().parent))

from greedy_tracker import GreedyTracker
from tracking_scenarios import Image, Scenario, scenarios
from tracking_score import Score

Array = NDArray[np.float64]

FRESH = 1.0
"""[s] a track that was not seen for longer is stale and not judged."""
MINIMUM_HISTORY = 3

Follower = Callable[[Image], Mapping[str, Array]]
"""Takes in an image, returns the positions of the tracks that count."""


def ours() -> Follower:
    """The tracker of the scene."""
    tracker = Tracker(ObjectLibrary(), TrackerParameters(minimum_history=MINIMUM_HISTORY))

    def follow(image: Image) -> Mapping[str, Array]:
        tracker.update(image.detections, stamp=image.stamp, detector=image.detector)
        return {
            track.name: track.world_T_object[:3, 3]
            for track in tracker.tracks.values()
            if track.confirmed and image.stamp - track.newest.stamp <= FRESH
        }

    return follow


def greedy() -> Follower:
    """The rule of the reference."""
    tracker = GreedyTracker()
    confirmed: set[str] = set()

    def follow(image: Image) -> Mapping[str, Array]:
        tracker.update(image.detections, image.stamp)
        for track in tracker.tracks:
            if len(track.history) >= MINIMUM_HISTORY and track.stable(image.stamp):
                confirmed.add(track.name)
        return {
            track.name: track.position
            for track in tracker.tracks
            if track.name in confirmed and image.stamp - track.newest <= FRESH
        }

    return follow


@dataclass
class Result:
    """Of one tracker in one scenario."""

    score: Score = field(default_factory=Score)
    seconds: float = 0.0
    images: int = 0

    def play(self, images: Iterable[Image], follow: Follower) -> None:
        """Show a sequence to a new tracker."""
        newest = -np.inf
        for image in images:
            start = time.perf_counter()
            tracks = follow(image)
            self.seconds += time.perf_counter() - start
            self.images += 1
            if image.taken >= newest:  # one that comes late tells of the past
                newest = image.taken
                self.score.add(image.truth, image.visible, tracks)
        self.score.close()

    def figures(self) -> dict[str, float]:
        """What is printed and judged."""
        score = self.score
        return {
            "switches": score.switches,
            "error_mm": 1e3 * score.error,
            "missed": score.missed,
            "false": score.false,
            "mota": score.accuracy,
            "idf1": score.identity,
            "ms_per_image": 1e3 * self.seconds / max(self.images, 1),
        }


def measured(scenario: Scenario, seeds: int) -> dict[str, dict[str, float]]:
    """Figures of both trackers."""
    results = {"ours": Result(), "greedy": Result()}
    for seed in range(seeds):
        images = scenario.images(seed)
        results["ours"].play(images, ours())
        results["greedy"].play(images, greedy())
    return {name: result.figures() for name, result in results.items()}


def shortcomings(mine: Mapping[str, float], other: Mapping[str, float]) -> list[str]:
    """In what ours is not better."""
    found = [key for key in ("switches",) if mine[key] > other[key]]
    found += [key for key in ("error_mm",) if mine[key] >= other[key]]
    found += [key for key in ("mota", "idf1") if mine[key] < other[key]]
    return found


def table(figures: Mapping[str, Mapping[str, Mapping[str, float]]], seeds: int) -> str:
    """The figures for people: ours / greedy, and the ratio of the errors."""
    head = (
        f"{'scenario, ' + str(seeds) + ' seeds':24}{'switches':>12}{'error [mm]':>16}{'x':>6}"
        f"{'missed':>14}{'false':>14}{'MOTA':>16}{'IDF1':>16}{'ms/image':>14}"
    )
    lines = [head]
    for name, both in figures.items():
        a, b = both["ours"], both["greedy"]
        lines.append(
            f"{name:24}"
            f"{a['switches']:6.0f} /{b['switches']:4.0f}"
            f"{a['error_mm']:8.1f} /{b['error_mm']:6.1f}{b['error_mm'] / a['error_mm']:6.2f}"
            f"{a['missed']:7.0f} /{b['missed']:5.0f}"
            f"{a['false']:7.0f} /{b['false']:5.0f}"
            f"{a['mota']:8.3f} /{b['mota']:6.3f}"
            f"{a['idf1']:8.3f} /{b['idf1']:6.3f}"
            f"{a['ms_per_image']:7.2f} /{b['ms_per_image']:5.2f}"
        )
    return "\n".join(lines)


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="sequences of each kind (20)")
    parser.add_argument("--quick", action="store_true", help="one sequence of each kind")
    parser.add_argument("--only", default="", help="scenarios with this text in their names")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    seeds = 1 if arguments.quick else arguments.seeds
    figures: dict[str, Any] = {
        scenario.name: measured(scenario, seeds)
        for scenario in scenarios()
        if arguments.only in scenario.name
    }
    print("ours / greedy")
    print(table(figures, seeds))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    missed = {
        name: found
        for name, both in figures.items()
        if (found := shortcomings(both["ours"], both["greedy"]))
    }
    for name, found in missed.items():
        print(f"NOT BETTER in {name}: {', '.join(found)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
