# SPDX-License-Identifier: Apache-2.0
"""VDA5050: whatever a master control sends, it is measured first and costs little."""

import json
import time
from typing import Any

import pytest
from test_vda5050 import HEADER, Yard, action, order

from behavior_vda5050.limits import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ACTIONS,
    MOST_BYTES,
    MOST_INSTANT,
    MOST_NODES,
    MOST_REFERENCES,
)
from behavior_vda5050.messages import ProtocolError
from behavior_vda5050.order_rules import Acceptance
from behavior_vda5050.reading import Reader

READER = Reader("acme", "7", frozenset({"work"}))


def cost(what: Any, times: int = 5) -> float:
    """Processor time of the fastest of some calls [s]."""
    found = []
    for _ in range(times):
        begin = time.thread_time()
        what()
        found.append(time.thread_time() - begin)
    return min(found)


def refused(message: Any, topic: str = "order") -> str:
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    found = READER.read(topic, text)
    assert isinstance(found, ProtocolError)
    assert len(str(found)) <= LONGEST_TEXT
    assert len(found.error.error_references) <= MOST_REFERENCES
    assert all(len(r.reference_value) <= LONGEST_NAME for r in found.error.error_references)
    assert found.error.error_type == "validationError"
    return str(found)


@pytest.mark.slow
def test_an_order_of_20000_nodes_is_refused_by_its_size() -> None:
    text = json.dumps(order(*range(20_000))).encode()
    assert "more than 131072: send it in parts" in refused(text)
    assert cost(lambda: READER.read("order", text)) < 2e-3


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({**HEADER, "orderId": "o", "orderUpdateId": 0, "nodes": [{}] * 30_000}),
        json.dumps({**HEADER, "orderId": "o", "orderUpdateId": 0, "nodes": [1] * 40_000}),
        json.dumps({**HEADER, "orderId": "x" * 120_000}),
        json.dumps({**HEADER, "a" * 120_000: 1}),
        '{"nodes": ' + "[" * 60_000,
        json.dumps({**HEADER, "unknown": [{}] * 30_000}),
        json.dumps({**HEADER, "unknown": [{}] * 4_900}),
        json.dumps({**HEADER, "unknown": [1] * 40_000}),
    ],
    ids=[
        "empty nodes",
        "numbers",
        "long name",
        "long key",
        "deep",
        "unknown",
        "fitting",
        "unknown numbers",
    ],
)
def test_the_worst_that_fits_costs_a_few_milliseconds(text: str) -> None:
    assert len(text) <= MOST_BYTES
    refused(text.encode())
    assert cost(lambda: READER.read("order", text.encode())) < 30e-3


def test_the_largest_order_is_taken_and_each_step_is_cheap() -> None:
    yard = Yard()
    text = json.dumps(order(*range(MOST_NODES))).encode()
    assert len(text) <= MOST_BYTES
    message = READER.read("order", text)
    assert yard.vehicle.take(message) is Acceptance.NEW
    yard.step()
    assert cost(lambda: (yard.vehicle.step(), yard.vehicle.state_fields())) < 6e-3
    assert len(yard.state().node_states) == MOST_NODES - 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nodes": order(*range(MOST_NODES + 1))["nodes"]}, "nodes"),
        ({"orderId": "x" * (LONGEST_NAME + 1)}, "orderId"),
        ({"orderId": "a\x1b[31m"}, "orderId"),
        ({"version": "1.1.0"}, "this vehicle speaks 2.0.0"),
        ({"version": "3.0.0"}, "this vehicle speaks 2.0.0"),
        ({"manufacturer": "other"}, "for manufacturer 'other', this is 'acme'"),
        ({"serialNumber": "8"}, "for serial number '8', this is '7'"),
    ],
)
def test_what_is_too_large_or_for_another_vehicle_is_refused(change: dict, words: str) -> None:
    assert words in refused({**order(0, 1), **change})


def test_another_version_of_the_same_generation_is_taken() -> None:
    assert not isinstance(
        READER.read("order", json.dumps({**order(0, 1), "version": "2.1.0"}).encode()),
        ProtocolError,
    )


def test_too_many_actions() -> None:
    here = [action(f"a{i}", "NONE") for i in range(21)]
    assert "actions" in refused(order(0, 1, actions={1: here}))
    many = {
        i: [action(f"a{i}_{k}", "NONE") for k in range(20)] for i in range(MOST_ACTIONS // 20 + 1)
    }
    assert f"more than {MOST_ACTIONS}" in refused(order(*range(20), actions=many))


def test_instant_actions_without_end_do_not_fill_the_state() -> None:
    yard = Yard()
    for number in range(3 * MOST_INSTANT):
        yard.at_once(action(f"s{number}", kind="stateRequest"))
    told = yard.statuses()
    assert len(told) == MOST_INSTANT
    assert f"s{3 * MOST_INSTANT - 1}" in told


@pytest.mark.slow
def test_an_order_that_is_continued_for_ever_does_not_grow() -> None:
    yard = Yard()
    yard.order(order(0, 1))
    for update in range(1, 400):
        yard.step()
        assert yard.legs[-1] == [float(update)]
        yard.arrive()
        message = order(update, update + 1, update=update, first=2 * update)
        assert yard.order(message) is Acceptance.UPDATE
    assert len(yard.vehicle._order.nodes) == 2
    assert yard.state().last_node_id == "n399"


def test_an_update_that_would_lie_too_far_ahead_is_refused() -> None:
    yard = Yard()
    half = MOST_NODES // 2 + 10
    yard.order(order(*range(half)))
    update = order(*range(half - 1, 2 * half), update=1, first=2 * (half - 1))
    assert yard.order(update) is None
    assert yard.error() == "orderUpdateError"
    assert "would lie ahead" in str(yard.state().errors[-1].error_description)


def test_actions_of_an_order_with_all_its_updates_are_counted() -> None:
    yard = Yard()
    yard.order(order(0, 1))
    for update in range(1, 40):
        yard.step()
        yard.arrive()
        here = {1: [action(f"a{update}_{k}", "NONE") for k in range(20)]}
        message = order(update, update + 1, update=update, first=2 * update, actions=here)
        if yard.order(message) is None:
            break
    assert "begin a new order" in str(yard.state().errors[-1].error_description)
    assert len(yard.statuses()) <= MOST_ACTIONS


def test_an_update_on_the_way_keeps_the_leg_and_what_was_passed_is_forgotten() -> None:
    yard = Yard()
    yard.order(order(0, 1, 2, 3))
    yard.step()
    yard.place = type(yard.place)(1.1, 0.0, 0.0, "hall")
    yard.step()
    assert yard.state().last_node_id == "n1"
    assert yard.order(order(3, 4, update=1, first=6)) is Acceptance.UPDATE
    assert [n.node_id for n in yard.state().node_states] == ["n2", "n3", "n4"]
    yard.arrive()
    yard.arrive()
    assert yard.state().last_node_id == "n4"
    assert yard.legs == [[1.0, 2.0, 3.0], [4.0]]
