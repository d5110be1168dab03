# SPDX-License-Identifier: Apache-2.0
"""Nav2's nodes on paths, goals, the robot's place, battery and odometry, by what its sources do."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from geometry_msgs.msg import Point, PoseStamped
from nav_msgs.msg import Odometry, Path
from sensor_msgs.msg import BatteryState

from behavior_navigation.nav2.tree_nodes import register_for
from behavior_navigation.nav2.tree_nodes.paths import end_of_stretch
from behavior_tree import BehaviorTreeFactory, NodeStatus, Tree


def pose(x: float, y: float = 0.0, frame: str = "map", yaw: float = 0.0) -> PoseStamped:
    made = PoseStamped()
    made.header.frame_id = frame
    made.pose.position = Point(x=x, y=y)
    made.pose.orientation.z, made.pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return made


def path(*places: tuple[float, float], frame: str = "map") -> Path:
    made = Path(poses=[pose(*place, frame="") for place in places])
    made.header.frame_id = frame
    return made


def xs(poses: Any) -> list[float]:
    return [each.pose.position.x for each in getattr(poses, "poses", poses)]


LINE = path(*((float(x), 0.0) for x in range(11)))
"""Straight on, 10 m."""


class Robot:
    """Is where it is put, and has sent what it is given."""

    def __init__(self) -> None:
        self.here: PoseStamped | None = pose(0.0)
        self.frames: dict[str, tuple[float, float]] = {"map": (0.0, 0.0)}
        """Where other frames are in the map [m]."""
        self.sent: dict[str, Any] = {}
        self.braking = 0.0

    def pose(self, frame: str, robot: str) -> PoseStamped | None:
        return self.here if frame in self.frames else None

    def position(self, frame: str, robot: str) -> tuple[float, float] | None:
        found = self.pose(frame, robot)
        return None if found is None else (found.pose.position.x, found.pose.position.y)

    def place(self, frame: str, given: PoseStamped) -> tuple[float, float] | None:
        origin = self.frames.get(given.header.frame_id)
        if origin is None:
            return None
        return origin[0] + given.pose.position.x, origin[1] + given.pose.position.y

    def acceleration(self) -> float:
        return self.braking

    def speed(self) -> float:
        return 0.0

    def newest(self, kind: Any, topic: str, *, latched: bool = False) -> Any:
        return self.sent.get(topic)


class Bench:
    """One node, its entries and a clock that is moved by hand."""

    def __init__(self, node: str, **entries: Any) -> None:
        self.now, self.robot = 100.0, Robot()
        factory = BehaviorTreeFactory(clock=lambda: self.now)
        register_for(factory, self.robot)  # type: ignore[arg-type]  # stands in for it
        self.tree: Tree = factory.create_tree_from_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="T">{node}</BehaviorTree></root>'
        )
        for key, value in entries.items():
            self.tree.root_blackboard().set(key, value)

    def tick(self) -> str:
        return self.tree.tick_exactly_once().name

    def why(self) -> str:
        return self.tree.root_node().failure_reason()

    def __getitem__(self, key: str) -> Any:
        return self.tree.root_blackboard().get(key)


# -- paths and goals -------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "x"), [(0, 0.0), (3, 3.0), (-1, 10.0), (-11, 0.0)])
def test_a_pose_of_a_path_has_the_paths_frame(index: int, x: float) -> None:
    bench = Bench(f"<GetPoseFromPath path='{{path}}' index='{index}' pose='{{pose}}'/>", path=LINE)
    assert bench.tick() == "SUCCESS"
    assert (bench["pose"].pose.position.x, bench["pose"].header.frame_id) == (x, "map")
    assert LINE.poses[index].header.frame_id == "", "the path stays as it is"


@pytest.mark.parametrize("index", [11, -12])
def test_a_pose_that_a_path_has_not(index: int) -> None:
    bench = Bench(f"<GetPoseFromPath path='{{path}}' index='{index}' pose='{{pose}}'/>", path=LINE)
    assert bench.tick() == "FAILURE"
    assert bench.why() == f"the path has 11 poses, and none of index {index}"


def test_paths_are_joined() -> None:
    node = "<ConcatenatePaths input_path1='{a}' input_path2='{b}' output_path='{both}'/>"
    bench = Bench(node, a=path((0, 0), (1, 0), frame="odom"), b=path((2, 0)))
    assert bench.tick() == "SUCCESS"
    assert (xs(bench["both"]), bench["both"].header.frame_id) == ([0.0, 1.0, 2.0], "odom")
    bench = Bench(node, a=Path(), b=path((2, 0)))
    assert bench.tick() == "SUCCESS"
    assert bench["both"].header.frame_id == "map"
    assert Bench(node, a=Path(), b=Path()).tick() == "FAILURE"


@pytest.mark.parametrize(("cut", "left"), [(0.0, 11), (2.5, 8), (3.0, 8), (100.0, 2)])
def test_a_path_is_cut_before_its_goal(cut: float, left: int) -> None:
    node = f"<TruncatePath input_path='{{path}}' distance='{cut}' output_path='{{short}}'/>"
    bench = Bench(node, path=LINE)
    assert bench.tick() == "SUCCESS"
    assert xs(bench["short"]) == [float(x) for x in range(left)]
    assert len(LINE.poses) == 11


def test_a_cut_path_looks_at_its_goal() -> None:
    corner = path((0, 0), (2, 0), (2, 2))
    node = "<TruncatePath input_path='{path}' distance='1.0' output_path='{short}'/>"
    bench = Bench(node, path=corner)
    assert bench.tick() == "SUCCESS"
    turn = bench["short"].poses[-1].pose.orientation
    assert 2 * math.atan2(turn.z, turn.w) == pytest.approx(math.pi / 2)
    bench = Bench(node, path=Path())
    assert bench.tick() == "SUCCESS"
    assert bench["short"].poses == []


def kinds_of_goals() -> list[Any]:
    """A list, and the message where it is installed."""
    import nav_msgs.msg

    kind = getattr(nav_msgs.msg, "Goals", None)
    return [list, *([] if kind is None else [lambda poses: kind(goals=poses)])]


@pytest.mark.parametrize("kind", kinds_of_goals())
def test_goals_stay_what_they_are(kind: Any) -> None:
    few = Bench(
        "<Sequence>"
        "<AppendGoalPoseToGoals goal_pose='{more}' input_goals='{goals}' output_goals='{all}'/>"
        "<GetNextFewGoals input_goals='{all}' num_goals='2' output_goals='{few}'/>"
        "</Sequence>",
        goals=kind([pose(1.0), pose(2.0)]),
        more=pose(3.0),
    )
    assert few.tick() == "SUCCESS"
    assert type(few["all"]) is type(few["few"]) is type(few["goals"])
    assert xs(getattr(few["all"], "goals", few["all"])) == [1.0, 2.0, 3.0]
    assert xs(getattr(few["few"], "goals", few["few"])) == [1.0, 2.0]
    none = Bench(
        "<GetNextFewGoals input_goals='{g}' num_goals='2' output_goals='{few}'/>", g=kind([])
    )
    assert none.tick() == "FAILURE"


def test_a_routes_nodes_become_goals() -> None:
    node = "<ExtractRouteNodesAsGoals route='{route}' goals='{goals}'/>"
    nodes = [SimpleNamespace(position=Point(x=float(x))) for x in (1, 2)]
    bench = Bench(node, route=SimpleNamespace(header=pose(0.0).header, nodes=nodes))
    assert bench.tick() == "SUCCESS"
    found = bench["goals"]
    poses = getattr(found, "goals", found)
    assert (xs(poses), poses[0].header.frame_id) == ([1.0, 2.0], "map")
    assert Bench(node, route=SimpleNamespace(header=None, nodes=[])).tick() == "FAILURE"


@pytest.mark.parametrize("kind", kinds_of_goals())
def test_goals_that_the_robot_has_passed_are_dropped_but_the_last(kind: Any) -> None:
    node = (
        "<RemovePassedGoals input_goals='{goals}' output_goals='{left}'"
        " input_waypoint_statuses='{waypoints}' output_waypoint_statuses='{told}'/>"
    )
    goals = [pose(0.3), pose(0.4), pose(3.0), pose(0.1)]
    waypoints = [
        SimpleNamespace(waypoint_status=0, waypoint_pose=each, PENDING=0, COMPLETED=1)
        for each in goals
    ]
    bench = Bench(node, goals=kind(goals), waypoints=waypoints)
    assert bench.tick() == "SUCCESS"
    assert xs(getattr(bench["left"], "goals", bench["left"])) == [3.0, 0.1]
    assert [each.waypoint_status for each in bench["told"]] == [1, 1, 0, 0]
    assert [each.waypoint_status for each in waypoints] == [0, 0, 0, 0]
    bench = Bench(node, goals=kind(goals[:1]), waypoints=waypoints)
    assert bench.tick() == "SUCCESS"
    assert xs(getattr(bench["left"], "goals", bench["left"])) == [0.3]
    bench = Bench(node, goals=kind(goals), waypoints=waypoints[2:])
    assert bench.tick() == "FAILURE"
    bench = Bench(node, goals=kind(goals), waypoints=waypoints)
    bench.robot.here = None
    assert (bench.tick(), bench.why()) == ("FAILURE", "where the robot is is not known")


def test_a_stretch_of_a_path_ends_behind_its_length() -> None:
    poses = LINE.poses
    assert end_of_stretch(poses, 0, 11, 2.5) == 3
    assert end_of_stretch(poses, 0, 11, 3.0) == 4
    assert end_of_stretch(poses, 9, 11, 5.0) == 11
    assert end_of_stretch(poses, 4, 4, 5.0) == 4


@pytest.mark.parametrize(
    ("ports", "x", "wanted"),
    [
        ("", 5.2, range(1, 11)),
        ("distance_forward='2' distance_backward='1'", 5.2, range(4, 8)),
        ("distance_forward='0' distance_backward='0'", 5.2, range(5, 6)),
        ("distance_forward='-1' distance_backward='0'", 5.2, range(5, 11)),
        ("distance_forward='2' distance_backward='9'", 0.0, range(3)),
    ],
)
def test_the_stretch_around_the_robot(ports: str, x: float, wanted: range) -> None:
    bench = Bench(
        f"<TruncatePathLocal input_path='{{path}}' {ports} output_path='{{near}}'/>", path=LINE
    )
    bench.robot.here = pose(x, 0.3)
    assert bench.tick() == "SUCCESS"
    assert xs(bench["near"]) == [float(i) for i in wanted]


def test_a_limited_search_does_not_jump_to_where_a_path_comes_back() -> None:
    there_and_back = path(*((float(x), 0.0) for x in (0, 1, 2, 3, 2, 1, 0)))
    node = (
        "<TruncatePathLocal input_path='{path}' pose='{pose}' distance_forward='1'"
        " distance_backward='0' max_robot_pose_search_dist='2' output_path='{near}'/>"
    )
    bench = Bench(node, path=there_and_back)
    seen = []
    for x in (0.0, 1.0, 2.0, 3.0, 2.0, 1.0):
        bench.tree.root_blackboard().set("pose", pose(x))
        assert bench.tick() == "SUCCESS"
        seen.append(xs(bench["near"]))
    assert seen == [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 2.0], [2.0, 1.0], [1.0, 0.0]]


def test_a_direction_counts_where_it_has_weight() -> None:
    turning = Path(poses=[pose(0.0, yaw=math.pi), pose(0.2, yaw=0.0)])
    turning.header.frame_id = "map"
    for weight, first in ((0.0, 0.0), (1.0, 0.2)):
        bench = Bench(
            "<TruncatePathLocal input_path='{path}' distance_forward='0' distance_backward='0'"
            f" angular_distance_weight='{weight}' output_path='{{near}}'/>",
            path=turning,
        )
        assert bench.tick() == "SUCCESS"
        assert xs(bench["near"])[:1] == [first]


# -- places ----------------------------------------------------------------------------------------


def test_the_robots_pose_is_written() -> None:
    bench = Bench("<GetCurrentPose current_pose='{here}'/>")
    assert bench.tick() == "SUCCESS"
    assert bench["here"] == pose(0.0)
    bench.robot.here = None
    assert bench.tick() == "FAILURE"


def test_a_goal_is_reached_within_a_quarter_metre() -> None:
    bench = Bench("<GoalReached goal='{goal}'/>", goal=pose(0.25))
    assert bench.tick() == "SUCCESS"
    bench.tree.root_blackboard().set("goal", pose(0.2, 0.2))
    assert (bench.tick(), bench.why()) == ("FAILURE", "the goal is 0.28 m away")
    bench.tree.root_blackboard().set("goal", pose(0.0, frame="nowhere"))
    assert bench.tick() == "FAILURE"


def test_a_goal_is_near_by_what_is_left_of_the_path() -> None:
    bench = Bench("<IsGoalNearby path='{path}' proximity_threshold='2.5'/>", path=LINE)
    for x, wanted in ((0.0, "FAILURE"), (7.4, "FAILURE"), (7.6, "SUCCESS"), (10.0, "SUCCESS")):
        bench.robot.here = pose(x)
        assert bench.tick() == wanted
    assert Bench("<IsGoalNearby path='{path}'/>", path=Path()).tick() == "FAILURE"


def test_poses_are_near_in_whatever_frames() -> None:
    node = "<ArePosesNear ref_pose='{a}' target_pose='{b}' tolerance='0.5'/>"
    assert Bench(node, a=pose(1.0, frame="odom"), b=pose(1.5, frame="odom")).tick() == "SUCCESS"
    assert Bench(node, a=pose(1.0), b=pose(1.6)).tick() == "FAILURE"
    bench = Bench(node, a=pose(1.0), b=pose(0.0, frame="odom"))
    assert (bench.tick(), bench.why()) == ("FAILURE", "a pose has no known place in map")
    bench.robot.frames["odom"] = (1.2, 0.0)
    assert bench.tick() == "SUCCESS"


def test_a_transform_that_was_there_once_counts_as_there() -> None:
    bench = Bench("<TransformAvailable child='odom' parent='map'/>")
    assert (bench.tick(), bench.why()) == ("FAILURE", "where odom is in map is not known")
    bench.robot.frames["odom"] = (0.0, 0.0)
    assert bench.tick() == "SUCCESS"
    del bench.robot.frames["odom"]
    assert bench.tick() == "SUCCESS"


def test_every_metre_of_the_way_counts_once() -> None:
    bench = Bench(
        "<KeepRunningUntilFailure><ForceSuccess><DistanceTraveled distance='1.0'/></ForceSuccess>"
        "</KeepRunningUntilFailure>"
    )
    (node,) = (each for each in bench.tree.nodes() if each.name == "DistanceTraveled")
    bench.robot.here = pose(5.0)
    results = []
    for x in (5.0, 5.9, 6.0, 6.5, 7.0):
        bench.robot.here = pose(x)
        results.append(node.execute_tick().name[0])
    assert "".join(results) == "FFSFS"


# -- battery and odometry --------------------------------------------------------------------------


def test_a_battery_is_low_by_its_charge_or_its_voltage() -> None:
    bench = Bench("<IsBatteryLow min_battery='0.2'/>")
    assert (bench.tick(), bench.why()) == ("FAILURE", "no message on /battery_status yet")
    for share, wanted in ((0.21, "FAILURE"), (0.2, "SUCCESS")):
        bench.robot.sent["/battery_status"] = BatteryState(percentage=share, voltage=24.0)
        assert bench.tick() == wanted
    bench = Bench("<IsBatteryLow min_battery='23.5' is_voltage='true' battery_topic='/b'/>")
    for volts, wanted in ((23.6, "FAILURE"), (23.5, "SUCCESS")):
        bench.robot.sent["/b"] = BatteryState(percentage=1.0, voltage=volts)
        assert bench.tick() == wanted


def test_a_battery_is_charged() -> None:
    bench = Bench("<IsBatteryCharging/>")
    for state, wanted in (("DISCHARGING", "FAILURE"), ("CHARGING", "SUCCESS"), ("FULL", "FAILURE")):
        number = getattr(BatteryState, f"POWER_SUPPLY_STATUS_{state}")
        bench.robot.sent["/battery_status"] = BatteryState(power_supply_status=number)
        assert bench.tick() == wanted


def test_a_robot_that_brakes_too_hard_is_stuck() -> None:
    bench = Bench("<IsStuck/>")
    for braking, wanted in ((0.0, "FAILURE"), (-9.9, "FAILURE"), (-10.1, "SUCCESS")):
        bench.robot.braking = braking
        assert bench.tick() == wanted


def test_a_robot_has_stopped_when_it_has_stood_for_a_while() -> None:
    bench = Bench("<CheckStopStatus duration_stopped='500'/>")
    assert bench.tick() == "RUNNING", "there is no odometry yet"
    standing, turning = Odometry(), Odometry()
    turning.twist.twist.angular.z = -0.2
    bench.robot.sent["odom"] = standing
    assert bench.tick() == "RUNNING"
    bench.now += 0.5
    assert bench.tick() == "RUNNING"
    bench.now += 0.01
    assert bench.tick() == NodeStatus.SUCCESS.name
    bench.robot.sent["odom"] = turning
    assert bench.tick() == "FAILURE"
    assert bench.why() == "the robot moves: 0.200, standing is below 0.01"
    bench.robot.sent["odom"], bench.now = standing, 100.0
    assert bench.tick() == "RUNNING"
    bench.now = 0.0  # the clock is set back
    assert bench.tick() == "RUNNING"
    bench.now += 0.51
    assert bench.tick() == "SUCCESS"
