# SPDX-License-Identifier: Apache-2.0
"""Which orders are taken (VDA5050 6.6): their form, and whether they fit to what is under way.

==================  ===============================================================================
validationError     the order is malformed
orderError          it cannot be carried out, or another one is under way
noRouteError        the vehicle is not where the order begins
orderUpdateError    it is older than what is under way, or does not continue it
==================  ===============================================================================
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import Enum

from behavior_vda5050.limits import MOST_ACTIONS, MOST_NODES
from behavior_vda5050.messages import (
    Edge,
    ErrorReference,
    Node,
    NodePosition,
    Order,
    ProtocolError,
    references,
)

CLOSEST = 0.05
"""[m] A smaller deviation counts as this one."""


class Acceptance(Enum):
    """What an order is to the vehicle."""

    NEW = "new"
    UPDATE = "update"
    REPEATED = "repeated"
    """The same once more, which is no error."""


@dataclass(frozen=True)
class Place:
    """Where the vehicle is."""

    x: float
    y: float
    theta: float
    map_id: str = ""


def check_form(order: Order, *, known_actions: frozenset[str]) -> None:
    """Refuse an order that is malformed or asks for what the vehicle cannot do.

    Args:
        order: as it came.
        known_actions: types that nodes and edges may ask for.

    Raises:
        ProtocolError: validationError or orderError, with all that is wrong.
    """
    problems: list[tuple[str, tuple[ErrorReference, ...]]] = []
    nodes, edges = order.nodes, order.edges
    if len(edges) != len(nodes) - 1:
        text = f"{len(nodes)} nodes need {len(nodes) - 1} edges, not {len(edges)}"
        problems.append((text, references(order_id=order.order_id)))
    first = nodes[0].sequence_id
    for index, node in enumerate(nodes):
        if node.sequence_id != first + 2 * index or node.sequence_id % 2:
            text = f"node '{node.node_id}' has sequenceId {node.sequence_id}: nodes count by even"
            problems.append((text, references(node_id=node.node_id)))
    for index, edge in enumerate(edges):
        problems += _edge_problems(edge, index, order)
    released = [each.released for each in in_order(order)]
    if not released[0]:
        problems.append(("the first node is not released", references(node_id=nodes[0].node_id)))
    if sorted(released, reverse=True) != released:
        text = "something of the base comes after the horizon began"
        problems.append((text, references(order_id=order.order_id)))
    number = sum(len(each.actions) for each in in_order(order))
    if number > MOST_ACTIONS:
        text = f"{number} actions, more than {MOST_ACTIONS}: send the order in parts"
        problems.append((text, references(order_id=order.order_id)))
    counts = Counter(a.action_id for each in in_order(order) for a in each.actions)
    problems += [
        (f"actionId '{action_id}' is used {count} times", references(action_id=action_id))
        for action_id, count in counts.items()
        if count > 1
    ]
    _refuse("validationError", order, problems)
    _refuse("orderError", order, _impossible(order, known_actions))


def acceptance(
    order: Order,
    current: Order | None,
    *,
    finished: bool,
    place: Place | None,
    tolerance: float,
    done: frozenset[str] = frozenset(),
    given_up: tuple[str, int] | None = None,
) -> Acceptance:
    """What a well-formed order is to the vehicle.

    Args:
        order: as it came.
        current: what is under way, or was last; None: nothing yet, or it was cancelled.
        finished: whether `current` has been carried out.
        place: where the vehicle is; None: it does not know.
        tolerance: [m] distance to the first node where that has no deviation of its own.
        done: identifiers of actions of `current` that were reached.
        given_up: identifier and update of the last order where it was cancelled or could not go on.

    Raises:
        ProtocolError: why it is refused; what is under way goes on.
    """
    about = references(order_id=order.order_id, order_update_id=order.order_update_id)
    if (order.order_id, order.order_update_id) == given_up:
        return Acceptance.REPEATED  # a late copy must not set a vehicle in motion again
    if given_up is not None and order.order_id == given_up[0]:
        _check_newer(order, given_up[1], about)
    if current is None or order.order_id != current.order_id:
        if current is not None and not finished:
            text = f"order '{current.order_id}' is under way: cancel it, or wait for its end"
            raise ProtocolError("orderError", text, about)
        _check_start(order.nodes[0], place, tolerance, about)
        return Acceptance.NEW
    if order.order_update_id == current.order_update_id:
        return Acceptance.REPEATED
    _check_newer(order, current.order_update_id, about)
    end = base_end(current)
    start = order.nodes[0]
    if (start.node_id, start.sequence_id) != (end.node_id, end.sequence_id):
        text = (
            f"the update begins at node '{start.node_id}' ({start.sequence_id}), but the base ends "
            f"at '{end.node_id}' ({end.sequence_id})"
        )
        raise ProtocolError("orderUpdateError", text, about)
    done |= {a.action_id for each in in_order(current) if each.released for a in each.actions}
    again = sorted(
        a.action_id for each in in_order(order)[1:] for a in each.actions if a.action_id in done
    )
    if again:
        text = f"actionId used again: {', '.join(again)}"
        raise ProtocolError("orderUpdateError", text, about)
    return Acceptance.UPDATE


def base_end(order: Order) -> Node:
    """The last released node."""
    return [node for node in order.nodes if node.released][-1]


def stitched(current: Order, update: Order, reached: Node) -> Order:
    """The base of what is under way, continued by an update; the old horizon is forgotten.

    So is what comes before the node that was reached last. The node where they meet keeps the
    actions of the old base, which may have been done.

    Raises:
        ProtocolError: orderUpdateError: too much would lie ahead.
    """
    begin, end = reached.sequence_id, base_end(current).sequence_id
    nodes = [node for node in current.nodes if begin <= node.sequence_id <= end]
    edges = [edge for edge in current.edges if begin < edge.sequence_id < end]
    if (ahead := len(nodes) + len(update.nodes) - 1) > MOST_NODES:
        text = f"{ahead} nodes would lie ahead, more than {MOST_NODES}: send the update later"
        about = references(order_id=update.order_id, order_update_id=update.order_update_id)
        raise ProtocolError("orderUpdateError", text, about)
    return update.model_copy(
        update={"nodes": (*nodes, *update.nodes[1:]), "edges": (*edges, *update.edges)}
    )


def _edge_problems(
    edge: Edge, index: int, order: Order
) -> list[tuple[str, tuple[ErrorReference, ...]]]:
    about = references(edge_id=edge.edge_id)
    if index + 1 >= len(order.nodes):
        return []
    before, after = order.nodes[index], order.nodes[index + 1]
    problems = []
    if edge.sequence_id != order.nodes[0].sequence_id + 2 * index + 1:
        problems.append((f"edge '{edge.edge_id}' has sequenceId {edge.sequence_id}", about))
    if (edge.start_node_id, edge.end_node_id) != (before.node_id, after.node_id):
        text = f"edge '{edge.edge_id}' does not lead from '{before.node_id}' to '{after.node_id}'"
        problems.append((text, about))
    return problems


def _impossible(
    order: Order, known_actions: frozenset[str]
) -> list[tuple[str, tuple[ErrorReference, ...]]]:
    problems = [
        (f"node '{node.node_id}' has no nodePosition", references(node_id=node.node_id))
        for node in order.nodes[1:]
        if node.node_position is None
    ]
    problems += [
        (
            f"there is no action '{action.action_type}'; there are: "
            f"{', '.join(sorted(known_actions)) or 'none'}",
            references(action_id=action.action_id, action_type=action.action_type),
        )
        for each in in_order(order)
        for action in each.actions
        if action.action_type not in known_actions
    ]
    maps = {node.node_position.map_id for node in order.nodes if node.node_position} - {""}
    if len(maps) > 1:
        text = f"the order spans several maps: {', '.join(sorted(maps))}"
        problems.append((text, references(order_id=order.order_id)))
    return problems


def _check_newer(order: Order, newest: int, about: tuple[ErrorReference, ...]) -> None:
    if order.order_update_id < newest:
        text = f"update {newest} of it was taken already"
        raise ProtocolError("orderUpdateError", text, about)


def _check_start(
    node: Node, place: Place | None, tolerance: float, about: tuple[ErrorReference, ...]
) -> None:
    if place is None:
        raise ProtocolError("orderError", "the vehicle does not know where it is", about)
    target = node.node_position
    if target is None:
        return  # a node that the vehicle stands on needs no position
    about = (*about, *references(node_id=node.node_id))
    if target.map_id and place.map_id and target.map_id != place.map_id:
        text = f"the order is on map '{target.map_id}', the vehicle on '{place.map_id}'"
        raise ProtocolError("noRouteError", text, about)
    reach = reach_of(target, tolerance)
    distance = math.hypot(target.x - place.x, target.y - place.y)
    if distance > reach:
        text = f"the first node is {distance:.2f} m away, more than {reach:.2f} m"
        raise ProtocolError("noRouteError", text, about)


def reach_of(target: NodePosition, tolerance: float) -> float:
    """Distance [m] within which a node is reached; no vehicle comes nearer than some centimetres.

    Args:
        target: of the node.
        tolerance: [m] where it has no deviation of its own.
    """
    reach = target.allowed_deviation_x_y
    return tolerance if reach is None else max(reach, CLOSEST)


def in_order(order: Order) -> list[Node | Edge]:
    """Nodes and edges as they follow each other."""
    return sorted([*order.nodes, *order.edges], key=lambda each: each.sequence_id)


def _refuse(
    kind: str, order: Order, problems: list[tuple[str, tuple[ErrorReference, ...]]]
) -> None:
    if problems:
        about = references(order_id=order.order_id, order_update_id=order.order_update_id)
        text = "; ".join(text for text, _ in problems)
        raise ProtocolError(kind, text, (*about, *(r for _, found in problems for r in found)))
