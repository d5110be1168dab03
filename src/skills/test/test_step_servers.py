# SPDX-License-Identifier: Apache-2.0
"""The steps of pick and place asked of the real node by a client: answers, refusals, cancel."""

import math

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")
pytest.importorskip("control_msgs.action")

from behavior_msgs.action import SelectReachable  # noqa: E402
from behavior_msgs.srv import (  # noqa: E402
    CheckGrasped,
    CheckPlaced,
    SampleGrasp,
    SamplePlacePose,
)
from fakes import ROBOT_FILE  # noqa: E402
from ros_rig import RosRig, standing  # noqa: E402

from behavior_motion import check_interrupted  # noqa: E402
from behavior_motion.object_state import ObjectState  # noqa: E402
from behavior_ros import GoalContext  # noqa: E402
from behavior_skills.interfaces import ObjectView  # noqa: E402
from behavior_skills.node.skills_node import SkillsNode  # noqa: E402

EDGE = 0.05
SEEN = 4e9
"""[s] after whatever a test asks for: the camera sees all of it all the time."""
HOME = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
SERVICES = {
    "/sample_grasp": SampleGrasp,
    "/sample_place_pose": SamplePlacePose,
    "/check_grasped": CheckGrasped,
    "/check_placed": CheckPlaced,
}
PLACE = "objects: [red, bin]\nfilter_z_dir: [downward, 175]\ncandidates: 5\nseed: 3\n"


class Scene:
    """Stands for the scene's topic: a block, a bin, and where the test says that the block is."""

    def __init__(self):
        self.red = view("red", 0.45, -0.2, EDGE / 2, (EDGE,) * 3)
        self.bin = view("bin", 0.45, 0.25, 0.04, (0.24, 0.2, 0.08))

    def usable(self):
        return True

    def objects(self):
        return {"red": self.red, "bin": self.bin}


class SceneOfGoal:
    """Stands for the scene as one goal sees it."""

    def __init__(self, topic, *_):
        self.objects = topic.objects

    def revision(self):
        return 0

    def attach(self, name, link):
        pass

    def detach(self, name):
        pass

    def base_T_frame(self, frame, stamp, otherwise):
        return np.eye(4) if frame == "world" else otherwise(frame, stamp)


def view(name, x, y, z, size, state=ObjectState.TRACKED):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return ObjectView(name, state, pose, "box", size, SEEN)


class Rig(RosRig):
    """The node in this process, and a client of its services and action."""

    def __init__(self, patch):
        super().__init__({}, {"/select_reachable": SelectReachable})
        self.scene = Scene()
        self.skills = self.make(SkillsNode, robot=str(ROBOT_FILE))
        state = self.skills._state
        patch.setattr(type(state), "silent", property(lambda _: False))
        patch.setattr("behavior_skills.node.skills_node.SceneClient", SceneOfGoal)
        patch.setattr("behavior_ros.GoalContext.tick", tick)
        patch.setattr(self.skills, "_scene", self.scene)
        patch.setattr(self.skills, "_frames", base_frame(self.skills._frames))
        self.stand(0.08)
        self.services = {
            name: self.peer.create_client(kind, name) for name, kind in SERVICES.items()
        }

    def stand(self, width, q=HOME):
        self.skills._state._joints.take(standing(self.skills._robot, q, width))

    def hold(self):
        """The block is in the hand."""
        tool = self.skills._robot.forward_kinematics(np.array(HOME))
        self.scene.red = view("red", *tool[:3, 3], (EDGE,) * 3, ObjectState.ATTACHED)
        self.stand(EDGE)

    def ask(self, name, **fields):
        client = self.services[name]
        self.until(client.service_is_ready)
        return self.answer(client.call_async(SERVICES[name].Request(**fields)))


def tick(context):
    context.check_cancelled()
    context.cancelled.wait(0.005)
    context.check_cancelled()


def base_frame(real):
    return lambda frame, stamp: np.eye(4) if frame == "world" else real(frame, stamp)


@pytest.fixture(scope="module")
def rig():
    patch = pytest.MonkeyPatch()
    made = Rig(patch)
    yield made
    made.close()
    patch.undo()


@pytest.fixture(autouse=True)
def on_the_table(rig):
    rig.scene.__init__()
    rig.stand(0.08)
    rig.skills._hand.release("A new test.")


def test_grasps_are_sampled(rig):
    found = rig.ask("/sample_grasp", object_name="red")
    assert found.code == 0, found.message
    assert len(found.pre) == len(found.target) == len(found.grasp) == len(found.score) >= 1
    for pre, target in zip(found.pre, found.target, strict=True):
        assert target.header.frame_id == "panda_link0"
        assert pre.pose.position.z > target.pose.position.z
        assert math.dist((target.pose.position.x, target.pose.position.y), (0.45, -0.2)) < 0.05


def test_grasps_that_cannot_be(rig):
    unknown = rig.ask("/sample_grasp", object_name="cat")
    assert unknown.code == SampleGrasp.Response.UNKNOWN_OBJECT
    wrong = rig.ask("/sample_grasp", object_name="red", max_tilt=math.nan)
    assert wrong.code == SampleGrasp.Response.INVALID_REQUEST
    assert "max_tilt is nan" in wrong.message
    rig.scene.red = view("red", 2.0, 0.0, 0.1, (EDGE,) * 3)
    far = rig.ask("/sample_grasp", object_name="red")
    assert far.code == SampleGrasp.Response.OUT_OF_WORKSPACE
    rig.scene.red = view("red", 0.45, 0.0, 0.1, (0.2,) * 3)
    thick = rig.ask("/sample_grasp", object_name="red")
    assert thick.code == SampleGrasp.Response.NO_GRASP


