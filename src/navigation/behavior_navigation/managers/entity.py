# SPDX-License-Identifier: Apache-2.0
"""The manager of the modules that are switched on and off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.node import Node
from std_srvs.srv import SetBool

from behavior_executor.missions.statistics import Metric
from behavior_navigation.manager import NavigationManager
from behavior_navigation.managers.service_call import ServiceCall, read_success
from behavior_navigation.rules.calls import CallResult
from behavior_navigation.rules.entities import Entity, EntityDriver, EntityPool, SwitchCall
from behavior_ros import ParameterError, ParameterSpec, declare_all, read_only
from behavior_tree import BehaviorTreeFactory

PARAMETERS = (
    read_only(
        "managed_entities",
        ["egm", "rpp", "sdm", "tp"],
        "keys of the modules that are switched, in any order",
    ),
    read_only(
        "managed_entity_name",
        "",
        "name, in camel case, of the only module; it takes the place of managed_entities",
    ),
    read_only("tx_enabler", "", "of managed_entity_name; empty: <its name>"),
    read_only(
        "state_period",
        1.0,
        "[s] steady time between two looks at each module's state",
        range=(0.05, 3600.0),
    ),
)

_TRANSITIONS = frozenset(
    {
        State.TRANSITION_STATE_CONFIGURING,
        State.TRANSITION_STATE_CLEANINGUP,
        State.TRANSITION_STATE_SHUTTINGDOWN,
        State.TRANSITION_STATE_ACTIVATING,
        State.TRANSITION_STATE_DEACTIVATING,
        State.TRANSITION_STATE_ERRORPROCESSING,
    }
)
"""States that a lifecycle node leaves by itself."""


def _entity_parameters(key: str) -> list[ParameterSpec]:
    return [
        read_only(
            f"{key}.managed_entity_name",
            key,
            "name in camel case; its nodes are <name>Enable, <name>Disable and <name>Toggle",
        ),
        read_only(
            f"{key}.tx_enabler",
            key,
            "lifecycle node, or service std_srvs/SetBool, that switches the module",
        ),
        read_only(
            f"{key}.interface",
            "lifecycle",
            "how it is switched; none: it is not there, and counts as switched at once",
            choices=("lifecycle", "set_bool", "none"),
        ),
    ]


class EntityManager(NavigationManager):
    """Switches modules by their lifecycle, or by a plain service."""

    name = "entity"

    def __init__(self, node: Node) -> None:
        """Make the clients.

        Raises:
            ParameterError: a name that cannot be, or two of one name.
        """
        super().__init__(node, PARAMETERS)
        self._looks: list[LifecycleDriver] = []
        try:
            only = self.values["managed_entity_name"]
            keys = [only] if only else self.values["managed_entities"]
            self.pool = EntityPool(self.state, map(self._entity, keys))
        except ValueError as error:
            where = self.manager_node.get_fully_qualified_name()
            raise ParameterError(f"{where}: parameter managed_entities: {error}") from error
        self.steady_timer(self.values["state_period"], self._look)

    def register_nodes(self, factory: BehaviorTreeFactory) -> None:
        """Register three nodes for each module."""
        self.pool.register_nodes(factory)

    def pre_tick(self, now: float) -> None:
        """Take in what the modules answered."""
        super().pre_tick(now)
        self.pool.update()

    def metrics(self) -> list[Metric]:
        """For each module whether it is enabled (-1: not known), and how often it was switched."""
        metrics = []
        for name, entity in self.pool.entities.items():
            known = -1.0 if entity.enabled is None else float(entity.enabled)
            metrics += [
                Metric(f"{name}_enabled", "", known),
                Metric(f"{name}_switched", "", float(entity.switched), is_counter=True),
            ]
        return metrics

    def problem(self) -> str:
        """Modules that are disabled, or of which nothing is known."""
        silent = [name for name, enabled in self.state.entities.items() if enabled is None]
        off = self.state.disabled
        texts = [
            f"not known: {', '.join(silent)}" if silent else "",
            f"disabled: {', '.join(off)}" if off else "",
        ]
        return "; ".join(text for text in texts if text)

    def _entity(self, key: str) -> Entity:
        own = self.manager_node
        values = declare_all(own, _entity_parameters(key))
        name, enabler = values[f"{key}.managed_entity_name"], values[f"{key}.tx_enabler"]
        if key == self.values["managed_entity_name"]:
            enabler = self.values["tx_enabler"] or enabler
        driver: EntityDriver
        if values[f"{key}.interface"] == "lifecycle":
            driver = LifecycleDriver(own, enabler, self.wake)
            self._looks.append(driver)
        elif values[f"{key}.interface"] == "set_bool":
            driver = SetBoolDriver(own, enabler, self.wake)
        else:
            driver = AbsentDriver()
        return Entity(name, driver)

    def _look(self) -> None:
        for driver in self._looks:
            driver.look()


class LifecycleDriver:
    """A lifecycle node: enabled is active. Being switched begins with a look at its state."""

    def __init__(self, node: Node, name: str, wake: Callable[[Any], None]) -> None:
        """Make the clients of the lifecycle node of this name; `wake` is called at its answers."""
        self._name = node.resolve_service_name(name)
        self._wake = wake
        self._change = node.create_client(ChangeState, f"{name}/change_state")
        self._get = node.create_client(GetState, f"{name}/get_state")
        self._state: int | None = None
        self._asked: ServiceCall | None = None

    def set(self, enabled: bool) -> SwitchCall:
        """Activate or deactivate it, unless it is so already."""
        return _LifecycleCall(enabled, self.read_state, self.change)

    def known(self) -> bool | None:
        """Whether it was active when it last told."""
        if self._asked is not None and self._asked.poll() is not None:
            self._asked = None
        return None if self._state is None else self._state == State.PRIMARY_STATE_ACTIVE

    def look(self) -> None:
        """Ask for its state; one that did not answer the last time is not known any more."""
        if self._asked is not None and self._asked.poll() is None:
            self._asked.forget()
            self._state = None
        self._asked = self.read_state(_taken)

    def read_state(self, use: Callable[[int, str], CallResult]) -> ServiceCall:
        """Ask for its state; ``use`` gets number and name of it."""

        def read(response: Any) -> CallResult:
            self._state = int(response.current_state.id)
            return use(self._state, response.current_state.label)

        return ServiceCall(self._get, GetState.Request(), read, self._wake)

    def change(self, enabled: bool) -> ServiceCall:
        """Go through the transition."""
        request = ChangeState.Request()
        request.transition.id = (
            Transition.TRANSITION_ACTIVATE if enabled else Transition.TRANSITION_DEACTIVATE
        )

        def read(response: Any) -> CallResult:
            if response.success:
                self._state = (
                    State.PRIMARY_STATE_ACTIVE if enabled else State.PRIMARY_STATE_INACTIVE
                )
                return CallResult(True)
            return CallResult(False, f"{self._name} refused the transition")

        return ServiceCall(self._change, request, read, self._wake)


class _LifecycleCall:
    """Look at the state, then go through a transition if one is needed."""

    def __init__(
        self,
        enabled: bool,
        read_state: Callable[[Callable[[int, str], CallResult]], ServiceCall],
        change: Callable[[bool], ServiceCall],
    ) -> None:
        self._enabled = enabled
        self._read_state, self._change = read_state, change
        self._needed = self._on_its_way = False
        self._call = read_state(self._judge)

    @property
    def waits(self) -> bool:
        """Whether nobody has got it yet."""
        return self._call.waits

    def poll(self) -> CallResult | None:
        """How it ended; None: not yet."""
        result = self._call.poll()
        if result is None or not result.success:
            return result
        if self._on_its_way:
            self._on_its_way = False
            self._call = self._read_state(self._judge)
            return None
        if not self._needed:
            return result
        self._needed = False
        self._call = self._change(self._enabled)
        return None

    def forget(self) -> None:
        """Lose interest."""
        self._call.forget()

    def _judge(self, state: int, label: str) -> CallResult:
        active, inactive = State.PRIMARY_STATE_ACTIVE, State.PRIMARY_STATE_INACTIVE
        if state in _TRANSITIONS:  # somebody switches it: what becomes of it is to be seen
            self._on_its_way = True
            return CallResult(True)
        if state not in (active, inactive):
            ended = state == State.PRIMARY_STATE_FINALIZED
            remedy = "start it anew" if ended else "configure it first"
            return CallResult(False, f"it is {label or f'in state {state}'}: {remedy}")
        self._needed = state != (active if self._enabled else inactive)
        return CallResult(True)


class SetBoolDriver:
    """A plain service. It tells no state: what counts is what it took last."""

    def __init__(self, node: Node, service: str, wake: Callable[[Any], None]) -> None:
        """Make the client; `wake` is called at each answer."""
        self._wake = wake
        self._client = node.create_client(SetBool, service)

    def set(self, enabled: bool) -> SwitchCall:
        """Call the service; a second time does no harm."""
        return ServiceCall(self._client, SetBool.Request(data=enabled), read_success, self._wake)

    def known(self) -> bool | None:
        """Nothing but what it answered."""
        return None


class AbsentDriver:
    """A module that a robot does not have."""

    def __init__(self) -> None:
        self._enabled = True

    def set(self, enabled: bool) -> SwitchCall:
        """Done."""
        self._enabled = enabled
        return _Done()

    def known(self) -> bool | None:
        """As it was switched last."""
        return self._enabled


class _Done:
    waits = False

    def poll(self) -> CallResult | None:
        return CallResult(True)

    def forget(self) -> None:
        pass


def _taken(state: int, label: str) -> CallResult:
    return CallResult(True)
