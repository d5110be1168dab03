# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the action manager. Conditions look, and change nothing."""

from __future__ import annotations

from collections.abc import Callable

from behavior_navigation.rules.action_core import ActionCore
from behavior_navigation.rules.calls import CallNode
from behavior_navigation.rules.nodes import (
    ActsOn,
    ProblemAction,
    ProblemCondition,
    ended,
    register_by_class,
)
from behavior_navigation.rules.regions import REGION_TYPES
from behavior_navigation.rules.route_exchange import RouteCause
from behavior_navigation.rules.state import ActionPhase
from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeConfig,
    NodeStatus,
    NodeType,
    OutputPort,
    PortInfo,
    StatefulActionNode,
    TreeNodeManifest,
    ports_list,
)


class Asks(ProblemCondition):
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

    def problem(self) -> str:
        """Look."""
        return "" if self._question() else self._otherwise


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


class RegionsAreAllowed(ActsOn[ActionCore], ProblemCondition):
    """SUCCESS unless the robot is in, or the way ahead touches, a region that it must not enter."""

    ports = ports_list(_forbidden_port())

    def problem(self) -> str:
        """Look."""
        found = self.subject.forbidden_ahead(_region_types(self.get_input("forbidden")))
        return f"the way leads through {', '.join(found)}" if found else ""


class AvoidRegions(ActsOn[ActionCore], ProblemAction):
    """Asks for a route around the forbidden regions that the way ahead touches."""

    ports = ports_list(_forbidden_port())

    def act(self) -> str:
        """Ask; FAILURE if there is no other way to ask for, and none is under way."""
        types = _region_types(self.get_input("forbidden"))
        if self.subject.exchange.pending or self.subject.avoid_regions(types):
            return ""
        found = ", ".join(self.subject.forbidden_ahead(types))
        return f"no way is known around {found}"


class AcceptAction(ActsOn[ActionCore], ProblemAction):
    """Begins the new action; what the one before left behind counts no more."""

    ports = ports_list(OutputPort("action_id", str, description="identifier of the action"))

    def act(self) -> str:
        """Accept; FAILURE if there is no new action."""
        if not self.subject.accept():
            return "there is no new action"
        self.set_output("action_id", self.subject.action.action_id)
        return ""


class UpdateGoal(ActsOn[ActionCore], ProblemAction):
    """Pursues the goal where its frame is now; the old route serves until a new one is there."""

    def act(self) -> str:
        """Update; always SUCCESS."""
        self.subject.update_goal()
        return ""


class GenerateManeuver(ActsOn[ActionCore], ProblemAction):
    """Publishes the part of the route around the robot, for the path planner to follow."""

    ports = ports_list(OutputPort("distance_remaining", float, description="[m] along the route"))

    def act(self) -> str:
        """Publish; FAILURE says why that must not or cannot be."""
        problem = self.subject.generate()
        self.set_output("distance_remaining", self.subject.action.distance_remaining)
        return problem


class CompleteAction(ActsOn[ActionCore], ProblemAction):
    """Ends the action with success."""

    ports = ports_list(
        OutputPort("summary", str, description="what of the route was left out; unset: nothing was")
    )

    def act(self) -> str:
        """End it; FAILURE if there is none, or the map that it wants is not there."""
        if self.subject.complete():
            if self.subject.action.text:
                self.set_output("summary", self.subject.action.text)
            return ""
        return self.subject.state.map.refusal or self.subject.displaced or "there is no action"


class FailAction(ActsOn[ActionCore], ProblemAction):
    """Ends the action without success, for the nearest known cause, and fails with it."""

    def act(self) -> str:
        """End it; always FAILURE."""
        # In mere words: who waits for a lost server is the leaf that asked it.
        return str(self.subject.fail()) or "the action failed"


class RequestTileLoad(ActsOn[ActionCore], ProblemAction):
    """Asks for the tile that the action needs; once, however often it is ticked."""

    ports = ports_list(OutputPort("tile_id", str, description="the tile, empty: none is needed"))

    def act(self) -> str:
        """Ask; FAILURE if that tile was refused."""
        self.set_output("tile_id", self.subject.request_tile())
        return self.subject.state.map.refusal if self.subject.tile_refused else ""


class RequestNewRouteOnBoard(ActsOn[ActionCore], StatefulActionNode):
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

    def on_start(self) -> NodeStatus:
        """Ask."""
        cause, wait = self._cause(), self.get_input("wait")
        if wait and self.subject.route_available:
            return NodeStatus.SUCCESS
        asked = self.subject.request_route(cause)
        return self._look(asked) if wait else NodeStatus.SUCCESS

    def on_running(self) -> NodeStatus:
        """Wait."""
        asked = self.subject.exchange.pending
        if not self.subject.route_available and not asked:
            asked = self.subject.request_route(self._cause())
        return self._look(asked)

    def on_halted(self) -> None:
        """The question stays open; the next start waits for it anew."""

    def _look(self, asked: bool) -> NodeStatus:
        core = self.subject
        if core.route_available:
            return NodeStatus.SUCCESS
        if not core.action.active:
            return ended(self, "there is no action")
        if core.goal_lost or (asked and core.route_expired):
            return ended(self, str(core.failure() or "route not available"))
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
    register_by_class(
        factory,
        core,
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
