# SPDX-License-Identifier: Apache-2.0
"""World, localizer, planners and tracker together, without ROS."""

import numpy as np
import pytest
from navigation_driver import Driver

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import load_navigation_world
from behavior_sim.navigation.localizer import Localization, LocalizationStatus
from behavior_sim.navigation.map_loader import LoadCode, Loaded
from behavior_sim.navigation.node import PARAMETERS
from behavior_sim.navigation.path_planner import Mode, Plan, Reason
from behavior_sim.navigation.system import (
    ENTITIES,
    Command,
    MapChanged,
    NavigationSystem,
    SpeedLimit,
)
from behavior_sim.navigation.tracker import Tracking, TrajectoryCode
from behavior_sim.navigation.world import UnknownName
from behavior_sim.worlds.resources import find_navigation_world

CONFIG = load_navigation_world(find_navigation_world("warehouse"))
BLOCKED = "door_west-w21"


def driver(**settings) -> Driver:
    return Driver(NavigationSystem(CONFIG, **settings))


@pytest.mark.slow
def test_two_goals_with_a_blocked_way_and_people_about():
    drives = driver()
    world = drives.system.world
    assert drives.go(Pose2D(8.5, 10.5))
    world.block("crate", Pose2D(15.0, 6.7), (4.0, 0.6))
    assert not drives.go(Pose2D(10.0, 1.5))
    last = drives.plans[-1]
    assert (last.reason, last.reroute) == (Reason.NO_PATH, True)
    assert drives.go(Pose2D(10.0, 1.5), avoid=(BLOCKED,))
    assert world.collisions == world.touches == 0
    assert world.distance > 45.0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_and_another_one_another():
    runs = []
    for seed in (3, 3, 4):
        drives = driver(seed=seed)
        track: list[tuple[float, ...]] = []
        drives.system.on(Command, lambda c, track=track: track.append((c.linear, c.angular)))
        assert drives.go(Pose2D(2.0, 8.0))
        runs.append(track)
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.slow
def test_commands_as_late_as_the_world_lets_them_be_do_not_make_the_robot_weave():
    lead = next(spec.default for spec in PARAMETERS if spec.name == "max_lead")
    lasted = []
    for late in (0.0, lead):
        drives = Driver(NavigationSystem(CONFIG), late=late)
        begun = drives.system.now
        assert drives.go(Pose2D(8.5, 5.5))
        lasted.append(drives.system.now - begun)
    assert lasted[1] < 1.1 * lasted[0]


@pytest.mark.slow
def test_a_lost_robot_drifts_until_a_reset_finds_it():
    drives = driver(seed=1)
    system, results = drives.system, []
    system.on(Localization, results.append)

    def off() -> float:
        return system.estimate.distance_to(system.world.robot.x, system.world.robot.y)

    assert drives.go(Pose2D(2.0, 5.5))
    assert results[-1].status is LocalizationStatus.GOOD
    assert results[-1].score > 0.8
    assert off() < 0.08
    system.localizer.lose(system.now, 2.0)
    drives.go(Pose2D(2.0, 10.5), limit=3.0)
    assert results[-1].status is LocalizationStatus.BAD
    assert results[-1].score < 0.3
    assert results[-1].deviation[0] > 0.4
    lost_by = off()
    system.reset_localization()
    drives.wait(0.5)
    assert results[-1].status is LocalizationStatus.UNKNOWN
    drives.wait(2.0)
    assert results[-1].status is LocalizationStatus.GOOD
    assert off() < max(0.08, lost_by)


@pytest.mark.slow
def test_no_reset_finds_the_robot_before_the_loss_is_over_or_outside_of_the_map():
    drives = driver()
    system = drives.system
    system.localizer.lose(system.now, 4.0)
    system.reset_localization()
    drives.wait(2.0)
    assert system.localizer.status is LocalizationStatus.BAD
    drives.wait(2.5)
    system.reset_localization()
    drives.wait(2.0)
    assert system.localizer.status is LocalizationStatus.GOOD
    system.localizer.use_map("east", CONFIG.tiles["east"])
    system.reset_localization()
    drives.wait(2.0)
    assert system.localizer.status is LocalizationStatus.BAD


@pytest.mark.slow
def test_a_tile_is_loaded_after_its_delay_and_the_robot_found_in_it():
    drives = driver(loading_delay=2.0)
    system = drives.system
    changed, ended = [], []
    system.on(MapChanged, changed.append)
    system.on(Loaded, ended.append)
    assert drives.go(Pose2D(16.0, 8.0))
    # The way goes on in the other tile, which is not loaded.
    assert not drives.go(Pose2D(25.5, 8.0), limit=8.0)
    assert drives.plans[-1].succeeded or drives.plans[-1].reason is Reason.NO_MAP
    assert system.world.robot.x < 19.5
    system.loader.load(system.now, 7, "east")
    drives.wait(1.8)
    assert not ended
    assert 0.8 < system.loader.progress(system.now) < 1.0
    drives.wait(0.3)
    assert (ended[0].request_id, ended[0].code) == (7, LoadCode.SUCCESS)
    assert changed[-1].tile == "east"
    assert system.localizer.status is LocalizationStatus.UNKNOWN
    system.reset_localization()
    drives.wait(2.0)
    assert drives.go(Pose2D(25.5, 8.0))
    assert system.world.collisions == 0


