# SPDX-License-Identifier: Apache-2.0
"""The node of a world with a suction cup: pump, vacuum, faults."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool
from vision_msgs.msg import Detection3DArray

from behavior_ros import seconds
from behavior_ros.testing import Bench
from behavior_sim.node.simulation_node import SimulationNode
from behavior_sim.worlds.layouts import pose_of

WAIT = 60.0


class SuctionBench(Bench):
    """The node of a world with a suction cup, and what its topics tell."""

    def __init__(self) -> None:
        super().__init__()
        self.node = self.make(SimulationNode, world="bin_stacking", speed=0.0, max_lead=1000.0)
        self.vacuum: list[bool] = []
        self.joints: list[JointState] = []
        self.images: list[Detection3DArray] = []
        self.health: dict[str, str] = {}
        self.peer.create_subscription(Bool, "/suction/vacuum", self._vacuum, 10)
        self.peer.create_subscription(JointState, "/joint_states", self.joints.append, 10)
        self.peer.create_subscription(Detection3DArray, "/detections", self.images.append, 10)
        self.peer.create_subscription(DiagnosticArray, "/diagnostics", self._diagnose, 10)

    def _vacuum(self, message: Bool) -> None:
        self.vacuum.append(message.data)

    def _diagnose(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.health.update({item.key: item.value for item in status.values})

    def switch(self, name: str, on: bool) -> SetBool.Response:
        return self.call(SetBool, name, data=on)

    def in_the_simulation(self, work) -> None:
        self.node._stepper.call(work)


@pytest.fixture(scope="module")
def bench():
    made = SuctionBench()
    yield made
    made.close()


def test_the_joint_states_are_those_of_the_arm(bench):
    bench.until(lambda: bench.joints)
    assert len(bench.joints[-1].name) == len(bench.joints[-1].effort) == 6


def test_pump_and_vacuum(bench):
    world = bench.node._simulation.world

    def under_the_cup():
        lip = world.body_pose("gripper")
        world.move_object("bin_7", lip @ pose_of([0, 0, 0.0735 + 0.001]))
        world.data.xfrc_applied[world.model.body("bin_7").id, 2] = 0.6 * 9.81

    bench.until(lambda: bench.vacuum and not bench.vacuum[-1])
    bench.in_the_simulation(under_the_cup)
    answer = bench.switch("/suction/pump", True)
    assert answer.success
    assert answer.message == "the pump is on"
    bench.until(lambda: bench.vacuum[-1])
    assert bench.switch("/suction/pump", False).success
    bench.until(lambda: not bench.vacuum[-1])


def test_the_vacuum_is_told_20_times_a_second_unless_its_sensor_fails(bench):
    bench.joints.clear()
    bench.vacuum.clear()
    bench.until(lambda: len(bench.joints) > 100)
    told = seconds(bench.joints[-1].header.stamp) - seconds(bench.joints[0].header.stamp)
    assert len(bench.vacuum) >= 20 * told
    assert bench.switch("/simulation/fault/vacuum", True).message == "vacuum fails"
    bench.until(lambda: bench.health.get("faults") == "vacuum")
    bench.vacuum.clear()
    bench.joints.clear()
    bench.until(lambda: len(bench.joints) > 50)
    assert not bench.vacuum
    bench.switch("/simulation/fault/vacuum", False)
    bench.until(lambda: bench.vacuum)


def test_a_silent_detector_and_a_jam(bench):
    assert bench.switch("/simulation/fault/detector", True).success
    assert bench.switch("/simulation/fault/conveyor", True).success
    bench.until(lambda: bench.health.get("faults") == "conveyor, detector")
    bench.images.clear()
    bench.joints.clear()
    bench.until(lambda: len(bench.joints) > 50)
    assert not bench.images
    bench.switch("/simulation/fault/conveyor", False)
    bench.switch("/simulation/fault/detector", False)
    bench.until(lambda: bench.images)
