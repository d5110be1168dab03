# SPDX-License-Identifier: Apache-2.0
"""Goals that no sensible client sends, to the real nodes: each ends with a code and plain words."""

import gc
import math
import re
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")
pytest.importorskip("control_msgs.action")

from behavior_msgs.action import (  # noqa: E402
    Look,
    MoveArm,
    MoveBase,
    MoveGripper,
    Pick,
    Place,
    Reach,
    Screw,
    Wait,
)
from fakes import ROBOT_FILE  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from ros_rig import standing  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from behavior_motion.object_state import ObjectState  # noqa: E402
from behavior_ros import GoalContext  # noqa: E402
from behavior_ros.node.closing import destroy_node  # noqa: E402
from behavior_skills.base.base_node import BaseNode  # noqa: E402
from behavior_skills.interfaces import Done, ObjectView  # noqa: E402
from behavior_skills.node import conversion  # noqa: E402
from behavior_skills.node.drivers.streams import trajectory_message  # noqa: E402
from behavior_skills.node.skills_node import SkillsNode  # noqa: E402

PYTHON = re.compile(
    r"\w+Error\b|\w+Exception\b|Traceback|NoneType|object at 0x|array\(|\bself\b|numpy|fault in"
)
"""What betrays an exception that nobody turned into a sentence."""
MOST_TIME = 40.0
"""[s] of processor time for any one goal."""
HOME = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)


class Command:
    """A controller that is done at once."""

    def done(self):
        return Done(True)

    def cancel(self):
        pass


class Context(GoalContext):
    """A goal whose waits are over at once."""

    def sleep(self, duration):
        self.check_cancelled()
        self.cancel("enough")


class Scene:
    """Stands for the scene's topic: two blocks in view."""

    def usable(self):
        return True

    def objects(self):
        return {name: block(name, y) for name, y in (("red", -0.2), ("blue", 0.2))}


def block(name, y):
    pose = np.eye(4)
    pose[:3, 3] = 0.45, y, 0.026
    return ObjectView(name, ObjectState.TRACKED, pose, "box", (0.05, 0.05, 0.05), 0.0)


@pytest.fixture(scope="module")
def context():
    made = rclpy.Context()
    rclpy.init(context=made, domain_id=135)
    yield made
    rclpy.shutdown(context=made)


@pytest.fixture(scope="module")
def servers(context):
    """The actions' servers by name; joints, scene and controllers answer without any ROS."""
    robot = Parameter("robot", value=str(ROBOT_FILE))
    skills = SkillsNode(context=context, parameter_overrides=[robot])
    nodes = skills, BaseNode(context=context)
    _, base = nodes
    state = skills._state
    state._joints.take(standing(skills._robot, HOME, 0.08))
    patch = pytest.MonkeyPatch()
    patch.setattr(type(state), "silent", property(lambda self: False))
    patch.setattr(skills._arm, "execute", execute)
    patch.setattr(skills, "_stream", Stream())
    patch.setattr(skills._gripper, "move", lambda width, effort: Command())
    patch.setattr("behavior_skills.node.skills_node.SceneClient", lambda *_: View(skills))
    patch.setattr(skills, "_scene", Scene())
    patch.setattr(base, "base_pose", lambda: (np.eye(4), 0.0))
    clock = Clock()
    patch.setattr(GoalContext, "tick", lambda context: clock.tick())
    patch.setattr(GoalContext, "now", lambda context: clock.now())
    yield {**skills._servers, "base": base._server}
    patch.undo()
    for node in nodes:
        destroy_node(node)


def execute(trajectory):
    """What the real client does before anything is sent."""
    conversion.trajectory_goal(trajectory)
    return Command()


class Stream:
    """A controller that listens, and an arm that does not move."""

    lead, name, last = 0.03, "/arm/joint_trajectory", None

    def send(self, motion, now):
        """What the real one does before anything is sent."""
        trajectory_message(motion, tuple(f"panda_joint{i}" for i in range(1, 8)))

    def check(self):
        pass


class Clock:
    """Time that passes at every tick."""

    time = 0.0

    def tick(self):
        self.time += 0.02

    def now(self):
        return self.time


class View(Scene):
    """Stands for the scene as one goal sees it."""

    def __init__(self, node):
        self._node = node

    def revision(self):
        return 0

    def attach(self, name, link):
        pass

    def detach(self, name):
        pass

    def base_T_frame(self, frame, stamp, otherwise):
        return np.eye(4) if frame == "world" else otherwise(frame, stamp)


# ---------------------------------------------------------------- goals


def posed(x=0.45, y=0.0, z=0.3):
    pose = PoseStamped()
    pose.header.frame_id = "world"
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = x, y, z
    pose.pose.orientation.x, pose.pose.orientation.w = 1.0, 0.0
    return pose


