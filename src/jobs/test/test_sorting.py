# SPDX-License-Identifier: Apache-2.0
"""What is sorted, what to fetch next, what is missing; where to drop and to insert things."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from behavior_executor.scene_view import SceneSnapshot, SeenObject
from behavior_jobs.insertion import insertion_pose
from behavior_jobs.sorting import SortObserver, containers_from
from behavior_jobs.sorting_nodes import DropPose, ObserveSorting
from behavior_jobs.tower_nodes import ObserveTower
from behavior_tree import BehaviorTreeFactory, NodeStatus

TRAYS = {"red_ball": "red_tray", "blue_ball": "blue_tray"}


def ball(name: str, x: float, y: float, z: float = 0.025, **changes: object) -> SeenObject:
    kind = name.rpartition("_")[0]
    return SeenObject(name, x, y, z, size=(0.05,) * 3, class_id=kind, **changes)


def tray(name: str, x: float, y: float, yaw: float = 0.0) -> SeenObject:
    return SeenObject(name, x, y, 0.025, size=(0.26, 0.18, 0.05), class_id=name, yaw=yaw)


def scene(*balls: SeenObject) -> SceneSnapshot:
    things = [tray("red_tray", 0.45, 0.36), tray("blue_tray", 0.45, -0.36), *balls]
    return SceneSnapshot(objects={obj.name: obj for obj in things})


def test_balls_are_fetched_sorted_and_done() -> None:
    observer = SortObserver(TRAYS)
    seen = observer.update(scene(ball("red_ball_0", 0.4, 0.1), ball("blue_ball_0", 0.4, 0.0)), 0.0)
    assert seen.waiting == ("red_ball_0", "blue_ball_0"), "the nearest to its tray comes first"
    assert (seen.progress, seen.complete, seen.given_up) == (0.0, False, False)
    held = ball("red_ball_0", 0.4, 0.2, 0.2, held=True)
    seen = observer.update(scene(held, ball("blue_ball_0", 0.4, 0.0)), 1.0)
    assert (seen.held, seen.held_class, seen.waiting) == (
        "red_ball_0",
        "red_ball",
        ("blue_ball_0",),
    )
    falling = ball("red_ball_0", 0.45, 0.36, 0.12)
    seen = observer.update(scene(falling, ball("blue_ball_0", 0.4, 0.0)), 2.0)
    assert (seen.sorted, seen.progress) == (("red_ball_0",), 0.5)
    both = scene(ball("red_ball_0", 0.45, 0.36, 0.035), ball("blue_ball_0", 0.5, -0.4, 0.035))
    seen = observer.update(both, 3.0)
    assert seen.complete
    assert seen.summary() == "2 sorted, 0 to fetch"


def test_a_ball_in_the_wrong_tray_waits() -> None:
    observer = SortObserver(TRAYS)
    assert observer.update(scene(ball("red_ball_0", 0.45, -0.36)), 0.0).waiting == ("red_ball_0",)


def test_a_turned_tray_contains_what_lies_in_it() -> None:
    lying = ball("red_ball_0", 0.45, 0.36 + 0.12)
    for yaw, there in ((0.0, False), (math.pi / 2, True)):
        things = {"red_tray": tray("red_tray", 0.45, 0.36, yaw), lying.name: lying}
        seen = SortObserver(TRAYS).update(SceneSnapshot(objects=things), 0.0)
        assert bool(seen.sorted) is there


def test_missing_balls_are_waited_for_but_not_for_ever() -> None:
    observer = SortObserver(TRAYS, wait_for_missing=5.0)
    red, blue = ball("red_ball_0", 0.4, 0.1), ball("blue_ball_0", 0.45, -0.36)
    assert observer.update(scene(red, blue), 0.0).waiting == ("red_ball_0",)
    stale = observer.update(scene(ball("red_ball_0", 0.4, 0.1, stale=True), blue), 1.0)
    assert (stale.waiting, stale.missing, stale.given_up) == ((), ("red_ball_0",), False)
    lost = observer.update(scene(blue), 5.9)
    assert (lost.missing, lost.given_up, lost.complete) == (("red_ball_0",), False, False)
    back = observer.update(scene(ball("red_ball_0", 0.6, 0.0), blue), 5.95)
    assert back.waiting == ("red_ball_0",)
    assert not observer.update(scene(blue), 7.0).given_up, "waiting begins anew"
    assert observer.update(scene(blue), 12.1).given_up


def test_a_clock_that_is_set_back_does_not_make_it_wait_for_missing_balls_until_then() -> None:
    observer = SortObserver(TRAYS, wait_for_missing=5.0)
    blue = ball("blue_ball_0", 0.45, -0.36)
    observer.update(scene(ball("red_ball_0", 0.4, 0.1), blue), 300.0)
    assert not observer.update(scene(blue), 301.0).given_up
    assert not observer.update(scene(blue), 1.0).given_up
    assert not observer.update(scene(blue), 5.9).given_up
    assert observer.update(scene(blue), 6.1).given_up


def test_a_sorted_ball_that_is_out_of_sight_stays_sorted() -> None:
    observer = SortObserver(TRAYS)
    observer.update(scene(ball("red_ball_0", 0.45, 0.36)), 0.0)
    seen = observer.update(scene(), 9.0)
    assert (seen.sorted, seen.missing, seen.complete) == (("red_ball_0",), (), True)


def test_a_sorted_ball_stays_sorted_while_its_tray_is_out_of_sight() -> None:
    observer = SortObserver(TRAYS)
    balls = ball("red_ball_0", 0.45, 0.36, 0.035), ball("red_ball_1", 0.4, 0.1)
    observer.update(scene(*balls), 0.0)
    without = SceneSnapshot(objects={each.name: each for each in balls})
    seen = observer.update(without, 1.0)
    assert (seen.sorted, seen.waiting) == (("red_ball_0",), ("red_ball_1",))


def test_crowded_balls_and_the_one_to_avoid_come_last() -> None:
    near = [ball("red_ball_0", 0.4, 0.16), ball("red_ball_1", 0.4, 0.10)]
    far, farther = ball("red_ball_2", 0.4, -0.1), ball("blue_ball_0", 0.6, 0.16)
    seen = SortObserver(TRAYS).update(scene(*near, far, farther), 0.0)
    assert seen.waiting == ("red_ball_2", "blue_ball_0", "red_ball_0", "red_ball_1")
    seen = SortObserver(TRAYS).update(scene(*near, far, farther), 0.0, avoid="red_ball_2")
    assert seen.waiting[-1] == "red_ball_2"


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), max_size=30))
def test_every_known_ball_is_in_exactly_one_state(moves: list[tuple[int, bool, bool]]) -> None:
    observer, now = SortObserver(TRAYS), 0.0
    placed = {f"red_ball_{i}": ball(f"red_ball_{i}", 0.3 + 0.1 * i, 0.0) for i in range(4)}
    gone: set[str] = set()
    for index, inside, vanish in moves:
        now += 0.1
        name = f"red_ball_{index}"
        placed[name] = ball(name, 0.45 if inside else 0.3, 0.36 if inside else 0.0)
        gone = gone | {name} if vanish else gone - {name}
        seen = observer.update(scene(*(b for n, b in placed.items() if n not in gone)), now)
        parts = [*seen.sorted, *seen.waiting, *seen.missing]
        assert len(parts) == len(set(parts))
        assert 0.0 <= seen.progress <= 1.0


@pytest.mark.parametrize(
    ("pairs", "words"),
    [(["red_ball"], "class:container"), (["a:b", "a:c"], "named twice"), ([":b"], "class:contain")],
)
def test_malformed_containers_are_named(pairs: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        containers_from(pairs)


class Looker:
    """A scene for nodes."""

    def __init__(self, snapshot: SceneSnapshot | None) -> None:
        self.snapshot, self.now, self.rng = snapshot, 0.0, random.Random(0)


def test_times_that_are_edited_while_a_tree_runs_count() -> None:
    factory = BehaviorTreeFactory()
    looker = Looker(scene(ball("red_ball_0", 0.4, 0.1)))
    for node_class in (ObserveSorting, ObserveTower):
        factory.register_node_type(node_class, node_class.__name__, looker)
    tree = factory.create_tree_from_text(
        """<root BTCPP_format="4"><BehaviorTree ID="M"><Parallel>
        <ObserveSorting containers="red_ball:red_tray" finished="{finished}"/>
        <ObserveTower order="red_ball_0" position="0.4;0.1" settled="{settled}"
          settle_time="9.0"/>
        </Parallel></BehaviorTree></root>"""
    )
    sorting, tower = tree.root_node().children
    tree.tick_once()
    looker.now = 1.0
    sorting.set_port("wait_for_missing", "2.0")
    tower.set_port("settle_time", "0.5")
    looker.snapshot = scene()
    tree.tick_once()
    looker.now = 4.0
    tree.tick_once()
    board = tree.root_blackboard()
    assert (board.get("finished"), board.get("settled")) == (True, True)


def test_things_are_dropped_where_little_lies() -> None:
    factory = BehaviorTreeFactory()
    inside = ball("red_ball_1", 0.45, 0.36)
    looker = Looker(scene(ball("red_ball_0", 0.4, 0.2, 0.2, held=True), inside))
    factory.register_node_type(DropPose, "DropPose", looker)
    tree = factory.create_tree_from_text(
        """<root BTCPP_format="4"><BehaviorTree ID="M">
        <DropPose container="red_tray" object_name="red_ball_0" clearance="0.02" poses="{poses}"/>
        </BehaviorTree></root>"""
    )
    assert tree.tick_once() is NodeStatus.SUCCESS
    (pose,) = tree.root_blackboard().get("poses")
    position = pose.pose.position
    assert position.y == pytest.approx(0.36)
    assert abs(position.x - 0.45) == pytest.approx(0.3 * 0.26)
    assert position.z == pytest.approx(0.05 + 0.02 + 0.025)
    q = pose.pose.orientation
    turn = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    outward = np.array([position.x, position.y, 0.0]) / math.hypot(position.x, position.y)
    assert turn[:, 2] == pytest.approx([0.0, 0.0, -1.0], abs=1e-9)
    assert turn[:, 0] == pytest.approx(outward, abs=1e-9)
    looker.snapshot = None
    assert tree.tick_once() is NodeStatus.FAILURE


@given(st.integers(0, 2**32 - 1))
def test_insertion_brings_the_object_in_along_the_tools_approach(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def any_pose() -> np.ndarray:
        pose = np.eye(4)
        pose[:3, 3] = rng.uniform(-1, 1, 3)
        pose[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        return pose

    target, grasp = any_pose(), any_pose()
    back, roll = rng.uniform(-0.2, 0.2), rng.uniform(-4, 4)
    tool = insertion_pose(target, grasp, back=back, roll=roll)
    held = tool @ np.linalg.inv(grasp)
    assert held[:3, 3] == pytest.approx(target[:3, 3] - back * target[:3, 0], abs=1e-9)
    assert np.linalg.det(tool[:3, :3]) == pytest.approx(1.0)
    # One of the object's axes points into the slot, and it is the one nearest to the approach.
    along = held[:3, :3].T @ target[:3, 0]
    assert np.sort(np.abs(along)) == pytest.approx([0.0, 0.0, 1.0], abs=1e-7)
    approach = np.abs(grasp[:3, :3] @ [0.0, 0.0, 1.0])
    assert np.argmax(np.abs(along)) == np.argmax(approach)
    assert tool[:3, 2] @ target[:3, 0] == pytest.approx(approach.max(), abs=1e-7)


def test_an_object_that_is_held_straight_leaves_the_roll_to_the_caller() -> None:
    grasp = np.eye(4)
    grasp[:3, :3] = Rotation.from_euler("zx", [0.7, np.pi]).as_matrix()
    for roll in (0.0, 0.5):
        tool = insertion_pose(np.eye(4), grasp, back=0.0, roll=roll)
        assert tool[:3, 2] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
        assert tool[:3, 0] == pytest.approx([0.0, np.sin(roll), np.cos(roll)], abs=1e-9)
