# SPDX-License-Identifier: Apache-2.0
"""The largest request of every kind is looked at often enough to be ended within 0.2 s."""

from __future__ import annotations

import gc
import math
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from conftest import at, down, joints

from behavior_motion import (
    Box,
    EmbeddedPlanner,
    ErrorCode,
    IkOptions,
    JointLimits,
    MotionError,
    OrientationConstraint,
    PlanOptions,
    RobotModel,
    interruptible,
)
from behavior_motion.interruption import Deadline, check_interrupted, ended_by
from behavior_motion.limits import (
    LONGEST_PLANNING_TIME,
    MOST_ATTEMPTS,
    MOST_KNOTS,
    MOST_OBJECTS,
    MOST_TARGETS,
    MOST_WAYPOINTS,
)

pytestmark = pytest.mark.slow

LIMIT = 0.4
"""[s] of processor time within which every computation can be ended: 0.2 s are promised, and a core
takes up to twice as long while its other thread works."""
ENOUGH = 2.0
"""[s] of a computation after which a test ends it."""


class Stop(Exception):
    """Ends a computation."""


class Watch:
    """A check that measures how much processor time passes between two calls of it."""

    def __init__(self, most: float = ENOUGH) -> None:
        self.began = self.last = time.thread_time()
        self.most, self.longest, self.calls = most, 0.0, 0

    def __call__(self) -> None:
        now = time.thread_time()
        self.longest = max(self.longest, now - self.last)
        self.last, self.calls = now, self.calls + 1
        if now - self.began > self.most:
            raise Stop

    def run(self, work: Callable[[], object]) -> object:
        """What ``work`` returns; None where it was ended."""
        result = None
        try:
            with interruptible(self):
                result = work()
        except Stop:
            pass
        self.longest = max(self.longest, time.thread_time() - self.last)
        return result


