# SPDX-License-Identifier: Apache-2.0
"""A suction cup, a conveyor and the scene together: a bin is taken, carried, lost and let go."""

from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")
pytest.importorskip("control_msgs.action")

import numpy as np  # noqa: E402
from behavior_msgs.action import MoveGripper, Reach  # noqa: E402
from behavior_msgs.msg import SceneObject, SceneObjectArray  # noqa: E402
from behavior_msgs.srv import DisturbWorld  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from ros_rig import RosRig  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

from behavior_ros import QOS_LATCHED, matrix_to_pose  # noqa: E402

CONFIG = Path(__file__).parents[3] / "config"
ROBOT = CONFIG / "robots" / "ur10.yaml"
PROCESSES = {
    "simulation": [
        "behavior_sim.node.simulation_node:SimulationNode:=world=bin_stacking:=speed=1.5"
    ],
    "skills": [
        "behavior_skills.node.skills_node:SkillsNode:=use_sim_time=true:=ground=-1.2"
        f":=robot={ROBOT}",
        "behavior_skills.node.robot_state_publisher:RobotStatePublisher:=use_sim_time=true"
        f":=robot={ROBOT}",
    ],
    "scene": [
        "behavior_scene.node.scene_node:SceneNode:=use_sim_time=true"
        f":=library={CONFIG / 'scenes' / 'bin_stacking.yaml'}"
    ],
}
HALF = 0.0735
BIN = "bin_0"


class Rig(RosRig):
    """The cell, and what its scene and its truth know of the bin."""

    def __init__(self):
        super().__init__(PROCESSES, {"/reach": Reach, "/gripper": MoveGripper})
        self.seen, self.truth = {}, {}
        for topic, kept, qos in (
            ("/scene/objects", self.seen, QOS_LATCHED),
            ("/simulation/objects", self.truth, 1),
        ):
            self.peer.create_subscription(
                SceneObjectArray,
                topic,
                lambda m, kept=kept: kept.update({o.name: o for o in m.objects}),
                qos,
            )

    def reach(self, tool, **goal):
        target = PoseStamped()
        target.header.frame_id, target.pose = "world", matrix_to_pose(tool)
        done = self.run("/reach", Reach.Goal(pose=target, max_linear_velocity=1.0, **goal))
        assert done.code == 0, done.message

    def grip(self, mode):
        return self.run("/gripper", MoveGripper.Goal(mode=mode))

    def state(self):
        return self.seen[BIN].state

    def height(self):
        return self.truth[BIN].pose.position.z


@pytest.fixture
def rig():
    made = Rig()
    try:  # whatever fails, no process is left behind
        made.await_servers()
        made.until(lambda: BIN in made.seen and BIN in made.truth)
        yield made
    finally:
        made.close()


def test_a_bin_is_taken_carried_lost_and_let_go(rig):
    rig.until(lambda: rig.seen[BIN].pose.position.y < 0.55)
    lies = np.diag([1.0, -1.0, -1.0, 1.0])
    lies[:3, 3] = [0.0, 0.6, rig.height()]
    assert rig.call(SetBool, "/simulation/fault/conveyor", data=True).success
    moved = DisturbWorld.Request(kind=0, object=BIN, pose=matrix_to_pose(lies))
    assert rig.call(DisturbWorld, "/simulation/disturb", moved).code == 0
    rig.until(lambda: abs(rig.seen[BIN].pose.position.y - 0.6) < 0.01)

    # Upside down: its base looks up. The cup comes in along its axis.
    tool = np.diag([-1.0, 1.0, -1.0, 1.0])
    tool[:3, 3] = lies[:3, 3] + [0, 0, HALF]
    above = tool.copy()
    above[2, 3] += 0.3
    way_in = Reach.Goal().approach
    way_in.z = -0.1
    # The cup's bellows close a gap of 6 mm, of which detection and lag must not take it all.
    rig.reach(tool, approach=way_in, may_touch=[BIN], position_tolerance=0.001)
    done = rig.grip(MoveGripper.Goal.CLOSE)
    assert done.code == 0, done.message
    assert done.holding
    assert "holds 'bin_0'" in done.message
    rig.until(lambda: rig.state() == SceneObject.ATTACHED)
    rig.reach(above, may_touch=["conveyor_belt"])
    # Both tell ten times a second: what was heard last may be of a moment before the end.
    rig.until(lambda: rig.height() == pytest.approx(lies[2, 3] + 0.3, abs=0.02))
    rig.until(lambda: rig.seen[BIN].pose.position.z == pytest.approx(rig.height(), abs=0.02))

    # The pump fails in mid-air: the bin falls, and everybody knows.
    rig.call(SetBool, "/simulation/fault/pump", data=True)
    rig.until(lambda: rig.state() != SceneObject.ATTACHED)
    rig.until(lambda: rig.height() < lies[2, 3] + 0.1)
    done = rig.grip(MoveGripper.Goal.CLOSE)
    assert done.code == MoveGripper.Result.TIMED_OUT
    assert "No vacuum within 2.0 s" in done.message
    done = rig.grip(MoveGripper.Goal.OPEN)
    assert done.code == 0, done.message
    assert "'bin_0' came off the suction cup" in done.message

    # Nobody hears the sensor.
    rig.call(SetBool, "/simulation/fault/vacuum", data=True)
    rig.until(lambda: rig.grip(MoveGripper.Goal.OPEN).code == MoveGripper.Result.SERVER_LOST)
