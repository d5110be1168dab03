# SPDX-License-Identifier: Apache-2.0
"""Policies of sros2: in their schema, translated as sros2 does, and whole: what runs is allowed."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgpack
import pytest
import rclpy
from rclpy.node import Node as RosNode
from websockets.sync.client import connect

from behavior_bringup.client import StackClient, new_context
from behavior_bringup.jobs.trial_run import order_of
from behavior_bringup.security.graph import nodes_by_process, profile_of
from behavior_bringup.security.keystore import dds_topics, governance_xml, write_keystore
from behavior_bringup.security.outsiders import OBSERVER, OPERATOR, outsiders
from behavior_bringup.security.policy import Profile, enclave_arguments, policy_xml
from behavior_bringup.security.verb import collect
from behavior_bringup.stacks.description import Node, Process, load_stack, resolve, stack_file
from behavior_bringup.stacks.session import temporary_stack
from behavior_bringup.stacks.stack import Stack, host_command
from behavior_console.access import addresses
from behavior_ros.testing import own_domain

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROFILES = {
    "robot": {
        "/arm": Profile(publish={"/joints"}, subscribe={"/clock"}, reply={"/arm/stop"}),
        "/space/eye": Profile(request={"/arm/stop"}, execute={"/look"}, call={"/move"}),
    },
    "idle": {"/nothing": Profile()},
}

# The rules of sros2's policy.xsd: element -> children, at least one?, attributes, required ones.
RULES: dict[str, tuple[set[str], bool, set[str], set[str]]] = {
    "policy": ({"enclaves"}, True, {"version"}, {"version"}),
    "enclaves": ({"enclave"}, True, set(), set()),
    "enclave": ({"profiles"}, True, {"path"}, {"path"}),
    "profiles": ({"profile"}, True, {"type"}, set()),
    "profile": ({"topics", "services", "actions"}, False, {"ns", "node"}, {"ns", "node"}),
    "topics": ({"topic"}, True, {"publish", "subscribe"}, set()),
    "services": ({"service"}, True, {"reply", "request"}, set()),
    "actions": ({"action"}, True, {"call", "execute"}, set()),
    "topic": (set(), False, set(), set()),
    "service": (set(), False, set(), set()),
    "action": (set(), False, set(), set()),
}


def check_policy(root: ElementTree.Element) -> None:
    """Check a policy against the rules of its schema, and that names are whole."""
    assert root.tag == "policy"
    assert root.get("version") == "0.2.0"
    for element in root.iter():
        children, some, attributes, required = RULES[element.tag]
        assert {child.tag for child in element} <= children
        assert len(element) > 0 or not some
        assert required <= set(element.attrib) <= attributes
        if element.tag in ("topics", "services", "actions"):
            assert set(element.attrib.values()) == {"ALLOW"}
        if not children:
            assert re.fullmatch(r"(/[A-Za-z_*][\w*]*)+", element.text or "")


def test_a_policy_keeps_to_its_schema() -> None:
    root = ElementTree.fromstring(policy_xml(PROFILES))
    check_policy(root)
    paths = [enclave.get("path") for enclave in root.iter("enclave")]
    assert paths == ["/behavior/idle", "/behavior/robot"]
    eye = next(each for each in root.iter("profile") if each.get("node") == "eye")
    assert eye.get("ns") == "/space"
    assert [item.text for item in eye.iterfind("actions[@call='ALLOW']/action")] == ["/move"]


def test_permissions_name_the_topics_of_dds() -> None:
    published, subscribed = dds_topics(Profile.union(PROFILES["robot"].values()))
    assert published == {
        "ros_discovery_info",
        "rt/joints",
        "rr/arm/stopReply",
        "rq/arm/stopRequest",
        *(f"rq/move/_action/{part}Request" for part in ("cancel_goal", "get_result", "send_goal")),
        *(f"rr/look/_action/{part}Reply" for part in ("cancel_goal", "get_result", "send_goal")),
        "rt/look/_action/feedback",
        "rt/look/_action/status",
    }
    assert subscribed == {
        "ros_discovery_info",
        "rt/clock",
        "rq/arm/stopRequest",
        "rr/arm/stopReply",
        *(f"rr/move/_action/{part}Reply" for part in ("cancel_goal", "get_result", "send_goal")),
        *(f"rq/look/_action/{part}Request" for part in ("cancel_goal", "get_result", "send_goal")),
        "rt/move/_action/feedback",
        "rt/move/_action/status",
    }


def test_the_keystore_lies_as_sros2_expects(tmp_path: Path) -> None:
    write_keystore(tmp_path, PROFILES, domain=42, now=NOW)
    write_keystore(tmp_path, PROFILES, domain=42, now=NOW)  # again: replaced
    keystore = tmp_path / "keystore"
    assert stat.S_IMODE((keystore / "private").stat().st_mode) == 0o700
    permissions = ElementTree.parse(keystore / "enclaves/behavior/robot/permissions.xml")
    grant = permissions.find("permissions/grant")
    assert grant is not None
    assert [child.tag for child in grant] == ["subject_name", "validity", "allow_rule", "default"]
    assert grant.findtext("subject_name") == "CN=/behavior/robot" == f"CN={grant.get('name')}"
    assert grant.findtext("validity/not_before") == "2026-01-01T00:00:00"
    assert grant.findtext("allow_rule/domains/id") == "42"
    assert grant.findtext("default") == "DENY"
    check_policy(ElementTree.parse(tmp_path / "policy.xml").getroot())


def test_nobody_unknown_takes_part() -> None:
    rule = ElementTree.fromstring(governance_xml(42)).find("domain_access_rules/domain_rule")
    assert rule is not None
    assert rule.findtext("allow_unauthenticated_participants") == "false"
    assert rule.findtext("enable_join_access_control") == "true"
    assert rule.findtext("topic_access_rules/topic_rule/enable_write_access_control") == "true"


def test_an_operator_configures_no_node_and_an_observer_asks_nothing() -> None:
    stack = {"arm": {"/arm": Profile(reply={"/stop", "/arm/set_parameters"}, publish={"/joints"})}}
    found = outsiders(stack)
    operator, observer = found[OPERATOR]["/operator"], found[OBSERVER]["/observer"]
    assert operator.request == {"/stop"}
    assert not observer.request | observer.call
    assert "/joints" in observer.subscribe & operator.subscribe
    assert "/joints" not in operator.publish | observer.publish


def test_processes_take_part_as_themselves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    process = Process(name="skills", nodes=(Node(name="skills", target="a:B"),))
    monkeypatch.delenv("ROS_SECURITY_ENABLE", raising=False)
    assert enclave_arguments("skills") == []
    assert "--enclave" not in host_command(process, tmp_path)
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    command = host_command(process, tmp_path)
    assert command[command.index("--enclave") + 1] == "/behavior/skills"
    assert command.index("--enclave") > command.index("--ros-args")


def block_world() -> list[Process]:
    arguments = {"headless": True, "console": True}
    description = load_stack(stack_file("block_stacking"))
    return resolve(description, environment="pip", arguments=arguments)


@pytest.fixture
def observer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], RosNode]]:
    """Makes a node in the stack's domain once that is chosen."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    made: list[RosNode] = []

    def make() -> RosNode:
        made.append(RosNode("behavior_observer", context=new_context()))
        return made[-1]

    yield make
    for node in made:
        context = node.context
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_what_runs_is_allowed(observer: Callable[[], RosNode]) -> None:
    processes = block_world()
    arguments = {"headless": True, "console": True, "speed": 4.0}
    with temporary_stack(Stack("policies"), world="block_stacking", arguments=arguments) as (
        client,
        _,
    ):
        granted = {
            process: Profile.union(nodes.values()) for process, nodes in collect(processes).items()
        }
        node = observer()
        work_until_something_is_placed(client)
        the_console_shows_what_runs(Stack("policies"))
        lacking = {
            name: lacks
            for process, names in nodes_by_process(node, processes).items()
            for name in names
            if (lacks := missing_in(granted[process], profile_of(node, name)))
        }
        assert not lacking
        command = f"behavior_command_{os.getpid()}"
        end = time.monotonic() + 60.0
        while command not in node.get_node_names():
            assert time.monotonic() < end, node.get_node_names()
            client.work()
        used = profile_of(node, f"/{command}")
        patterns = granted[OPERATOR]
        for kind in fields(Profile):
            allowed = {re.sub(r"behavior_\*", "", name) for name in getattr(patterns, kind.name)}
            wanted = {
                re.sub(r"behavior_command_\d+", "", name) for name in getattr(used, kind.name)
            }
            assert wanted <= allowed