@pytest.fixture(scope="module", autouse=True)
def no_rubbish() -> Iterator[None]:
    """What the tests before have left is not looked through while processor time is measured."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def embedded(robot: RobotModel) -> EmbeddedPlanner:
    made = EmbeddedPlanner(robot)
    made.plan_cartesian(robot.named["home"], [robot.forward_kinematics(robot.named["home"])])
    return made


HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


def circle(count: int) -> list[np.ndarray]:
    angles = np.linspace(0, 40 * math.pi, count)
    return [down(0.5 + 0.1 * math.cos(a), 0.2 * math.sin(a), 0.3) for a in angles]


def zigzag() -> list[np.ndarray]:
    return [down(0.45, 0.045 * (-1) ** i, 0.35) for i in range(MOST_WAYPOINTS)]


def clutter(planner: EmbeddedPlanner, count: int) -> None:
    planner.scene.clear()
    rng = np.random.default_rng(0)
    for i in range(count):
        x, y = rng.uniform(0.9, 3.0, 2)
        planner.scene.add_object(f"box_{i}", Box((0.05,) * 3), at(x, y, 0.3))


def level(planner: EmbeddedPlanner) -> PlanOptions:
    return PlanOptions(
        allowed_planning_time=LONGEST_PLANNING_TIME, path_constraints=OrientationConstraint(0.02)
    )


PATIENT = PlanOptions(allowed_planning_time=LONGEST_PLANNING_TIME)
SLOW = PlanOptions(
    allowed_planning_time=LONGEST_PLANNING_TIME,
    max_velocity_scaling_factor=1e-3,
    max_acceleration_scaling_factor=1e-3,
)
LARGEST: dict[str, Callable[[EmbeddedPlanner], object]] = {
    "waypoints": lambda p: p.plan_waypoints(HOME, circle(MOST_WAYPOINTS), options=PATIENT),
    "lines": lambda p: p.plan_cartesian(HOME, zigzag(), options=PATIENT),
    "slow lines": lambda p: p.plan_cartesian(HOME, zigzag(), options=SLOW),
    "slow joints": lambda p: p.plan_to_joints(HOME, HOME + 0.5, options=SLOW),
    "goals": lambda p: p.plan_to_pose(
        HOME, [down(2.0 + i, 0, 0.3) for i in range(MOST_WAYPOINTS)], options=PATIENT
    ),
    "attempts": lambda p: p.inverse_kinematics(
        down(2.0, 0, 0.3), options=IkOptions(attempts=MOST_ATTEMPTS)
    ),
    "batch": lambda p: p.inverse_kinematics_batch([down(0.5, 0, 0.3)] * MOST_TARGETS),
    "path": lambda p: p.check_path(np.repeat(HOME[None], 100_000, axis=0)),
}


@pytest.mark.parametrize("name", LARGEST)
def test_largest_requests_can_be_ended_at_any_moment(embedded: EmbeddedPlanner, name: str) -> None:
    embedded.scene.clear()
    watch = Watch()
    watch.run(lambda: LARGEST[name](embedded))
    assert watch.calls > 1
    assert watch.longest < LIMIT


def test_a_search_that_finds_nothing_can_be_ended(embedded: EmbeddedPlanner) -> None:
    clutter(embedded, 0)
    goal = joints(embedded, down(0.5, 0.35, 0.3))
    embedded.scene.add_object("wall", Box((2.0, 0.04, 3.0)), at(1.0, 0.15, 1.0))
    embedded.scene.add_object("wall_2", Box((0.04, 2.0, 3.0)), at(-0.2, 1.0, 1.0))
    for options in (PATIENT, level(embedded)):
        watch = Watch(2.0)
        watch.run(lambda options=options: embedded.plan_to_joints(HOME, goal, options=options))
        assert watch.calls > 1
        assert watch.longest < LIMIT


def test_the_largest_scene_can_be_ended(embedded: EmbeddedPlanner) -> None:
    # Not the first time: its tables are 90 MB at once, and a virtual machine that never touched
    # that memory before waits for its host for half a second.
    for _ in range(2):
        clutter(embedded, MOST_OBJECTS)
        watch = Watch()
        try:
            watch.run(lambda: embedded.plan_to_joints(HOME, HOME + 0.2, options=PATIENT))
        finally:
            embedded.scene.clear()
    assert watch.longest < LIMIT


def test_an_interrupted_planner_plans_on(embedded: EmbeddedPlanner) -> None:
    """Wherever a request is ended, the next one is answered as if it had not been."""
    embedded.scene.clear()
    embedded.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    start, goal = (joints(embedded, down(0.5, y, 0.2)) for y in (0.35, -0.35))
    wanted = embedded.plan_to_joints(start, goal).trajectory
    assert wanted is not None
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    with interruptible(count):
        embedded.plan_to_joints(start, goal)
    rng = np.random.default_rng(1)
    for stop_at in rng.integers(1, calls, 12):
        left = int(stop_at)

        def stop() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Stop

        with pytest.raises(Stop), interruptible(stop):
            embedded.plan_to_joints(start, goal)
        again = embedded.plan_to_joints(start, goal).trajectory
        assert again is not None
        np.testing.assert_array_equal(again.positions, wanted.positions)


def test_blocks_nest_and_end() -> None:
    told: list[str] = []
    with interruptible(lambda: told.append("outer")):
        with interruptible(lambda: told.append("inner")):
            check_interrupted()
        check_interrupted()
    check_interrupted()
    assert told == ["outer", "inner", "outer"]


def test_a_deadline_is_one_of_its_clock() -> None:
    now = 3.0
    deadline = Deadline(2.0, lambda: now)
    half = deadline.part(0.5)
    assert (str(deadline), deadline.spent, deadline.left) == ("2 s", 0.0, 2.0)
    now = 4.5
    assert (deadline.passed, half.passed) == (False, True)
    now = 5.5
    assert deadline.passed
    assert deadline.part(0.5).passed
    now = 4.0  # a clock that is set back
    assert not deadline.passed


def test_a_deadline_of_processor_time_is_not_that_of_the_wall() -> None:
    deadline = Deadline(0.02)
    assert str(deadline) == "0.02 s of processor time"
    began, wall = time.thread_time(), time.monotonic()
    while time.monotonic() < wall + 0.04:
        threading.Event().wait(0.005)  # others compute
    assert not deadline.passed

    def compute() -> None:
        while True:
            check_interrupted()

    with pytest.raises(Stop), ended_by(deadline, Stop):
        compute()
    assert 0.02 <= time.thread_time() - began < 1.0


def test_other_threads_are_not_interrupted() -> None:
    def stop() -> None:
        raise Stop

    ended = []
    with interruptible(stop):
        thread = threading.Thread(target=lambda: (check_interrupted(), ended.append(True)))
        thread.start()
        thread.join()
    assert ended == [True]


def test_others_load_takes_no_planning_time(robot: RobotModel) -> None:
    """A plan beside busy threads is the plan of a quiet machine, however little it is allowed."""
    planner = EmbeddedPlanner(robot)
    planner.scene.add_object("wall", Box((0.6, 0.04, 0.5)), at(0.6, 0.0, 0.25))
    start, goal = (joints(planner, down(0.5, y, 0.2)) for y in (0.35, -0.35))
    quiet = planner.plan_to_joints(start, goal)
    assert quiet.trajectory is not None
    # Twice its own processor time: its wall time beside four busy threads is far more.
    options = PlanOptions(allowed_planning_time=2.0 * quiet.planning_time + 0.05)
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        plan = planner.plan_to_joints(start, goal, options=options)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert plan.trajectory is not None, plan.message
    np.testing.assert_array_equal(plan.trajectory.positions, quiet.trajectory.positions)


def test_the_bound_is_the_clocks(robot: RobotModel) -> None:
    """All of a request ends within twice its allowed time, here of a clock that only it drives."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1e-3
        return now

    planner = EmbeddedPlanner(robot, clock=clock)
    options = PlanOptions(allowed_planning_time=1.0)
    for plan in (
        planner.plan_waypoints(HOME, circle(MOST_WAYPOINTS), options=options),
        planner.plan_cartesian(HOME, zigzag(), options=options),
    ):
        assert plan.code is ErrorCode.TIMED_OUT
        assert "within 2 s; allow more time" in plan.message
        assert plan.planning_time < 2.1