def recorded():
    goal = MoveArm.Goal(mode=MoveArm.Goal.TRAJECTORY, avoid_collisions=True)
    goal.trajectory.joint_names = [f"panda_joint{i}" for i in range(1, 8)]
    for i in range(3):
        point = JointTrajectoryPoint(positions=np.array(HOME) + 0.05 * i)
        point.time_from_start.sec = i
        goal.trajectory.points.append(point)
    return goal


def driven(mode, **values):
    goal = MoveBase.Goal(mode=mode, target=posed(), **values)
    goal.target.header.frame_id = "odom"
    goal.path.poses = [goal.target, goal.target]
    return goal


def turned():
    goal = Screw.Goal(axis=posed(), rotation=0.2, preview=True)
    goal.axis.pose.orientation.y, goal.axis.pose.orientation.w = 0.0, 0.0
    return goal


def reached():
    return Reach.Goal(pose=posed(), timeout=2.0)


def reached_point():
    goal = Reach.Goal(hold=False, local_only=True, timeout=1.0)
    goal.position.header.frame_id = "world"
    goal.position.point.x, goal.position.point.z = 0.5, 0.4
    goal.approach.z = -0.1
    return goal


def looked():
    goal = Look.Goal()
    goal.target.header.frame_id = "world"
    goal.target.point.x = 0.6
    return goal


PLACE = (
    "objects: [red, blue]\nfilter_z_dir: [downward, 170]\ncandidates: 2\n"
    "ignore_substring: [x]\nseed: 3\nalign_plane_x_axis: [1, 0, 0]\nalign_plane_y_axis: [0, 1, 0]\n"
)
GOALS = {
    "move_arm": [
        lambda: MoveArm.Goal(mode=0, joints=HOME, avoid_collisions=True),
        lambda: MoveArm.Goal(mode=1, named_target="ready", avoid_collisions=True),
        lambda: MoveArm.Goal(mode=2, poses=[posed()], avoid_collisions=True),
        lambda: MoveArm.Goal(mode=3, poses=[posed(), posed(y=0.1)], avoid_collisions=True),
        lambda: MoveArm.Goal(mode=4, poses=[posed(), posed(y=0.1)], avoid_collisions=True),
        recorded,
    ],
    "gripper": [lambda mode=mode: MoveGripper.Goal(mode=mode) for mode in range(4)],
    "screw": [turned],
    "reach": [reached, reached_point],
    "look": [looked, lambda: Look.Goal(object_name="red")],
    "base": [
        lambda: driven(MoveBase.Goal.POSE),
        lambda: driven(MoveBase.Goal.PATH),
        lambda: driven(MoveBase.Goal.STRAIGHT, distance=1.0),
        lambda: driven(MoveBase.Goal.TURN, angle=1.0),
    ],
    "wait": [lambda: Wait.Goal(duration=0.001)],
    "pick": [lambda: Pick.Goal(object_name="red")],
    "place": [lambda: Place.Goal(target=posed()), lambda: Place.Goal(parameters=PLACE)],
}

FLOATS = [0.0, -0.0, 5e-324, 1e-9, 0.5, -1.0, 2.0, 7.0, 1e5, 1e300, -1e300]
FLOATS += [math.nan, math.inf, -math.inf]
INTEGERS = [0, 1, 2, 3, 5, 9, 255]
TEXTS = [
    "",
    "world",
    "red",
    "home",
    "nowhere",
    "*",
    "?*",
    "[",
    "../x",
    "a" * 300,
    "x\x1b[31m\n",
    "ü",
]
SPECIFICATIONS = [
    "seed: -1",
    'ignore_substring: [""]',
    "align_plane_y_axis: [2, 0, 0]",
    "candidates: 100000",
    "candidates: .nan",
    "filter_z_dir: [downward, .inf]",
    "filter_z_dir: {a: b}",
    "seed: 1" + "0" * 5000,
    "name: 2024-13-45",
    "name: !!int ''",
    "name: !!bool x",
    "name: !!timestamp x",
    "[" * 20_000,
    "{a: b",
    "x: &a [*a]",
    "place_z_offset: 1.0e+300",
    "post_place_vector: [0, 0, 1.0e+300]",
    "\x00",
    "objects: 3",
]


def leaves(message, path=()):
    """Places of a message that can be changed."""
    for name in message.get_fields_and_field_types():
        value, here = getattr(message, name), (*path, name)
        if hasattr(value, "get_fields_and_field_types"):
            yield from leaves(value, here)
        else:
            yield here
            if isinstance(value, list) and value and not isinstance(value[0], str):
                for inner in leaves(value[0]):
                    yield (*path, name, 0, *inner)


