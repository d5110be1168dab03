# SPDX-License-Identifier: Apache-2.0
"""Values and blackboards as JSON: the scenarios of gtest_json.cpp."""

import json
from dataclasses import dataclass
from functools import partial

import pytest

from behavior_tree import (
    Blackboard,
    TypeRegistry,
    export_blackboard_to_json,
    import_blackboard_from_json,
)

covers = partial(pytest.mark.upstream, "gtest_json.cpp")


@dataclass(frozen=True)
class Vector:
    x: float
    y: float
    z: float


@dataclass(frozen=True)
class Pose:
    position: Vector
    yaw: float


class Stamp:
    def __init__(self, seconds, nanoseconds):
        self.seconds, self.nanoseconds = seconds, nanoseconds


@pytest.fixture
def types():
    registry = TypeRegistry()
    registry.json.register(Vector)
    registry.json.register(Pose)
    registry.json.register(
        Stamp,
        lambda stamp: {"stamp": stamp.seconds + stamp.nanoseconds * 1e-9},
        lambda fields: Stamp(int(fields["stamp"]), round(fields["stamp"] % 1 * 1e9)),
    )
    return registry


def there_and_back(types, value):
    """The value after a way through JSON text."""
    return types.json.from_json(json.loads(json.dumps(types.json.to_json(value))))


POSE = Pose(Vector(1, 2, 3), 0.5)


@covers("JsonTest.TwoWaysConversion", "JsonTest.VectorInteger", "JsonTest.VectorSring")
@covers("JsonTest.VectorOfCustomTypes")
@pytest.mark.parametrize(
    "value",
    [12, 0.75, True, "hello", [1, 2, 3], ["hello", "world"], POSE, [POSE, Pose(POSE.position, 2)]],
    ids=str,
)
def test_value_comes_back(types, value):
    back = there_and_back(types, value)
    assert back == value
    assert type(back) is type(value)


@covers("JsonTest.TwoWaysConversion")
def test_objects_say_their_type(types):
    data = types.json.to_json(POSE)
    assert data["__type"] == "Pose"
    assert data["position"] == {"__type": "Vector", "x": 1, "y": 2, "z": 3}
    assert data["yaw"] == 0.5


@covers("JsonTest.CustomTime")
@pytest.mark.parametrize("named", [True, False])
def test_form_of_ones_own(types, named):
    data = types.json.to_json(Stamp(5, 250_000_000))
    assert data["stamp"] == pytest.approx(5.25)
    if not named:
        del data["__type"]
    back = types.json.from_json(data, None if named else Stamp)
    assert (back.seconds, back.nanoseconds) == (5, 250_000_000)


@covers("JsonTest.ConvertFromString")
def test_json_in_the_text_of_a_port(types):
    assert types.from_text('json:{"x":0.5, "y":-1, "z":8.25}', Vector) == Vector(0.5, -1, 8.25)


@covers("JsonTest.BlackboardInOut")
def test_blackboard_comes_back(types):
    board, other = Blackboard(types=types), Blackboard(types=types)
    values = {"number": 12, "real": 0.75, "vector": Vector(0.5, 1.5, -2)}
    for key, value in values.items():
        board.set(key, value)
    import_blackboard_from_json(json.loads(json.dumps(export_blackboard_to_json(board))), other)
    assert dict(other.items()) == values


@pytest.mark.upstream("gtest_ports.cpp", "PortTest.JsonExporterVectorConverter_Issue989")
def test_list_of_a_registered_type(types):
    data = types.json.to_json([Vector(1, 2, 0), Vector(3, 4, 0)])
    assert [(each["x"], each["y"]) for each in data] == [(1, 2), (3, 4)]
