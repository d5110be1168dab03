# SPDX-License-Identifier: Apache-2.0
"""Sequences of images with known truth, for measuring trackers.

Every scenario makes a sequence from a seed: things move, hide and are seen with noise, gaps,
doubt and false detections. Nothing is tuned to a tracker: `benchmarks/scene_tracking.py` plays the
same sequence to all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from behavior_scene import Detection, checked_detections

Array = NDArray[np.float64]
Path = Callable[[float], Array]
"""Position [m] at a time [s]."""

ROOM = np.array([4.0, 4.0, 1.0])
"""[m] in which everything happens."""


@dataclass(frozen=True)
class Thing:
    """One thing that there really is."""

    path: Path
    hidden: tuple[tuple[float, float], ...] = ()
    """Times [s] between which nobody sees it."""
    class_id: str = "thing"

    def visible(self, time: float) -> bool:
        """Whether a detector may see it."""
        return not any(start <= time < stop for start, stop in self.hidden)


@dataclass(frozen=True)
class Detector:
    """How things are seen."""

    rate: float = 10.0
    """[Hz]."""
    noise: float = 0.01
    """[m] standard deviation along each axis."""
    found: float = 0.95
    """Probability that a visible thing is found."""
    confidence: tuple[float, float] = (0.5, 0.95)
    """Of the right detections, evenly between."""
    false: float = 0.0
    """False detections per image, anywhere in the room."""
    false_confidence: tuple[float, float] = (0.02, 0.6)
    """Of those: the square of an even number, scaled; most are low."""
    delay: float = 0.0
    """[s] until an image arrives."""
    tells_noise: bool = False
    """Whether the detections carry their covariance."""
    name: str = "camera"
    doubled: float = 0.0
    """Probability that what is found is reported twice, ..."""
    doubles_apart: float = 0.015
    """[m] ... with this standard deviation between the two along each axis."""
    mistaken: float = 0.0
    """Probability that what is found is taken for one of the other classes."""
    clock_steps: tuple[tuple[float, float], ...] = ()
    """Times [s] and by how much [s] its clock is set then."""

    def clock(self, time: float) -> float:
        """What its clock shows at a time [s]."""
        return time + sum(step for at, step in self.clock_steps if time >= at)


@dataclass(frozen=True)
class Image:
    """What arrives at once, and what was true when it was taken."""

    taken: float
    """When it was really taken [s]."""
    stamp: float
    """When it says that it was taken [s]."""
    arrival: float
    detections: list[Detection]
    truth: dict[int, Array]
    """Positions by thing."""
    visible: frozenset[int]
    detector: str


@dataclass(frozen=True)
class Scenario:
    """A kind of sequence."""

    name: str
    objects: Callable[[np.random.Generator], list[Thing]]
    detectors: tuple[Detector, ...] = field(default_factory=lambda: (Detector(),))
    duration: float = 12.0

    def images(self, seed: int) -> list[Image]:
        """The sequence of a seed, in the order of arrival."""
        rng = np.random.default_rng([seed, *map(ord, self.name)])
        objects = self.objects(rng)
        images = [
            _image(objects, detector, 1.0 + index / detector.rate, rng)
            for detector in self.detectors
            for index in range(int(self.duration * detector.rate))
        ]
        return sorted(images, key=lambda image: (image.arrival, image.stamp))


def _image(
    objects: list[Thing], detector: Detector, taken: float, rng: np.random.Generator
) -> Image:
    truth = {index: obj.path(taken) for index, obj in enumerate(objects)}
    visible = frozenset(index for index in truth if objects[index].visible(taken))
    found: list[tuple[str, float, Array]] = []
    for index, position in truth.items():
        shift = detector.noise * rng.standard_normal(3)
        low, high = detector.confidence
        confidence, luck = rng.uniform(low, high), rng.random()
        if index in visible and luck < detector.found:
            found += _reported(
                objects[index].class_id,
                {obj.class_id for obj in objects},
                confidence,
                position + shift,
                detector=detector,
                rng=rng,
            )
    low, high = detector.false_confidence
    for _ in range(rng.poisson(detector.false)):
        class_id = objects[int(rng.integers(len(objects)))].class_id
        found.append((class_id, low + (high - low) * rng.random() ** 2, ROOM * rng.random(3)))
    order = rng.permutation(len(found))
    variance = detector.noise**2 if detector.tells_noise else 0.0
    count, stamp = len(found), detector.clock(taken)
    made = checked_detections(
        class_ids=[found[i][0] for i in order],
        stamps=[stamp] * count,
        confidences=[found[i][1] for i in order],
        positions=[found[i][2].tolist() for i in order],
        quaternions=[(0.0, 0.0, 0.0, 1.0)] * count,
        world_T_frames=[np.eye(4)] * count,
        sizes=[(0.0, 0.0, 0.0)] * count,
        covariances=[np.diag([variance] * 3 + [0.0] * 3).ravel().tolist()] * count,
        detector=detector.name,
    )
    detections = [detection for detection in made if isinstance(detection, Detection)]
    assert len(detections) == count
    arrival = taken + detector.delay
    return Image(taken, stamp, arrival, detections, truth, visible, detector.name)


def _reported(
    class_id: str,
    classes: set[str],
    confidence: float,
    position: Array,
    *,
    detector: Detector,
    rng: np.random.Generator,
) -> list[tuple[str, float, Array]]:
    """What a detector says of a thing that it has found: class, confidence and place."""
    if detector.mistaken and rng.random() < detector.mistaken:
        others = sorted(classes - {class_id})
        class_id = others[int(rng.integers(len(others)))]
    reported = [(class_id, confidence, position)]
    if detector.doubled and rng.random() < detector.doubled:
        apart = detector.doubles_apart * rng.standard_normal(3)
        reported.append((class_id, 0.9 * confidence, position + apart))
    return reported


# ---------------------------------------------------------------------------- paths


def resting(at: Array) -> Path:
    """Never moves."""
    return lambda time: at


def straight(start: Array, velocity: Array) -> Path:
    """At `start` [m] at time 0, `velocity` [m/s]."""
    return lambda time: start + velocity * time


def circling(centre: Array, radius: float, speed: float, phase: float) -> Path:
    """Around a vertical axis, `speed` [m/s]."""

    def path(time: float) -> Array:
        angle = phase + speed * time / radius
        return centre + radius * np.array([np.cos(angle), np.sin(angle), 0.0])

    return path


def stop_and_go(rng: np.random.Generator, speed: float, pause: float, duration: float) -> Path:
    """From place to place at `speed` [m/s], resting at each for about `pause` [s]."""
    times, places = [0.0], [ROOM * rng.uniform(0.1, 0.9, 3)]
    while times[-1] < duration + 2.0:
        times.append(times[-1] + pause * rng.uniform(0.5, 1.5))
        places.append(places[-1])
        goal = ROOM * rng.uniform(0.1, 0.9, 3)
        times.append(times[-1] + float(np.linalg.norm(goal - places[-1])) / speed)
        places.append(goal)
    table = np.array(places)
    return lambda time: np.array([np.interp(time, times, table[:, axis]) for axis in range(3)])


# ---------------------------------------------------------------------------- things


def _apart(rng: np.random.Generator, count: int, distance: float) -> list[Array]:
    """Places in the room that keep a distance [m]."""
    places: list[Array] = []
    while len(places) < count:
        place = ROOM * rng.random(3)
        if all(np.linalg.norm(place - other) > distance for other in places):
            places.append(place)
    return places


def resting_things(rng: np.random.Generator) -> list[Thing]:
    """A table full of things."""
    return [Thing(resting(place)) for place in _apart(rng, 8, 0.15)]


def crossing_things(rng: np.random.Generator) -> list[Thing]:
    """Six that meet within 15 cm in the middle of the room, from different sides."""
    objects = []
    for index in range(6):
        angle = np.pi * (index + rng.uniform(0.2, 0.8)) / 3.0
        velocity = rng.uniform(0.25, 0.5) * np.array([np.cos(angle), np.sin(angle), 0.0])
        middle = 0.5 * ROOM + rng.uniform(-0.15, 0.15, 3) * np.array([1.0, 1.0, 0.5])
        objects.append(
            Thing(straight(middle - (7.0 + rng.uniform(-0.5, 0.5)) * velocity, velocity))
        )
    return objects


def passing_things(rng: np.random.Generator) -> list[Thing]:
    """Pairs on one line that pass each other at 5 cm."""
    objects = []
    for index in range(3):
        y, speed = 0.8 + 1.2 * index, rng.uniform(0.25, 0.45)
        velocity, aside = np.array([speed, 0.0, 0.0]), np.array([0.0, 0.05, 0.0])
        middle = np.array([2.0, y, 0.5])
        objects.append(Thing(straight(middle - 7.0 * velocity, velocity)))
        objects.append(Thing(straight(middle + 7.0 * velocity + aside, -velocity)))
    return objects


def hidden_things(rng: np.random.Generator) -> list[Thing]:
    """Moving ones pass behind a pillar for a second or so, resting ones are hidden for long."""
    objects = []
    for index in range(4):
        start = np.array([0.2, 0.5 + index, 0.5])
        velocity = np.array([rng.uniform(0.2, 0.3), rng.uniform(-0.03, 0.03), 0.0])
        at = rng.uniform(4.0, 8.0)
        objects.append(Thing(straight(start, velocity), ((at, at + rng.uniform(0.8, 1.8)),)))
    for place in _apart(rng, 4, 0.4):
        at = rng.uniform(4.0, 6.0)
        objects.append(Thing(resting(place), ((at, at + rng.uniform(2.5, 4.0)),)))
    return objects


def long_hidden_things(rng: np.random.Generator) -> list[Thing]:
    """Resting ones, each hidden for eight seconds."""
    return [
        Thing(resting(place), ((at, at + 8.0),))
        for place, at in zip(_apart(rng, 6, 0.4), rng.uniform(4.0, 6.0, 6), strict=True)
    ]


def things_of_three_classes(rng: np.random.Generator) -> list[Thing]:
    """As `slow_things`, of three classes in turn."""
    return [
        Thing(obj.path, class_id=("cup", "can", "jar")[index % 3])
        for index, obj in enumerate(slow_things(rng))
    ]


def slow_things(rng: np.random.Generator) -> list[Thing]:
    """Half of them rest, half go in circles at 15 cm/s."""
    places = _apart(rng, 8, 0.7)
    return [
        Thing(resting(place) if index % 2 else circling(place, 0.15, 0.15, 6.28 * rng.random()))
        for index, place in enumerate(places)
    ]


def fast_things(rng: np.random.Generator) -> list[Thing]:
    """Four in wide circles at 1.2 to 2 m/s."""
    centres = [np.array([x, y, 0.5]) for x in (1.0, 3.0) for y in (1.0, 3.0)]
    return [
        Thing(circling(at, rng.uniform(0.6, 0.8), rng.uniform(1.2, 2.0), 6.28 * rng.random()))
        for at in centres
    ]


def handled_things(rng: np.random.Generator) -> list[Thing]:
    """Things that somebody moves about at half a metre per second."""
    return [Thing(stop_and_go(rng, 0.5, 2.0, 12.0)) for _ in range(5)]


def crowd(rng: np.random.Generator) -> list[Thing]:
    """Thirty in the room, most of them moving."""
    return [
        Thing(
            resting(ROOM * rng.random(3))
            if index % 3 == 0
            else circling(
                ROOM * rng.uniform(0.2, 0.8, 3), rng.uniform(0.2, 0.7), 0.3, 6.28 * rng.random()
            )
        )
        for index in range(30)
    ]


def scenarios() -> Iterator[Scenario]:
    """All kinds of sequences."""
    sharp = Detector(noise=0.005, tells_noise=True)
    yield Scenario("resting", resting_things)
    yield Scenario("crossing", crossing_things)
    yield Scenario("passing at 5 cm", passing_things, (sharp,))
    yield Scenario("hidden", hidden_things)
    yield Scenario(
        "threshold of 2 %",
        slow_things,
        (Detector(confidence=(0.02, 0.9), false=8.0, found=0.9),),
    )
    yield Scenario("dropouts", slow_things, (Detector(found=0.4, false=1.0),))
    yield Scenario("fast", fast_things)
    yield Scenario("fast at 30 Hz", fast_things, (Detector(rate=30.0),))
    yield Scenario("slow camera, 3 Hz", slow_things, (Detector(rate=3.0),))
    yield Scenario("handled", handled_things)
    yield Scenario("crowd", crowd, (Detector(false=3.0),))
    yield Scenario("doubled, 50 %", slow_things, (Detector(doubled=0.5),))
    yield Scenario("wrong class, 20 %", things_of_three_classes, (Detector(mistaken=0.2),))
    yield Scenario(
        "clock set by 1 s", slow_things, (Detector(clock_steps=((5.0, 1.0), (9.0, -1.0))),)
    )
    yield Scenario("hidden for 8 s", long_hidden_things, duration=18.0)
    yield Scenario(
        "two detectors",
        slow_things,
        (
            Detector(rate=15.0, noise=0.02, tells_noise=True, delay=0.03),
            Detector(rate=4.0, noise=0.004, tells_noise=True, delay=0.25, name="pose estimator"),
        ),
    )