def reach(message, path):
    for step in path:
        message = message[step] if isinstance(step, int) else getattr(message, step)
    return message


def changed(draw, goal):
    """A goal with one to three of its fields changed."""
    places = list(leaves(goal))
    for place in draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
        try:
            owner, old = reach(goal, place[:-1]), reach(goal, place)
        except IndexError:
            continue  # its list was emptied by the change before
        kind = owner.get_fields_and_field_types()[place[-1]]
        setattr(owner, place[-1], another(draw, place[-1], old, kind))
    return goal


def another(draw, name, old, kind):
    if isinstance(old, bool):
        return not old
    if isinstance(old, float):
        return draw(st.sampled_from(FLOATS))
    if isinstance(old, int):
        return draw(st.sampled_from(INTEGERS))
    if name == "parameters":
        head = draw(st.sampled_from(["", PLACE]))
        return head + draw(st.sampled_from([*SPECIFICATIONS, *TEXTS]))
    if isinstance(old, str):
        return draw(st.sampled_from(TEXTS))
    return many(draw, old, kind)


def many(draw, old, kind):
    """Another list: empty, short or enormous."""
    count = draw(st.sampled_from([0, 1, 7, 300, 20_000]))
    if kind == "sequence<string>":
        return [draw(st.sampled_from(TEXTS))] * count
    if kind == "sequence<double>":
        return [draw(st.sampled_from(FLOATS))] * count
    return [*old[:1]] * count