def test_loadings_fail_are_cancelled_and_replaced():
    drives = driver()
    system, ended = drives.system, []
    system.on(Loaded, ended.append)
    system.loader.fail_next("east", 1)
    system.loader.load(system.now, 1, "east")
    drives.wait(1.1)
    assert (ended[-1].code, system.loader.tile) == (LoadCode.LOADING_FAILED, "west")
    system.loader.load(system.now, 2, "east")
    assert system.loader.cancel(system.now).code is LoadCode.CANCELED
    assert system.loader.cancel(system.now) is None
    system.loader.load(system.now, 3, "west")
    assert system.loader.load(system.now, 4, "east").request_id == 3
    drives.wait(1.1)
    assert (ended[-1].request_id, system.loader.tile) == (4, "east")
    with pytest.raises(UnknownName, match="no tile 'north': choose among east, west"):
        system.loader.load(system.now, 5, "north")


@pytest.mark.slow
@pytest.mark.parametrize("reason", [reason for reason in Reason if reason])
def test_every_planner_failure_on_command(reason):
    drives = driver()
    drives.system.fail("planner", int(reason), 1.0)
    assert not drives.go(Pose2D(2.0, 4.0), limit=0.8)
    assert drives.plans[-1].reason is reason
    drives.wait(0.5)
    assert drives.go(Pose2D(2.0, 4.0), limit=20.0)


@pytest.mark.slow
@pytest.mark.parametrize("code", [code for code in TrajectoryCode if code])
def test_every_solver_status_on_command(code):
    drives = driver()
    told: list[Tracking] = []
    drives.system.on(Tracking, told.append)
    drives.system.fail("trajectory", int(code), 1.0)
    drives.go(Pose2D(2.0, 4.0), limit=0.8)
    assert told[-1].status is code
    drives.wait(0.5)
    assert drives.go(Pose2D(2.0, 4.0), limit=20.0)
    assert told[-1].status is TrajectoryCode.OK


def test_a_silent_route_planner():
    drives = driver()
    drives.system.fail("route", 1, 1.0)
    assert drives.system.request_route(None, Pose2D(2, 5), []) is None
    drives.wait(1.1)
    assert drives.system.request_route(None, Pose2D(2, 5), []) is not None


def test_what_is_switched_off_is_silent_and_the_robot_stands():
    outputs = {"localizer": Localization, "rpp": Plan, "sdm": SpeedLimit, "tp": Command}
    drives = driver()
    system = drives.system
    counts = dict.fromkeys(outputs, 0)

    def count(name: str) -> None:
        counts[name] += 1

    for name, event in outputs.items():
        system.on(event, lambda _, name=name: count(name))
    for name in ENTITIES:
        system.switch(name, False)
    drives.wait(1.0)
    assert set(counts.values()) == {0}
    for name in ENTITIES:
        system.switch(name, True)
    drives.wait(1.0)
    assert min(counts.values()) >= 4
    assert system.world.distance < 0.01


def test_without_the_evidence_grid_there_is_nothing_to_drive_by():
    drives = driver()
    drives.system.switch("egm", False)
    assert not drives.go(Pose2D(2.0, 4.0), limit=3.0)
    assert drives.plans[-1].reason is Reason.NO_MAP
    assert drives.system.world.distance < 0.3


@pytest.mark.slow
def test_idle_stops_the_robot_at_once():
    drives = driver()
    drives.go(Pose2D(2.0, 8.0), limit=3.0)
    assert drives.system.world.base.linear > 0.5
    drives.system.set_mode(Mode.IDLE)
    drives.wait(1.5)
    assert drives.system.world.base.linear == 0.0


@pytest.mark.slow
def test_a_reset_brings_the_start_back_but_not_the_time():
    drives = driver()
    system = drives.system
    system.world.block("crate", Pose2D(9.0, 5.5), (1.0, 1.0))
    assert drives.go(Pose2D(2.0, 6.0))
    system.loader.load(system.now, 1, "east")
    ended: list[Loaded] = []
    system.on(Loaded, ended.append)
    before = system.now
    system.reset(5)
    drives.wait(0.5)
    assert ended[0].code is LoadCode.CANCELED
    assert system.now > before
    assert system.world.obstacles == {}
    assert system.world.robot.distance_to(*CONFIG.start.pose[:2]) < 0.01
    assert system.loader.tile == "west"
    assert drives.go(Pose2D(2.0, 4.0))


@pytest.mark.slow
def test_a_walking_person_is_waited_for_and_not_run_into():
    drives = driver()
    world = drives.system.world
    world.people = {}
    for k in range(3):
        world.add_person(f"p{k}", Pose2D(1.0 + k, 9.0, -1.57 + 0.3 * k), 0.6)
    assert drives.go(Pose2D(2.0, 10.5), limit=200.0)
    assert world.collisions == 0
    assert np.isfinite(world.distance)