def test_places_are_sampled(rig):
    rig.hold()
    text = PLACE + "post_place_vector: [0, 0, -0.08]\n"
    found = rig.ask("/sample_place_pose", parameters=text)
    assert found.code == 0, found.message
    assert len(found.pre) == len(found.target) == len(found.post) == 5
    assert 0.0 < found.share <= 1.0
    assert all(abs(target.pose.position.x - 0.45) < 0.2 for target in found.target)


def test_places_that_cannot_be(rig):
    kind = SamplePlacePose.Response
    assert rig.ask("/sample_place_pose", parameters=PLACE).code == kind.NOT_HELD
    rig.hold()
    for text in ("", "lift: 3", "objects: [red", "seed: !!int ''"):
        assert rig.ask("/sample_place_pose", parameters=text).code == kind.INVALID_REQUEST
    absent = rig.ask("/sample_place_pose", parameters=PLACE.replace("bin", "basket"))
    assert absent.code == kind.UNKNOWN_OBJECT


def test_places_are_not_sampled_while_another_goal_has_the_arm(rig):
    rig.hold()
    with rig.skills._arm_lock:
        refused = rig.ask("/sample_place_pose", parameters=PLACE)
    assert refused.code == SamplePlacePose.Response.INVALID_REQUEST
    assert "busy" in refused.message


def test_a_grasp_is_checked(rig):
    kind = CheckGrasped.Response
    rig.hold()
    held = rig.ask("/check_grasped", object_name="red", width=EDGE)
    assert held.code == 0, held.message
    assert held.gap == pytest.approx(EDGE)
    assert held.seen_height == pytest.approx(rig.scene.red.base_T_object[2, 3])
    rig.stand(0.0)
    shut = rig.ask("/check_grasped", object_name="red", patience=0.1)
    assert (shut.code, shut.gap) == (kind.NOT_GRASPED, 0.0)
    assert "shut" in shut.message
    assert rig.ask("/check_grasped", object_name="cat").code == kind.UNKNOWN_OBJECT
    assert rig.ask("/check_grasped", object_name="red", rise=-1.0).code == kind.INVALID_REQUEST


def test_a_placed_object_is_checked(rig):
    kind = CheckPlaced.Response
    mode = PLACE + "success_mode: 3diou\n"
    refused = rig.ask("/check_placed", parameters=mode, patience=0.1)
    assert refused.code == kind.NOT_PLACED
    rig.scene.red = view("red", 0.45, 0.25, 0.05, (EDGE,) * 3)
    placed = rig.ask("/check_placed", parameters=mode)
    assert placed.code == 0, placed.message
    assert placed.placed.pose.position.y == pytest.approx(0.25)
    without = rig.ask("/check_placed", parameters=PLACE + "success_mode: height\n")
    assert without.code == kind.INVALID_REQUEST
    assert "pose of the tool" in without.message
    assert rig.ask("/check_placed", parameters=mode, patience=99.0).code == kind.INVALID_REQUEST
    absent = rig.ask("/check_placed", parameters=mode.replace("bin", "basket"))
    assert absent.code == kind.UNKNOWN_OBJECT


def ways(rig, **fields):
    found = rig.ask("/sample_grasp", object_name="red")
    return SelectReachable.Goal(pre=found.pre, target=found.target, may_touch=["red"], **fields)


@pytest.mark.parametrize("mode", [SelectReachable.Goal.IK, SelectReachable.Goal.PLAN])
def test_a_way_is_chosen(rig, mode):
    goal = ways(rig, mode=mode)
    result = rig.run("/select_reachable", goal)
    assert result.code == 0, result.message
    assert list(result.chosen) == [goal.target[result.index]]
    assert list(result.chosen_pre) == [goal.pre[result.index]]


def test_choices_that_cannot_be(rig):
    kind, goal = SelectReachable.Result, ways(rig)
    goal.may_touch = ["cat"]
    assert rig.run("/select_reachable", goal).code == kind.UNKNOWN_OBJECT
    empty = rig.run("/select_reachable", SelectReachable.Goal())
    assert (empty.code, empty.index, list(empty.chosen)) == (kind.INVALID_REQUEST, -1, [])
    far = ways(rig)
    for pose in far.target:
        pose.pose.position.x = 5.0
    assert rig.run("/select_reachable", far).code == kind.UNREACHABLE
    lost = ways(rig)
    lost.target[0].header.frame_id = "nowhere"
    assert rig.run("/select_reachable", lost).code == kind.UNKNOWN_FRAME


def test_a_choice_is_cancelled(rig, monkeypatch):
    began = []

    def endless(*_, **__):
        began.append(1)
        while True:
            check_interrupted()

    monkeypatch.setattr("behavior_skills.arm.select_reachable.reach_of", endless)
    handle = rig.start("/select_reachable", ways(rig))
    rig.until(lambda: began)
    assert not rig.start("/select_reachable", ways(rig)).accepted
    handle.cancel_goal_async()
    assert rig.result(handle).code == SelectReachable.Result.CANCELED


def test_a_fault_of_the_server_is_no_success(rig, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("behavior_skills.node.conversion.sample_grasp_request", broken)
    ended = rig.ask("/sample_grasp", object_name="red")
    assert ended.code == SampleGrasp.Response.EXECUTION_FAILED
    assert "fault in the server" in ended.message


def test_a_server_that_is_closing_ends_what_runs(rig):
    service = rig.skills._worker_services["check_grasped"]
    context = GoalContext(rig.skills, CheckGrasped.Request(object_name="red", patience=10.0))
    service._contexts.add(context)
    service.destroy()
    service._contexts.discard(context)
    ended = service.answer(context)
    assert ended.code == CheckGrasped.Response.EXECUTION_FAILED
    assert "Cancelled" in ended.message
