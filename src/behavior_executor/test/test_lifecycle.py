# SPDX-License-Identifier: Apache-2.0
"""The executor node as a lifecycle node, what it reloads and saves, and who may watch its trees."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from behavior_msgs.msg import MissionAction, MissionRecord
from lifecycle_msgs.msg import State as LifecycleState
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from behavior_executor.client import MissionClient
from behavior_executor.missions.mission import Code, Kind, MissionRequest, State
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_ros.node.bond import ManagerBond
from behavior_ros.testing import Spinner, until
from behavior_tree.monitoring.groot2 import Groot2Client, Groot2Error, Hook, discover

TREE = """<!-- {name} -->
<root BTCPP_format="4"><BehaviorTree ID="{name}">{body}</BehaviorTree></root>
"""
BODIES = {
    "quick": "<Sequence><AlwaysSuccess name='one'/><AlwaysSuccess name='two'/></Sequence>",
    "pause": "<Sequence name='long'><Sleep msec='300'/></Sequence>",
    "forever": "<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, body in BODIES.items():
        (tmp_path / f"{name}.xml").write_text(TREE.format(name=name, body=body))
    return tmp_path


def make(folder: Path, **parameters: object) -> BehaviorExecutor:
    values = {
        "tree_directories": [str(folder)],
        "nodes_file": "",
        "managers": [""],
        "tick_rate": 100.0,
        **parameters,
    }
    return BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )


@pytest.fixture
def client(ros: None) -> Iterator[MissionClient]:
    with MissionClient() as made:
        yield made


def state_of(node: BehaviorExecutor) -> str:
    return str(node._state_machine.current_state[1])


def test_a_manager_sees_by_a_bond_that_the_executor_is_active(
    spinner: Spinner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Nav2's lifecycle manager wants it, unless its bond_timeout is 0."""
    bonds: list[ManagerBond] = []
    monkeypatch.setattr(ManagerBond, "form", lambda bond: bonds.append(bond))
    monkeypatch.setattr(ManagerBond, "end", lambda bond: bonds.remove(bond))
    node = make(folder, autostart=False)
    spinner.start(node)
    spinner.do(node.trigger_configure)
    for _ in range(2):
        assert not bonds
        spinner.do(node.trigger_activate)
        assert len(bonds) == 1
        spinner.do(node.trigger_deactivate)
    assert not bonds
    spinner.do(node.trigger_activate)
    spinner.do(node.begin_close)
    assert not bonds


def test_every_state_takes_or_refuses_missions_as_it_says(
    spinner: Spinner, folder: Path, client: MissionClient
) -> None:
    node = make(folder, autostart=False, journal_file=str(folder / "j" / "missions.sqlite"))
    spinner.start(node)
    assert state_of(node) == "unconfigured"
    for _ in range(2):
        spinner.do(node.trigger_configure)
        assert state_of(node) == "inactive"
        refused = client.run("quick")
        assert refused.code == Code.BUSY
        assert "not active" in refused.message
        spinner.do(node.trigger_activate)
        assert client.run("quick").succeeded
        codes: list[int] = []

        def stop(message: object, codes: list[int] = codes) -> None:
            if message.state == State.RUNNING and not codes:
                codes.append(message.state)
                spinner.do(node.trigger_deactivate)

        assert client.run("forever", on_feedback=stop).code == Code.SHUTDOWN
        assert state_of(node) == "inactive"
        spinner.do(node.trigger_cleanup)
        assert state_of(node) == "unconfigured"
    spinner.do(node.trigger_configure)
    assert len(node._log.journal.records()) == 4
    spinner.do(node.trigger_shutdown)
    assert node._state_machine.current_state[0] == LifecycleState.PRIMARY_STATE_FINALIZED


def test_wrong_nodes_file_fails_loudly(ros: None, folder: Path) -> None:
    wrong = folder / "nodes.yaml"
    wrong.write_text("nodes: [{node: Pick, action: /pick, type: behavior_msgs/action/Pikc}]")
    with pytest.raises(ValueError, match="Pikc"):
        make(folder, nodes_file=str(wrong))
    node = make(folder, nodes_file=str(wrong), autostart=False)
    node.trigger_configure()
    assert state_of(node) == "unconfigured"
    wrong.write_text("nodes: []")
    node.trigger_configure()
    assert state_of(node) == "inactive"
    node.destroy_node()


def test_reload_reads_nodes_and_tells_of_broken_trees(
    spinner: Spinner, folder: Path, client: MissionClient
) -> None:
    nodes = folder / "nodes.yaml"
    nodes.write_text("nodes: []")
    node = make(folder, nodes_file=str(nodes))
    spinner.start(node)

    def reload() -> tuple[bool, str]:
        answer = spinner.do(node._on_reload, Trigger.Request(), Trigger.Response())
        return answer.success, answer.message

    assert reload() == (True, "3 trees are good")
    (folder / "hold.xml").write_text(TREE.format(name="hold", body="<Hold duration='0'/>"))
    assert client.run("hold").code == Code.INVALID_TREE
    success, text = reload()
    assert not success
    assert "hold.xml:2" in text
    nodes.write_text("nodes: [{node: Hold, action: /wait, type: behavior_msgs/action/Wait}]")
    assert reload() == (True, "4 trees are good")
    nodes.write_text("nodes: [{node: Hold, action: /wait, type: behavior_msgs/action/Wiat}]")
    success, text = reload()
    assert not success
    assert "nothing was reloaded" in text
    assert "Wiat" in text
    spinner.do(node.core.submit, MissionRequest("r", name="forever"))
    until(lambda: node.core.queue.running)
    assert "reload when it has ended" in reload()[1]


