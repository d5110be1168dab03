# SPDX-License-Identifier: Apache-2.0
"""The autonomy level manager with real messages. Timeouts are long or waited for, never guessed."""

import time

import pytest
from behavior_msgs.msg import AutonomyLevel
from behavior_msgs.srv import SetAutonomyLevel
from geometry_msgs.msg import Twist, TwistStamped
from navigation_rig import Rig, rig
from rclpy.parameter import Parameter
from sensor_msgs.msg import Joy
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

from behavior_executor.missions.mission import Code
from behavior_executor.missions.report import Report
from behavior_navigation.managers.autonomy_level import AutonomyLevelManager
from behavior_navigation.rules.state import Level
from behavior_ros import QOS_SENSOR
from behavior_ros.testing import until
from behavior_tree import NodeStatus

HEARTBEAT, TOGGLE, STICKS = "/deadman/heartbeat", "/autonomy/toggle", "/cmd_vel_teleop"
NO_SWITCH = "autonomy_level:deadman_switch_timeout_s:=0.0"
SLOW_SWITCH = "autonomy_level:deadman_switch_timeout_s:=30.0"
Autonomy = Rig[AutonomyLevelManager]


def set_parameter(autonomy: Autonomy, name: str, value: object) -> None:
    node = autonomy.manager.manager_node
    (result,) = autonomy.do(node.set_parameters, [Parameter(name, value=value)])
    assert result.successful, result.reason


def in_force(autonomy: Autonomy, level: Level) -> None:
    until(lambda: autonomy.state.autonomy.effective is level, 90.0, level.name)


def test_boots_in_manual_and_is_toggled_by_topic_and_service() -> None:
    with rig(AutonomyLevelManager, NO_SWITCH) as autonomy:
        levels = autonomy.world.hear(AutonomyLevel, "/autonomy/level")
        until(lambda: levels, 90.0, "level")
        assert (levels[0].selected, levels[0].effective) == (Level.MANUAL, Level.MANUAL)
        assert not levels[0].deadman_enabled
        assert levels[0].heartbeat_age == -1.0
        assert not autonomy.ask("autonomyIsEnabled")
        autonomy.world.say(TOGGLE, Empty())
        in_force(autonomy, Level.AUTONOMOUS)
        assert autonomy.ask("autonomyIsEnabled")
        until(lambda: levels[-1].effective == Level.AUTONOMOUS, 90.0, "published")
        client = autonomy.do(lambda: autonomy.world.create_client(Trigger, TOGGLE))
        until(client.service_is_ready, 90.0, "service")
        answer = autonomy.do(client.call_async, Trigger.Request())
        until(answer.done, 90.0, "answer")
        assert answer.result().success
        assert answer.result().message == "MANUAL is selected, MANUAL in force"
        report = Report()
        autonomy.manager.describe(report)
        assert report.autonomy == Level.MANUAL


def test_levels_are_set_by_service_and_tree_and_refused_with_reasons() -> None:
    with rig(AutonomyLevelManager, NO_SWITCH) as autonomy:
        client = autonomy.do(
            lambda: autonomy.world.create_client(SetAutonomyLevel, "/autonomy/set_level")
        )
        until(client.service_is_ready, 90.0, "service")
        for level, code, words in (
            (int(Level.AUTONOMOUS), Code.SUCCESS, "AUTONOMOUS in force"),
            (int(Level.TELEOPERATION), Code.INVALID_REQUEST, "cannot be selected"),
            (200, Code.INVALID_REQUEST, "200 is not a valid Level"),
        ):
            future = autonomy.do(client.call_async, SetAutonomyLevel.Request(level=level))
            until(future.done, 90.0, "answer")
            answer = future.result()
            assert answer.code == code
            assert words in answer.message
            assert answer.effective == Level.AUTONOMOUS
        tree = autonomy.tree('<setAutonomyLevel level="manual"/>')
        assert autonomy.run(tree) is NodeStatus.SUCCESS
        assert autonomy.state.autonomy.effective is Level.MANUAL
        tree = autonomy.tree('<setAutonomyLevel level="TELEOPERATION"/>')
        assert autonomy.run(tree) is NodeStatus.FAILURE


