# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the action manager. Conditions look, and change nothing."""

from __future__ import annotations

from collections.abc import Callable

from behavior_navigation.rules.action_core import ActionCore
from behavior_navigation.rules.calls import CallNode
from behavior_navigation.rules.regions import REGION_TYPES
from behavior_navigation.rules.route_exchange import RouteCause
from behavior_navigation.rules.state import ActionPhase
from behavior_tree import (
    BehaviorTreeFactory,
    ConditionNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    NodeType,
    OutputPort,
    PortInfo,
    StatefulActionNode,
    SyncActionNode,
    TreeNode,
    TreeNodeManifest,
    ports_list,
)


class Asks(ConditionNode):
    """Asks a question about the navigation."""

    def __init__(
        self, name: str, config: NodeConfig, question: Callable[[], bool], otherwise: str
    ) -> None:
        """Make the node.

        Args:
            name: of the node.
            config: of the node.
            question: SUCCESS if it is true.
            otherwise: reason of the failure.
        """
        super().__init__(name, config)
        self._question = question
        self._otherwise = otherwise

    def tick(self) -> NodeStatus:
        """Look."""
        if self._question():
            return NodeStatus.SUCCESS
        self.set_failure_reason(self._otherwise)
        return NodeStatus.FAILURE


def register_condition(
    factory: BehaviorTreeFactory,
    node_id: str,
    description: str,
    question: Callable[[], bool],
    otherwise: str,
) -> None:
    """Register a condition without ports.

    Args:
        factory: gets it.
        node_id: in camel case.
        description: one sentence for editors.
        question: SUCCESS if it is true.
        otherwise: reason of the failure.
    """
    factory.register_builder(
        TreeNodeManifest(node_id, NodeType.CONDITION, description=description),
        lambda name, config: Asks(name, config, question, otherwise),
    )


class _ActionNode(SyncActionNode):
    """Does something with the action within one tick."""

    def __init__(self, name: str, config: NodeConfig, core: ActionCore) -> None:
        """Make the node, as the factory does; ``core`` is the action."""
        super().__init__(name, config)
        self.core = core

    def result(self, problem: str) -> NodeStatus:
        """SUCCESS without a problem."""
        if not problem:
            return NodeStatus.SUCCESS
        self.set_failure_reason(problem)
        return NodeStatus.FAILURE


def _forbidden_port() -> PortInfo:
    return InputPort(
        "forbidden",
        list[str],
        default="RESTRICTED;STAIRS",
        description="types of regions: " + ", ".join(REGION_TYPES),
    )


def _region_types(names: list[str]) -> set[int]:
    unknown = [name for name in names if name not in REGION_TYPES]
    if unknown:
        raise ValueError(
            f"region types {', '.join(unknown)}: choose from {', '.join(REGION_TYPES)}"
        )
    return {REGION_TYPES.index(name) for name in names}


class RegionsAreAllowed(ConditionNode):
    """SUCCESS unless the robot is in, or the way ahead touches, a region that it must not enter."""

    ports = ports_list(_forbidden_port())

    def __init__(self, name: str, config: NodeConfig, core: ActionCore) -> None:
        """Make the node, as the factory does; ``core`` is the action."""
        super().__init__(name, config)
        self.core = core

    def tick(self) -> NodeStatus:
        """Look."""
        found = self.core.forbidden_ahead(_region_types(self.get_input("forbidden")))
        if not found:
            return NodeStatus.SUCCESS
        self.set_failure_reason(f"the way leads through {', '.join(found)}")
        return NodeStatus.FAILURE


class AvoidRegions(_ActionNode):
    """Asks for a route around the forbidden regions that the way ahead touches."""

    ports = ports_list(_forbidden_port())

    def tick(self) -> NodeStatus:
        """Ask; FAILURE if there is no other way to ask for, and none is under way."""
        types = _region_types(self.get_input("forbidden"))
        if self.core.exchange.pending or self.core.avoid_regions(types):
            return NodeStatus.SUCCESS
        found = ", ".join(self.core.forbidden_ahead(types))
        return self.result(f"no way is known around {found}")


class AcceptAction(_ActionNode):
    """Begins the new action; what the one before left behind counts no more."""

    ports = ports_list(OutputPort("action_id", str, description="identifier of the action"))

    def tick(self) -> NodeStatus:
        """Accept; FAILURE if there is no new action."""
        if not self.core.accept():
            return self.result("there is no new action")
        self.set_output("action_id", self.core.action.action_id)
        return NodeStatus.SUCCESS


class UpdateGoal(_ActionNode):
    """Pursues the goal where its frame is now; the old route serves until a new one is there."""

    def tick(self) -> NodeStatus:
        """Update; always SUCCESS."""
        self.core.update_goal()
        return NodeStatus.SUCCESS


class GenerateManeuver(_ActionNode):
    """Publishes the part of the route around the robot, for the path planner to follow."""

    ports = ports_list(OutputPort("distance_remaining", float, description="[m] along the route"))

    def tick(self) -> NodeStatus:
        """Publish; FAILURE says why that must not or cannot be."""
        problem = self.core.generate()
        self.set_output("distance_remaining", self.core.action.distance_remaining)
        return self.result(problem)


class CompleteAction(_ActionNode):
    """Ends the action with success."""

    ports = ports_list(
        OutputPort("summary", str, description="what of the route was left out; unset: nothing was")
    )

    def tick(self) -> NodeStatus:
        """End it; FAILURE if there is none, or the map that it wants was refused."""
        if self.core.complete():
            if self.core.action.text:
                self.set_output("summary", self.core.action.text)
            return self.result("")
        return self.result(self.core.state.map.refusal or "there is no action")