def test_tree_file_takes_the_place_of_the_navigation_tree(ros: None, folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "my_drive.xml").write_text(TREE.format(name="main", body="<AlwaysSuccess/>"))
    node = make(folder, behavior_tree_file=str(elsewhere / "my_drive.xml"))
    goal = FramedPose("map", Pose2D(1.0, 2.0))
    mission = node.core.submit(MissionRequest("n", kind=Kind.NAVIGATE_TO_POSE, goal=goal))
    for _ in range(2):
        node.core.tick()
    assert mission.code is Code.SUCCESS
    node.destroy_node()


def test_node_models_are_saved_for_groot2(ros: None, folder: Path) -> None:
    file = folder / "models.xml"
    nodes = folder / "nodes.yaml"
    nodes.write_text("nodes: [{node: Hold, action: /wait, type: behavior_msgs/action/Wait}]")
    node = make(folder, nodes_file=str(nodes), save_tree_nodes=True, tree_nodes_file=str(file))
    node.destroy_node()
    text = file.read_text()
    assert '<Action ID="Hold">' in text
    assert 'name="duration"' in text


def free_port() -> int:
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return int(port)


def test_groot2_follows_the_running_tree_across_missions(
    spinner: Spinner, folder: Path, client: MissionClient
) -> None:
    port = free_port()
    spinner.start(make(folder, groot2_port=port))
    seen = []
    for name in ("quick", "pause", "quick"):
        assert client.run(name).succeeded
        with Groot2Client(port) as groot:
            seen.append('ID="pause"' in groot.tree())
    assert seen == [False, True, False]


def test_a_taken_port_gives_way_to_the_next_free_pair(
    spinner: Spinner, folder: Path, client: MissionClient
) -> None:
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        spinner.start(make(folder, groot2_port=port))
        (found,) = (
            live for live in discover(range(port + 2, port + 40, 2)) if live.pid == os.getpid()
        )
        assert found.tree_id == "no_mission_yet"
        assert client.run("quick").succeeded
        with Groot2Client(found.port) as groot:
            assert 'ID="quick"' in groot.tree()


@pytest.mark.parametrize("breakpoints", [False, True])
def test_groot2_interferes_only_where_it_may(
    spinner: Spinner, folder: Path, breakpoints: bool
) -> None:
    port = free_port()
    spinner.start(make(folder, groot2_port=port, groot2_breakpoints=breakpoints))
    with Groot2Client(port) as groot:
        if breakpoints:
            groot.insert_hooks(Hook(1))
        else:
            with pytest.raises(Groot2Error, match="looking only"):
                groot.insert_hooks(Hook(1))
            with pytest.raises(Groot2Error, match="looking only"):
                groot.unlock(1)
        assert len(groot.hooks()) == int(breakpoints)


# -- restarts of the process


class Process:
    """An executor in a process of its own."""

    def __init__(self, folder: Path, policy: str) -> None:
        arguments = [
            f"tree_directories:=['{folder}']",
            "nodes_file:=''",
            "managers:=['']",
            f"journal_file:={folder / 'missions.sqlite'}",
            f"restart_policy:={policy}",
            "second_mission_policy:=queue",
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "behavior_executor.node.executor_node", "--ros-args"]
            + [word for argument in arguments for word in ("-p", argument)],
            env=os.environ,
        )

    def end(self, number: int = signal.SIGKILL) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(30.0)


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    made: list[Process] = []
    yield made
    for each in made:
        each.end()


def test_killed_executor_takes_its_missions_up_again(
    ros: None, folder: Path, processes: list[Process]
) -> None:
    processes.append(Process(folder, "resume"))
    with MissionClient() as client:
        client.wait_for_executor(240.0)
        publisher = client._node.create_publisher(MissionAction, "/mission/action", 10)
        until(lambda: publisher.get_subscription_count() > 0, 60.0)
        publisher.publish(MissionAction(action_id="first", name="forever"))
        publisher.publish(MissionAction(action_id="second", name="quick"))

        def states() -> dict[str, MissionRecord]:
            return {record.action_id: record for record in client.history(timeout=60.0)}

        until(lambda: len(states()) == 2 and states()["first"].state == State.RUNNING, 60.0)
    processes[-1].end()
    processes.append(Process(folder, "resume"))
    with MissionClient(node_name="second_client") as client:
        until(lambda: states()["first"].state == State.RUNNING, 60.0)
        assert states()["first"].interruptions == 1
        assert states()["second"].state == State.WAITING
        client.cancel()
        until(lambda: states()["second"].state == State.FINISHED, 60.0)
        assert states()["first"].code == Code.CANCELED_BY_CLIENT
        assert client.history(unfinished_only=True) == ()
