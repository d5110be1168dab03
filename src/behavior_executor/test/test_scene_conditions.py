# SPDX-License-Identifier: Apache-2.0
"""Conditions in trees, asked about scenes as they come in messages."""

import math

import numpy as np
import pytest
from behavior_msgs.msg import SceneObject, SceneObjectArray
from geometry_msgs.msg import Pose, PoseStamped
from shape_msgs.msg import SolidPrimitive

from behavior_executor.conversion import snapshot_from
from behavior_executor.scene.scene_manager import register_scene_nodes
from behavior_ros import to_time
from behavior_tree import BehaviorTreeFactory, Blackboard, NodeExecutionError, NodeStatus

SUCCESS, FAILURE = NodeStatus.SUCCESS, NodeStatus.FAILURE
NOW = 20.0


class FakeScene:
    """One snapshot for all nodes, and some frames."""

    def __init__(self, *objects):
        message = SceneObjectArray(objects=list(objects))
        message.header.frame_id = "world"
        message.header.stamp = to_time(NOW)
        self.snapshot = snapshot_from(message)
        self.now = NOW
        self.frames = {}
        self.receives_frames = False

    def receive_frames(self, *names):
        self.receives_frames = True

    def frame_pose(self, name, at=None):
        return self.frames.get(name)


def box(name, x=0.0, y=0.0, z=0.0, *, size=(0.1, 0.1, 0.1), yaw=0.0, **changes):
    made = SceneObject(name=name, last_seen=to_time(NOW), **changes)
    made.pose.position.x, made.pose.position.y, made.pose.position.z = x, y, z
    made.pose.orientation.z, made.pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    made.shape = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(size))
    return made


class TickedTree:
    """A tree of one condition, ticked once or more."""

    def __init__(self, scene, xml):
        factory = BehaviorTreeFactory()
        register_scene_nodes(factory, scene)
        self.blackboard = Blackboard.create()
        self.tree = factory.create_tree_from_text(
            f'<root BTCPP_format="4"><BehaviorTree ID="main">{xml}</BehaviorTree></root>',
            self.blackboard,
        )
        self.node = self.tree.root_node()

    def tick(self):
        return self.tree.tick_exactly_once()

    @property
    def reason(self):
        return self.node.failure_reason()


def ask(scene, xml):
    """Status and reason of one tick, and the value that was written."""
    ticked = TickedTree(scene, xml)
    status = ticked.tick()
    value = ticked.blackboard.get("v", None)
    return status, value, ticked.reason


CUP_AND_PLATE = FakeScene(box("cup", 0.3, 0.4, 0.2), box("plate"))


@pytest.mark.parametrize(
    ("kind", "value"), [("XYZ", math.hypot(0.3, 0.4, 0.2)), ("XY", 0.5), ("Z", 0.2)]
)
def test_proximity_by_the_part_that_counts(kind, value):
    names = 'object_name="plate" reference="cup"'
    xml = f'<Proximity {names} distance_type="{{}}" maximum="{{}}" value="{{{{v}}}}"/>'
    status, found, _ = ask(CUP_AND_PLATE, xml.format(kind, value + 0.01))
    assert status is SUCCESS
    assert found == pytest.approx(value)
    status, found, reason = ask(CUP_AND_PLATE, xml.format(kind, value - 0.01))
    assert status is FAILURE
    assert found == pytest.approx(value)
    assert f"{value:.3f} m, not 0..{value - 0.01:g} m" in reason


def test_frames_are_known_beside_objects_and_received_from_the_load_on():
    scene = FakeScene(box("cup", 0.5))
    xml = '<IsReachable object_name="cup" base="base" value="{v}"/>'
    status, _, reason = ask(scene, xml)
    assert status is FAILURE
    assert "'base' is no object (cup), and no frame" in reason
    assert scene.receives_frames
    scene.frames["base"] = np.eye(4)
    assert ask(scene, xml)[:2] == (SUCCESS, pytest.approx(0.5))
    assert ask(FakeScene(box("cup", 0.9)), xml.replace("base=", "base="))[0] is FAILURE


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        ('<ObjectIsVisible object_name="mug"/>', "the scene has no 'mug'; it has cup, plate"),
        ('<IsOnTopOf object_name="cup" reference="mug"/>', "no 'mug'"),
        ('<Proximity object_name="cup" reference="mug"/>', "'mug' is no object"),
    ],
)
def test_what_is_not_known_is_named(xml, reason):
    status, _, said = ask(CUP_AND_PLATE, xml)
    assert status is FAILURE
    assert reason in said


