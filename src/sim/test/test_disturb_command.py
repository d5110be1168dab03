# SPDX-License-Identifier: Apache-2.0
"""The command by which somebody disturbs the navigation world."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest
from behavior_msgs.msg import PathPlannerHealth, TrajectoryStatus
from behavior_msgs.srv import DisturbNavigation

from behavior_sim.navigation.disturb_command import (
    COMMAND,
    REASONS,
    STATUSES,
    fields_of,
)

Request = DisturbNavigation.Request


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (
            ["block", "crate", "15", "6.7", "--size", "4", "0.6"],
            {"kind": Request.BLOCK, "name": "crate", "place": (15.0, 6.7, 0.0), "size": [4.0, 0.6]},
        ),
        (["unblock"], {"kind": Request.UNBLOCK, "name": ""}),
        (["lose-localization", "--duration", "3"], {"kind": 2, "duration": 3.0}),
        (["move-frame", "cart", "1", "2", "0.5"], {"kind": 3, "place": (1.0, 2.0, 0.5)}),
        (["fail-planner", "timeout"], {"kind": 4, "cause": PathPlannerHealth.TIMEOUT}),
        (["fail-trajectory", "cost_failed"], {"kind": 5, "cause": TrajectoryStatus.COST_FAILED}),
        (["fail-map", "east", "--times", "2"], {"kind": 6, "name": "east", "cause": 2}),
        (["silence-routes", "--duration", "4"], {"kind": Request.FAIL_ROUTE, "duration": 4.0}),
        (["add-person", "ann", "1", "2"], {"kind": Request.ADD_PERSON, "speed": 0.8}),
        (["remove-person", "ann"], {"kind": Request.REMOVE_PERSON, "name": "ann"}),
    ],
)
def test_what_is_typed_becomes_a_disturbance(arguments, fields):
    found = fields_of(parsed(arguments))
    assert {name: found[name] for name in fields} == fields


def test_causes_have_the_numbers_of_their_messages():
    for names, message in ((REASONS, PathPlannerHealth), (STATUSES, TrajectoryStatus)):
        assert [getattr(message, name.upper()) for name in names] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("code", [0, 102])
def test_the_simulation_is_asked_and_its_words_are_told(code):
    calls: list[tuple[Any, str, Any]] = []

    def call(kind: Any, name: str, request: Any) -> Any:
        calls.append((kind, name, request))
        return SimpleNamespace(code=code, message="crate stands there")

    stack = SimpleNamespace(call=call)
    done = COMMAND.run(parsed(["block", "crate", "15", "6.7", "--size", "4", "0.6"]), stack)
    assert done == (code == 0, "crate stands there")
    ((kind, name, request),) = calls
    assert (kind, name) == (DisturbNavigation, "simulation/disturb_navigation")
    assert (request.kind, request.name) == (Request.BLOCK, "crate")
    assert (request.pose.position.x, request.pose.position.y) == (15.0, 6.7)
