# SPDX-License-Identifier: Apache-2.0
"""A vehicle that carries out VDA5050 orders, without ROS and MQTT.

Somebody calls :meth:`Vehicle.step` a few times a second. The vehicle drives leg by leg: a leg ends
at the next node that has actions which forbid driving, before an edge that has such, or at the end
of the base. Nodes in between count as passed when the vehicle is within their deviation.

An order that cannot go on (the drive failed, or an action that is not of blocking type NONE) is
given up: what waits becomes FAILED, the nodes that are left are forgotten, and an error says why
until the next order is taken.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from behavior_vda5050.actions import ActionBook, ActionHandler
from behavior_vda5050.limits import LONGEST_TEXT, MOST_ACTIONS, MOST_ERRORS, MOST_INSTANT
from behavior_vda5050.messages import (
    Action,
    ActionStatus,
    AgvAction,
    AgvPosition,
    BatteryState,
    BlockingType,
    Edge,
    EdgeState,
    Error,
    ErrorLevel,
    InstantActions,
    Node,
    NodePosition,
    NodeState,
    OperatingMode,
    Order,
    ProtocolError,
    SafetyState,
    Velocity,
    references,
)
from behavior_vda5050.order_rules import (
    Acceptance,
    Place,
    acceptance,
    in_order,
    reach_of,
    stitched,
)
from behavior_vda5050.reading import Message

INSTANT = {
    "cancelOrder": "stop, and give the order up",
    "startPause": "hold driving and actions",
    "stopPause": "go on after startPause",
    "stateRequest": "send the state now",
    "factsheetRequest": "send the factsheet",
    "startTeleop": "hold driving, for somebody who steers",
    "stopTeleop": "go on after startTeleop",
}
"""Instant actions, with what they do."""
WAIT_FOR_TELEOP = "pause_order"
"""Action of an order that lasts until stopTeleop."""


class Driver(Protocol):
    """Drives the vehicle."""

    def drive(self, places: list[NodePosition]) -> None:
        """Begin to drive along these places; the last one is the goal."""

    def poll(self) -> tuple[bool, str] | None:
        """How the drive ended, success and text; None while it lasts, also while it is held."""

    @property
    def stands(self) -> bool:
        """Whether the drive is held, or has ended."""

    def cancel(self) -> None:
        """Stop; `poll` tells when it has."""

    def pause(self) -> None:
        """Hold; `stands` tells when it does."""

    def resume(self) -> None:
        """Go on."""


@dataclass(frozen=True)
class Condition:
    """What is known of the vehicle itself."""

    place: Place | None = None
    score: float | None = None
    """Of the localization, 0..1."""
    velocity: Velocity = field(default_factory=Velocity)
    battery: BatteryState = field(
        default_factory=lambda: BatteryState(battery_charge=100.0, charging=False)
    )
    mode: OperatingMode = OperatingMode.AUTOMATIC
    safety: SafetyState = field(default_factory=SafetyState)

    @property
    def moves(self) -> bool:
        """Whether it is under way."""
        v = self.velocity
        return math.hypot(v.vx, v.vy) > 0.01 or abs(v.omega) > 0.01


@dataclass
class _Leg:
    """A drive to a node."""

    end: int
    """Index of the node in the order."""


class Vehicle:
    """Takes orders and instant actions, and tells its state."""

    def __init__(
        self,
        *,
        driver: Driver,
        handlers: Mapping[str, ActionHandler],
        condition: Callable[[], Condition],
        tolerance: float = 0.5,
    ) -> None:
        """Start without an order.

        Args:
            driver: drives.
            handlers: actions of orders, by type.
            condition: what is known of the vehicle now.
            tolerance: [m] within which a node without a deviation of its own is reached.
        """
        self._driver = driver
        self._handlers = {**handlers, WAIT_FOR_TELEOP: _TeleopWait(self)}
        self._condition = condition
        self._tolerance = tolerance
        self._order: Order | None = None
        self._node_states: tuple[NodeState, ...] = ()
        self._edge_states: tuple[EdgeState, ...] = ()
        self._last_order: tuple[str, int, str | None] = ("", 0, None)
        self._reached = 0
        """Index of the last node that was reached."""
        self._last_node = ("", 0)
        self._leg: _Leg | None = None
        self._actions = ActionBook(self._handlers)
        self._instant = ActionBook({})
        self._cancelling: list[Action] = []
        self._holding: list[Action] = []
        """Instant actions that wait until the vehicle is held."""
        self._let_go: deque[tuple[str, str]] = deque(maxlen=MOST_INSTANT)
        """Types and identifiers of the instant actions that have cancelled or released."""
        self._giving_up = False
        self._errors: list[Error] = []
        self.paused = False
        self.teleoperated = False
        self.teleoperations = 0
        """How many have ended."""
        self.state_wanted = False
        """A state message was asked for."""
        self.factsheet_wanted = False

    # -- messages in -----------------------------------------------------------------------------

    def take(self, message: Message) -> Acceptance | None:
        """Take an order or do instant actions, or report why not.

        An order that is refused changes nothing else.

        Returns:
            what an order was; None: it was refused, or it was none.
        """
        if isinstance(message, ProtocolError):
            self.report(message.error)
            return None
        if isinstance(message, InstantActions):
            self._take_instant_actions(message)
            return None
        try:
            return self._accept(message)
        except ProtocolError as error:
            self.report(error.error)
            return None

    @property
    def known_actions(self) -> frozenset[str]:
        """Types of actions that orders may ask for."""
        return frozenset(self._handlers)

    def report(self, error: Error) -> None:
        """Tell of an error in the state, until the next order is taken."""
        if error not in self._errors:
            self._errors.append(error)
            del self._errors[:-MOST_ERRORS]

    def _take_instant_actions(self, message: InstantActions) -> None:
        for action in message.actions:
            try:
                self._do_at_once(action)
            except ProtocolError as error:
                self._instant.record(action, ActionStatus.FAILED, str(error))
                self.report(error.error)
        self._instant.keep_newest(MOST_INSTANT)

    # -- life ------------------------------------------------------------------------------------

    def step(self) -> None:
        """Go on with what is to be done."""
        held = self.paused or self.teleoperated
        self._actions.step(paused=held or self._giving_up)
        self._notice_that_it_is_held()
        if self._order is None:
            return
        if self._giving_up:
            self._finish_giving_up()
            return
        failed = self._actions.failed
        if failed is not None:
            text = f"action '{failed.action_type}' failed"
            self._give_up("actionError", text, action_id=failed.action_id)
            return
        if self._leg is not None:
            self._follow(self._order, self._leg)
        elif not held and self._actions.may_drive:
            self._drive_on(self._order)

    def shut_down(self) -> None:
        """Give the order up; there will be no other one. `idle` tells when the vehicle stands."""
        if self._order is not None and not self.idle and not self._giving_up:
            self._stop()

    def state_fields(self) -> dict[str, Any]:
        """Fields of the state message, but the header."""
        condition = self._condition()
        order, place = self._order, condition.place
        order_id, update_id, zone = self._last_order
        nodes = self._node_states[self._reached + 1 :] if order else ()
        edges = self._edge_states[self._reached :] if order else ()
        return {
            "order_id": order_id,
            "order_update_id": update_id,
            "zone_set_id": zone,
            "last_node_id": self._last_node[0],
            "last_node_sequence_id": self._last_node[1],
            "node_states": nodes,
            "edge_states": edges,
            "agv_position": position_of(condition),
            "velocity": condition.velocity,
            "driving": condition.moves if place is not None else self._leg is not None,
            "paused": self.paused or self.teleoperated,
            "new_base_request": self._wants_base(),
            "action_states": (*self._actions.states(), *self._instant.states()),
            "battery_state": condition.battery,
            "operating_mode": condition.mode,
            "errors": tuple(self._errors),
            "safety_state": condition.safety,
        }

    def agv_actions(self) -> list[AgvAction]:
        """All actions that the vehicle can do, for its factsheet."""
        instant = [
            AgvAction(action_type=kind, action_description=text, action_scopes=("INSTANT",))
            for kind, text in INSTANT.items()
        ]
        return instant + [
            AgvAction(
                action_type=kind,
                action_description=handler.description,
                action_scopes=("NODE", "EDGE"),
            )
            for kind, handler in sorted(self._handlers.items())
        ]

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do, all of the order being done."""
        order = self._order
        if order is None:
            return True
        at_end = self._reached == len(order.nodes) - 1 and self._leg is None
        return at_end and not self._actions.busy and not self._giving_up

    # -- orders ----------------------------------------------------------------------------------

    def _accept(self, order: Order) -> Acceptance:
        condition = self._condition()
        kind = acceptance(
            order,
            self._order,
            finished=self.idle,
            place=condition.place,
            tolerance=self._tolerance,
            done=self._actions.due,
            given_up=self._last_order[:2] if self._order is None else None,
        )
        about = references(order_id=order.order_id, order_update_id=order.order_update_id)
        if kind is Acceptance.REPEATED:
            return kind
        if self._giving_up:
            raise ProtocolError("orderError", "the last order is being cancelled", about)
        if condition.mode not in (OperatingMode.AUTOMATIC, OperatingMode.SEMIAUTOMATIC):
            text = f"the operating mode is {condition.mode}: orders are taken in AUTOMATIC only"
            raise ProtocolError("orderError", text, about)
        if kind is Acceptance.UPDATE and self._order is not None:
            order = self._continued(self._order, order)
        else:
            self._actions = ActionBook(self._handlers)
            self._instant = ActionBook({})
            self._reached = 0
        self._order = order
        self._node_states = tuple(map(_node_state, order.nodes))
        self._edge_states = tuple(map(_edge_state, order.edges))
        self._last_order = (order.order_id, order.order_update_id, order.zone_set_id)
        self._errors.clear()
        for part in in_order(order):
            self._actions.add(part.actions)
        if kind is Acceptance.NEW:
            self._reach(order, 0)
        return kind

    def _continued(self, order: Order, update: Order) -> Order:
        """The order with its update, from the node on that was reached last."""
        joined = stitched(order, update, order.nodes[self._reached])
        wanted = {a.action_id for part in in_order(joined) for a in part.actions}
        if (number := len(self._actions.due | wanted)) > MOST_ACTIONS:
            text = f"{number} actions in one order, more than {MOST_ACTIONS}: begin a new order"
            about = references(order_id=update.order_id, order_update_id=update.order_update_id)
            raise ProtocolError("orderUpdateError", text, about)
        self._actions.drop_waiting()
        if self._leg is not None:
            self._leg.end -= self._reached
        self._reached = 0
        return joined

    def _reach(self, order: Order, index: int) -> None:
        node = order.nodes[index]
        self._reached = index
        self._last_node = (node.node_id, node.sequence_id)
        self._actions.reach(node.actions)

    def _drive_on(self, order: Order) -> None:
        """Begin the next leg, if the base goes on."""
        begin = self._reached
        if begin == len(order.nodes) - 1 or not order.nodes[begin + 1].released:
            return
        edge = order.edges[begin]
        self._actions.reach(edge.actions)
        self._actions.step()
        if not self._actions.may_drive:
            return
        end = begin + 1
        while (
            not _stops(order.nodes[end])
            and end + 1 < len(order.nodes)
            and order.nodes[end + 1].released
            and not _stops(order.edges[end])
        ):
            end += 1
        self._leg = _Leg(end)
        places = [node.node_position for node in order.nodes[begin + 1 : end + 1]]
        self._driver.drive([place for place in places if place is not None])

    def _follow(self, order: Order, leg: _Leg) -> None:
        """Notice nodes that are passed, and the end of the leg."""
        place = self._condition().place
        while place is not None and self._reached + 1 < leg.end:
            if not self._is_at(place, order.nodes[self._reached + 1]):
                break
            self._reach(order, self._reached + 1)
            self._actions.reach(order.edges[self._reached].actions)
        outcome = self._driver.poll()
        if outcome is None:
            return
        self._leg = None
        succeeded, text = outcome
        if not succeeded:
            edge = order.edges[self._reached]
            self._give_up("drivingError", text, edge_id=edge.edge_id)
            return
        if text not in ("", "done"):  # nodes of it may have been driven around
            about = references(order_id=order.order_id, node_id=order.nodes[leg.end].node_id)
            self.report(
                Error(
                    error_type="drivingWarning",
                    error_references=about,
                    error_description=text[:LONGEST_TEXT],
                )
            )
        while self._reached < leg.end:
            self._reach(order, self._reached + 1)
            if self._reached < leg.end:
                self._actions.reach(order.edges[self._reached].actions)

    def _is_at(self, place: Place, node: Node) -> bool:
        target = node.node_position
        if target is None:
            return True
        distance = math.hypot(target.x - place.x, target.y - place.y)
        return distance <= reach_of(target, self._tolerance)

    def _wants_base(self) -> bool:
        """Whether the base is used up and a horizon is there."""
        order = self._order
        if order is None or self._reached == len(order.nodes) - 1 or self._leg is not None:
            return False
        return not order.nodes[self._reached + 1].released

    def _give_up(self, kind: str, text: str, **about: object) -> None:
        assert self._order is not None
        found = references(order_id=self._order.order_id, **about)
        self.report(
            Error(
                error_type=kind,
                error_references=found,
                error_description=text[:LONGEST_TEXT],
                error_level=ErrorLevel.WARNING,
            )
        )
        self._stop()

    def _stop(self) -> None:
        """Halt everything that belongs to the order."""
        self._giving_up = True
        if self._leg is not None:
            self._driver.cancel()
        self._actions.cancel()
        self._finish_giving_up()

    def _finish_giving_up(self) -> None:
        """Forget the order once the vehicle stands and no action runs."""
        if self._leg is not None and self._driver.poll() is None:
            return
        self._leg = None
        if self._actions.busy:
            return
        self._order, self._giving_up = None, False
        for action in self._cancelling:
            self._instant.record(action, ActionStatus.FINISHED)
        self._cancelling.clear()

    # -- instant actions -------------------------------------------------------------------------

    def _do_at_once(self, action: Action) -> None:
        kind = action.action_type
        if kind not in INSTANT:
            raise ProtocolError(
                "instantActionError",
                f"there is no instant action '{kind}'; there are: {', '.join(INSTANT)}",
                references(action_id=action.action_id, action_type=kind),
            )
        if kind == "cancelOrder":
            self._cancel_order(action)
            return
        if kind in ("startPause", "startTeleop"):
            self._hold(kind)
            self._instant.record(action, ActionStatus.RUNNING)
            self._holding.append(action)
            self._notice_that_it_is_held()
            return
        if kind in ("stopPause", "stopTeleop"):
            if self._is_late_copy(action):
                text = f"a {kind} of this actionId was done before; it takes one of its own"
                about = references(action_id=action.action_id, action_type=kind)
                self.report(ProtocolError("instantActionError", text, about).error)
                return
            self._release(kind)
        elif kind == "stateRequest":
            self.state_wanted = True
        else:
            self.factsheet_wanted = True
        self._instant.record(action, ActionStatus.FINISHED)

    def _cancel_order(self, action: Action) -> None:
        order_id = action.parameters.get("orderId")
        late = self._is_late_copy(action)
        if late and (self._order is None or self.idle or action in self._cancelling):
            return  # it has become of it what it could
        if self._order is None or self.idle or order_id not in (None, self._order.order_id):
            raise ProtocolError(
                "noOrderToCancel",
                "there is no such order to cancel" if order_id else "there is no order to cancel",
                references(action_id=action.action_id),
            )
        self._instant.record(action, ActionStatus.RUNNING)
        self._cancelling.append(action)
        self._stop()

    def _is_late_copy(self, action: Action) -> bool:
        """Whether the broker has brought this one before: one that comes again, after a pause, must
        not set the vehicle in motion.
        """
        key = (action.action_type, action.action_id)
        if key in self._let_go:
            return True
        self._let_go.append(key)
        return False

    def _hold(self, kind: str) -> None:
        before = self.paused or self.teleoperated
        if kind == "startPause":
            self.paused = True
        else:
            self.teleoperated = True
        if not before:
            self._actions.pause()
            if self._leg is not None:
                self._driver.pause()

    def _notice_that_it_is_held(self) -> None:
        if self._holding and (self._leg is None or self._driver.stands):
            for action in self._holding:
                self._instant.record(action, ActionStatus.FINISHED)
            self._holding.clear()

    def _release(self, kind: str) -> None:
        before = self.paused or self.teleoperated
        if kind == "stopPause":
            self.paused = False
        else:
            self.teleoperations += self.teleoperated
            self.teleoperated = False
        if before and not (self.paused or self.teleoperated):
            for action in self._holding:
                self._instant.record(action, ActionStatus.FAILED, "it went on before it was held")
            self._holding.clear()
            self._actions.resume()
            if self._leg is not None:
                self._driver.resume()


