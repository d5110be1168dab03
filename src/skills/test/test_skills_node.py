# SPDX-License-Identifier: Apache-2.0
"""The node with the simulated world: pick a block, place it on another; wrong goals; cancel."""

import importlib.util
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")
pytest.importorskip("control_msgs.action")
needed = ("behavior_ros", "behavior_sim", "behavior_scene")
if any(importlib.util.find_spec(name) is None for name in needed):
    pytest.skip("needs the simulated world and the scene", allow_module_level=True)

from behavior_msgs.action import MoveArm, MoveGripper, Pick, Place, Screw  # noqa: E402
from behavior_msgs.msg import SceneObject, SceneObjectArray  # noqa: E402
from fakes import ROBOT_FILE  # noqa: E402
from ros_rig import RosRig  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from behavior_ros import QOS_LATCHED, QOS_SENSOR  # noqa: E402

EDGE = 0.0515
LIBRARY = Path(__file__).parents[3] / "config" / "scenes" / "block_stacking.yaml"
STOP = "  states: [{driver: stop_topic, topic: /emergency_stop, latched: true}]\n"


def processes(robot):
    """Node descriptions by process name, of a robot's file."""
    return {
        "simulation": [
            "behavior_sim.node.simulation_node:SimulationNode:=world=block_stacking:=speed=4.0:=seed=1"
        ],
        "skills": [
            f"behavior_skills.node.skills_node:SkillsNode:=use_sim_time=true:=robot={robot}",
            "behavior_skills.node.robot_state_publisher:RobotStatePublisher:=use_sim_time=true"
            f":=robot={robot}",
            f"behavior_scene.node.scene_node:SceneNode:=use_sim_time=true:=library={LIBRARY}",
        ],
    }


ACTIONS = {
    "/pick": Pick,
    "/place": Place,
    "/move_arm": MoveArm,
    "/gripper": MoveGripper,
    "/screw": Screw,
}


class Rig(RosRig):
    """The stack's processes, a client, and the scene as it is published."""

    def __init__(self, robot):
        super().__init__(processes(robot), ACTIONS)
        self.scene, self.joints = {}, None
        self._stop = self.peer.create_publisher(Bool, "/emergency_stop", QOS_LATCHED)
        self.press(False)
        self.peer.create_subscription(JointState, "/joint_states", self._keep_joints, QOS_SENSOR)
        self.peer.create_subscription(SceneObjectArray, "/scene/objects", self._keep, QOS_LATCHED)

    def await_stack(self):
        self.await_servers()
        self.until(lambda: len(self.scene) == 4)

    def press(self, stopped):
        """Have the robot's driver tell that it is stopped, or that it is not."""
        self._stop.publish(Bool(data=stopped))

    def _keep_joints(self, message):
        self.joints = message

    def _keep(self, message):
        self.scene = {obj.name: obj for obj in message.objects}

    @property
    def phases(self):
        return [feedback.phase for feedback in self.feedback]


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    robot = tmp_path_factory.mktemp("robot") / "stoppable.yaml"
    text = ROBOT_FILE.read_text(encoding="utf-8")
    assert "controllers:\n" in text
    robot.write_text(text.replace("controllers:\n", f"controllers:\n{STOP}"), encoding="utf-8")
    made = Rig(robot)
    try:  # whatever fails, no process is left behind
        made.await_stack()
        yield made
    finally:
        made.close()


HOME = MoveArm.Goal(mode=MoveArm.Goal.NAMED, named_target="home", avoid_collisions=True)


def on_top_of(obj, *, levels=1):
    goal = Place.Goal(any_yaw=True)
    goal.target.header.frame_id = "world"
    position = goal.target.pose.position
    position.x, position.y = obj.pose.position.x, obj.pose.position.y
    position.z = obj.pose.position.z + levels * EDGE
    goal.target.pose.orientation.w = 1.0
    return goal


def send_home(rig):
    """So that the arm hides nothing: what it hides too long is lost, and cannot be picked."""
    assert rig.run("/move_arm", HOME).code == 0
    rig.until(lambda: all(obj.state == SceneObject.TRACKED for obj in rig.scene.values()))


def test_pick_one_block_and_place_it_on_another(rig):
    picked = rig.run("/pick", Pick.Goal(object_name="blue_block"))
    assert picked.code == 0, picked.message
    assert rig.phases[-1] == "lift"
    rig.until(lambda: rig.scene["blue_block"].state == SceneObject.ATTACHED)
    placed = rig.run("/place", on_top_of(rig.scene["green_block"]))
    assert placed.code == 0, placed.message
    assert placed.placed.pose.position.z == pytest.approx(1.5 * EDGE, abs=0.006)