def missing_in(granted: Profile, used: Profile) -> dict[str, set[str]]:
    """What is used and not allowed, by kind."""
    lacks = {
        kind.name: getattr(used, kind.name) - getattr(granted, kind.name)
        for kind in fields(Profile)
    }
    return {kind: names for kind, names in lacks.items() if names}


def work_until_something_is_placed(client: StackClient) -> None:
    action_id = client.give(order_of("stack_blocks"))
    end = time.monotonic() + 150.0
    while True:
        client.work()
        feedback = client.feedback(action_id)
        if feedback is not None and feedback.skill == "Place":
            return
        assert time.monotonic() < end, feedback


def the_console_shows_what_runs(stack: Stack) -> None:
    """An operator's page is sent the running mission, and its command is answered."""
    state = stack.state()
    assert state is not None
    _, operators = addresses(Path(state.arguments["console_address"]))
    address = operators.replace("http://", "ws://").replace("/?", "/ws?")
    wanted = {"tree", "status", "mission", "objects", "joints"}
    seen: dict[str, Any] = {}
    with connect(address, max_size=2**26, open_timeout=60.0) as page:

        def say(**message: Any) -> None:
            page.send(msgpack.packb(message))

        say(hello={"name": "operator", "role": "operate", "view": "live"})
        say(subscribe=sorted(wanted))
        say(command={"id": 1, "name": "control.take", "args": {}})
        while not (wanted | {"answer"} <= seen.keys()):
            message = msgpack.unpackb(page.recv(60.0), strict_map_key=False)
            for values in (message, message.get("set", {}), message.get("patch", {})):
                seen |= {name: value for name, value in values.items() if value}
            if "frame" in message:
                say(seen=message["frame"])
    assert seen["answer"]["ok"], seen["answer"]
    assert seen["mission"]["name"] == "stack_blocks"
    assert {"pick", "place on tower"} <= {row[3] for row in seen["tree"]["nodes"]}
    assert {row[0] for row in seen["tree"]["nodes"]} >= seen["status"].keys()
    assert "blue_block" in seen["objects"]
    assert "panda_joint1" in seen["joints"]
