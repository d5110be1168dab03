# SPDX-License-Identifier: Apache-2.0
"""The simulated controllers and map loader by the book, see `behavior_ros.conformance`."""

import threading
from collections.abc import Callable, Iterator

import pytest
import test_navigation_node
import test_node
from behavior_msgs.action import LoadTile
from control_msgs.action import FollowJointTrajectory, GripperCommand

from behavior_ros.conformance import SERVER_RULES, ServerUnderTest, broken_rules


def gripper() -> GripperCommand.Goal:
    goal = GripperCommand.Goal()
    goal.command.position = 0.04
    return goal


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[test_node.Rig]:
    bench = test_node.Rig(tmp_path_factory.mktemp("cell") / "recording.npz", speed=1.0)
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def warehouse(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[test_navigation_node.NavigationBench]:
    bench = test_navigation_node.NavigationBench(tmp_path_factory.mktemp("warehouse"))
    yield bench
    bench.close()


@pytest.mark.parametrize(
    ("where", "kind", "name", "goal"),
    [
        (
            "cell",
            FollowJointTrajectory,
            "/panda_arm_controller/follow_joint_trajectory",
            lambda: test_node.trajectory(test_node.HOME, 60.0),
        ),
        ("cell", GripperCommand, "/panda_hand_controller/gripper_cmd", gripper),
        ("warehouse", LoadTile, "/map_loader/load_tile", lambda: LoadTile.Goal(tile_id="east")),
    ],
    ids=["arm", "gripper", "map loader"],
)
def test_servers_of_the_simulated_robot(
    where: str,
    kind: type,
    name: str,
    goal: Callable,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = request.getfixturevalue(where)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(bench.context.get_domain_id()))
    told: list[list[str]] = []

    def check() -> None:
        with ServerUnderTest(kind, name, goal) as subject:
            told.append(broken_rules(SERVER_RULES, subject))

    thread = threading.Thread(target=check, daemon=True)
    thread.start()
    while thread.is_alive():
        bench.executor.spin_once(timeout_sec=0.02)
    assert told == [[]]
