# SPDX-License-Identifier: Apache-2.0
"""Tree nodes of the map manager."""

from __future__ import annotations

from behavior_navigation.rules.action_nodes import register_condition
from behavior_navigation.rules.map_change import MapChange
from behavior_navigation.rules.nodes import (
    ActsOn,
    ProblemAction,
    ProblemCondition,
    ended,
    register_by_class,
)
from behavior_navigation.rules.state import MapPhase
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    BehaviorTreeFactory,
    DecoratorNode,
    InputPort,
    NodeConfig,
    NodeStatus,
    StatefulActionNode,
    TreeNode,
    ports_list,
)

_PHASES = [phase.name for phase in MapPhase if MapPhase.IDLE < phase < MapPhase.FAILED]


class MapIsLoaded(ActsOn[MapChange], ProblemCondition):
    """SUCCESS if the map that is wanted, or a certain tile, is in force and no change under way."""

    ports = ports_list(
        InputPort("tile_id", str, default="", description="tile; empty: the one wanted last")
    )

    def problem(self) -> str:
        """Look."""
        tile = self.get_input("tile_id")
        if self.subject.loaded and tile in ("", self.subject.map.tile_id):
            return ""
        return (
            f"tile '{tile or self.subject.map.requested}' is not loaded, "
            f"phase {self.subject.map.phase.name}"
        )


class EnterMapPhase(ActsOn[MapChange], ProblemAction):
    """Goes on to the next phase of a change of the map; from DISABLING on nothing is driven."""

    ports = ports_list(InputPort("phase", str, description="one of " + ", ".join(_PHASES)))

    def act(self) -> str:
        """Go on; FAILURE if the phase cannot follow the present one."""
        phase = self.get_input("phase")
        if phase not in _PHASES:
            raise ValueError(f"phase '{phase}' is none of {', '.join(_PHASES)}")
        return self.subject.enter(MapPhase[phase])


class LoadTile(ActsOn[MapChange], ProblemAction):
    """Has the map loader begin to load the tile that is wanted."""

    def act(self) -> str:
        """Begin; FAILURE if there is none, or maps are not changed here."""
        return self.subject.load()


class WaitTileResult(ActsOn[MapChange], StatefulActionNode):
    """Waits until the tile is loaded; a newer request takes the place of the one being loaded."""

    def on_start(self) -> NodeStatus:
        """Look."""
        return self.on_running()

    def on_running(self) -> NodeStatus:
        """Look again; FAILURE if loading failed, or took too long."""
        problem = self.subject.wait_result()
        return NodeStatus.RUNNING if problem is None else ended(self, problem)

    def on_halted(self) -> None:
        """Give the load up."""
        self.subject.stop_loading()


class RepublishMaps(ActsOn[MapChange], ProblemAction):
    """Has the maps published again, as of the time from which the tile holds."""

    def act(self) -> str:
        """Publish; FAILURE if no tile was loaded."""
        return self.subject.republish()


class KeepMap(ActsOn[MapChange], ProblemAction):
    """Ends a change of the map that the map loader refused: the old one is in force."""

    def act(self) -> str:
        """End; FAILURE if no tile was refused."""
        return self.subject.keep()


class WaitMapLocalized(ActsOn[MapChange], StatefulActionNode):
    """Waits until the robot knows its place in the new map."""

    ports = ports_list(InputPort("timeout", float, default=20.0, description="[s]"))

    def __init__(self, name: str, config: NodeConfig, change: MapChange) -> None:
        """Make the node, as the factory does; ``change`` is the change of the map."""
        super().__init__(name, config, change)
        self._passed = Elapsed(lambda: change.state.now)

    def on_start(self) -> NodeStatus:
        """Begin; what the localizer said before this tick was about the old map."""
        self._passed = Elapsed(lambda: self.subject.state.now)
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        """Look."""
        if self.subject.localized:
            return NodeStatus.SUCCESS
        timeout = self.get_input("timeout")
        if self._passed() <= timeout:
            return NodeStatus.RUNNING
        place = self.subject.state.localization
        why = place.reason or f"the localizer still uses map '{place.map_id}'"
        return ended(self, f"no good place in the new map within {timeout:g} s: {why}")


class CompleteMapChange(ActsOn[MapChange], ProblemAction):
    """Ends a change of the map: the new one is in force."""

    def act(self) -> str:
        """End; FAILURE unless everything before was done."""
        return self.subject.complete()


class GuardMapChange(ActsOn[MapChange], DecoratorNode):
    """Gives the change of the map up when the child fails, for the child's reason: nothing is
    driven until a change succeeds.
    """

    def tick(self) -> NodeStatus:
        """Tick the child, and look how it ends."""
        status = self._tick_child()
        if status is NodeStatus.FAILURE:
            self.subject.fail(_deepest_reason(self.child))
        return status


def _deepest_reason(node: TreeNode) -> str:
    while node.failed_children():
        node = node.failed_children()[0]
    return node.failure_reason() or f"{node.name} failed"


def register_map_nodes(factory: BehaviorTreeFactory, change: MapChange) -> None:
    """Register the nodes of the map manager."""
    register_condition(
        factory,
        "tileLoadRequested",
        "SUCCESS if another tile of the map is to be loaded.",
        lambda: change.requested,
        "no tile is to be loaded" if change.enabled else "use_tile_loader is false",
    )
    register_condition(
        factory,
        "mapIsKept",
        "SUCCESS if the map loader refused the tile and left the map in force as it is.",
        lambda: change.kept,
        "the map that was in force is not",
    )
    register_by_class(
        factory,
        change,
        MapIsLoaded,
        EnterMapPhase,
        LoadTile,
        WaitTileResult,
        RepublishMaps,
        WaitMapLocalized,
        CompleteMapChange,
        KeepMap,
        GuardMapChange,
    )
