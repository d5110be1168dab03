# SPDX-License-Identifier: Apache-2.0
"""The tree is ticked by events: through executor and server, whatever period and clock say."""

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from behavior_msgs.action import Wait
from core_bench import Bench
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from behavior_executor.managers.manager import BehaviorManager
from behavior_executor.missions.mission import Code, Kind, Mission, MissionRequest, Policy
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import GoalContext, WorkerActionServer, mark_of
from behavior_ros.node.closing import destroy_node
from behavior_ros.process.lean_executor import LeanExecutor

ACTIONS = 40
PERIOD = 10.0
"""[s] Of ticks: were it waited for, no test would end in time."""
LONGEST = 100.0
"""[s] After which a test fails."""
TREE = (
    "<root BTCPP_format='4'><BehaviorTree ID='{0}'><Sequence>{1}</Sequence></BehaviorTree></root>"
)


def test_a_tree_that_ends_has_the_next_one_ticked_at_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Policy.QUEUE)
    steps = tuple(MissionRequest(f"s{number}", name="good") for number in range(2))
    bench.core.submit(MissionRequest("s", kind=Kind.SEQUENCE, steps=steps))
    bench.core.submit(MissionRequest("next", name="forever"))
    assert not bench.core.tick()
    bench.time = 1.0
    assert bench.core.tick()  # the second step is there
    assert not bench.core.tick()
    bench.time = 2.0
    assert bench.core.tick()  # the next mission may start
    assert not bench.core.tick()
    assert bench.core.queue.running is bench.core.find("next")


