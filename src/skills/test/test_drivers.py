# SPDX-License-Identifier: Apache-2.0
"""The drivers of robots' files, each against what its maker's driver answers."""

import re
import textwrap
from pathlib import Path
from types import SimpleNamespace

import driver_types
import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")

from control_msgs.action import FollowJointTrajectory
from fakes import ROBOT_FILE
from geometry_msgs.msg import TwistStamped
from lifecycle_msgs.msg import State
from std_msgs.msg import Bool, Float32

from behavior_motion import Trajectory, load_robot
from behavior_motion.robot.robot_file import ControllersSection, DriverSection, SuctionSection
from behavior_packages import Offer, Packages
from behavior_ros import End, GoalOutcome
from behavior_ros.messages.interfaces import load_interface
from behavior_skills.interfaces import Done, FailureCode, SkillFailure
from behavior_skills.node.controllers import (
    CAUSE_PATIENCE,
    DriverStates,
    WatchedCommand,
    WatchedStream,
)
from behavior_skills.node.drivers import driver as door
from behavior_skills.node.drivers.driver import (
    Driver,
    DriverError,
    DriverParts,
    Options,
    Role,
    make_driver,
)

RESULT = FollowJointTrajectory.Result
PAGES = Path(__file__).parents[3] / "docs"


class Actions:
    """The actions of other nodes: goals are kept, and end as the test says."""

    def __init__(self):
        self.sent = []

    def action(self, kind, name):
        def send(goal, *, from_worker, on_accept=None, on_end=None):
            assert from_worker
            assert isinstance(goal, kind.Goal)
            sent = SimpleNamespace(
                name=name, message=goal, outcome=None, cancels=0, action=SimpleNamespace(name=name)
            )
            sent.cancel_soon = lambda: setattr(sent, "cancels", sent.cancels + 1)
            sent.on_end = on_end
            self.sent.append(sent)
            return sent

        return SimpleNamespace(name=name, send=send)

    @property
    def newest(self):
        return self.sent[-1]


class Node:
    """Keeps what is published and called, and hands out messages."""

    def __init__(self):
        self.listeners, self.published, self.called = {}, [], []
        self.subscribers, self.there, self.success = 1, True, True
        self.executor = SimpleNamespace(create_task=lambda function: function())

    def resolve_topic_name(self, name):
        return name if name.startswith("/") else f"/{name}"

    resolve_service_name = resolve_topic_name

    def create_subscription(self, kind, topic, take, qos, **_):
        name = self.resolve_topic_name(topic)
        self.listeners[name] = (kind, take)
        return SimpleNamespace(topic_name=name)

    def say(self, topic, **fields):
        kind, take = self.listeners[topic]
        take(kind(**fields))

    def create_publisher(self, kind, topic, qos):
        def publish(message):
            assert isinstance(message, kind)
            self.published.append((self.resolve_topic_name(topic), message))

        return SimpleNamespace(
            publish=publish,
            get_subscription_count=lambda: self.subscribers,
            topic_name=self.resolve_topic_name(topic),
        )

    def create_client(self, kind, name):
        def call_async(request):
            assert isinstance(request, kind.Request)
            self.called.append(request)
            answer = kind.Response()
            answer.success = self.success
            return SimpleNamespace(
                add_done_callback=lambda then: then(SimpleNamespace(result=lambda: answer))
            )

        return SimpleNamespace(
            service_name=self.resolve_topic_name(name),
            call_async=call_async,
            service_is_ready=lambda: self.there,
        )

    def get_clock(self):
        stamp = SimpleNamespace(to_msg=lambda: TwistStamped().header.stamp)
        return SimpleNamespace(now=lambda: stamp)


@pytest.fixture(scope="module")
def robot():
    return load_robot(ROBOT_FILE)


@pytest.fixture
def rig(robot, monkeypatch):
    """Makes drivers, without any ROS graph."""
    driver_types.install(monkeypatch)
    load_interface.cache_clear()
    made = SimpleNamespace(actions=Actions(), node=Node(), heard=[], robot=robot)
    for name in (
        "follow_joint_trajectory",
        "gripper_command",
        "parallel_gripper_command",
        "grasp_and_move",
    ):
        monkeypatch.setattr(
            f"behavior_skills.node.drivers.{name}.remote_actions", lambda node: made.actions
        )
    monkeypatch.setattr(
        "behavior_skills.node.drivers.robot_mode.create_background_subscription",
        lambda node, *subscription: node.create_subscription(*subscription),
    )
    parts = DriverParts(node=made.node, robot=robot, heard=made.heard.append)

    def make(role, driver, **options):
        return make_driver(role, DriverSection(driver=driver, **options), parts)

    made.make = make
    yield made
    load_interface.cache_clear()