class _TeleopWait:
    """``pause_order``: lasts until stopTeleop."""

    description = "waits for startTeleop and then for stopTeleop"

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle

    def start(self, action: Action) -> _TeleopWaiting:
        """Begin to wait."""
        return _TeleopWaiting(self._vehicle)


class _TeleopWaiting:
    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self._before = vehicle.teleoperations
        self._cancelled = False

    def poll(self) -> tuple[ActionStatus, str]:
        if self._cancelled:
            return ActionStatus.FAILED, "the order was cancelled"
        if self._vehicle.teleoperations > self._before:
            return ActionStatus.FINISHED, ""
        return ActionStatus.RUNNING, ""

    def cancel(self) -> None:
        self._cancelled = True

    def pause(self) -> None:
        """Waiting needs no holding."""

    def resume(self) -> None:
        """Nor going on."""


def position_of(condition: Condition) -> AgvPosition | None:
    """For state and visualization; None while it is not known."""
    place = condition.place
    if place is None:
        return None
    return AgvPosition(
        position_initialized=True,
        localization_score=condition.score,
        x=place.x,
        y=place.y,
        theta=place.theta,
        map_id=place.map_id,
    )


def _stops(part: Node | Edge) -> bool:
    return any(action.blocking_type is not BlockingType.NONE for action in part.actions)


def _node_state(node: Node) -> NodeState:
    return NodeState(
        node_id=node.node_id,
        sequence_id=node.sequence_id,
        node_description=node.node_description,
        released=node.released,
        node_position=node.node_position,
    )


def _edge_state(edge: Edge) -> EdgeState:
    return EdgeState(
        edge_id=edge.edge_id,
        sequence_id=edge.sequence_id,
        edge_description=edge.edge_description,
        released=edge.released,
        trajectory=edge.trajectory,
    )
