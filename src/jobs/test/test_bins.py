# SPDX-License-Identifier: Apache-2.0
"""The bin pallet in numbers: places, grasps, aim, funnel, obstacles and the choice of a bin."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from behavior_executor.scene_view import SceneBody
from behavior_jobs.bins import (
    PRESETS,
    ActiveBin,
    BinFloor,
    BinSight,
    BinWatch,
    PlaceAim,
    RetryFunnel,
    bin_below,
    clears_station,
    levelled,
    on_opposite_sides,
    opening_up,
    pallet_places,
    turned,
    with_the_base,
)
from behavior_jobs.bins_nodes import AimAtBin
from behavior_jobs.poses import rotation_gap
from behavior_motion import ApproachParams
from behavior_ros import pose_to_matrix
from behavior_tree import BehaviorTreeFactory, NodeStatus

UP, DOWN = np.eye(3), np.diag([1.0, -1.0, -1.0])
FLOOR = BinFloor()


def pose(x: float, y: float, z: float, rotation: np.ndarray = UP) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation, (x, y, z)
    return result


def off(place: np.ndarray, x: float = 0.0, z: float = 0.0) -> np.ndarray:
    return place + np.array([x, 0.0, z])


def body(name: str, where: np.ndarray, link: str = "") -> tuple[str, SceneBody]:
    return name, SceneBody(name, where, None, 0.0, attached_link=link)


def tilted(degrees: float) -> np.ndarray:
    """A bin whose opening leans that far from the vertical."""
    return Rotation.from_euler("x", degrees, degrees=True).as_matrix()


class Watching:
    """Monitors, and a tool that is somewhere."""

    def __init__(self, **given: object) -> None:
        self.watch = BinWatch(FLOOR, pallet_places(), **given)
        self.tool = pose(0.16, 0.69, 0.49, DOWN)
        self.now = 0.0

    def look(self, *bins: tuple[str, SceneBody], suction: bool = False, **given: object):
        self.now += 0.05
        return self.watch.look(dict(bins), self.tool, suction=suction, now=self.now, **given)


def test_the_36_places() -> None:
    places = pallet_places()
    assert len(places) == 36
    assert places[0] == pytest.approx([1.05, -0.62, -0.51874])
    for i in (1, 2):
        assert places[i][1:] == pytest.approx(places[0][1:])
    assert [places[i][0] for i in range(3)] == [1.05, 0.84, 0.63]
    assert places[3] == pytest.approx([1.05, -0.31, -0.51874])
    assert places[9] == pytest.approx([1.05, -0.62, -0.38374])
    assert sorted({round(p[2], 5) for p in places}) == [-0.51874, -0.38374, -0.24874, -0.11374]


def test_small_pallet() -> None:
    assert len(pallet_places((1.05, 0.84), (-0.62, -0.31), 3)) == 12


def test_presets() -> None:
    now, then = PRESETS["isaac_6"], PRESETS["legacy_2022"]
    assert (now.pick_wait, now.lift_time, now.place_approach) == (1.0, 0.1, 0.35)
    assert (now.place_capped, now.release_within) == (True, 0.15)
    assert (then.pick_wait, then.lift_time, then.place_approach) == (0.5, 0.4, 0.15)
    assert (then.place_capped, then.release_time) == (False, 0.65)


@pytest.mark.parametrize("yaw", [0.3, 1.2, 2.5, -0.4, -2.9])
def test_grasp_of_an_open_bin_sucks_down_into_it(yaw: float) -> None:
    rotation = Rotation.from_euler("z", yaw).as_matrix()
    grasp = FLOOR.grasp(pose(0.0, 0.45, -0.3765, rotation), opening_up=True)
    assert grasp[:3, 3] == pytest.approx([0.0, 0.45, -0.435])
    assert grasp[:3, 2] == pytest.approx([0.0, 0.0, -1.0])
    assert np.linalg.det(grasp[:3, :3]) == pytest.approx(1.0)
    # Its -x is one of the bin's, the one whose y is not negative.
    assert -grasp[1, 0] >= 0.0
    assert abs(grasp[:3, 0] @ rotation[:, 0]) == pytest.approx(1.0)


def test_grasp_of_a_turned_bin_sucks_down_onto_it() -> None:
    grasp = FLOOR.grasp(pose(0.0, 0.45, -0.3765, DOWN), opening_up=False)
    assert grasp[:3, 2] == pytest.approx([0.0, 0.0, -1.0])
    assert grasp[2, 3] == pytest.approx(-0.3765 + 0.066 + 0.0075)


def test_what_stands_is_level() -> None:
    for upright, sign in ((UP, 1.0), (DOWN, -1.0)):
        noisy = pose(
            0.1, 0.2, 0.3, Rotation.from_euler("xyz", [0.04, -0.04, 1.0]).as_matrix() @ upright
        )
        level = levelled(noisy)
        assert level[:3, 2] == pytest.approx([0.0, 0.0, sign])
        assert np.linalg.det(level[:3, :3]) == pytest.approx(1.0)
        assert level[:3, 0] @ noisy[:3, 0] > 0.99
        assert level[:3, 3] == pytest.approx(noisy[:3, 3])
    for degrees in (5, 20):  # at the end of the belt
        leaning = pose(0.0, 0.0, 0.0, tilted(degrees))
        assert levelled(leaning) is leaning


def test_of_two_grasps_the_nearer_one() -> None:
    target = FLOOR.grasp(pose(0.0, 0.45, -0.3765), opening_up=True)
    half = target @ np.diag([-1.0, -1.0, 1.0, 1.0])
    assert turned(target, target) == pytest.approx(target)
    assert turned(target, half) == pytest.approx(half)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", range(-180, 180, 20))
def test_from_the_grasp_to_the_pallet_the_tool_turns_as_the_base_does(degrees: int) -> None:
    lies = pose(0.0, 0.45, -0.3765, Rotation.from_euler("z", degrees, degrees=True).as_matrix())
    for up, way in ((True, lies), (False, lies @ pose(0, 0, 0, DOWN))):
        grasp = FLOOR.grasp(way, opening_up=up)
        ahead = with_the_base(grasp)
        assert (
            min(rotation_gap(ahead[:3, :3], g[:3, :3]) for g in (grasp, turned(grasp, -grasp)))
            < 1e-6
        )
        place = PlaceAim(pallet_places()[0]).pose()
        turn = Rotation.from_matrix(place[:3, :3] @ ahead[:3, :3].T).as_rotvec()
        assert turn[:2] == pytest.approx([0.0, 0.0], abs=1e-6)
        assert -math.radians(158) < turn[2] < math.radians(24)


def test_the_next_bin_is_gripped_as_suits_it_however_the_last_one_was() -> None:
    factory = BehaviorTreeFactory()
    factory.register_node_type(AimAtBin, "AimAtBin")
    tree = factory.create_tree_from_text(
        """<root BTCPP_format="4"><BehaviorTree ID="T">
        <AimAtBin sight="{sight}" pose="{pose}"/></BehaviorTree></root>"""
    )

    def aim(name: str, degrees: float) -> float:
        turn = Rotation.from_euler("z", degrees, degrees=True).as_matrix()
        grasp = FLOOR.grasp(pose(0.0, 0.45, -0.3765, turn @ DOWN), opening_up=False)
        tree.root_blackboard().set("sight", BinSight(ActiveBin(name, grasp, needs_flip=False)))
        assert tree.tick_once() is NodeStatus.SUCCESS
        axis = pose_to_matrix(tree.root_blackboard().get("pose").pose)[:2, 0]
        return math.degrees(math.atan2(axis[1], axis[0]))

    for number in range(0, 360, 20):  # each a bin of its own where the last one lay
        assert -23.0 <= aim(f"bin_{number}", number) < 157.0
    for degrees in range(150, 170, 5):  # one that turns while it is aimed at
        assert aim("bin", degrees) == pytest.approx(degrees, abs=0.1)
    assert aim("bin", 180) == pytest.approx(0.0, abs=0.1), "as it came to rest it turned too far"


def test_rotation_gap_is_that_of_the_reference() -> None:
    turn = Rotation.from_euler("z", 1.215, degrees=True).as_matrix()
    assert rotation_gap(np.eye(3), turn) == pytest.approx(0.01, rel=1e-3)
    assert rotation_gap(np.eye(3), DOWN) == pytest.approx(2.828 / 3, rel=1e-3)


def test_opening_with_hysteresis() -> None:
    assert opening_up(pose(0, 0, 0, tilted(0))) is True
    assert opening_up(pose(0, 0, 0, tilted(180))) is False
    assert opening_up(pose(0, 0, 0, tilted(90))) is None
    assert opening_up(pose(0, 0, 0, tilted(80))) is None  # cos 80 deg = 0.17
    assert opening_up(pose(0, 0, 0, tilted(75))) is True
    assert opening_up(pose(0, 0, 0, tilted(100)), before=True) is True
    assert opening_up(pose(0, 0, 0, tilted(105)), before=True) is False


# ------------------------------------------------------------------------------- T2.5, T2.6


def test_aim_moves_by_a_tenth_and_converges() -> None:
    place = pallet_places()[9]
    aim, before = PlaceAim(place), place.copy()
    under = off(place, x=0.008)
    aim.adjust(aim.position, held=aim.position, under=under)
    assert aim.position - place == pytest.approx([0.0008, 0.0, 0.0])
    # Half of it is left after 6.6 looks.
    for _ in range(6):
        aim.adjust(aim.position, held=aim.position, under=under)
    assert math.dist(aim.position, under) == pytest.approx(0.008 * 0.9**7)
    for _ in range(60):
        aim.adjust(aim.position, held=aim.position, under=under)
    assert math.dist(aim.position, under) < 2e-5
    assert place == pytest.approx(before, abs=0.0)  # the pallet's own place has not moved


def test_aim_leaves_alone_what_is_out_of_place_and_counts_it() -> None:
    place = pallet_places()[9]
    aim = PlaceAim(place)
    far, near = off(place, z=0.2), off(place, z=0.01)
    under = off(place, x=0.025)
    aim.adjust(far, held=far, under=under)
    assert aim.too_far == 0  # on its way: it may only be far from it still
    aim.adjust(near, held=near, under=under)
    assert aim.too_far == 1
    assert aim.position == pytest.approx(place)
    aim.adjust(near, held=near, under=place)
    assert aim.too_far == 0


def test_a_bin_that_was_gripped_beside_its_middle_comes_over_the_one_below_all_the_same() -> None:
    place = pallet_places()[9]
    aim, under = PlaceAim(place), off(place, x=0.006)
    for _ in range(80):
        aim.adjust(aim.position, held=off(aim.position, x=-0.018), under=under)
    assert math.dist(off(aim.position, x=-0.018), under) < 1e-4
    assert aim.too_far == 0
    aim.adjust(aim.position, held=off(aim.position, x=-0.05), under=under)
    assert aim.too_far == 1


def test_pushed_aside_it_is_sent_up_again() -> None:
    place = pallet_places()[0]
    target = PlaceAim(place).pose()
    pushed = target.copy()
    pushed[0, 3] += 0.010
    approach = ApproachParams(np.array([0.0, 0.0, -0.15]), 0.005)
    assert approach.shifted(pushed, target)[2, 3] - place[2] == pytest.approx(0.1297, abs=1e-4)


def test_the_cap_alone_hardly_retries_and_the_retry_phase_does() -> None:
    place = pallet_places()[0]
    target = PlaceAim(place).pose()
    funnel = RetryFunnel(0.35)

    def shift(x: float, z: float) -> float:
        tool = target.copy()
        tool[:3, 3] += (x, 0.0, z)
        length = funnel.stand_off(tool, target)
        return float(
            ApproachParams(np.array([0.0, 0.0, -length]), 0.005).shifted(tool, target)[2, 3]
            - place[2]
        )

    assert funnel.stand_off(pose(0.0, 0.0, 0.0), target) == 0.35
    capped = RetryFunnel(0.35)
    tool = target.copy()
    tool[:3, 3] += (0.010, 0.0, math.sqrt(0.012**2 - 0.010**2))
    length = capped.stand_off(tool, target)
    assert length == pytest.approx(0.012)
    assert length * (1.0 - math.exp(-2.0)) == pytest.approx(0.0104, abs=1e-4)
    # On the axis it comes down; then it is pushed aside, which begins the retry phase.
    assert shift(0.0, 0.02) == pytest.approx(0.0)
    assert shift(0.010, 0.003) == pytest.approx(0.1297, abs=1e-4)
    assert funnel.pushes == 1
    assert funnel.feels
    # Still aside it is the same push; after another way down it is another one.
    shift(0.010, 0.05)
    assert funnel.pushes == 1
    shift(0.0, 0.1)
    assert not funnel.feels  # up again, it comes in anew
    shift(0.0, 0.01)
    shift(0.008, 0.01)
    assert funnel.pushes == 2


def test_legacy_stand_off_is_not_capped() -> None:
    place = pallet_places()[0]
    target = PlaceAim(place).pose()
    assert RetryFunnel(0.15, capped=False).stand_off(target, target) == 0.15


# ------------------------------------------------------------------------------- T2.8


def test_navigation_obstacles_between_the_sides() -> None:
    assert on_opposite_sides(np.array([0.0, 0.8]), np.array([0.8, 0.0]))
    assert not on_opposite_sides(np.array([0.0, 0.8]), np.array([0.2, 0.5]))
    assert not on_opposite_sides(np.array([0.8, 0.0]), np.array([1.05, -0.62]))


def test_flip_station_is_passed_on_the_axis_only() -> None:
    target = pose(0.79, 0.74, 0.215, DOWN)

    def at(x: float, z: float, rotation: np.ndarray = DOWN) -> bool:
        tool = target.copy()
        tool[:3, 3] += (x, 0.0, z)
        tool[:3, :3] = rotation
        return clears_station(tool, target)

    assert at(0.0, 0.1)
    assert at(0.02, 0.0)
    assert not at(0.04, 0.1)  # beside
    assert not at(0.0, -0.03)  # below, which is beyond
    assert not at(0.0, 0.1, np.eye(3))  # looks the other way


# ------------------------------------------------------------------------------- B1 to B4


def test_of_two_bins_the_one_further_on() -> None:
    watching = Watching()
    sight = watching.look(body("bin_0", pose(0, 0.6, -0.38)), body("bin_1", pose(0, 0.5, -0.38)))
    assert sight.active is not None
    assert sight.active.name == "bin_1"
    # It stays the one that is dealt with.
    sight = watching.look(body("bin_0", pose(0, 0.3, -0.38)), body("bin_1", pose(0, 0.5, -0.38)))
    assert sight.active is not None
    assert sight.active.name == "bin_1"


@pytest.mark.parametrize("where", [(0.0, 0.7), (0.4, 0.5), (-0.4, 0.5), (0.0, 0.0)])
def test_the_region_is_open(where: tuple[float, float]) -> None:
    assert Watching().look(body("bin_0", pose(*where, -0.38))).active is None


def test_reached_attached_and_flip() -> None:
    watching = Watching()
    where = pose(0.0, 0.45, -0.3765)
    grasp = FLOOR.grasp(where, opening_up=True)

    def look(offset: float, *, suction: bool, since: float = 0.0) -> ActiveBin:
        then = grasp.copy()
        then[0, 3] += offset
        watching.tool = then.copy()
        watching.tool[0, 3] += since
        sight = watching.look(body("bin_0", where, "gripper"), suction=suction, tool_then=then)
        active = sight.active
        assert active is not None
        return active

    assert not look(0.02, suction=False).is_grasp_reached
    assert look(0.009, suction=False).is_grasp_reached
    assert not look(0.0, suction=False).is_attached
    assert look(0.09, suction=True).is_attached
    # The snapshot of what is carried fast is older than the tool's newest pose.
    assert look(0.09, suction=True, since=0.3).is_attached
    assert watching.watch.losses == 0
    # What is said to be carried may be as new as the tool's newest pose, or in between.
    assert look(-0.3, suction=True, since=0.3).is_attached
    assert look(-0.15, suction=True, since=0.3).is_attached
    assert watching.watch.losses == 0
    # Elsewhere for a moment it is seen late; for longer, it has come off.
    assert look(0.11, suction=True).is_attached
    assert look(0.0, suction=True).is_attached
    assert [look(0.11, suction=True).is_attached for _ in range(11)][-2:] == [True, False]
    assert watching.watch.losses == 1


def test_only_bins_that_are_lost_one_after_the_other_are_counted() -> None:
    watching = Watching()
    where = pose(0.0, 0.45, -0.3765)
    watching.tool = FLOOR.grasp(where, opening_up=True)

    def suck(*vacuum: bool) -> int:
        for suction in vacuum:
            watching.look(body("bin_0", where), suction=suction)
        return watching.watch.losses

    # A cup that comes off sucks on again at once, maybe several times: that is one bin lost.
    assert suck(True, False, True, False, True) == 1
    watching.now += 5.0
    assert suck(True, False) == 2
    watching.now += 5.0
    suck(True)
    watching.watch.letting_go()
    assert suck(False) == 0


def test_a_bin_stays_to_be_flipped_while_the_arm_turns_it() -> None:
    watching = Watching()
    where = pose(0.0, 0.45, -0.3765)
    watching.tool = FLOOR.grasp(where, opening_up=True)
    in_tool = np.linalg.inv(watching.tool) @ where
    for degrees in range(0, 181, 15):
        watching.tool[:3, :3] = tilted(180 - degrees)
        where = watching.tool @ in_tool
        active = watching.look(body("bin_0", where, "gripper"), suction=True).active
        assert active is not None
        assert active.is_attached
        assert active.needs_flip
    # Let go upside down it is one that can be placed.
    active = watching.look(body("bin_0", where), suction=False).active
    assert active is not None
    assert not active.needs_flip


def test_a_bin_that_has_fallen_over_is_given_up_for_the_next() -> None:
    watching = Watching()
    other = body("bin_1", pose(0.1, 0.6, -0.3765, DOWN))
    assert watching.look(body("bin_0", pose(0.0, 0.45, -0.3765)), other).active.name == "bin_0"
    assert watching.look(body("bin_0", pose(0.0, 0.45, -0.3, tilted(60))), other).active.needs_flip
    sight = watching.look(body("bin_0", pose(0.0, 0.45, -0.2, tilted(85))), other)
    assert sight.active is None, "it is looked for another"
    sight = watching.look(body("bin_0", pose(0.0, 0.45, -0.2, tilted(90))), other)
    assert sight.active.name == "bin_1"
    assert sight.sideways == ("bin_0",)


def test_fallen_far_and_sideways_bins_are_left_alone() -> None:
    watching = Watching()
    sight = watching.look(body("bin_0", pose(0, 0.5, -0.38, tilted(90))))
    assert sight.active is None
    assert sight.sideways == ("bin_0",)
    assert "bin_0 on its side" in sight.trouble()
    sight = watching.look(
        body("bin_0", pose(0, 0.5, -0.38, tilted(90))), body("bin_1", pose(0, 0.6, -0.38))
    )
    assert sight.active is not None
    assert sight.active.name == "bin_1"
    assert watching.look(body("bin_1", pose(0, 0.6, -1.01))).active is None
    watching.look(body("bin_2", pose(0, 0.6, -0.38)))
    assert watching.look(body("bin_2", pose(0, 1.31, -0.38))).active is None


def test_a_bin_that_is_not_seen_any_more_is_given_up() -> None:
    watching = Watching(patience=3.0)
    seen = body("bin_0", pose(0, 0.5, -0.38))
    watching.look(seen)
    watching.now += 2.9
    assert watching.look(seen, stale=("bin_0",)).active is not None
    watching.now += 0.1
    sight = watching.look(seen, stale=("bin_0",))
    assert sight.active is None
    assert "not seen" in sight.trouble()
    assert watching.look(seen).active is not None


def test_a_clock_that_is_set_back_keeps_no_bin_and_hides_no_loss() -> None:
    watching = Watching(patience=3.0)
    seen = body("bin_0", pose(0, 0.5, -0.38))
    watching.now = 300.0
    watching.look(seen)
    watching.now = 0.0
    assert watching.look(seen, stale=("bin_0",)).active is not None
    watching.now += 3.1
    assert watching.look(seen, stale=("bin_0",)).active is None
    watching = Watching()
    where = pose(0.0, 0.45, -0.3765)
    watching.tool = FLOOR.grasp(where, opening_up=True)
    for now in (300.0, 5.0):
        watching.now = now
        for suction in (True, False):
            watching.look(body("bin_0", where), suction=suction)
    assert watching.watch.losses == 2


def test_a_bin_on_the_flip_station_comes_first() -> None:
    sight = Watching().look(
        body("bin_0", pose(0.79, 0.74, 0.14, DOWN)), body("bin_1", pose(0, 0.5, -0.38))
    )
    assert sight.active is not None
    assert sight.active.name == "bin_0"


def test_a_stacked_bin_that_has_left_its_place_is_not_stacked() -> None:
    watching = Watching()
    watch = watching.watch
    for number in (0, 1):
        watching.look(body(f"bin_{number}", pose(0, 0.5, -0.38, DOWN)))
        watch.placed()
    assert watch.stacked == {"bin_0": 0, "bin_1": 1}
    assert watch.next_place() == 2
    x, y, z = watch.places[0]
    pushed = body("bin_0", pose(x + 0.02, y, z - 0.07, DOWN))
    watching.look(pushed)
    assert watch.next_place() == 2
    watching.look(body("bin_0", pose(x + 0.3, y, -1.1, DOWN)))
    assert watch.stacked == {"bin_1": 1}
    assert watch.next_place() == 0


def test_what_comes_to_stand_on_the_pallet_is_stacked_by_whatever_name() -> None:
    watching = Watching()
    watch = watching.watch
    where = pose(*(watch.places[0] + [0.01, 0.0, -0.0735]), DOWN)
    watching.look(body("bin_3", where @ pose(0.0, 0.0, -0.2)))
    assert watch.stacked == {}
    watching.look(body("bin_3", where))
    assert watch.stacked == {"bin_3": 0}
    assert watch.next_place() == 1
    # The tracker calls it otherwise from now on; the old name was not seen for long.
    watching.look(body("bin_7", where))
    assert watch.stacked == {"bin_7": 0}


def test_what_was_on_the_pallet_and_is_not_seen_any_more_is_not_taken_over() -> None:
    watching = Watching()
    there = [
        body(f"bin_{n}", pose(*(watching.watch.places[n] + [0.0, 0.0, -0.0735]), DOWN))
        for n in (0, 1)
    ]
    watching.look(*there, stale=("bin_0",))
    assert watching.watch.stacked == {"bin_1": 1}


def test_the_bin_below_by_where_it_is() -> None:
    place = pallet_places()[9]
    bins = dict(
        [
            body("bin_0", pose(place[0] + 0.04, place[1], -0.59)),
            body("bin_1", pose(place[0] + 0.06, place[1], -0.59)),
        ]
    )
    below = bin_below(place, ["bin_0", "bin_1"], bins)
    assert below is not None
    assert below.name == "bin_0"
    assert bin_below(place, [], bins) is None