def ended(end, **result):
    """An outcome with these members in its result."""
    return GoalOutcome(end, SimpleNamespace(**result))


# ---------------------------------------------------------------------- the door


@pytest.mark.parametrize(
    ("role", "section", "says"),
    [
        (
            Role.GRIPPER,
            {"driver": "gripper_comand"},
            "no driver 'gripper_comand': choose one of gripper_command, "
            "parallel_gripper_command, grasp_and_move$",
        ),
        (
            Role.GRIPPER,
            {"driver": "claw"},
            "no driver 'claw': choose one of grasp_and_move, gripper_command, "
            "parallel_gripper_command$",
        ),
        (
            Role.GRIPPER,
            {"driver": "set_io", "service": "/io", "pin": 1},
            r"controllers.gripper.driver: 'set_io' is one for gripper.suction.pump; choose from "
            r"\['grasp_and_move', 'gripper_command', 'parallel_gripper_command'\]",
        ),
        (
            Role.ARM,
            {"driver": "follow_joint_trajectory", "acton": "/arm"},
            r"controllers.arm: driver 'follow_joint_trajectory' lacks its option 'action', has no "
            r"option 'acton'; its options are \['action',",
        ),
        (
            Role.ARM,
            {"driver": "follow_joint_trajectory", "action": "/arm", "path_tolerance": {"j9": 1.0}},
            "path_tolerance: no such name 'j9'",
        ),
        (
            Role.ARM,
            {"driver": "follow_joint_trajectory", "action": "/arm", "goal_tolerance": -0.1},
            "goal_tolerance is -0.1, give radians from 0",
        ),
        (
            Role.GRIPPER,
            {"driver": "parallel_gripper_command", "action": "/hand", "joint": "thumb"},
            r"joint 'thumb' is none of \['panda_finger_joint1'",
        ),
        (
            Role.VACUUM,
            {"driver": "pressure_topic", "topic": "/p", "below": 1.0, "above": 2.0},
            "give one of below and above",
        ),
        (Role.STATE, {"driver": "controller_activity", "controllers": []}, "controllers is empty"),
        (Role.PUMP, {"driver": "set_io", "service": "/io", "pin": 18}, "pin 18 is no digital"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_sentence(rig, role, section, says):
    with pytest.raises(DriverError, match=says) as caught:
        rig.make(role, **section)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


@pytest.mark.skipif(
    "ur_msgs/srv/SetIO" not in driver_types.missing(), reason="ur_msgs is installed"
)
def test_a_type_that_is_not_installed_is_named(robot):
    section = DriverSection(driver="set_io", service="/io", pin=1)
    with pytest.raises(DriverError, match="'set_io' needs a type that is not there: ur_msgs/srv/"):
        make_driver(Role.PUMP, section, DriverParts(node=Node(), robot=robot))


def sections(page):
    """The drivers that the examples of a page name, each with its key of a robot's file."""
    text = (PAGES / page).read_text(encoding="utf-8")
    for block in re.findall(r"^( *)```yaml\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL):
        data = yaml.safe_load(textwrap.dedent(block[1]))
        controllers = ControllersSection.model_validate(data.get("controllers", {}))
        for role in (Role.ARM, Role.STREAM, Role.GRIPPER, Role.BASE, Role.NAVIGATION):
            if section := getattr(controllers, role.name.lower()):
                yield role, section
        yield from ((Role.STATE, each) for each in controllers.states)
        if suction := data.get("gripper", {}).get("suction"):
            cup = SuctionSection.model_validate(suction)
            yield from ((Role.PUMP, cup.pump), (Role.VACUUM, cup.vacuum))


@pytest.mark.parametrize(
    ("page", "count"),
    [("drivers.md", 4), ("franka.md", 5), ("universal_robots.md", 6), ("nav2_base.md", 2)],
)
def test_the_pages_examples_are_drivers(rig, page, count):
    found = list(sections(page))
    assert len(found) == count
    for role, section in found:
        assert rig.make(role, section.driver, **section.options) is not None


class Hand:
    """A driver of somebody else's."""

    def __init__(self, parts, options):
        self.parts, self.options = parts, options


class HandOptions(Options):
    port: str


MY_HAND = Driver(role=Role.GRIPPER, options=HandOptions, make=Hand)
BROKEN = 3


def test_packages_offer_drivers(rig, monkeypatch):
    def offer(name, attribute):
        value = f"{__name__}:{attribute}"
        return Offer(
            kind="drivers", name=name, package="mine", value=value, place="behavior.yaml:3"
        )

    offers = [offer("my_hand", "MY_HAND"), offer("broken", "BROKEN")]
    known = Packages([SimpleNamespace(offers=lambda kind: offers)])
    monkeypatch.setattr(door, "packages", lambda: known)
    made = rig.make(Role.GRIPPER, "my_hand", port="/dev/hand")
    assert (made.options.port, made.parts.node) == ("/dev/hand", rig.node)
    with pytest.raises(DriverError, match="is no Driver"):
        rig.make(Role.GRIPPER, "broken")


# ---------------------------------------------------------------------- the arm


def motion(robot):
    home = robot.named["home"]
    q = np.stack([home, home + 0.1])
    return Trajectory(robot.joint_names, np.array([0.0, 1.0]), q, 0 * q, 0 * q)


def test_a_trajectory_takes_the_files_tolerances_along(rig):
    arm = rig.make(
        Role.ARM,
        "follow_joint_trajectory",
        action="/arm/follow",
        path_tolerance={"panda_joint2": 0.2},
        goal_tolerance=0.01,
        goal_time_tolerance=0.5,
    )
    arm.execute(motion(rig.robot), None, lambda: None)
    goal = rig.actions.newest.message
    assert list(goal.trajectory.joint_names) == list(rig.robot.joint_names)
    assert [(t.name, t.position) for t in goal.path_tolerance] == [("panda_joint2", 0.2)]
    assert [t.position for t in goal.goal_tolerance] == [0.01] * 7
    assert goal.goal_time_tolerance.nanosec == 500_000_000


@pytest.mark.parametrize(
    ("outcome", "says", "remedy"),
    [
        (
            ended(
                End.ABORTED,
                error_code=RESULT.PATH_TOLERANCE_VIOLATED,
                error_string="Aborted due to path tolerance violation",
            ),
            "Aborted due to path tolerance violation",
            "Clear what blocks the arm, ask for less speed, or allow more by path_tolerance",
        ),
        (
            ended(
                End.ABORTED,
                error_code=RESULT.GOAL_TOLERANCE_VIOLATED,
                error_string="Aborted due to goal_time_tolerance exceeding by 0.010000 seconds",
            ),
            "exceeding by",
            "goal_time_tolerance in the robot's file",
        ),
        (
            ended(
                End.ABORTED,
                error_code=RESULT.INVALID_GOAL,
                error_string="Current goal preempted by new incoming action.",
            ),
            "preempted",
            "Stop the other program that commands the arm",
        ),
        (
            ended(
                End.ABORTED,
                error_code=RESULT.INVALID_GOAL,
                error_string="Current goal cancelled during deactivate transition.",
            ),
            "deactivate transition",
            "activate it again",
        ),
        (
            ended(End.ABORTED, error_code=RESULT.INVALID_JOINTS, error_string=""),
            "error -2",
            "joints",
        ),
        (
            ended(End.ABORTED, error_code=RESULT.OLD_HEADER_TIMESTAMP, error_string=""),
            "error -3",
            "clocks of all machines agree",
        ),
        (ended(End.CANCELED, error_code=0, error_string=""), "cancelled", "who cancelled"),
        (GoalOutcome(End.REJECTED), "/arm/follow refused the goal", "joints of the robot's file"),
    ],
)
def test_a_controller_that_gives_up_is_told_with_a_remedy(rig, outcome, says, remedy):
    arm = rig.make(Role.ARM, "follow_joint_trajectory", action="/arm/follow")
    command = arm.execute(motion(rig.robot), None, lambda: None)
    assert command.done() is None
    rig.actions.newest.outcome = outcome
    done = command.done()
    assert not done.ok
    assert says in done.message
    assert remedy in done.remedy


def test_a_controller_that_is_gone_is_lost(rig):
    arm = rig.make(Role.ARM, "follow_joint_trajectory", action="/arm/follow")
    command = arm.execute(motion(rig.robot), None, lambda: None)
    rig.actions.newest.outcome = GoalOutcome(End.LOST, message="no server")
    with pytest.raises(SkillFailure, match="/arm/follow does not answer: no server") as caught:
        command.done()
    assert caught.value.failure is FailureCode.SERVER_LOST


# ---------------------------------------------------------------------- grippers


def test_gripper_command(rig):
    hand = rig.make(Role.GRIPPER, "gripper_command", action="/hand", position_per_width=0.5)
    command = hand.move(0.06, 20.0)
    goal = rig.actions.newest.message.command
    assert (goal.position, goal.max_effort) == (pytest.approx(0.03), 20.0)
    rig.actions.newest.outcome = ended(End.ABORTED, stalled=True, reached_goal=False)
    assert command.done() == Done(False, "aborted", stalled=True)
    rig.actions.newest.outcome = ended(End.ABORTED, stalled=False, reached_goal=False)
    assert command.done().message == "aborted, neither stalled nor at the goal"
    rig.actions.newest.outcome = ended(End.SUCCEEDED, stalled=False, reached_goal=True)
    assert command.done() == Done(True)


def test_parallel_gripper_command_tells_exactly_one_joint(rig):
    """A controller that gets another number of positions rejects the goal, and says so in its log
    alone."""
    hand = rig.make(Role.GRIPPER, "parallel_gripper_command", action="/hand/gripper_cmd")
    command = hand.move(0.06, 20.0)
    told = rig.actions.newest.message.command
    assert list(told.name) == ["panda_finger_joint1"]
    assert list(told.position) == [pytest.approx(0.03)]
    assert list(told.effort) == [20.0]
    assert len(told.velocity) == 0
    rig.actions.newest.outcome = ended(End.ABORTED, stalled=True, reached_goal=False)
    assert command.done().stalled
    rig.actions.newest.outcome = GoalOutcome(End.REJECTED)
    assert "refused the goal" in command.done().message


def test_grasp_and_move(rig):
    hand = rig.make(Role.GRIPPER, "grasp_and_move", grasp="/hand/grasp", move="/hand/move")
    command = hand.move(0.08, 40.0)
    goal = rig.actions.newest
    assert goal.name == "/hand/move"
    assert (goal.message.width, goal.message.speed) == (0.08, 0.2)
    goal.outcome = ended(End.ABORTED, success=False, error="libfranka gripper: Command aborted!")
    assert command.done() == Done(False, "libfranka gripper: Command aborted!")
    goal.outcome = ended(End.SUCCEEDED, success=True, error="")
    assert command.done().ok

    command = hand.move(0.0, 500.0)
    goal = rig.actions.newest
    assert goal.name == "/hand/grasp"
    assert (goal.message.width, goal.message.force) == (0.0, 70.0)
    assert goal.message.epsilon.inner == goal.message.epsilon.outer == 0.08
    goal.outcome = ended(End.SUCCEEDED, success=True, error="")
    assert command.done().stalled
    goal.outcome = ended(End.ABORTED, success=False, error="")
    assert command.done() == Done(False, "aborted")


# ---------------------------------------------------------------------- suction


@pytest.mark.parametrize("inverted", [False, True])
def test_a_pump_on_an_output(rig, inverted):
    pump = rig.make(Role.PUMP, "set_io", service="/io/set_io", pin=16, inverted=inverted)
    command = pump.switch(True)
    (request,) = rig.node.called
    assert (request.fun, request.pin, request.state) == (1, 16, 0.0 if inverted else 1.0)
    assert command.done().ok
    rig.node.success = False
    assert "output 16 was not set" in pump.switch(False).done().message
    rig.node.there = False
    with pytest.raises(SkillFailure, match="/io/set_io is not there"):
        pump.switch(True)


def test_a_pump_on_a_topic(rig):
    pump = rig.make(Role.PUMP, "digital_output", topic="/io/3")
    assert pump.switch(True).done().ok
    assert rig.node.published == [("/io/3", Bool(data=True))]
    rig.node.subscribers = 0
    with pytest.raises(SkillFailure, match="Nobody listens to the pump's topic /io/3"):
        pump.switch(False)


def test_a_vacuum_by_its_pressure(rig):
    rig.make(Role.VACUUM, "pressure_topic", topic="/p", below=60e3, hysteresis=5e3)
    for pressure in (101e3, 59e3, 62e3, 66e3, 62e3, float("nan")):
        rig.node.say("/p", fluid_pressure=pressure)
    assert rig.heard == [False, True, True, False, False]
    rig.heard.clear()
    rig.make(Role.VACUUM, "pressure_topic", topic="/v", above=0.4, type="std_msgs/Float32")
    for strength in (0.1, 0.5):
        rig.node.say("/v", data=strength)
    assert rig.node.listeners["/v"][0] is Float32
    assert rig.heard == [False, True]


def test_a_vacuum_by_a_switch(rig):
    rig.make(Role.VACUUM, "digital_input", topic="/io/io_states", pin=2, inverted=True)
    digital, _ = load_interface("ur_msgs/msg/Digital", "msg")
    for state in (True, False):
        rig.node.say(
            "/io/io_states",
            digital_in_states=[digital(pin=1, state=state), digital(pin=2, state=state)],
        )
    rig.node.say("/io/io_states", digital_in_states=[digital(pin=1, state=True)])
    assert rig.heard == [False, True]


# ---------------------------------------------------------------------- states


SAFETY, ROBOT = "/io_and_status_controller/safety_mode", "/io_and_status_controller/robot_mode"
PROGRAM = "/io_and_status_controller/robot_program_running"
SCALING = "/speed_scaling_state_broadcaster/speed_scaling"


def test_safety_modes(rig):
    state = rig.make(Role.STATE, "safety_mode")
    assert not state.heard()
    assert f"Nothing was heard on {SAFETY}" in state.trouble()
    rig.node.say(SAFETY, mode=1)
    rig.node.say(ROBOT, mode=7)
    rig.node.say(PROGRAM, data=True)
    assert state.heard()
    assert state.trouble() is None
    assert state.pace() == 1.0
    for mode, name, remedy in (
        (3, "PROTECTIVE_STOP", "unlock_protective_stop"),
        (7, "ROBOT_EMERGENCY_STOP", "Release the emergency stop"),
        (6, "SYSTEM_EMERGENCY_STOP", "Release the emergency stop"),
        (9, "FAULT", "restart the safety system"),
        (99, "mode 99", "teach pendant"),
    ):
        rig.node.say(SAFETY, mode=mode)
        assert f"its safety mode is {name}" in state.trouble()
        assert remedy in state.trouble()
    rig.node.say(SAFETY, mode=2)
    assert state.trouble() is None
    rig.node.say(ROBOT, mode=5)
    assert "in mode IDLE. Switch it on" in state.trouble()
    rig.node.say(ROBOT, mode=7)
    rig.node.say(PROGRAM, data=False)
    assert "program does not run" in state.trouble()
    assert "resend_robot_program" in state.trouble()


def test_a_safeguard_stop_and_the_speed_slider_hold_up_and_end_nothing(rig):
    state = rig.make(Role.STATE, "safety_mode", robot_mode="", program_running="")
    rig.node.say(SAFETY, mode=1)
    rig.node.say(SCALING, data=30.0)
    assert state.pace() == pytest.approx(0.3)
    rig.node.say(SAFETY, mode=5)
    assert (state.trouble(), state.pace()) == (None, 0.0)
    rig.node.say(SAFETY, mode=1)
    rig.node.say(SCALING, data=100.0)
    assert state.pace() == 1.0


def test_robot_modes(rig):
    state = rig.make(Role.STATE, "robot_mode")
    kind, _ = load_interface("franka_msgs/msg/FrankaRobotState", "msg")
    errors, _ = load_interface("franka_msgs/msg/Errors", "msg")
    assert "Nothing was heard" in state.trouble()
    for mode, says in (
        (kind.ROBOT_MODE_REFLEX, r"it stopped itself \(cartesian_reflex\). Clear"),
        (kind.ROBOT_MODE_USER_STOPPED, r"Release it.*send_goal /action_server/error_recovery"),
        (kind.ROBOT_MODE_GUIDING, "guided by hand"),
        (kind.ROBOT_MODE_OTHER, "See Desk"),
    ):
        reflex = mode == kind.ROBOT_MODE_REFLEX
        state.take(kind(robot_mode=mode, current_errors=errors(cartesian_reflex=reflex)))
        with pytest.raises(SkillFailure, match=says):
            DriverStates([state], lambda: 0.0).check()
    for mode in (kind.ROBOT_MODE_IDLE, kind.ROBOT_MODE_MOVE):
        state.take(kind(robot_mode=mode))
        assert state.trouble() is None


def test_controllers_that_are_not_active(rig):
    state = rig.make(
        Role.STATE, "controller_activity", controllers=["arm_controller"], hardware=["arm"]
    )
    named, _ = load_interface("controller_manager_msgs/msg/NamedLifecycleState", "msg")

    def say(controller, hardware):
        rig.node.say(
            "/controller_manager/activity",
            controllers=[named(name="arm_controller", state=State(label=controller))],
            hardware_components=[named(name="arm", state=State(label=hardware))],
        )

    say("inactive", "active")
    assert "controller 'arm_controller' is inactive" in state.trouble()
    assert "switch_controllers --activate arm_controller" in state.trouble()
    say("active", "unconfigured")
    assert "hardware 'arm' of ros2_control is unconfigured" in state.trouble()
    say("active", "active")
    assert state.trouble() is None
    rig.node.say("/controller_manager/activity")
    assert "is not loaded" in state.trouble()


def test_a_stop_topic(rig):
    state = rig.make(
        Role.STATE, "stop_topic", topic="/estop_ok", stopped=False, says="Turn the key."
    )
    assert not state.heard()
    rig.node.say("/estop_ok", data=False)
    assert state.trouble() == "Turn the key."
    rig.node.say("/estop_ok", data=True)
    assert state.trouble() is None


class Stop:
    """A state that the test sets."""

    def __init__(self):
        self.text = None

    def trouble(self):
        return self.text

    def pace(self):
        return 1.0


class Running:
    """A command that the test ends."""

    def __init__(self):
        self.ended, self.cancelled = None, False

    def done(self):
        if isinstance(self.ended, Exception):
            raise self.ended
        return self.ended

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def watched():
    made = SimpleNamespace(now=0.0, stop=Stop(), inner=Running())
    made.command = WatchedCommand(made.inner, DriverStates([made.stop], lambda: made.now))
    return made


def test_a_motion_ends_with_the_stop_and_is_cancelled_until_it_rests(watched):
    assert watched.command.done() is None
    watched.stop.text = "The robot is stopped."
    with pytest.raises(SkillFailure, match="The robot is stopped"):
        watched.command.done()
    watched.command.cancel()
    assert watched.inner.cancelled
    assert watched.command.done() is None
    watched.inner.ended = Done(False, "cancelled")
    assert watched.command.done() == watched.inner.ended


def test_the_cause_of_an_end_may_come_a_little_later_than_the_end(watched):
    watched.inner.ended = Done(False, "Current goal cancelled during deactivate transition.")
    assert watched.command.done() is None
    watched.now += 0.9 * CAUSE_PATIENCE
    assert watched.command.done() is None
    watched.stop.text = "The robot is stopped."
    with pytest.raises(SkillFailure, match="The robot is stopped"):
        watched.command.done()
    watched.stop.text = None
    watched.now += CAUSE_PATIENCE
    assert watched.command.done() is watched.inner.ended


def test_a_stop_tells_more_than_a_controller_that_is_gone(watched):
    watched.inner.ended = SkillFailure(FailureCode.SERVER_LOST, "gone")
    with pytest.raises(SkillFailure, match="gone"):
        watched.command.done()
    watched.stop.text = "The robot is stopped."
    with pytest.raises(SkillFailure, match="The robot is stopped"):
        watched.command.done()


def test_a_motion_that_is_there_is_there(watched):
    watched.inner.ended, watched.stop.text = Done(True), "The robot is stopped."
    assert watched.command.done().ok


def test_a_stream_is_told_nothing_while_the_robot_is_stopped(watched):
    sent = []
    stream = SimpleNamespace(
        lead=0.03, name="/arm", last=None, send=lambda m, now: sent.append(m), check=lambda: None
    )
    stream = WatchedStream(stream, DriverStates([watched.stop], lambda: 0.0))
    stream.send("first", 0.0)
    stream.check()
    watched.stop.text = "The robot is stopped."
    stream.send("second", 0.1)
    with pytest.raises(SkillFailure, match="The robot is stopped"):
        stream.check()
    watched.stop.text = None
    stream.check()
    stream.send("third", 0.2)
    assert sent == ["first", "third"]


# ---------------------------------------------------------------------- bases


def test_stamped_velocities_name_frame_and_time(rig):
    wheels = rig.make(Role.BASE, "cmd_vel_stamped", topic="/base/cmd_vel", frame="base_footprint")
    wheels.command(0.2, -0.1)
    ((topic, message),) = rig.node.published
    assert (topic, message.header.frame_id) == ("/base/cmd_vel", "base_footprint")
    assert (message.twist.linear.x, message.twist.angular.z) == (0.2, -0.1)


def test_velocities(rig):
    rig.make(Role.BASE, "cmd_vel").command(0.2, -0.1)
    ((topic, message),) = rig.node.published
    assert (topic, message.linear.x, message.angular.z) == ("/cmd_vel", 0.2, -0.1)
