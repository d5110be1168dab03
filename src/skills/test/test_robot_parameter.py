# SPDX-License-Identifier: Apache-2.0
"""The parameter `robot`: whatever is wrong with the file is one sentence that names it."""

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from fakes import ROBOT_FILE
from rclpy.parameter import Parameter

from behavior_ros import ParameterError
from behavior_ros.node.closing import destroy_node
from behavior_ros.testing import ros, spinner  # noqa: F401
from behavior_skills.base.base_node import BaseNode
from behavior_skills.interfaces import SkillFailure
from behavior_skills.node.robot_file import robot_of


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("panda_joint3", "panda_joint33"), "no such name 'panda_joint33'; did you mean"),
        (("urdf:", "urdg:"), "urdf: Field required"),
        ((r"home: \[.*", "home: [9, 9, 9, 9, 9, 9, 9]"), "named.home: outside the joint limits"),
        ((r"(?s).*", "- a list"), "write a mapping of keys and values"),
        ((r"(?s).*", "a: [b"), "not valid YAML"),
    ],
)
def test_a_wrong_file_is_told_with_its_name(tmp_path, change, words):
    file = tmp_path / "robot.yaml"
    file.write_text(re.sub(*change, Path(ROBOT_FILE).read_text(), count=1))
    with pytest.raises(ParameterError) as caught:
        robot_of(str(file))
    told = str(caught.value)
    assert told.startswith(f"parameter robot: {file}:")
    assert words in told
    assert told.count(str(file)) == 1


def test_no_file_is_told():
    with pytest.raises(ParameterError, match="robot is empty: name the robot's YAML file"):
        robot_of("")
    with pytest.raises(ParameterError, match=r"/nowhere\.yaml: no such robot file"):
        robot_of("/nowhere.yaml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: cart", "lacks the section `controllers`"),
        (
            "controllers: {base: {driver: cmd_vell}}",
            "controllers.base.driver: no driver 'cmd_vell'",
        ),
        ("controllers: {base: {topik: /x}}", "driver 'cmd_vel' has no option 'topik'"),
        ("controllers: {bass: /x}", "controllers.bass: Extra inputs are not permitted"),
        ("controllers: {states: [{driver: cmd_vel}]}", "'cmd_vel' is one for controllers.base"),
    ],
)
def test_a_bases_file_needs_its_drivers_alone(ros, tmp_path, text, says):  # noqa: F811
    file = tmp_path / "cart.yaml"
    file.write_text(text)
    with pytest.raises(ParameterError) as caught:
        BaseNode(parameter_overrides=[Parameter("robot", value=str(file))])
    assert str(caught.value).startswith(f"parameter robot: {file}:")
    assert says in str(caught.value)


def test_a_base_is_told_as_its_file_says_and_stopped_by_its_driver(spinner, tmp_path):  # noqa: F811
    file = tmp_path / "cart.yaml"
    file.write_text(
        "controllers:\n"
        "  base: {driver: cmd_vel_stamped, topic: /cart/cmd_vel, frame: cart}\n"
        "  states: [{driver: stop_topic, topic: /cart/estop}]\n"
    )
    spinner.start()
    base = spinner.do(lambda: BaseNode(parameter_overrides=[Parameter("robot", value=str(file))]))
    try:
        with pytest.raises(SkillFailure, match="Nothing was heard on /cart/estop"):
            base.may_move()
        base.command(0.1, 0.0)
        topics = dict(base.get_topic_names_and_types())
        assert topics["/cart/cmd_vel"] == ["geometry_msgs/msg/TwistStamped"]
    finally:
        spinner.do(destroy_node, base)