def test_place_by_specification(rig):
    send_home(rig)
    picked = rig.run("/pick", Pick.Goal(object_name="red_block"))
    assert picked.code == 0, picked.message
    text = """
      objects: [red_block, yellow_block]
      filter_z_dir: [downward, 175]
      align_pick_obj_axis: [0, 0, 1]
      align_place_obj_axis: [0, 0, 1]
      align_obj_tol: 4
      position_constraint: object
      x_ratio_range: [0.48, 0.52]
      y_ratio_range: [0.48, 0.52]
      place_z_offset: 0.027
      post_place_vector: [0, 0, -0.08]
      success_mode: flower
      success_th: -1
      seed: 3
    """
    wrong = rig.run("/place", Place.Goal(parameters=text.replace("175", "175, 3, 4")))
    assert wrong.code == Place.Result.INVALID_REQUEST
    assert "filter_z_dir" in wrong.message
    clash = Place.Goal(parameters=text + "\n      filter_x_dir: [downward, 170]")
    assert rig.run("/place", clash).code == Place.Result.NO_ORIENTATION
    absent = Place.Goal(parameters=text.replace("yellow_block", "basket"))
    assert rig.run("/place", absent).code == Place.Result.UNKNOWN_OBJECT
    done = rig.run("/place", Place.Goal(parameters=text))
    assert done.code == 0, done.message
    assert done.placed.pose.position.z == pytest.approx(1.5 * EDGE, abs=0.01)
    assert rig.phases[-1] in ("retreat", "verify")


def test_wrong_goals_end_with_their_codes(rig):
    assert rig.run("/pick", Pick.Goal(object_name="cat")).code == Pick.Result.UNKNOWN_OBJECT
    nan = Pick.Goal(object_name="red_block", lift_height=float("nan"))
    assert rig.run("/pick", nan).code == Pick.Result.INVALID_REQUEST
    place = on_top_of(rig.scene["red_block"])
    assert rig.run("/place", place).code == Place.Result.NOT_HELD
    place.target.header.frame_id = "nowhere"
    assert rig.run("/place", place).code == Place.Result.UNKNOWN_FRAME
    move = MoveArm.Goal(mode=MoveArm.Goal.POSE, poses=[place.target])
    assert rig.run("/move_arm", move).code == MoveArm.Result.UNKNOWN_FRAME
    wide = MoveGripper.Goal(mode=MoveGripper.Goal.WIDTH, width=0.5)
    assert rig.run("/gripper", wide).code == MoveGripper.Result.INVALID_REQUEST


def test_second_goal_is_refused_and_cancel_stops_the_arm(rig):
    slow = MoveArm.Goal(
        mode=MoveArm.Goal.NAMED,
        named_target="ready",
        velocity_scaling=0.05,
        avoid_collisions=True,
    )
    handle = rig.start("/move_arm", slow)
    assert handle.accepted
    rig.until(lambda: "move" in rig.phases)
    assert not rig.start("/pick", Pick.Goal(object_name="red_block")).accepted
    handle.cancel_goal_async()
    assert rig.result(handle).code == MoveArm.Result.CANCELED
    assert rig.run("/move_arm", HOME).code == 0
    assert rig.run("/gripper", MoveGripper.Goal(mode=MoveGripper.Goal.OPEN)).code == 0


def test_a_stop_ends_the_motion_refuses_the_next_and_is_over(rig):
    slow = MoveArm.Goal(
        mode=MoveArm.Goal.NAMED, named_target="ready", velocity_scaling=0.05, avoid_collisions=True
    )
    handle = rig.start("/move_arm", slow)
    rig.until(lambda: "move" in rig.phases and max(map(abs, rig.joints.velocity[:7])) > 0.02)
    rig.press(True)
    stopped = rig.result(handle)
    assert stopped.code == MoveArm.Result.EXECUTION_FAILED
    assert "The emergency stop is pressed. Release it" in stopped.message
    assert max(map(abs, rig.joints.velocity[:7])) < 0.03
    refused = rig.run("/move_arm", HOME)
    assert (refused.code, refused.message) == (stopped.code, stopped.message)
    rig.press(False)
    rig.until(lambda: rig.run("/move_arm", HOME).code == 0)


def screw(**changes):
    """30 degrees about a vertical axis before the arm."""
    goal = Screw.Goal(rotation=0.5, max_linear_velocity=0.2, max_angular_velocity=0.8)
    goal.axis.header.frame_id = "world"
    goal.axis.pose.position.x = 0.45
    goal.axis.pose.orientation.y, goal.axis.pose.orientation.w = -(0.5**0.5), 0.5**0.5
    for name, value in changes.items():
        setattr(goal, name, value)
    return goal


def test_screw_previews_moves_and_is_cancelled(rig):
    send_home(rig)
    seen = rig.run("/screw", screw(preview=True))
    assert (seen.code, seen.fraction) == (0, 1.0), seen.message
    assert len(seen.path) == 4
    assert seen.duration > 0.5 / 0.8
    start, end = (pose.pose.position for pose in (seen.path[0], seen.path[-1]))
    assert start.z == pytest.approx(end.z, abs=1e-6)
    assert set(rig.phases) == {"plan"}

    handle = rig.start("/screw", screw(max_angular_velocity=0.1))
    rig.until(lambda: "move" in rig.phases)
    assert not rig.start("/move_arm", HOME).accepted
    handle.cancel_goal_async()
    assert rig.result(handle).code == Screw.Result.CANCELED

    done = rig.run("/screw", screw(max_force=60.0))
    assert (done.code, done.fraction) == (0, 1.0), done.message
    assert rig.phases[-1] == "move"
    assert rig.run("/screw", screw(rotation=0.0)).code == Screw.Result.INVALID_REQUEST
    far = rig.run("/screw", screw(rotation=0.0, translation=1.5))
    assert far.code == Screw.Result.UNREACHABLE
    assert 0.0 < far.fraction < 1.0
    lost = screw()
    lost.axis.header.frame_id = "nowhere"
    assert rig.run("/screw", lost).code == Screw.Result.UNKNOWN_FRAME