class FailAction(_ActionNode):
    """Ends the action without success, for the nearest known cause, and fails with it."""

    def tick(self) -> NodeStatus:
        """End it; always FAILURE."""
        # In mere words: who waits for a lost server is the leaf that asked it.
        self.set_failure_reason(str(self.core.fail()) or "the action failed")
        return NodeStatus.FAILURE


class RequestTileLoad(_ActionNode):
    """Asks for the tile that the action needs; once, however often it is ticked."""

    ports = ports_list(OutputPort("tile_id", str, description="the tile, empty: none is needed"))

    def tick(self) -> NodeStatus:
        """Ask; FAILURE if that tile was refused."""
        self.set_output("tile_id", self.core.request_tile())
        return self.result(self.core.state.map.refusal if self.core.tile_refused else "")


class RequestNewRouteOnBoard(StatefulActionNode):
    """Asks the route planner for a route and waits for it, if it shall.

    What is asked for already is not asked for again. Each tick looks first whether the route is
    there, so that the node may stand in a reactive sequence.
    """

    ports = ports_list(
        InputPort(
            "cause", str, default="NEW_ACTION", description="NEW_ACTION, GOAL_MOVED or REROUTE"
        ),
        InputPort(
            "wait",
            bool,
            default=True,
            description="RUNNING until the route is there; otherwise SUCCESS at once",
        ),
    )

    def __init__(self, name: str, config: NodeConfig, core: ActionCore) -> None:
        """Make the node, as the factory does; ``core`` is the action."""
        super().__init__(name, config)
        self.core = core

    def on_start(self) -> NodeStatus:
        """Ask."""
        cause, wait = self._cause(), self.get_input("wait")
        if wait and self.core.route_available:
            return NodeStatus.SUCCESS
        asked = self.core.request_route(cause)
        return self._look(asked) if wait else NodeStatus.SUCCESS

    def on_running(self) -> NodeStatus:
        """Wait."""
        asked = self.core.exchange.pending
        if not self.core.route_available and not asked:
            asked = self.core.request_route(self._cause())
        return self._look(asked)

    def on_halted(self) -> None:
        """The question stays open; the next start waits for it anew."""

    def _look(self, asked: bool) -> NodeStatus:
        core = self.core
        if core.route_available:
            return NodeStatus.SUCCESS
        if not core.action.active:
            self.set_failure_reason("there is no action")
            return NodeStatus.FAILURE
        if core.goal_lost or (asked and core.route_expired):
            self.set_failure_reason(str(core.failure() or "route not available"))
            return NodeStatus.FAILURE
        return NodeStatus.RUNNING

    def _cause(self) -> RouteCause:
        text = self.get_input("cause")
        if text not in RouteCause.__members__:
            raise ValueError(f"cause '{text}' is none of {', '.join(RouteCause.__members__)}")
        return RouteCause[text]


def register_action_nodes(factory: BehaviorTreeFactory, core: ActionCore) -> None:
    """Register the nodes of the action manager."""
    for node_id, description, question, otherwise in _conditions(core):
        register_condition(factory, node_id, description, question, otherwise)
    node_classes: tuple[type[TreeNode], ...] = (
        RegionsAreAllowed,
        AvoidRegions,
        AcceptAction,
        UpdateGoal,
        RequestNewRouteOnBoard,
        GenerateManeuver,
        CompleteAction,
        FailAction,
        RequestTileLoad,
    )
    for node_class in node_classes:
        name = node_class.__name__
        factory.register_node_type(node_class, name[0].lower() + name[1:], core)
    factory.register_builder(
        TreeNodeManifest(
            "resetRoutePlanner",
            NodeType.ACTION,
            CallNode.provided_ports(),
            "Has the route planner forget its routes, and drops the route in use.",
        ),
        lambda name, config: CallNode(
            name, config, core.reset_planner, lambda: core.state.now, "the route planner's reset"
        ),
    )


def _conditions(core: ActionCore) -> list[tuple[str, str, Callable[[], bool], str]]:
    state = core.state
    return [
        (
            "newActionAvailable",
            "SUCCESS if an action waits to be accepted.",
            lambda: core.pending is not None,
            "no new action",
        ),
        (
            "newRouteAvailable",
            "SUCCESS if there is a route to drive on.",
            lambda: core.route_available,
            "no route",
        ),
        (
            "routeWaitExpired",
            "SUCCESS if a route was waited for longer than route_wait_threshold.",
            lambda: core.route_expired,
            "no route is overdue",
        ),
        (
            "goalIsReached",
            "SUCCESS if the robot stands at the goal.",
            lambda: state.action.goal_reached,
            "not at the goal",
        ),
        (
            "goalHasChanged",
            "SUCCESS if the goal's frame moved so far that a new route is worth it.",
            lambda: core.goal_changed,
            "the goal is where it was",
        ),
        (
            "goalFrameIsKnown",
            "SUCCESS unless the goal's frame has been unknown for goal_frame_timeout.",
            lambda: not core.goal_lost,
            "the goal's frame is lost",
        ),
        (
            "actionIsCanceled",
            "SUCCESS if the action was cancelled.",
            lambda: state.action.phase is ActionPhase.CANCELED,
            "the action is not cancelled",
        ),
        (
            "actionIsPaused",
            "SUCCESS if the action is paused.",
            lambda: state.action.paused,
            "the action is not paused",
        ),
        (
            "actionNeedsTile",
            "SUCCESS if the robot is about to leave the map tile that is loaded.",
            lambda: core.needed_tile is not None,
            "the present tile will do",
        ),
    ]