def test_nothing_is_answered_without_a_fresh_scene_or_about_lost_objects():
    blind = FakeScene()
    blind.snapshot = None
    assert "no fresh scene" in ask(blind, '<ObjectIsHeld object_name="cup"/>')[2]
    assert "no fresh scene" in ask(blind, '<Proximity object_name="a" reference="b"/>')[2]
    lost = box("cup", state=SceneObject.LOST)
    lost.last_seen = to_time(NOW - 7.0)
    scene = FakeScene(lost, box("plate"))
    status, _, reason = ask(scene, '<Proximity object_name="cup" reference="plate"/>')
    assert status is FAILURE
    assert "cup is lost: last seen 7.0 s ago" in reason
    assert ask(scene, '<ObjectIsStale object_name="cup" value="{v}"/>')[:2] == (SUCCESS, 7.0)


def test_visible_and_stale_are_opposites():
    scene = FakeScene(box("cup"))
    scene.snapshot.bodies["cup"].__dict__["last_seen"] = NOW - 2.0
    for limit, visible in ((1.0, FAILURE), (3.0, SUCCESS)):
        assert ask(scene, f'<ObjectIsVisible object_name="cup" max_age="{limit}"/>')[0] is visible
        stale = ask(scene, f'<ObjectIsStale object_name="cup" max_age="{limit}"/>')[0]
        assert (stale is SUCCESS) == (visible is FAILURE)


def test_held_by_whom():
    scene = FakeScene(box("cup", state=SceneObject.ATTACHED, attached_link="left"), box("plate"))
    xml = '<ObjectIsHeld object_name="{}" link="{}" holder="{{v}}"/>'
    assert ask(scene, xml.format("cup", ""))[:2] == (SUCCESS, "left")
    assert ask(scene, xml.format("cup", "left"))[0] is SUCCESS
    assert "by left, not by right" in ask(scene, xml.format("cup", "right"))[2]
    assert ask(scene, xml.format("plate", ""))[:2] == (FAILURE, "")


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        ('shape="SPHERE" dimensions="0.2"', (0.11, 0.11, 0.11), (0.12, 0.12, 0.12)),
        ('shape="BOX" dimensions="0.2;0.4;0.6"', (0.09, 0.19, 0.29), (0.19, 0.09, 0.0)),
        ('shape="CYLINDER" dimensions="0.4;0.1"', (0.0, 0.09, 0.19), (0.08, 0.08, 0.0)),
        ('shape="CAPSULE" dimensions="0.4;0.1"', (0.0, 0.0, 0.29), (0.08, 0.0, 0.29)),
        (
            'shape="CONVEX_MESH" dimensions="0;0;0;0.3;0;0;0;0.3;0;0;0;0.3"',
            (0.05, 0.05, 0.05),
            (0.15, 0.15, 0.15),
        ),
    ],
)
def test_shapes_contain_frames_where_they_are_placed(shape, inside, outside):
    names = 'object_name="door" frame="hand"'
    xml = f'<ShapeContainsFrame {names} {shape} pose="0.5;0;0" value="{{v}}"/>'
    for offset, expected in ((inside, SUCCESS), (outside, FAILURE)):
        x, y, z = offset
        # The door is turned by a quarter: its x axis is the world's y axis.
        scene = FakeScene(box("door", 1.0, 1.0, 0.0, yaw=math.pi / 2))
        hand = np.eye(4)
        hand[:3, 3] = (1.0 - y, 1.0 + 0.5 + x, z)
        scene.frames["hand"] = hand
        status, value, _ = ask(scene, xml)
        assert status is expected
        assert (value < 0) == (expected is SUCCESS)


def test_impossible_shapes_are_refused_in_words():
    xml = '<ShapeContainsFrame object_name="cup" frame="plate" shape="{}" dimensions="{}"/>'
    assert "3 dimensions" in ask(CUP_AND_PLATE, xml.format("BOX", "1"))[2]
    assert "no x;y;z" in ask(CUP_AND_PLATE, xml.format("CONVEX_MESH", "1;2"))[2]


def test_on_top_of_and_inside():
    scene = FakeScene(
        box("cup", 0.1, 0.0, 0.1), box("plate", size=(0.4, 0.2, 0.1)), box("side", 0.0, 0.15, 0.1)
    )
    xml = '<IsOnTopOf object_name="{}" reference="plate" value="{{v}}"/>'
    assert ask(scene, xml.format("cup"))[:2] == (SUCCESS, pytest.approx(0.0))
    status, value, reason = ask(scene, xml.format("side"))
    assert status is FAILURE
    assert math.isnan(value)
    assert "not above plate" in reason
    inside = '<IsInside object_name="{}" reference="plate" value="{{v}}"/>'
    assert ask(scene, inside.format("cup"))[0] is FAILURE
    assert ask(FakeScene(box("a", 0.15), box("plate", size=(0.4, 0.2, 0.1))), inside.format("a"))[
        :2
    ] == (SUCCESS, pytest.approx(-0.05))
    shapeless = box("plate")
    shapeless.shape = SolidPrimitive()
    assert "shape of plate" in ask(FakeScene(box("a"), shapeless), inside.format("a"))[2]


