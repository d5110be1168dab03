# SPDX-License-Identifier: Apache-2.0
"""Modules that are switched on and off, and their tree nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol

from behavior_navigation.rules.calls import Call, CallResult
from behavior_navigation.rules.state import NavigationState
from behavior_ros.node.elapsed import Elapsed
from behavior_tree import (
    BehaviorTreeFactory,
    InputPort,
    NodeConfig,
    NodeStatus,
    NodeType,
    StatefulActionNode,
    TreeNodeManifest,
    ports_list,
)
from behavior_tree.cause import Cause

_NAME = re.compile(r"[a-z][A-Za-z0-9]*")


class SwitchCall(Call, Protocol):
    """A request that switches a module."""

    @property
    def waits(self) -> bool:
        """Whether nobody has got it yet, as there is no server."""


class EntityDriver(Protocol):
    """How one module is switched."""

    def set(self, enabled: bool) -> SwitchCall:
        """Switch it; a module that is in that state already answers with success."""

    def known(self) -> bool | None:
        """Whether it is enabled, by its newest word; None: not known."""


class Entity:
    """One module. One request at a time is under way; the newest wish counts."""

    def __init__(self, name: str, driver: EntityDriver) -> None:
        """Take a module.

        Raises:
            ValueError: the name cannot begin the ID of a tree node.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"entity '{name}': give a name in camel case, such as pathPlanner")
        self.name = name
        self.enabled: bool | None = None
        """Whether it is enabled; None: not known."""
        self.switched = 0
        """Requests that succeeded."""
        self._driver = driver
        self._call: SwitchCall | None = None
        self._target = False
        self._wish: bool | None = None
        self._waiting = 0
        """How many wait for the wish to come true."""
        self._result: tuple[bool, CallResult] | None = None

    def wish(self, enabled: bool) -> None:
        """Have it enabled or disabled."""
        if self._call is None or self._wish is not enabled:
            self._waiting = 0
        self._waiting += 1
        self._wish, self._result = enabled, None
        if self._call is None:
            self._send(enabled)

    def result(self, enabled: bool) -> CallResult | None:
        """How the wish ended; None: not yet. Another wish instead is a failure of this one."""
        if self._wish is not enabled:
            other = "enabled" if self._wish else "disabled"
            return CallResult(False, f"it is to be {other} instead")
        return self._result[1] if self._result is not None else None

    def leave(self, enabled: bool) -> None:
        """Wait for a wish no more: unless others do, a module that comes up later is let be."""
        if self._wish is enabled:
            self._waiting -= 1

    def give_up(self) -> None:
        """Stop to wait for the module."""
        if self._call is not None:
            self._call.forget()
        self._call, self.enabled = None, None

    def update(self) -> None:
        """Take in what the module answered."""
        known = self._driver.known()
        if self._call is None:
            self.enabled = known if known is not None else self.enabled
            return
        result = self._call.poll()
        if result is None:
            stale = self._waiting <= 0 or self._wish is not self._target
            if stale and self._call.waits:
                self._call.forget()
                self._call = None
                if self._waiting > 0 and self._wish is not None:
                    self._send(self._wish)
            return
        self._call = None
        if result.success:
            self.enabled = self._target
            self.switched += 1
        elif known is not None:
            self.enabled = known
        if self._wish is not None and self._wish is not self._target:
            self._send(self._wish)
        else:
            self._result = (self._target, result)

    def _send(self, enabled: bool) -> None:
        self._target = enabled
        self._call = self._driver.set(enabled)


class SwitchEntity(StatefulActionNode):
    """Switches a module, and waits until it says that it has."""

    ports = ports_list(InputPort("timeout", float, default=3.0, description="[s] for an answer"))

    def __init__(
        self,
        name: str,
        config: NodeConfig,
        entity: Entity,
        target: Callable[[Entity], bool | None],
        now: Callable[[], float],
    ) -> None:
        """Make the node.

        Args:
            name: of the node.
            config: of the node.
            entity: the module.
            target: whether it shall be enabled; None: that cannot be told.
            now: [s] node time.
        """
        super().__init__(name, config)
        self._entity = entity
        self._find_target = target
        self._now = now
        self._target = False
        self._passed = Elapsed(now)

    def on_start(self) -> NodeStatus:
        """Ask for it."""
        target = self._find_target(self._entity)
        if target is None:
            self.set_failure_reason(f"it is not known whether {self._entity.name} is enabled")
            return NodeStatus.FAILURE
        self._target, self._passed = target, Elapsed(self._now)
        self._entity.wish(target)
        return NodeStatus.RUNNING

    def on_running(self) -> NodeStatus:
        """Wait for the answer."""
        entity, timeout = self._entity, self.get_input("timeout")
        result = entity.result(self._target)
        if result is None:
            if self._passed() <= timeout:
                return NodeStatus.RUNNING
            entity.give_up()
            result = CallResult(False, f"no answer within {timeout:g} s; does it run?")
        if result.success:
            return NodeStatus.SUCCESS
        verb = "enabled" if self._target else "disabled"
        self.set_failure_reason(Cause.of(result.text).at(f"{entity.name} was not {verb}"))
        return NodeStatus.FAILURE

    def on_halted(self) -> None:
        """A request that is out is answered all the same; one that is not is withdrawn."""
        self._entity.leave(self._target)


class EntityPool:
    """All modules that are switched."""

    def __init__(self, state: NavigationState, entities: Iterable[Entity]) -> None:
        """Take the modules.

        Raises:
            ValueError: two have one name.
        """
        self.state = state
        self.entities: dict[str, Entity] = {}
        for entity in entities:
            if entity.name in self.entities:
                raise ValueError(f"entity '{entity.name}' is listed twice")
            self.entities[entity.name] = entity
        self._update_state()

    def update(self) -> None:
        """Take in what the modules answered."""
        for entity in self.entities.values():
            entity.update()
        self._update_state()

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register three nodes for each module."""
        for entity in self.entities.values():
            name = entity.name
            self._register(factory, f"{name}Enable", f"Enables {name}.", entity, _enable)
            self._register(factory, f"{name}Disable", f"Disables {name}.", entity, _disable)
            self._register(
                factory,
                f"{name}Toggle",
                f"Enables {name} if it is disabled, and the other way round.",
                entity,
                _toggle,
            )

    def _register(
        self,
        factory: BehaviorTreeFactory,
        node_id: str,
        description: str,
        entity: Entity,
        target: Callable[[Entity], bool | None],
    ) -> None:
        state = self.state
        factory.register_builder(
            TreeNodeManifest(node_id, NodeType.ACTION, SwitchEntity.provided_ports(), description),
            lambda name, config: SwitchEntity(name, config, entity, target, lambda: state.now),
        )

    def _update_state(self) -> None:
        self.state.entities = {name: entity.enabled for name, entity in self.entities.items()}


def _enable(entity: Entity) -> bool:
    return True


def _disable(entity: Entity) -> bool:
    return False


def _toggle(entity: Entity) -> bool | None:
    return None if entity.enabled is None else not entity.enabled