@pytest.mark.parametrize("scaling", [1.0, 1e-3])
def test_trajectories_have_a_bounded_number_of_knots(
    embedded: EmbeddedPlanner, scaling: float
) -> None:
    embedded.scene.clear()
    options = PlanOptions(max_velocity_scaling_factor=scaling)
    for plan in (
        embedded.plan_to_joints(HOME, HOME + 0.3, options=options),
        embedded.plan_cartesian(HOME, [down(0.45, 0.1, 0.4)], options=options),
    ):
        assert plan.trajectory is not None, plan.message
        assert len(plan.trajectory.times) <= MOST_KNOTS + 100
        limits = JointLimits.of(embedded.robot, scaling)
        assert limits.slowdown(plan.trajectory) <= 1.0 + 1e-6


TOO_LARGE: dict[str, Callable[[EmbeddedPlanner], object]] = {
    "waypoints": lambda p: p.plan_waypoints(HOME, circle(MOST_WAYPOINTS + 1)),
    "lines": lambda p: p.plan_cartesian(HOME, circle(MOST_WAYPOINTS + 1)),
    "goals": lambda p: p.plan_to_pose(HOME, circle(MOST_WAYPOINTS + 1)),
    "length": lambda p: p.plan_cartesian(HOME, [down(60.0, 0, 0.3)]),
    "distance": lambda p: p.plan_to_pose(HOME, down(1e300, 0, 0.3)),
    "attempts": lambda p: IkOptions(attempts=MOST_ATTEMPTS + 1),
    "targets": lambda p: p.inverse_kinematics_batch([down(0.5, 0, 0.3)] * (MOST_TARGETS + 1)),
    "time": lambda p: PlanOptions(allowed_planning_time=2 * LONGEST_PLANNING_TIME),
    "shortcuts": lambda p: PlanOptions(smoothing=10**9),
    "seed": lambda p: PlanOptions(seed=-1),
    "speed": lambda p: PlanOptions(max_velocity_scaling_factor=1e-9),
    "objects": lambda p: clutter(p, MOST_OBJECTS + 1),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_larger_ones_are_refused_with_the_limit(embedded: EmbeddedPlanner, name: str) -> None:
    with pytest.raises(MotionError, match=r"at (most|least)|within|not below") as refused:
        TOO_LARGE[name](embedded)
    assert len(str(refused.value)) < 300