def test_moved_since_it_was_first_looked_at():
    scene = FakeScene(box("cup", 0.1))
    ticked = TickedTree(scene, '<ObjectMoved object_name="cup" origin="{o}" value="{v}"/>')
    assert ticked.tick() is FAILURE
    assert ticked.blackboard.get("o").pose.position.x == 0.1
    scene.snapshot = FakeScene(box("cup", 0.2)).snapshot
    assert ticked.tick() is SUCCESS
    assert ticked.blackboard.get("v") == pytest.approx(0.1)
    ticked.blackboard.unset("o")
    assert ticked.tick() is FAILURE
    ticked.blackboard.set("o", PoseStamped(pose=Pose()))
    ticked.tick()
    assert "origin is in frame ''" in ticked.reason
    alone = TickedTree(scene, '<ObjectMoved object_name="cup"/>')
    assert alone.tick() is FAILURE
    assert "connect the port origin" in alone.reason


def test_a_pose_that_is_none_does_not_stop_the_tick():
    broken = box("cup")
    broken.pose.orientation.w = 0.0
    broken.pose.orientation.z = 0.0
    assert "no 'cup'" in ask(FakeScene(broken), '<ObjectIsVisible object_name="cup"/>')[2]


def counted(number, **ports):
    text = " ".join(f'{name}="{value}"' for name, value in ports.items())
    ticked = TickedTree(FakeScene(), f'<Counter count_to="3" {text} count="{{n}}"/>')
    return [ticked.tick() for _ in range(number)], ticked.blackboard.get("n")


def test_counter_in_both_polarities_and_with_both_policies():
    wait = counted(5, when_reached="SUCCESS")
    assert wait == ([FAILURE, FAILURE, SUCCESS, SUCCESS, SUCCESS], 3)
    limit = counted(5, when_reached="FAILURE")
    assert limit == ([SUCCESS, SUCCESS, FAILURE, FAILURE, FAILURE], 3)
    every_third = counted(7, when_reached="SUCCESS", reset="WHEN_REACHED")
    assert every_third == ([FAILURE, FAILURE, SUCCESS] * 2 + [FAILURE], 1)


@pytest.mark.parametrize(
    ("ports", "text"),
    [
        ('count_to="0" when_reached="SUCCESS" count="{n}"', "count_to is 0"),
        ('count_to="1" when_reached="RUNNING" count="{n}"', "when_reached is RUNNING"),
        ('count_to="1" when_reached="SUCCESS"', "connect it"),
    ],
)
def test_counter_refuses_ports_that_make_no_sense(ports, text):
    with pytest.raises(NodeExecutionError, match=text):
        TickedTree(FakeScene(), f"<Counter {ports}/>").tick()


def test_where_is_waits_for_what_the_arm_hides_for_a_while():
    """A box behind the arm was at once no box any more, and the mission failed."""
    scene = FakeScene(box("shelf"))
    where = '<WhereIs object_name="peg" reference="shelf" patience="3" x="{v}"/>'
    waiting = TickedTree(scene, where)
    assert waiting.tick() is NodeStatus.RUNNING
    scene.now = NOW + 2.0
    scene.snapshot = FakeScene(box("shelf"), box("peg", x=0.4)).snapshot
    assert waiting.tick() is SUCCESS
    assert waiting.blackboard.get("v") == pytest.approx(0.4)
    gone = FakeScene(box("shelf"))
    waiting = TickedTree(gone, where)
    waiting.tick()
    gone.now = NOW + 3.1
    assert waiting.tick() is FAILURE
    assert "the scene has no peg; it has shelf" in waiting.reason


def test_patience_ends_where_the_clock_is_set_back():
    """As by a simulation that starts anew: it waited until the old time had come again."""
    scene = FakeScene(box("shelf"))
    where = '<WhereIs object_name="peg" reference="shelf" patience="3" x="{v}"/>'
    waiting = TickedTree(scene, where)
    statuses = []
    for now in (NOW, NOW + 1.0, 0.0, 1.5, 3.0):
        scene.now = now
        statuses.append(waiting.tick())
    assert statuses == [*4 * [NodeStatus.RUNNING], FAILURE]


def test_each_of_two_arms_is_asked_for_what_it_holds():
    arms = {"left": "left_tcp", "right": "right_tcp"}
    held = [
        box(name, state=SceneObject.ATTACHED, attached_link=link) for name, link in arms.items()
    ]
    scene = FakeScene(*held, box("cup"))
    for name in arms:
        assert TickedTree(scene, f'<WaitUntilHeld object_name="{name}"/>').tick() is SUCCESS
        waits = TickedTree(scene, f'<WaitUntilReleased object_name="{name}"/>')
        assert waits.tick() is NodeStatus.RUNNING, "it is in its hand still"
    absent = TickedTree(scene, '<WaitUntilHeld object_name="cup" timeout="-1"/>')
    assert absent.tick() is FAILURE
    assert "which holds left and right" in absent.node.failure_reason()
    assert TickedTree(scene, '<WaitUntilReleased object_name="cup"/>').tick() is SUCCESS