def test_timers_of_the_tree_are_told_until_it_ends(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.core.next_due() is None
    mission = bench.submit("good")
    bench.core.tick()
    assert bench.core.next_due() == 1.0
    bench.time = 1.0
    bench.core.tick()
    assert mission.is_final
    assert bench.core.next_due() is None


class Chain:
    """The executor with a chain of actions, and their server spinning in another thread."""

    def __init__(self, folder: Path, *, simulated: bool) -> None:
        (folder / "nodes.yaml").write_text(
            "nodes:\n  - {node: Nothing, action: /nothing, type: behavior_msgs/action/Wait}\n"
        )
        bodies = {"chain": "<Nothing/>" * ACTIONS, "sleeps": "<Sleep msec='50'/>" * 3}
        bodies["waits"] = "<AlwaysSuccess/><KeepRunningUntilFailure><ScriptCondition code='!@go'/>"
        bodies["waits"] = f"<Script code='@go:=false'/>{bodies['waits']}</KeepRunningUntilFailure>"
        part = "<Atomic><RunFor msec='150'><Sleep msec='3600000'/></RunFor></Atomic>"
        bodies["decides"] = f"<Decider name='d'><Case name='c'>{part}</Case></Decider>"
        for name, body in bodies.items():
            (folder / f"{name}.xml").write_text(TREE.format(name, body))
        values = {
            "tree_directories": [str(folder)],
            "nodes_file": str(folder / "nodes.yaml"),
            "managers": [""],
            "tick_rate": 1.0 / PERIOD,
            "use_sim_time": simulated,
        }
        self.node = BehaviorExecutor(
            parameter_overrides=[Parameter(key, value=value) for key, value in values.items()]
        )
        self.executor = LeanExecutor()
        self.executor.add_node(self.node)
        self.servers = SingleThreadedExecutor()
        self.server = Node("nothing")
        self.marks: list[bytes] = []
        """On whose behalf each goal came."""
        WorkerActionServer(self.server, Wait, "/nothing", self._work)
        self.servers.add_node(self.server)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _work(self, context: GoalContext) -> Wait.Result:
        self.marks.append(context.mark)
        return Wait.Result()

    def _serve(self) -> None:
        while not self.stopped.is_set():
            self.servers.spin_once(timeout_sec=0.05)

    def spin_until(self, predicate: Callable[[], bool]) -> None:
        end = time.monotonic() + LONGEST
        while not predicate():
            self.executor.spin_once(timeout_sec=0.1)
            assert time.monotonic() < end, "ticks wait for their period"

    def start(self, name: str, action_id: str = "") -> Mission:
        (client,) = (w for w in self.node.waitables if isinstance(w, ActionClient))
        self.spin_until(client.server_is_ready)
        return self.node.core.submit(
            MissionRequest(action_id or name, name=name, policy=Policy.QUEUE)
        )

    @property
    def ticks(self) -> int:
        return self.node.core.statistics.duration.summary().samples

    def close(self) -> None:
        self.stopped.set()
        self.thread.join()
        destroy_node(self.node)
        destroy_node(self.server)
        for executor in (self.executor, self.servers):
            executor.shutdown(timeout_sec=0.0)


@pytest.fixture(params=[False, True], ids=["system clock", "simulated clock that stands still"])
def chain(ros: None, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Chain]:
    chain = Chain(tmp_path, simulated=request.param)
    yield chain
    chain.close()


def test_actions_follow_each_other_without_waiting_for_the_period(chain: Chain) -> None:
    mission = chain.start("chain")
    chain.spin_until(lambda: mission.is_final)
    assert mission.code is Code.SUCCESS, mission.text
    # One that starts the first action, one for each result; the period adds few on a slow machine.
    assert ACTIONS + 1 <= chain.ticks <= ACTIONS + 1 + LONGEST / PERIOD


@pytest.mark.parametrize("chain", [False], indirect=True)
def test_goals_of_leaves_say_for_which_mission_they_are(chain: Chain) -> None:
    begun = [chain.start("chain", action_id) for action_id in "ab"]
    chain.spin_until(lambda: all(mission.is_final for mission in begun))
    assert chain.marks == [mark_of(each) for each in "ab" for _ in range(ACTIONS)]


def test_an_entry_that_is_set_outside_the_tree_has_it_ticked(chain: Chain) -> None:
    mission = chain.start("waits")
    chain.spin_until(lambda: chain.ticks > 0)
    before = chain.ticks
    threading.Thread(
        target=lambda: chain.node.core._run.tree.root_blackboard().set("go", True)
    ).start()
    chain.spin_until(lambda: mission.is_final)
    assert chain.ticks == before + 1


@pytest.mark.parametrize("chain", [False], indirect=True)
@pytest.mark.parametrize("name", ["sleeps", "decides"])
def test_a_timer_of_the_tree_is_awaited_and_not_the_period(chain: Chain, name: str) -> None:
    mission = chain.start(name)
    chain.spin_until(lambda: mission.is_final)
    assert mission.code is Code.SUCCESS
    assert mission.elapsed(chain.node._now()) < PERIOD


@pytest.mark.parametrize("chain", [True], indirect=True)
def test_news_of_managers_wake_a_tree_that_runs(chain: Chain) -> None:
    core = chain.node.core
    chain.node._wake_running_tree()
    for _ in range(20):
        chain.executor.spin_once(timeout_sec=0.01)
    begin = core.last_tick
    chain.start("waits")
    chain.spin_until(lambda: chain.ticks > 0)
    assert core.last_tick > begin
    before = chain.ticks
    chain.node._wake_running_tree()
    chain.spin_until(lambda: chain.ticks == before + 1)


class Watchful(BehaviorManager):
    """A manager that looks at something in every tick."""


@pytest.mark.parametrize("managers", [[], [Watchful]])
def test_ticks_without_a_mission_are_rare_unless_a_manager_has_use_for_them(
    ros: None, tmp_path: Path, managers: list[type[BehaviorManager]]
) -> None:
    (tmp_path / "rests.xml").write_text(TREE.format("rests", "<Sleep msec='3600000'/>"))
    names = ["scene", *(f"{__name__}:{each.__name__}" for each in managers)]
    values = {"tree_directories": [str(tmp_path)], "nodes_file": "", "managers": names}
    node = BehaviorExecutor(
        parameter_overrides=[
            Parameter(key, value=value) for key, value in {**values, "tick_rate": 50.0}.items()
        ]
    )
    executor = LeanExecutor()
    executor.add_node(node)
    ticks: list[float] = []
    tick = node.core.tick
    node.ticker._tick = lambda: ticks.append(time.monotonic()) or tick()

    def spin_until(predicate: Callable[[], bool]) -> None:
        end = time.monotonic() + LONGEST
        while not predicate():
            executor.spin_once(timeout_sec=0.1)
            assert time.monotonic() < end

    try:
        spin_until(lambda: len(ticks) >= 6)
        gaps = [after - before for before, after in itertools.pairwise(ticks[1:])]
        assert (statistics.median(gaps) > 0.4) != bool(managers)
        node.core.submit(MissionRequest("rests", name="rests"))
        spin_until(lambda: node.core.queue.running is not None)
        count = len(ticks)
        spin_until(lambda: len(ticks) >= count + 10)
        assert min(b - a for a, b in itertools.pairwise(ticks[count:])) < 0.4
    finally:
        executor.shutdown(timeout_sec=0.0)
        destroy_node(node)