def test_the_switch_halts_and_keeps_what_is_selected() -> None:
    with rig(AutonomyLevelManager, SLOW_SWITCH) as autonomy:
        levels = autonomy.world.hear(AutonomyLevel, "/autonomy/level")
        assert not autonomy.ask("deadmanIsAlive")
        autonomy.world.say(HEARTBEAT, Empty(), QOS_SENSOR)
        in_force(autonomy, Level.MANUAL)
        assert autonomy.ask("deadmanIsAlive")
        assert autonomy.manager.problem() == ""
        # The heartbeat came some time ago: with this timeout it is one that stayed away.
        set_parameter(autonomy, "deadman_switch_timeout_s", 0.05)
        in_force(autonomy, Level.HALTED)
        assert "not held" in autonomy.manager.problem()
        autonomy.world.say(TOGGLE, Empty())
        until(lambda: autonomy.state.autonomy.selected is Level.AUTONOMOUS, 90.0, "toggle")
        assert autonomy.state.autonomy.effective is Level.HALTED
        until(lambda: levels[-1].selected == Level.AUTONOMOUS, 90.0, "published")
        assert levels[-1].effective == Level.HALTED
        assert levels[-1].deadman_enabled
        assert not levels[-1].deadman_alive
        assert levels[-1].heartbeat_age > 0.0
        assert not autonomy.ask("autonomyIsEnabled")
        set_parameter(autonomy, "deadman_switch_timeout_s", -1.0)
        in_force(autonomy, Level.AUTONOMOUS)


def test_the_latch_with_a_button_that_tells() -> None:
    parameters = (
        SLOW_SWITCH,
        "autonomy_level:deadman_message:=joy",
        "autonomy_level:deadman_button:=4",
    )
    with rig(AutonomyLevelManager, *parameters) as autonomy:

        def button(pressed: bool) -> None:
            autonomy.world.say(HEARTBEAT, Joy(buttons=[0, 0, 0, 0, int(pressed)]), QOS_SENSOR)

        button(True)
        in_force(autonomy, Level.MANUAL)
        button(False)
        in_force(autonomy, Level.HALTED)
        button(True)
        in_force(autonomy, Level.MANUAL)

        def lost_and_latched() -> bool:
            """Not if this process was blocked meanwhile: then it cannot tell that it was lost."""
            set_parameter(autonomy, "deadman_switch_timeout_s", 0.3)
            in_force(autonomy, Level.HALTED)
            set_parameter(autonomy, "deadman_switch_timeout_s", 30.0)
            button(True)
            until(lambda: "not held" not in autonomy.manager.problem(), 90.0, "the heartbeat")
            return "release it" in autonomy.manager.problem()

        until(lost_and_latched, 60.0, "the latch")
        assert autonomy.state.autonomy.effective is Level.HALTED
        autonomy.world.say(HEARTBEAT, Joy(buttons=[1]), QOS_SENSOR)
        until(lambda: "release it" not in autonomy.manager.problem(), 90.0, "release")
        button(True)
        in_force(autonomy, Level.MANUAL)


@pytest.mark.parametrize("message", ["twist", "twist_stamped"])
def test_touched_sticks_take_over_for_a_while(message: str) -> None:
    with rig(
        AutonomyLevelManager,
        NO_SWITCH,
        f"autonomy_level:teleoperation_message:={message}",
        "autonomy_level:teleoperation_timeout_s:=0.2",
    ) as autonomy:

        def push(speed: float) -> None:
            twist = Twist()
            twist.linear.x = speed
            stamped = message == "twist_stamped"
            autonomy.world.say(STICKS, TwistStamped(twist=twist) if stamped else twist, QOS_SENSOR)

        autonomy.do(autonomy.manager.select, Level.AUTONOMOUS)
        levels = autonomy.world.hear(AutonomyLevel, "/autonomy/level")
        push(0.0)
        push(float("nan"))
        push(0.3)
        until(lambda: any(m.effective == Level.TELEOPERATION for m in levels), 90.0, "override")
        assert autonomy.state.autonomy.selected is Level.AUTONOMOUS
        in_force(autonomy, Level.AUTONOMOUS)


def test_the_level_is_repeated_while_node_time_stands_still() -> None:
    with rig(AutonomyLevelManager, NO_SWITCH) as autonomy:
        levels = autonomy.world.hear(AutonomyLevel, "/autonomy/level")
        begin = time.monotonic()
        until(lambda: len(levels) >= 5, 90.0, "repetitions")
        print(f"5 levels in {time.monotonic() - begin:.2f} s")


def test_timeouts_are_judged_ten_times_and_more() -> None:
    with rig(AutonomyLevelManager, SLOW_SWITCH) as autonomy:
        period = autonomy.manager.check_period
        for timeout, longest in ((30.0, 0.05), (0.2, 0.02), (0.001, 0.002), (-1.0, 0.05)):
            set_parameter(autonomy, "deadman_switch_timeout_s", timeout)
            until(lambda longest=longest: period() <= longest + 1e-9, 90.0, "a shorter period")


@pytest.mark.parametrize("wrong", ["'soon'", "61.0"])
def test_a_timeout_that_makes_no_sense_is_refused(wrong: str) -> None:
    with (
        pytest.raises(ValueError, match="deadman_switch_timeout_s"),
        rig(AutonomyLevelManager, f"autonomy_level:deadman_switch_timeout_s:={wrong}"),
    ):
        pass
