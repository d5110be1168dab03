# SPDX-License-Identifier: Apache-2.0
"""Tests of what is there before a command uses a stack."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from behavior_msgs.msg import SceneObjectArray
from rclpy.context import Context
from rclpy.node import Node

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.stacks import readiness, session
from behavior_bringup.stacks.description import Readiness
from behavior_bringup.stacks.session import temporary_stack
from behavior_ros.testing import own_domain

TRUTH = "simulation/objects"


def test_a_simulation_is_there_when_its_truth_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    context = Context()
    rclpy.init(context=context)
    simulation = Node("simulation", context=context)
    try:
        with StackClient() as client:
            assert client.missing(Readiness()) == []
            publisher = simulation.create_publisher(SceneObjectArray, TRUTH, 1)
            assert client.wait(lambda: client.missing(Readiness()) == [f"objects on {TRUTH}"], 90.0)
            assert client.wait(lambda: publisher.get_subscription_count() > 0, 90.0)
            publisher.publish(SceneObjectArray())
            assert client.wait(lambda: client.missing(Readiness()) == [], 90.0)
    finally:
        simulation.destroy_node()
        rclpy.try_shutdown(context=context)


def test_who_is_given_a_stack_has_waited_for_it_himself(monkeypatch: pytest.MonkeyPatch) -> None:
    ready, waited, stopped = Readiness(), [], []
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    monkeypatch.setattr(session, "start", lambda *_, **__: ready)
    monkeypatch.setattr(session, "stop", stopped.append)
    monkeypatch.setattr(session, "enter_domain", lambda domain: None)
    monkeypatch.setattr(session, "wait_ready", lambda client, *_: waited.append(client))
    watch = SimpleNamespace(check=lambda: None)
    state = SimpleNamespace(domain=1, namespace="")
    stack: Any = SimpleNamespace(state=lambda: state, watch=lambda: watch)
    with temporary_stack(stack, world="any", arguments={}) as (client, told):
        assert waited == [client]
        assert told is ready
        assert not stopped
    assert stopped == [stack]


@pytest.mark.parametrize(("coming", "ready"), [([3, 2, 1, 0], True), ([3, 2, 2, 2, 0], False)])
def test_a_stack_is_waited_for_as_long_as_pieces_of_it_come(
    monkeypatch: pytest.MonkeyPatch, coming: list[int], ready: bool
) -> None:
    now, left = [0.0], list(coming)

    def work(_: float) -> None:
        now[0] += 0.8
        left.pop(0)

    client: Any = SimpleNamespace(missing=lambda _: ["piece"] * left[0], work=work)
    monkeypatch.setattr(readiness, "time", SimpleNamespace(monotonic=lambda: now[0]))
    limited = Readiness(timeout=1.0)
    if ready:
        readiness.wait_ready(client, limited, lambda: None)
        assert now[0] > limited.timeout
    else:
        with pytest.raises(BringupError, match="not ready after 1 s: piece, piece missing"):
            readiness.wait_ready(client, limited, lambda: None)
