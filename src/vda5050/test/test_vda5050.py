# SPDX-License-Identifier: Apache-2.0
"""VDA5050 without MQTT and ROS: which orders are taken, what runs when, what the state says."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_vda5050.actions import ActionBook, ActionHandler
from behavior_vda5050.messages import (
    Action,
    ActionStatus,
    BlockingType,
    Node,
    NodePosition,
    OperatingMode,
    State,
    now_utc,
)
from behavior_vda5050.order_rules import Acceptance, Place
from behavior_vda5050.reading import Reader
from behavior_vda5050.vehicle import Condition, Vehicle

HEADER = {
    "headerId": 1,
    "timestamp": "2026-11-21T12:00:00.00Z",
    "version": "2.0.0",
    "manufacturer": "acme",
    "serialNumber": "7",
}


def action(action_id: str, blocking: str = "HARD", kind: str = "work", **values: Any) -> dict:
    return {
        "actionType": kind,
        "actionId": action_id,
        "blockingType": blocking,
        "actionParameters": [{"key": key, "value": value} for key, value in values.items()],
    }


def order(
    *xs: float,
    base: int | None = None,
    order_id: str = "o",
    update: int = 0,
    first: int = 0,
    actions: dict[int, list[dict]] | None = None,
    edge_actions: dict[int, list[dict]] | None = None,
) -> dict:
    """Nodes along the x axis, named by where they are; the first `base` are released."""
    base = len(xs) if base is None else base
    names = [f"n{x:g}" for x in xs]
    nodes = [
        {
            "nodeId": name,
            "sequenceId": first + 2 * index,
            "released": index < base,
            "nodePosition": {"x": x, "y": 0.0, "mapId": "hall", "allowedDeviationXY": 0.3},
            "actions": (actions or {}).get(index, []),
        }
        for index, (name, x) in enumerate(zip(names, xs, strict=True))
    ]
    edges = [
        {
            "edgeId": f"e{names[index]}",
            "sequenceId": first + 2 * index + 1,
            "released": index + 1 < base,
            "startNodeId": names[index],
            "endNodeId": names[index + 1],
            "actions": (edge_actions or {}).get(index, []),
        }
        for index in range(len(xs) - 1)
    ]
    return {**HEADER, "orderId": order_id, "orderUpdateId": update, "nodes": nodes, "edges": edges}


class Work:
    """A handler whose actions end when told."""

    description = "works"

    def __init__(self) -> None:
        self.started: list[str] = []
        self.parameters: dict[str, dict[str, Any]] = {}
        self.status: dict[str, ActionStatus] = {}
        self.calls: list[tuple[str, str]] = []

    def start(self, action: Action) -> "WorkOn":
        if "bad" in action.parameters:
            raise ValueError("bad is not wanted")
        self.started.append(action.action_id)
        self.parameters[action.action_id] = action.parameters
        self.status[action.action_id] = ActionStatus.RUNNING
        return WorkOn(self, action.action_id)


class WorkOn:
    def __init__(self, work: Work, action_id: str) -> None:
        self.work, self.action_id = work, action_id

    def poll(self) -> tuple[ActionStatus, str]:
        return self.work.status[self.action_id], ""

    def cancel(self) -> None:
        self.work.calls.append(("cancel", self.action_id))
        self.work.status[self.action_id] = ActionStatus.FAILED

    def pause(self) -> None:
        self.work.status[self.action_id] = ActionStatus.PAUSED

    def resume(self) -> None:
        self.work.status[self.action_id] = ActionStatus.RUNNING


class Yard:
    """A vehicle that jumps to where it is told to drive."""

    def __init__(self, **handlers: ActionHandler) -> None:
        self.work = Work()
        self.place: Place | None = Place(0.0, 0.0, 0.0, "hall")
        self.mode = OperatingMode.AUTOMATIC
        self.legs: list[list[float]] = []
        self.calls: list[str] = []
        self.outcome: tuple[bool, str] | None = None
        self.held = False
        self.vehicle = Vehicle(
            driver=self,
            handlers={"work": self.work, **handlers},
            condition=lambda: Condition(place=self.place, mode=self.mode),
        )

    def drive(self, places: list[NodePosition]) -> None:
        self.legs.append([place.x for place in places])
        self.outcome = None

    def poll(self) -> tuple[bool, str] | None:
        return self.outcome

    @property
    def stands(self) -> bool:
        return self.held or self.outcome is not None

    def cancel(self) -> None:
        self.calls.append("cancel")

    def pause(self) -> None:
        self.calls.append("pause")

    def resume(self) -> None:
        self.calls.append("resume")

    def arrive(self) -> None:
        self.place = Place(self.legs[-1][-1], 0.0, 0.0, "hall")
        self.outcome = (True, "")
        self.step()

    def step(self, times: int = 3) -> None:
        for _ in range(times):
            self.vehicle.step()
            self.state()

    def order(self, message: dict) -> Acceptance | None:
        return self.take("order", json.dumps(message))

    def take(self, topic: str, text: str | bytes) -> Acceptance | None:
        reader = Reader("acme", "7", self.vehicle.known_actions)
        payload = text.encode() if isinstance(text, str) else text
        return self.vehicle.take(reader.read(topic, payload))

    def at_once(self, *actions: dict) -> None:
        self.take("instantActions", json.dumps({**HEADER, "actions": list(actions)}))

    def state(self) -> State:
        """Valid by the models, whatever happened."""
        return State(
            header_id=0,
            timestamp=now_utc(),
            version="2.0.0",
            manufacturer="acme",
            serial_number="7",
            **self.vehicle.state_fields(),
        )

    def statuses(self) -> dict[str, ActionStatus]:
        return {each.action_id: each.action_status for each in self.state().action_states}

    def error(self) -> str:
        return self.state().errors[-1].error_type

    def finish(self, action_id: str) -> None:
        self.work.status[action_id] = ActionStatus.FINISHED
        self.step()


@pytest.fixture
def yard() -> Yard:
    return Yard()


def test_order_is_driven_to_its_end_with_the_states_in_between(yard: Yard) -> None:
    assert yard.order(order(0, 1, 2, actions={2: [action("a")]})) is Acceptance.NEW
    state = yard.state()
    assert (state.last_node_id, state.last_node_sequence_id) == ("n0", 0)
    assert [n.node_id for n in state.node_states] == ["n1", "n2"]
    assert [e.sequence_id for e in state.edge_states] == [1, 3]
    assert yard.statuses() == {"a": ActionStatus.WAITING}
    yard.step()
    assert yard.legs == [[1.0, 2.0]]
    yard.place = Place(1.2, 0.1, 0.0, "hall")
    yard.step()
    state = yard.state()
    assert state.last_node_id == "n1"
    assert [e.edge_id for e in state.edge_states] == ["en1"]
    assert not yard.vehicle.idle
    yard.arrive()
    assert yard.statuses() == {"a": ActionStatus.RUNNING}
    yard.finish("a")
    state = yard.state()
    assert yard.vehicle.idle
    assert (state.node_states, state.edge_states, state.errors) == ((), (), ())
    assert (state.order_id, state.last_node_id) == ("o", "n2")
    assert yard.statuses() == {"a": ActionStatus.FINISHED}
    told = json.loads(state.text())
    assert {"orderUpdateId", "lastNodeSequenceId", "safetyState", "operatingMode"} <= set(told)
    assert told["safetyState"] == {"eStop": "NONE", "fieldViolation": False}


def changed(path: str, value: Any) -> Callable[[dict], None]:
    """Sets, or with ... removes, one field of an order."""

    def change(message: dict) -> None:
        *parents, last = path.split(".")
        where: Any = message
        for key in parents:
            where = where[int(key)] if isinstance(where, list) else where[key]
        if value is ...:
            del where[last]
        else:
            where[int(last) if isinstance(where, list) else last] = value

    return change


@pytest.mark.parametrize(
    ("change", "kind", "reference"),
    [
        (changed("orderId", ...), "validationError", "orderId"),
        (changed("orderUpdateId", -1), "validationError", "orderUpdateId"),
        (changed("timestamp", "noon"), "validationError", "timestamp"),
        (changed("nodes", []), "validationError", "nodes"),
        (changed("nodes.1.nodePosition.x", "far"), "validationError", "nodes.1.nodePosition.x"),
        (changed("nodes.1.released", ...), "validationError", "nodes.1.released"),
        (changed("nodes.0.actions", [{"actionType": "work"}]), "validationError", "actionId"),
        (
            changed("nodes.0.actions", [{**action("a"), "blockingType": "FIRM"}]),
            "validationError",
            "blockingType",
        ),
        (changed("edges", []), "validationError", "orderId"),
        (changed("nodes.1.sequenceId", 3), "validationError", "nodeId"),
        (changed("nodes.1.sequenceId", 8), "validationError", "nodeId"),
        (changed("edges.0.sequenceId", 5), "validationError", "edgeId"),
        (changed("edges.0.endNodeId", "n2"), "validationError", "edgeId"),
        (changed("nodes.0.released", False), "validationError", "nodeId"),
        (changed("edges.0.released", False), "validationError", "orderId"),
        (changed("nodes.0.actions", [action("a"), action("a")]), "validationError", "actionId"),
        (changed("nodes.1.actions", [action("a", kind="fly")]), "orderError", "actionType"),
        (changed("nodes.1.nodePosition", ...), "orderError", "nodeId"),
        (changed("nodes.2.nodePosition.mapId", "attic"), "orderError", "orderId"),
        (changed("nodes.0.nodePosition.x", 0.4), "noRouteError", "nodeId"),
        (changed("nodes.0.nodePosition.allowedDeviationXY", 0), None, ""),
    ],
)
def test_wrong_orders_are_refused_with_the_standards_error(
    yard: Yard, change: Callable[[dict], None], kind: str | None, reference: str
) -> None:
    message = order(0, 1, 2)
    change(message)
    taken = yard.order(message)
    yard.step()
    if kind is None:
        assert taken is Acceptance.NEW
        return
    assert taken is None
    (error,) = yard.state().errors
    assert error.error_type == kind
    assert any(r.reference_key.endswith(reference) for r in error.error_references)
    assert error.error_description
    assert yard.legs == []
    assert yard.state().order_id == ""
    assert yard.order(order(0, 1)) is Acceptance.NEW
    assert yard.state().errors == ()


@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
@settings(max_examples=50)
def test_no_text_whatever_moves_the_vehicle(text: str) -> None:
    yard = Yard()
    yard.take("order", text)
    yard.take("instantActions", text)
    yard.step()
    assert yard.legs == []
    assert {e.error_type for e in yard.state().errors} == {"validationError"}


def test_all_that_is_wrong_is_told_at_once(yard: Yard) -> None:
    message = order(0, 1, 2)
    message["nodes"][1]["sequenceId"] = 7
    message["edges"][1]["startNodeId"] = "x"
    yard.order(message)
    (error,) = yard.state().errors
    assert {r.reference_key for r in error.error_references} >= {"orderId", "nodeId", "edgeId"}


def test_second_order_waits_for_the_end_of_the_first(yard: Yard) -> None:
    yard.order(order(0, 1))
    yard.step()
    assert yard.order(order(0, 1, order_id="p")) is None
    assert yard.error() == "orderError"
    assert yard.state().order_id == "o"
    yard.arrive()
    assert yard.order(order(1, 0, order_id="p")) is Acceptance.NEW


def test_vehicle_that_is_lost_or_steered_by_hand_takes_no_order(yard: Yard) -> None:
    yard.place = None
    assert yard.order(order(0, 1)) is None
    yard.place = Place(0.0, 0.0, 0.0, "attic")
    assert yard.order(order(0, 1)) is None
    assert yard.error() == "noRouteError"
    yard.place, yard.mode = Place(0.0, 0.0, 0.0), OperatingMode.MANUAL
    assert yard.order(order(0, 1)) is None
    assert "MANUAL" in str(yard.state().errors[-1].error_description)


# -- updates


def test_update_continues_the_base(yard: Yard) -> None:
    yard.order(order(0, 1, 2, base=2, actions={1: [action("a", "NONE")], 2: [action("gone")]}))
    yard.step()
    assert yard.legs == [[1.0]]
    assert set(yard.statuses()) == {"a", "gone"}
    assert [n.released for n in yard.state().node_states] == [True, False]
    update = order(1, 3, 4, update=1, first=2, base=2, actions={1: [action("b")]})
    assert yard.order(update) is Acceptance.UPDATE
    assert [n.node_id for n in yard.state().node_states] == ["n1", "n3", "n4"]
    assert set(yard.statuses()) == {"a", "b"}
    yard.arrive()
    assert yard.legs[-1] == [3.0]
    assert yard.work.started == ["a"]
    yard.arrive()
    yard.finish("a")  # which the blocking action of this node waits for
    yard.finish("b")
    assert yard.state().new_base_request
    assert not yard.vehicle.idle
    assert yard.order(order(3, 4, update=2, first=4)) is Acceptance.UPDATE
    yard.step()
    yard.arrive()
    assert yard.vehicle.idle
    assert yard.state().order_update_id == 2


@pytest.mark.parametrize(
    ("update", "taken"),
    [
        (order(1, 3, update=5, first=2), Acceptance.UPDATE),
        (order(0, 1, update=4), Acceptance.REPEATED),
        (order(1, 3, update=3, first=2), None),
        (order(2, 3, update=5, first=2), None),
        (order(1, 3, update=5, first=4), None),
        (order(1, 3, update=5, first=2, actions={1: [action("a")]}), None),
    ],
)
def test_updates_that_do_not_fit_are_refused_and_the_order_goes_on(
    yard: Yard, update: dict, taken: Acceptance | None
) -> None:
    yard.order(order(0, 1, update=4, actions={1: [action("a")]}))
    yard.step()
    assert yard.order(update) is taken
    if taken is None:
        assert yard.error() == "orderUpdateError"
        assert yard.state().order_update_id == 4
    else:
        assert yard.state().errors == ()
    yard.arrive()
    assert yard.work.started == ["a"]


def test_actions_of_a_horizon_are_those_of_the_update_that_replaces_it(yard: Yard) -> None:
    yard.order(order(0, 1, 2, base=2, actions={2: [action("a", height=1), action("b")]}))
    yard.step()
    yard.arrive()
    replaced = {1: [action("c", "SOFT"), action("b"), action("a", height=2)]}
    assert yard.order(order(1, 2, first=2, update=1, actions=replaced)) is Acceptance.UPDATE
    yard.step()
    yard.arrive()
    for each in "cba":
        assert yard.work.started[-1] == each
        yard.finish(each)
    assert yard.work.started == ["c", "b", "a"]
    assert yard.work.parameters["a"] == {"height": 2}


def test_a_late_copy_of_an_order_that_was_cancelled_moves_nothing(yard: Yard) -> None:
    yard.order(order(0, 1, update=3))
    yard.step()
    yard.at_once(action("c", kind="cancelOrder"))
    yard.outcome = (False, "cancelled")
    yard.step()
    assert yard.order(order(0, 1, update=3)) is Acceptance.REPEATED
    yard.step()
    assert yard.legs == [[1.0]]
    assert yard.vehicle.idle
    assert yard.order(order(0, 1, update=4)) is Acceptance.NEW


def test_a_late_copy_of_what_an_order_was_before_its_last_update_moves_nothing(yard: Yard) -> None:
    yard.order(order(0, 1, 2, base=2))
    yard.order(order(1, 2, update=1, first=2))
    yard.step()
    yard.at_once(action("c", kind="cancelOrder"))
    yard.outcome = (False, "cancelled")
    yard.step()
    assert yard.order(order(0, 1, 2, base=2)) is None
    assert yard.error() == "orderUpdateError"
    yard.step()
    assert yard.vehicle.idle
    assert len(yard.legs) == 1


def test_a_node_without_any_deviation_is_passed_where_it_is(yard: Yard) -> None:
    message = order(0, 5, 10)
    message["nodes"][1]["nodePosition"]["allowedDeviationXY"] = 0.0
    yard.order(message)
    yard.step()
    for x, passed in ((4.6, "n0"), (4.97, "n5")):
        yard.place = Place(x, 0.0, 0.0, "hall")
        yard.step()
        assert yard.state().last_node_id == passed


# -- actions


def test_legs_end_where_actions_forbid_driving(yard: Yard) -> None:
    yard.order(
        order(
            *(0, 1, 2, 3, 4),
            actions={1: [action("drive_by", "NONE")], 2: [action("soft", "SOFT")]},
            edge_actions={3: [action("edge", "SOFT")]},
        )
    )
    yard.step()
    assert yard.legs == [[1.0, 2.0]]
    yard.arrive()
    assert yard.work.started == ["drive_by", "soft"]
    yard.finish("soft")
    assert yard.legs[-1] == [3.0]  # drive_by goes on meanwhile
    yard.arrive()
    assert yard.work.started[-1] == "edge"
    assert yard.legs[-1] == [3.0]
    yard.finish("edge")
    assert yard.legs[-1] == [4.0]
    yard.arrive()
    assert not yard.vehicle.idle
    yard.finish("drive_by")
    assert yard.vehicle.idle


def test_blocking_types_decide_what_runs_together(yard: Yard) -> None:
    wanted = [("n", "NONE"), ("s", "SOFT"), ("h", "HARD"), ("t", "SOFT"), ("u", "SOFT")]
    yard.order(order(0, 1, actions={0: [action(name, kind) for name, kind in wanted]}))
    yard.step()
    assert yard.work.started == ["n", "s"]
    yard.finish("s")
    assert yard.work.started == ["n", "s"]
    yard.finish("n")
    assert yard.work.started[2:] == ["h"]
    yard.finish("h")
    assert yard.work.started[3:] == ["t", "u"]
    yard.finish("t")
    assert yard.legs == []
    yard.finish("u")
    assert yard.legs == [[1.0]]


BLOCKING = st.sampled_from(list(BlockingType))


@given(st.lists(BLOCKING, max_size=8), st.lists(st.integers(0, 7), max_size=60))
def test_hard_actions_are_always_alone_and_order_is_kept(
    kinds: list[BlockingType], ends: list[int]
) -> None:
    work = Work()
    book = ActionBook({"work": work})
    actions = [
        Action(action_type="work", action_id=str(n), blocking_type=kind)
        for n, kind in enumerate(kinds)
    ]
    book.add(actions)
    book.reach(actions)
    for end in [*ends, *range(len(kinds)), *range(len(kinds))]:
        book.step()
        running = [n for n in work.started if work.status[n] is ActionStatus.RUNNING]
        if any(kinds[int(n)] is BlockingType.HARD for n in running):
            assert len(running) == 1
        assert book.may_drive == all(
            work.status.get(str(n)) is ActionStatus.FINISHED
            for n, kind in enumerate(kinds)
            if kind is not BlockingType.NONE
        )
        if running:
            work.status[running[end % len(running)]] = ActionStatus.FINISHED
    for _ in range(len(kinds) + 1):
        book.step()
        for name in work.started:
            work.status[name] = ActionStatus.FINISHED
    book.step()
    assert work.started == [str(n) for n in range(len(kinds))]
    assert not book.busy


def test_action_that_cannot_start_or_fails_gives_the_order_up(yard: Yard) -> None:
    yard.order(order(0, 1, actions={0: [action("a", bad=1)], 1: [action("b")]}))
    yard.step()
    state = yard.state()
    assert yard.statuses() == {"a": ActionStatus.FAILED, "b": ActionStatus.FAILED}
    assert "bad is not wanted" in str(state.action_states[0].result_description)
    assert state.errors[0].error_type == "actionError"
    assert state.node_states == ()
    assert yard.legs == []


class Faulty:
    """A handler of a package, with a fault in one of its functions."""

    description = "fails"

    def start(self, action: Action) -> "Faulty":
        self.where = action.parameters["where"]
        self.fail("start")
        return self

    def fail(self, here: str) -> None:
        if here == self.where:
            raise TypeError(f"no number in {here}")

    def poll(self) -> tuple[ActionStatus, str]:
        self.fail("poll")
        return ActionStatus.RUNNING, ""

    def cancel(self) -> None:
        self.fail("cancel")

    def pause(self) -> None:
        self.fail("pause")

    def resume(self) -> None:
        self.fail("resume")


@pytest.mark.parametrize("where", ["start", "poll", "pause", "resume", "cancel"])
def test_a_handler_with_a_fault_costs_the_order_and_not_the_vehicle(where: str) -> None:
    yard = Yard(odd=Faulty())
    yard.order(order(0, 1, actions={0: [action("a", kind="odd", where=where)]}))
    yard.step()
    for kind in ("startPause", "stopPause", "cancelOrder"):
        yard.at_once(action(kind, kind=kind))
        yard.step()
    failed = yard.state().action_states[0]
    assert failed.action_status is ActionStatus.FAILED
    assert f"TypeError: no number in {where}" in str(failed.result_description)
    assert yard.vehicle.idle
    assert yard.legs == []


def test_failed_action_that_blocks_nothing_stops_nothing(yard: Yard) -> None:
    yard.order(order(0, 1, actions={0: [action("a", "NONE", bad=1)]}))
    yard.step()
    assert yard.statuses() == {"a": ActionStatus.FAILED}
    assert yard.legs == [[1.0]]


def test_failed_drive_gives_the_order_up_with_a_reference(yard: Yard) -> None:
    yard.order(order(0, 1, 2, actions={2: [action("a")]}))
    yard.step()
    yard.outcome = (False, "the way is blocked")
    yard.step()
    (error,) = yard.state().errors
    assert (error.error_type, error.error_description) == ("drivingError", "the way is blocked")
    assert ("edgeId", "en0") in [
        (r.reference_key, r.reference_value) for r in error.error_references
    ]
    assert yard.statuses() == {"a": ActionStatus.FAILED}
    assert yard.vehicle.idle
    assert yard.order(order(0, 1, order_id="p")) is Acceptance.NEW


# -- instant actions


def test_cancel_ends_when_the_vehicle_stands(yard: Yard) -> None:
    yard.order(order(0, 1, 2, actions={0: [action("n", "NONE")], 2: [action("a")]}))
    yard.step()
    yard.at_once(action("c", kind="cancelOrder"))
    yard.step()
    assert yard.statuses() == {
        "n": ActionStatus.FAILED,
        "a": ActionStatus.FAILED,
        "c": ActionStatus.RUNNING,
    }
    assert yard.calls == ["cancel"]
    assert yard.order(order(0, 1, order_id="p")) is None
    yard.outcome = (False, "cancelled")
    yard.step()
    state = yard.state()
    assert yard.statuses()["c"] is ActionStatus.FINISHED
    assert state.node_states == state.edge_states == ()
    assert (state.order_id, state.last_node_id) == ("o", "n0")
    assert yard.order(order(0, 1, order_id="p")) is Acceptance.NEW


def test_cancel_without_an_order_fails(yard: Yard) -> None:
    yard.at_once(action("c", kind="cancelOrder"))
    assert yard.error() == "noOrderToCancel"
    assert yard.statuses() == {"c": ActionStatus.FAILED}
    yard.order(order(0, 1))
    yard.step()
    yard.at_once(action("d", kind="cancelOrder", orderId="other"))
    assert yard.statuses()["d"] is ActionStatus.FAILED
    assert yard.calls == []


def test_pause_holds_driving_and_actions(yard: Yard) -> None:
    yard.order(order(0, 1, actions={0: [action("n", "NONE")]}))
    yard.step()
    yard.at_once(action("p", kind="startPause"))
    yard.step()
    assert yard.state().paused
    assert yard.statuses()["n"] is ActionStatus.PAUSED
    yard.at_once(action("q", kind="startPause"))
    yard.at_once(action("t", kind="startTeleop"))
    yard.at_once(action("r", kind="stopPause"))
    assert yard.state().paused  # somebody steers
    yard.at_once(action("s", kind="stopTeleop"))
    yard.step()
    assert not yard.state().paused
    assert yard.calls == ["pause", "resume"]
    assert yard.statuses()["n"] is ActionStatus.RUNNING
    assert yard.legs == [[1.0]]


def test_a_late_copy_of_an_instant_action_sets_nothing_in_motion(yard: Yard) -> None:
    yard.order(order(0, 1))
    yard.step()
    yard.held = True
    for kind, action_id in (("startPause", "p"), ("stopPause", "r"), ("startPause", "q")):
        yard.at_once(action(action_id, kind=kind))
    yard.at_once(action("r", kind="stopPause"))
    assert yard.state().paused
    assert yard.calls == ["pause", "resume", "pause"]
    assert yard.statuses()["r"] is ActionStatus.FINISHED
    assert yard.error() == "instantActionError"
    yard.at_once(action("s", kind="stopPause"))
    assert not yard.state().paused


def test_a_late_copy_of_a_cancellation_leaves_its_state(yard: Yard) -> None:
    yard.order(order(0, 1))
    yard.step()
    yard.at_once(action("c", kind="cancelOrder"))
    yard.at_once(action("c", kind="cancelOrder"))
    yard.outcome = (False, "cancelled")
    yard.step()
    yard.at_once(action("c", kind="cancelOrder"))
    assert yard.statuses() == {"c": ActionStatus.FINISHED}
    assert yard.calls == ["cancel"]
    assert not yard.state().errors


def test_a_pause_has_begun_when_the_vehicle_is_held(yard: Yard) -> None:
    yard.order(order(0, 1))
    yard.step()
    yard.at_once(action("p", kind="startPause"))
    yard.step()
    assert yard.state().paused
    assert yard.statuses()["p"] is ActionStatus.RUNNING
    yard.held = True
    yard.step()
    assert yard.statuses()["p"] is ActionStatus.FINISHED
    yard.held = False
    yard.at_once(action("r", kind="stopPause"))
    yard.at_once(action("q", kind="startTeleop"))
    yard.at_once(action("s", kind="stopTeleop"))
    yard.step()
    assert yard.statuses()["q"] is ActionStatus.FAILED
    assert yard.statuses()["s"] is ActionStatus.FINISHED


def test_paused_vehicle_begins_no_leg(yard: Yard) -> None:
    yard.at_once(action("p", kind="startPause"))
    yard.order(order(0, 1, actions={0: [action("a")]}))
    yard.step()
    assert (yard.legs, yard.work.started) == ([], [])
    yard.at_once(action("r", kind="stopPause"))
    yard.step()
    assert yard.work.started == ["a"]


def test_order_action_waits_for_the_end_of_teleoperation(yard: Yard) -> None:
    yard.order(order(0, 1, actions={0: [action("w", kind="pause_order")]}))
    yard.step()
    assert yard.legs == []
    yard.at_once(action("t", kind="startTeleop"))
    yard.step()
    yard.at_once(action("u", kind="stopTeleop"))
    yard.step()
    assert yard.statuses()["w"] is ActionStatus.FINISHED
    assert yard.legs == [[1.0]]


def test_a_teleoperation_of_one_message_counts(yard: Yard) -> None:
    yard.order(order(0, 1, actions={0: [action("w", kind="pause_order")]}))
    yard.step()
    yard.at_once(action("t", kind="startTeleop"), action("u", kind="stopTeleop"))
    yard.step()
    assert yard.statuses()["w"] is ActionStatus.FINISHED
    assert yard.legs == [[1.0]]


def test_requests_and_unknown_instant_actions(yard: Yard) -> None:
    yard.take(
        "instantActions",
        json.dumps({**HEADER, "instantActions": [action("s", kind="stateRequest")]}),
    )
    yard.at_once(action("f", kind="factsheetRequest"), action("x", kind="dance"))
    assert yard.vehicle.state_wanted
    assert yard.vehicle.factsheet_wanted
    assert yard.statuses()["x"] is ActionStatus.FAILED
    assert "dance" in str(yard.state().errors[-1].error_description)
    kinds = {each.action_type for each in yard.vehicle.agv_actions()}
    assert {"cancelOrder", "work", "pause_order"} <= kinds


def test_a_leg_with_a_piece_left_out_is_told(yard: Yard) -> None:
    yard.order(order(0, 1, 2))
    yard.step()
    yard.place, yard.outcome = Place(2.0, 0.0, 0.0, "hall"), (True, "done, but for 3.0 m")
    yard.step()
    assert yard.state().last_node_id == "n2"
    (error,) = yard.state().errors
    assert (error.error_type, error.error_description) == ("drivingWarning", "done, but for 3.0 m")


def test_old_errors_make_room(yard: Yard) -> None:
    for number in range(50):
        yard.take("order", json.dumps({**HEADER, "orderId": "o" * number}))
    assert len(yard.state().errors) <= 20


def test_names_in_json_are_the_standards() -> None:
    node = Node(
        node_id="a",
        sequence_id=0,
        released=True,
        node_position=NodePosition(x=1.0, y=2.0, allowed_deviation_x_y=0.5),
    )
    assert json.loads(node.text())["nodePosition"]["allowedDeviationXY"] == 0.5
