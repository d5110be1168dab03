# SPDX-License-Identifier: Apache-2.0
"""What navigation managers hear of has a running tree ticked at once, whatever the period says."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from behavior_msgs.action import LoadTile
from behavior_msgs.msg import LocalizationResult
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool

from behavior_executor.missions.mission import Code, Kind, Mission, MissionRequest
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros import QOS_SENSOR, GoalContext, WorkerActionServer, with_companions
from behavior_ros.process.lean_executor import LeanExecutor
from behavior_ros.testing import own_domain

LONGEST = 100.0
"""[s] After which a test fails."""
SWITCHES = 20
TREE = """<root BTCPP_format='4'><BehaviorTree ID='{0}'>
  <Sequence>{1}</Sequence>
</BehaviorTree></root>"""
BODIES = {
    "switch": "<lampEnable timeout='60.0'/><lampDisable timeout='60.0'/>" * (SWITCHES // 2),
    "load_map": """<guardMapChange><Sequence>
      <enterMapPhase phase="DISABLING"/> <loadTile/> <waitTileResult/> <republishMaps/>
      <enterMapPhase phase="WAIT_LOCALIZATION"/> <enterMapPhase phase="ENABLING"/>
      <completeMapChange/></Sequence></guardMapChange>""",
    "wait": "<KeepRunningUntilFailure><Inverter><localizationIsReady/></Inverter>"
    "</KeepRunningUntilFailure>",
}


class Stack:
    """The executor with navigation managers, and the modules spinning in another thread."""

    def __init__(self, folder: Path) -> None:
        for name, body in BODIES.items():
            (folder / f"{name}.xml").write_text(TREE.format(name, body))
        managers = "behavior_navigation.managers."
        values = {
            "tree_directories": [str(folder)],
            "nodes_file": "",
            "managers": [
                f"{managers}entity:EntityManager",
                f"{managers}map:MapManager",
                f"{managers}system_health:SystemHealthManager",
            ],
            "use_tile_loader": True,
            "use_sim_time": True,  # and the clock stands still: ticks of the period never come
        }
        self.node = BehaviorExecutor(
            parameter_overrides=[Parameter(key, value=value) for key, value in values.items()]
        )
        self.executor = LeanExecutor()
        for node in with_companions([self.node]):
            self.executor.add_node(node)
        self.modules = SingleThreadedExecutor()
        self.module = Node("module")
        self.module.create_service(SetBool, "/lamp", self._switch)
        WorkerActionServer(self.module, LoadTile, "/map_loader/load_tile", self._load)
        self.localizer = self.module.create_publisher(
            LocalizationResult, "/localization/result", QOS_SENSOR
        )
        self.modules.add_node(self.module)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while not self.stopped.is_set():
            self.modules.spin_once(timeout_sec=0.05)

    def _switch(self, request: SetBool.Request, answer: SetBool.Response) -> SetBool.Response:
        answer.success = True
        return answer

    def _load(self, context: GoalContext) -> LoadTile.Result:
        goal = context.goal
        return LoadTile.Result(request_id=goal.request_id, tile_id=goal.tile_id)

    def spin_until(self, predicate: Callable[[], object]) -> None:
        end = time.monotonic() + LONGEST
        while not predicate():
            self.executor.spin_once(timeout_sec=0.1)
            assert time.monotonic() < end, "ticks wait for their period"

    def run(self, request: MissionRequest) -> Mission:
        clients = [c for node in with_companions([self.node]) for c in node.clients]
        self.spin_until(lambda: all(c.service_is_ready() for c in clients if "lamp" in c.srv_name))
        return self.node.core.submit(request)

    @property
    def ticks(self) -> int:
        return self.node.core.statistics.duration.summary().samples

    def close(self) -> None:
        self.stopped.set()
        self.thread.join()
        for node in (*with_companions([self.node]), self.module):
            node.destroy_node()
        for executor in (self.executor, self.modules):
            executor.shutdown(timeout_sec=0.0)


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    lamp = "managed_entities:=['lamp']", "lamp.interface:=set_bool"
    rclpy.init(args=["--ros-args", *(word for text in lamp for word in ("-p", text))])
    stack = Stack(tmp_path)
    yield stack
    stack.close()
    rclpy.try_shutdown()


def test_modules_are_switched_one_after_the_other_without_waiting_for_the_period(
    stack: Stack,
) -> None:
    mission = stack.run(MissionRequest("switch", name="switch"))
    stack.spin_until(lambda: mission.is_final)
    assert mission.code is Code.SUCCESS, mission.text
    # One that begins, one for each answer, one that ends.
    assert SWITCHES + 1 <= stack.ticks <= SWITCHES + 2


def test_a_map_that_was_loaded_is_seen_at_once(stack: Stack) -> None:
    for number in range(1, 4):
        mission = stack.run(MissionRequest(f"m{number}", Kind.LOAD_MAP, map_id=f"tile{number}"))
        stack.spin_until(lambda mission=mission: mission.is_final)
        assert mission.code is Code.SUCCESS, mission.text


def test_a_localization_that_becomes_good_is_seen_at_once(stack: Stack) -> None:
    stack.spin_until(stack.localizer.get_subscription_count)
    mission = stack.run(MissionRequest("wait", name="wait"))
    stack.spin_until(lambda: stack.ticks)
    message = LocalizationResult(status=LocalizationResult.GOOD, score=1.0, map_id="hall")
    message.header.frame_id = "map"
    message.pose.pose.orientation.w = 1.0
    stack.localizer.publish(message)
    stack.spin_until(lambda: mission.is_final)