@pytest.mark.parametrize("name", GOALS)
def test_every_goal_ends_with_a_code_and_plain_words(servers, name):
    @settings(
        deadline=None,
        max_examples=15,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def fuzz(data):
        goal = changed(data.draw, data.draw(st.sampled_from(GOALS[name]))())
        end_of(servers[name], goal)

    fuzz()


def end_of(server, goal):
    """Code and sentence of a goal's end, looked at as a client would."""
    began = time.thread_time()
    _, result = server._end_of(Context(server._node, goal))
    assert time.thread_time() - began < MOST_TIME
    kind = type(result)
    constants = [getattr(kind, name) for name in dir(kind) if name.isupper()]
    assert result.code in constants
    assert not PYTHON.search(result.message), result.message
    assert result.message.endswith("."), result.message
    assert len(result.message) < 3000
    assert result.message[0].isupper()
    return result


INVALID = [
    ("move_arm", lambda g: setattr(g.poses[0].pose.orientation, "x", 2.0), 2, "length 2, not 1"),
    ("move_arm", lambda g: setattr(g.poses[0].pose.orientation, "x", 0.0), 2, "length 0, not 1"),
    ("move_arm", lambda g: setattr(g.poses[0].pose.position, "y", math.nan), 2, "y is nan"),
    ("move_arm", lambda g: setattr(g, "poses", g.poses * 101), 4, "at most 200"),
    ("move_arm", lambda g: setattr(g, "velocity_scaling", 1e-9), 1, "0.001..1"),
    ("move_arm", lambda g: setattr(g.poses[1].pose.position, "z", 400.0), 3, "at most 20 m"),
    ("move_arm", lambda g: setattr(g.trajectory.points[1], "positions", [0.0]), 5, "positions has"),
    ("screw", lambda g: setattr(g, "max_angular_velocity", 1e-9), 0, "at most 600 s"),
    ("screw", lambda g: setattr(g, "max_linear_velocity", 1e-9), 0, "at most 600 s"),
    ("screw", lambda g: setattr(g.axis.pose.position, "y", 1e5), 0, "at most 20 m"),
    ("screw", lambda g: setattr(g, "may_touch", [""]), 0, "empty name"),
    ("reach", lambda g: setattr(g.position.header, "frame_id", "world"), 0, "both pose and pos"),
    ("reach", lambda g: setattr(g.pose.header, "frame_id", ""), 0, "neither pose nor position"),
    ("reach", lambda g: setattr(g.pose.pose.orientation, "x", 0.5), 0, "of length 0.5"),
    ("reach", lambda g: setattr(g.pose.pose.position, "x", math.inf), 0, "x is inf"),
    ("reach", lambda g: setattr(g, "position_tolerance", -1.0), 0, "position_tolerance is -1"),
    ("reach", lambda g: setattr(g, "target_timeout", -1.0), 0, "target_timeout is -1"),
    ("reach", lambda g: setattr(g, "target_topic", "a b"), 0, "is no name of a topic"),
    ("reach", lambda g: setattr(g, "posture", [0.0] * 6), 0, "posture has 6"),
    ("reach", lambda g: setattr(g, "approach_along_tool", True), 1, "position has none"),
    ("screw", lambda g: setattr(g, "may_touch", ["x"] * 33), 0, "at most 32"),
    ("screw", lambda g: setattr(g.axis.pose.orientation, "x", math.nan), 0, "x is nan"),
    ("look", lambda g: setattr(g.target.point, "x", math.inf), 0, "x is inf"),
    ("look", lambda g: setattr(g, "velocity_scaling", 1.5), 0, "0.001..1"),
    ("gripper", lambda g: setattr(g, "max_effort", 1e5), 0, "at most 1000"),
    ("base", lambda g: setattr(g, "angle", 270.0), 3, "degrees?"),
    ("base", lambda g: setattr(g.path, "poses", g.path.poses * 5001), 1, "at most 10000"),
    ("base", lambda g: setattr(g, "max_linear_velocity", 1e-9), 2, "at least 0.001"),
    ("wait", lambda g: setattr(g, "duration", 1e9), 0, "at most 1e+06"),
    ("pick", lambda g: setattr(g, "object_name", "x" * 300), 0, "at most 256"),
    ("place", lambda g: setattr(g, "parameters", "x" * 65_537), 0, "at most 65536"),
]


@pytest.mark.parametrize(("name", "change", "which", "told"), INVALID)
def test_what_passed_validation_once_is_refused_with_the_limit(servers, name, change, which, told):
    goal = GOALS[name][which]()
    change(goal)
    result = end_of(servers[name], goal)
    assert result.code == result.INVALID_REQUEST
    assert told in result.message


# ---------------------------------------------------------------- cancellation


def largest_arm(mode):
    """As many poses as may be, on a way as long as may be."""
    goal = MoveArm.Goal(mode=mode, avoid_collisions=True, velocity_scaling=0.001)
    goal.poses = [posed(y=0.045 * (-1) ** i, z=0.35) for i in range(200)]
    return goal


def largest_recording():
    """As many points as may be, nearly as long a way and time as may be."""
    goal = recorded()
    points = []
    for i in range(10_000):
        point = JointTrajectoryPoint(positions=np.array(HOME) + (i % 2) * np.eye(7)[0] * 0.099)
        point.time_from_start = Duration(seconds=0.35 * i).to_msg()
        points.append(point)
    goal.trajectory.points = points
    return goal


def largest_screw():
    goal = turned()
    goal.axis.pose.position.x, goal.rotation = 0.307, 12.0
    goal.axis.pose.orientation.x, goal.axis.pose.orientation.y = 0.0, -(0.5**0.5)
    goal.axis.pose.orientation.w = 0.5**0.5
    goal.max_angular_velocity = 0.0208
    goal.may_touch = [f"thing_{i}" for i in range(32)]
    return goal


def longest_path():
    goal = driven(MoveBase.Goal.PATH)
    goal.path.poses = [goal.target] * 10_000
    return goal


LARGEST = {
    "lines": ("move_arm", lambda: largest_arm(MoveArm.Goal.CARTESIAN)),
    "waypoints": ("move_arm", lambda: largest_arm(MoveArm.Goal.WAYPOINTS)),
    "recording": ("move_arm", largest_recording),
    "screw": ("screw", largest_screw),
    "look": ("look", looked),
    "path": ("base", longest_path),
}


class Watched(Context):
    """Measures the processor time between two looks at whether the goal is cancelled."""

    def __init__(self, node, goal):
        super().__init__(node, goal)
        self.longest, self.looks, self._last = 0.0, 0, time.thread_time()
        self.cancelled = self  # asked in the place of the event

    def is_set(self):
        now = time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now
        self.looks += 1
        return self.looks == self.stop_at

    stop_at = -1

    def wait(self, timeout=None):
        return self.is_set()

    def set(self):
        pass


@pytest.fixture
def no_rubbish():
    """What the tests before have left is not looked through while processor time is measured."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("name", LARGEST)
def test_largest_goals_look_for_cancellation_all_the_time(servers, no_rubbish, name):
    server, goal = servers[LARGEST[name][0]], LARGEST[name][1]()
    watched = Watched(server._node, goal)
    server._end_of(watched)
    assert watched.looks > 10
    assert watched.longest < 0.2


@pytest.mark.parametrize("name", LARGEST)
def test_a_goal_that_is_cancelled_in_mid_computation_ends_cancelled(servers, name):
    server, goal = servers[LARGEST[name][0]], LARGEST[name][1]()
    whole = Watched(server._node, goal)
    server._end_of(whole)
    watched = Watched(server._node, goal)
    watched.stop_at = max(2, int(0.6 * whole.looks))
    _, result = server._end_of(watched)
    assert result.code == result.CANCELED, result.message
