# SPDX-License-Identifier: Apache-2.0
"""`TreeNode`, the base of every node, and the tick kernel.

A node is a real ``py_trees.behaviour.Behaviour``: it may be drawn by ``py_trees.display``,
visited, or ticked as (part of) a ``py_trees.trees.BehaviourTree``. Three names mean something else
there than in BehaviorTree.CPP; both meanings work:

``node.name``
    a `str` that returns itself when called, so ``node.name`` and ``node.name()`` agree
``node.status``
    a `NodeStatus`, callable likewise, equal to the ``py_trees.common.Status`` of the same meaning
``node.tick``
    a node *class* defines ``tick()`` as its body, returning a `NodeStatus`; on a node *in a tree*
    the attribute ``tick`` is py_trees' generator. The kernel calls the class's body, nobody else
    should: to tick one node by hand call ``execute_tick()``.

py_trees' own tick machinery (generators, a logger and a UUID per node) costs 50 times this kernel,
so the constructor of ``Behaviour`` is not run; what it would create is created when first looked
at.

The kernel. ``child._run(child)`` is how a parent ticks a child. While nobody watches the node that
function is chosen for this node, see `behavior_tree.specialised`; otherwise it is
`_execute_plain`, or `_execute_full` for a node with conditions or hooks. `select_kernel` chooses,
so nothing is looked up per tick that a node does not have. Order of a full tick: pre-conditions,
pre-tick hook, body, post-conditions, post-tick hook, status change.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from time import monotonic_ns
from typing import Any, ClassVar

from py_trees.behaviour import Behaviour
from py_trees.common import BlackBoxLevel
from py_trees.common import Status as PyTreesStatus

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection
from behavior_tree.blackboard import Blackboard
from behavior_tree.errors import (
    BehaviorTreeError,
    ConversionError,
    FailureReason,
    LogicError,
    NodeExecutionError,
    PortError,
)
from behavior_tree.failure import explain
from behavior_tree.fast_tick import Tick, unwatched_tick
from behavior_tree.journal import Record
from behavior_tree.ports import PortInfo, as_ports_list, pointer_key
from behavior_tree.runtime import Runtime
from behavior_tree.told_tick import told

__all__ = ["Conditions", "NodeConfig", "TreeNode", "select_kernels"]

IDLE = NodeStatus.IDLE
RUNNING = NodeStatus.RUNNING
SUCCESS = NodeStatus.SUCCESS
FAILURE = NodeStatus.FAILURE
SKIPPED = NodeStatus.SKIPPED

StatusCallback = Callable[["TreeNode", NodeStatus, NodeStatus], None]
PreTickHook = Callable[["TreeNode"], NodeStatus]
PostTickHook = Callable[["TreeNode", NodeStatus], NodeStatus]

_ABSENT: Any = object()


class NodeName(str):
    """A name that may be called: ``node.name() == node.name``."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


@dataclass(eq=False, slots=True)
class Conditions:
    """Pre- and post-conditions of one node: its scripts, bound to its blackboard."""

    tests: tuple[tuple[Callable[[], bool], NodeStatus, str], ...] = ()
    """``_failureIf _successIf _skipIf`` in this order: test, the status that it gives, text."""
    test_while: Callable[[], bool] | None = None
    on_halted: Callable[[], Any] | None = None
    after_success: tuple[Callable[[], Any], ...] = ()
    """``_onSuccess`` and ``_post``."""
    after_failure: tuple[Callable[[], Any], ...] = ()
    """``_onFailure`` and ``_post``."""
    calls: tuple[Any, ...] = ()
    """What a specialised tick calls; see `behavior_tree.fast_tick`."""


class _Texts:
    """Dictionary of a `NodeConfig`, made when it is first looked at: most of them stay empty."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = "_" + name

    def __get__(self, config: NodeConfig, owner: type) -> dict[str, Any]:
        found: dict[str, Any] | None = getattr(config, self._slot)
        if found is None:
            found = {}
            setattr(config, self._slot, found)
        return found

    def __set__(self, config: NodeConfig, texts: dict[str, Any] | None) -> None:
        setattr(config, self._slot, texts)


class NodeConfig:
    """What a tree gives to a node besides its name. ``NodeConfig()`` serves a node used alone."""

    __slots__ = (
        "_condition_attributes",
        "_given_ports",
        "_input_ports",
        "_other_attributes",
        "_output_ports",
        "_ports",
        "blackboard",
        "conditions",
        "element",
        "path",
        "registration_id",
        "runtime",
        "uid",
    )

    ports = _Texts()
    """Declared ports, `PortInfo` by name."""
    input_ports = _Texts()
    """Text of the inputs, defaults included, in the order of the XML."""
    output_ports = _Texts()
    given_ports = _Texts()
    """Ports as the XML gives them, in its order; the others have their default."""
    other_attributes = _Texts()
    """XML attributes that are neither ports nor reserved."""
    condition_attributes = _Texts()
    """Text of ``_skipIf`` and the like."""

    def __init__(
        self,
        blackboard: Blackboard | None = None,
        runtime: Runtime | None = None,
        registration_id: str = "",
        path: str = "",
        uid: int = 0,
        *,
        ports: dict[str, PortInfo] | None = None,
        input_ports: dict[str, str] | None = None,
        output_ports: dict[str, str] | None = None,
        given_ports: dict[str, str] | None = None,
        other_attributes: dict[str, str] | None = None,
        condition_attributes: dict[str, str] | None = None,
        conditions: Conditions | None = None,
        element: Any = None,
    ) -> None:
        self.blackboard = Blackboard() if blackboard is None else blackboard
        self.runtime = Runtime() if runtime is None else runtime
        self.registration_id = registration_id
        self.path = path
        """Full path in the tree, unique."""
        self.uid = uid
        """Number in the tree, from 1, pre-order."""
        self._ports: dict[str, PortInfo] | None = ports
        self._input_ports: dict[str, str] | None = input_ports
        self._output_ports: dict[str, str] | None = output_ports
        self._given_ports: dict[str, str] | None = given_ports
        self._other_attributes: dict[str, str] | None = other_attributes
        self._condition_attributes: dict[str, str] | None = condition_attributes
        self.conditions = conditions
        self.element = element
        """What describes the node, a `behavior_tree.xml.document.Element`; None if it is used
        alone."""


class _Ticked(Behaviour):  # type: ignore[misc]
    """What a tick looks at in every node, side by side: large trees do not fit into the caches of
    a processor, so what a tick costs there is the number of cache lines that it touches.
    """

    __slots__ = ("_run", "_up", "status")

    _run: Tick
    _up: TreeNode | None
    """The parent, unless that is a foreign py_trees behaviour."""
    status: NodeStatus


class TreeNode(_Ticked):
    """Base of all nodes. Derive from `StatefulActionNode`, `SyncActionNode`, `ConditionNode`,
    `ControlNode` or `DecoratorNode` instead.
    """

    __slots__ = (
        "_bb",
        "_body",
        "_conditions",
        "_config",
        "_failed_child",
        "_post_tick",
        "_pre_tick",
        "_readers",
        "_reason",
        "_rt",
        "_unwatched",
        "_watch",
        "name",
        "parent",
    )

    node_type: ClassVar[NodeType] = NodeType.UNDEFINED
    synchronous: ClassVar[bool] = False
    """True if a tick never gives RUNNING."""
    restorable: ClassVar[tuple[str, ...]] = ()
    """Attributes in which the node remembers something between ticks, besides its status; see
    `behavior_tree.saving`."""
    ticked_behaviours: Iterable[Behaviour] = ()
    """Foreign py_trees behaviours inside the node that its last tick ticked."""
    blackbox_level = BlackBoxLevel.NOT_A_BLACKBOX

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Ports of this class; see `behavior_tree.ports`."""
        return {}

    @classmethod
    def metadata(cls) -> dict[str, str]:
        """What editors shall know of this class: keys and texts for its TreeNodesModel."""
        return {}

    def __init__(self, name: str, config: NodeConfig | None = None) -> None:
        if config is None:
            config = NodeConfig()
        self.name = name if isinstance(name, NodeName) else NodeName(name)
        self.status = IDLE
        self.parent: Behaviour | None = None
        self._up = None
        self._config = config
        if not config.registration_id:
            config.registration_id = type(self).__name__
            config.path = config.path or name
            config.ports = config.ports or as_ports_list(self.provided_ports())
        self._bb = config.blackboard
        self._rt = config.runtime
        self._conditions = config.conditions
        self._readers: dict[str, Callable[[Any], Any]] | None = None
        self._watch: Callable[[Record], None] | None = None
        self._pre_tick: PreTickHook | None = None
        self._post_tick: PostTickHook | None = None
        self._failed_child: TreeNode | None = None
        self._reason: str = ""
        self._body: Tick = type(self).tick
        self._unwatched: Tick | None = None
        # Specialised once the node is complete: by the tree that it becomes part of.
        kind = type(self)
        self._run = kind._execute_plain if config.conditions is None else kind._execute_full

    # -- identity -------------------------------------------------------------------------------

    def config(self) -> NodeConfig:
        """What the tree gave to the node."""
        return self._config

    def full_path(self) -> str:
        """Path in the tree: names from the root down, ``::uid`` behind unnamed nodes."""
        return self._config.path

    def uid(self) -> int:
        """Number in the tree, pre-order from 1."""
        return self._config.uid

    def registration_id(self) -> str:
        """Name of the node type in XML."""
        return self._config.registration_id

    def type(self) -> NodeType:
        """Category of the node."""
        return self.node_type

    def is_halted(self) -> bool:
        """True while IDLE."""
        return self.status is IDLE

    def __repr__(self) -> str:
        return f"<{self._config.registration_id} '{self._config.path}' {self.status.name}>"

    # -- what a node class defines --------------------------------------------------------------

    def tick(self) -> NodeStatus:
        """Body of the node, run once per tick; never returns IDLE."""
        raise NotImplementedError(f"{type(self).__name__} defines no tick()")

    def halt(self) -> None:
        """Stop what is running and become IDLE; `halt_node` also runs ``_onHalted``."""
        self.reset_status()

    def on_paused(self) -> None:
        """Told to a running leaf by `behavior_tree.runner`: hold still until `on_resumed`."""

    def on_resumed(self) -> None:
        """Told to a running leaf: go on after `on_paused`."""

    def save_state(self) -> Any:
        """What `restore_state` needs to go on: the attributes named in `restorable`. None from a
        RUNNING leaf means that it cannot go on and starts anew.
        """
        if not self.restorable:
            return None
        return {name: getattr(self, name) for name in self.restorable if hasattr(self, name)}

    def restore_state(self, state: Any) -> None:
        """Take up what `save_state` returned; the node becomes RUNNING if it was."""
        for name in self.restorable:
            if name in state:
                setattr(self, name, state[name])

    # -- kernel ---------------------------------------------------------------------------------

    def execute_tick(self) -> NodeStatus:
        """Tick the node once, conditions and hooks included."""
        return self._run(self)

    def select_kernel(self) -> None:
        """Choose the cheapest execution that does all this node needs; called after any change."""
        self._run = self._kernel()

    def trace_work(self, enabled: bool) -> None:
        """Let `Runtime.at_work` tell while this node is ticked or halted, if the tree traces."""
        if enabled:
            self.halt_node = self._halt_traced  # type: ignore[method-assign]
        else:
            self.__dict__.pop("halt_node", None)
        self.select_kernel()

    def _execute_traced(self) -> NodeStatus:
        runtime = self._rt
        outer, runtime.at_work = runtime.at_work, (threading.get_ident(), self)
        try:
            return self._untraced_kernel()(self)
        finally:
            runtime.at_work = outer

    def _halt_traced(self) -> None:
        runtime = self._rt
        outer, runtime.at_work = runtime.at_work, (threading.get_ident(), self)
        try:
            type(self).halt_node(self)
        finally:
            runtime.at_work = outer

    def _kernel(self) -> Tick:
        return type(self)._execute_traced if self._rt.tracing else self._untraced_kernel()

    def _untraced_kernel(self) -> Tick:
        kind = type(self)
        if self._pre_tick is not None or self._post_tick is not None or self._rt.record is not None:
            return kind._execute_full
        if self._watch is not None and not self._rt.journaled:
            return kind._execute_plain if self._conditions is None else kind._execute_full
        if self._unwatched is None:
            self._unwatched = self._make_unwatched()
        return self._unwatched

    def _make_unwatched(self) -> Tick:
        tick = unwatched_tick(self)
        if self._watch is None:
            return tick
        try:
            return told(tick)
        except OSError:  # an installation without sources cannot derive the telling ticks
            kind = type(self)
            return kind._execute_plain if self._conditions is None else kind._execute_full

    def children_changed(self) -> None:
        """Refresh what a parent caches about its children."""

    def _execute_plain(self) -> NodeStatus:
        before = self.status
        if before is not RUNNING:
            self._reason = ""
            self._failed_child = None
        try:
            status = self._body(self)
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        current = self.status
        if status is not current:
            if (
                status is SUCCESS
                or status is FAILURE
                or (status is RUNNING and not self.synchronous)
            ):
                self.status = status
                if self._watch is not None:
                    self._watch((monotonic_ns(), self, current, status))
            else:
                return self._not_stored(before, status)
        elif status is IDLE:
            return self._not_stored(before, status)
        if status is FAILURE and self._up is not None:
            self._up._failed_child = self
        return status

    def _execute_full(self) -> NodeStatus:
        record = self._rt.record
        if record is not None:
            record.append(self)
        before = self.status
        if before is not RUNNING:
            self._reason = ""
            self._failed_child = None
        conditions = self._conditions
        try:
            status = None
            if conditions is not None:
                if before is RUNNING:
                    if not self.may_go_on():
                        self.halt_node()
                        status = SKIPPED
                elif before is IDLE or before is SKIPPED:
                    for test, imposed, source in conditions.tests:
                        if test():
                            status = imposed
                            if imposed is FAILURE:
                                self._failed_child = None
                                self._reason = "_failureIf: " + source
                            break
                    else:
                        if not self.may_go_on():
                            status = SKIPPED
            if status is None and self._pre_tick is not None and not before.completed:
                override = self._pre_tick(self)
                if override is SUCCESS or override is FAILURE:
                    status = override
                    self._failed_child = None
                    self._reason = "imposed instead of the tick"
            if status is None:
                status = self._body(self)
            if conditions is not None:
                if status is SUCCESS:
                    for run in conditions.after_success:
                        run()
                elif status is FAILURE:
                    for run in conditions.after_failure:
                        run()
        except NodeExecutionError:
            raise
        except Exception as error:
            raise self._execution_error(error) from error
        if self._post_tick is not None:
            override = self._post_tick(self, status)
            if override is SUCCESS or override is FAILURE:
                if override is not status:
                    self._failed_child = None
                    self._reason = "imposed after the tick"
                status = override
        if status is SUCCESS or status is FAILURE or (status is RUNNING and not self.synchronous):
            current = self.status
            if status is not current:
                self.status = status
                if self._watch is not None:
                    self._watch((monotonic_ns(), self, current, status))
        else:
            return self._not_stored(before, status)
        if status is FAILURE and self._up is not None:
            self._up._failed_child = self
        return status

    def may_go_on(self) -> bool:
        """False if ``_while`` is false."""
        test = None if self._conditions is None else self._conditions.test_while
        return test is None or test()

    def finish_tick(self, before: NodeStatus, status: NodeStatus) -> NodeStatus:
        """Store and report the result of the body of a node that nobody watches.

        Args:
            before: status before the tick
            status: what the body returned
        """
        if status is SUCCESS:
            self.status = status
        elif status is FAILURE:
            self.status = status
            if self._up is not None:
                self._up._failed_child = self
        elif status is RUNNING and not self.synchronous:
            self.status = status
        elif status is not self.status or status is IDLE:
            return self._not_stored(before, status)
        return status

    def _not_stored(self, before: NodeStatus, status: NodeStatus) -> NodeStatus:
        """End of a tick whose result leaves the stored status alone."""
        if status is SKIPPED:
            self._reason = ""
            self._failed_child = None
            started = self.status is RUNNING and before is not RUNNING
            if started and not self._rt.quirks.skipped_stays_running:
                self.halt()
            return SKIPPED
        if status is IDLE:
            raise self._execution_error(LogicError("tick() must not return IDLE"))
        if status is RUNNING:
            raise self._execution_error(
                LogicError("SyncActionNode MUST never return RUNNING: use a StatefulActionNode")
            )
        raise self._execution_error(
            LogicError(f"tick() must return a NodeStatus, it returned {status!r}")
        )

    def _execution_error(self, error: Exception) -> NodeExecutionError:
        message = (
            str(error)
            if isinstance(error, BehaviorTreeError)
            else f"{type(error).__name__}: {error}"
        )
        return NodeExecutionError(self._config.path, self._config.registration_id, message)

    def halt_node(self) -> None:
        """Halt and run ``_onHalted``."""
        self.halt()
        if self._conditions is not None and self._conditions.on_halted is not None:
            self._conditions.on_halted()

    def set_status(self, status: NodeStatus) -> None:
        """Store a status and tell the watchers if it changed."""
        previous = self.status
        if previous is not status:
            self.status = status
            if self._watch is not None:
                self._watch((monotonic_ns(), self, previous, status))

    def reset_status(self) -> None:
        """Become IDLE."""
        self.set_status(IDLE)

    # -- watching -------------------------------------------------------------------------------

    def set_pre_tick(self, hook: PreTickHook | None) -> None:
        """Call ``hook(node)`` before each tick; SUCCESS or FAILURE from it replaces the tick."""
        self._pre_tick = hook
        self.select_kernel()

    def set_post_tick(self, hook: PostTickHook | None) -> None:
        """Call ``hook(node, status)`` after each tick; SUCCESS or FAILURE from it overrides the
        result.
        """
        self._post_tick = hook
        self.select_kernel()

    def set_failure_reason(self, text: str) -> None:
        """Say in plain words why this node is about to return FAILURE; forgotten when it starts
        again.
        """
        self._reason = text
        reasons = self._rt.reasons
        if text and reasons is not None:
            reasons.append((self, text))

    def failure_reason(self) -> str:
        """What `set_failure_reason` was given in this run of the node; empty if nothing."""
        return self._reason

    def failed_children(self) -> list[TreeNode]:
        """Children whose FAILURE made the last run of this node a FAILURE, in order. For a control
        node of your own: the one that failed last, unless it overrides this.
        """
        return [] if self._failed_child is None else [self._failed_child]

    def explain_failure(self) -> FailureReason:
        """Why the last run of this node was a FAILURE: the deepest cause, see `FailureReason`."""
        return explain(self)

    def emit_wake_up(self) -> None:
        """Ask the tree for another tick soon; may be called from any thread."""
        self._rt.emit_wake_up()

    # -- ports ----------------------------------------------------------------------------------

    def get_input(self, name: str, default: Any = _ABSENT) -> Any:
        """Value of an input port, converted to the port's type.

        Args:
            name: declared port
            default: returned if the port is not connected or its entry is empty

        Raises:
            PortError: not declared; or missing and no default; or not convertible
        """
        readers = self._readers
        if readers is None:
            readers = self._readers = {}
        reader = readers.get(name)
        if reader is None:
            reader = readers[name] = self._make_reader(name)
        value = reader(default)
        if value is _ABSENT:
            raise PortError(self._missing(name))
        return value

    def set_output(self, name: str, value: Any) -> bool:
        """Write an output port.

        Returns:
            False if the XML does not connect the port, so nothing was written

        Raises:
            PortError: not declared, or connected to a literal
            LogicError: the entry has another type
        """
        text = self._config.output_ports.get(name)
        if text is None:
            port = self._port(name)
            if port.direction is PortDirection.INPUT:
                raise PortError(
                    f"port [{name}] of '{self._config.path}' is an input, it cannot be written"
                )
            return False
        key = pointer_key(text, name)
        if key is None:
            raise PortError(
                f"setOutput requires a blackboard pointer. Use {{}}: port [{name}] of "
                f"'{self._config.path}' "
                f'is connected to the literal "{text}"'
            )
        self._bb.set(key, value)
        return True

    def set_port(self, name: str, text: str) -> None:
        """Give a port another text, literal or ``{key}``, from the next tick on."""
        port = self._port(name)
        if port.direction is not PortDirection.OUTPUT:
            self._config.input_ports[name] = text
        if port.direction is not PortDirection.INPUT:
            self._config.output_ports[name] = text
        self.port_changed(name)

    def port_changed(self, name: str) -> None:
        """Forget what was derived from the text of a port."""
        if self._readers is not None:
            self._readers.pop(name, None)
        if self._unwatched is not None:
            self._unwatched = None
            self.select_kernel()

    def literal_input(self, name: str) -> Any:
        """Value of an input port that stays until `set_port`; None if it reads the blackboard, or
        has no valid value.
        """
        text = self._config.input_ports.get(name, self._port(name).default_text)
        if text is None or pointer_key(text, name) is not None:
            return None
        try:
            return self.get_input(name)
        except BehaviorTreeError:  # told by the tick
            return None

    def raw_port(self, name: str) -> str | None:
        """Text of a port as the XML gives it; None if it does not."""
        text = self._config.input_ports.get(name)
        return self._config.output_ports.get(name) if text is None else text

    def get_input_int(self, name: str) -> int | None:
        """Input as an integer; None if missing or not convertible."""
        return self._input_as(name, int)  # type: ignore[no-any-return]

    def get_input_double(self, name: str) -> float | None:
        """Input as a float; None if missing or not convertible."""
        return self._input_as(name, float)  # type: ignore[no-any-return]

    def get_input_bool(self, name: str) -> bool | None:
        """Input as a bool; None if missing or not convertible."""
        return self._input_as(name, bool)  # type: ignore[no-any-return]

    def get_input_string(self, name: str) -> str | None:
        """Input as text; None if missing or not convertible."""
        return self._input_as(name, str)  # type: ignore[no-any-return]

    def set_output_int(self, name: str, value: int) -> bool:
        """Write an integer output."""
        return self._output_as(name, int(value))

    def set_output_double(self, name: str, value: float) -> bool:
        """Write a float output."""
        return self._output_as(name, float(value))

    def set_output_bool(self, name: str, value: bool) -> bool:
        """Write a bool output."""
        return self._output_as(name, bool(value))

    def set_output_string(self, name: str, value: str) -> bool:
        """Write a text output."""
        return self._output_as(name, str(value))

    def _output_as(self, name: str, value: Any) -> bool:
        if not self._rt.quirks.set_output_raises:
            return self.set_output(name, value)
        with suppress(PortError):
            self.set_output(name, value)
        raise TypeError("set_output_*: unable to convert the return value to a Python type")

    def _input_as(self, name: str, wanted: Any) -> Any:
        try:
            return self._rt.types.cast(self.get_input(name), wanted)
        except (PortError, ConversionError):
            return None

    def _port(self, name: str) -> PortInfo:
        try:
            port: PortInfo = self._config.ports[name]
            return port
        except KeyError:
            known = ", ".join(self._config.ports) or "none"
            raise PortError(
                f"node '{self._config.path}' [{self._config.registration_id}] declares no port "
                f"[{name}]; "
                f"its ports: {known}"
            ) from None

    def _make_reader(self, name: str) -> Callable[[Any], Any]:
        """Function that reads a port, its text looked at once."""
        port = self._port(name)
        text = self._config.input_ports.get(name, port.default_text)
        if text is None:
            value = None if port.required else port.default  # an object that no text can express
            return lambda default: default if value is None else value
        key = pointer_key(text, name)
        if key is None:
            return self._literal_reader(name, text, port.type)
        return self._entry_reader(name, key, port.type)

    def _literal_reader(self, name: str, text: str, port_type: Any) -> Callable[[Any], Any]:
        types = self._rt.types
        value = self._convert(name, text, port_type)
        if isinstance(value, str | int | float | NodeStatus):
            return lambda default: value
        return lambda default: types.from_text(
            text, port_type
        )  # mutable: a fresh one for each reader

    def _entry_reader(self, name: str, key: str, port_type: Any) -> Callable[[Any], Any]:
        bb = self._bb

        def read(default: Any) -> Any:
            entry = bb._entries.get(key) or bb.entry(key)
            if entry is None or entry.value is None:
                return default
            value = entry.value
            return value if value.__class__ is port_type else self._convert(name, value, port_type)

        return read

    def _convert(self, name: str, value: Any, port_type: Any) -> Any:
        try:
            return self._rt.types.cast(value, port_type)
        except ConversionError as error:
            raise PortError(f"port [{name}] of '{self._config.path}': {error}") from error

    def _missing(self, name: str) -> str:
        text = self._config.input_ports.get(name)
        here = f"of '{self._config.path}' [{self._config.registration_id}]"
        if text is None:
            return f'Missing parameter [{name}] {here}: give it in the XML, {name}="..."'
        key = pointer_key(text, name)
        return f"port [{name}] {here} reads blackboard key [{key}], which nobody has written yet"

    # -- py_trees -------------------------------------------------------------------------------

    def join_tree(self) -> None:
        """From now on ``node.tick()`` is py_trees' generator; see the module's documentation."""
        self.tick = self._tick_for_py_trees  # type: ignore[method-assign, assignment]

    def _tick_for_py_trees(self) -> Iterator[Behaviour]:
        """Tick, then yield every node that was ticked, children first, as py_trees does."""
        nodes = list(_pre_order(self))
        outer = self._rt.record
        record: list[TreeNode] = []
        self._rt.record = record
        select_kernels(nodes)
        try:
            status = self._run(self)
        finally:
            self._rt.record = outer
            select_kernels(nodes)
        if status is SKIPPED:
            self.set_status(
                FAILURE
            )  # py_trees knows no SKIPPED; a guard that says no is a failure there
        for node in reversed(record):
            yield from node.ticked_behaviours
            yield node

    def update(self) -> PyTreesStatus:
        """py_trees' verb for one tick without children."""
        return self._run(self).as_py_trees()

    def stop(self, new_status: PyTreesStatus = PyTreesStatus.INVALID) -> None:
        """py_trees' verb for interruption."""
        if self.status is RUNNING:
            self.halt_node()
        self.reset_status()

    def tip(self) -> Behaviour | None:
        """Deepest node that is not IDLE, following the last such child; None if there is none."""
        if self.status is IDLE:
            return None
        active = [child for child in self.children if child.status != IDLE]
        return active[-1].tip() if active else self

    @property
    def feedback_message(self) -> str:
        """The failure reason, where py_trees shows a line of text."""
        return self._reason

    @feedback_message.setter
    def feedback_message(self, text: str) -> None:
        self._reason = text

    @cached_property
    def children(self) -> list[TreeNode]:
        """Of a leaf: none; made for those who look."""
        return []

    @cached_property
    def id(self) -> uuid.UUID:
        """Identifier that py_trees uses."""
        return uuid.uuid4()

    @cached_property
    def logger(self) -> logging.Logger:
        """Logger named after the node's path."""
        return logging.getLogger(f"behavior_tree.{self._config.path}")

    @cached_property
    def blackboards(self) -> list[Any]:
        """py_trees blackboard clients of this node."""
        return []

    @cached_property
    def qualified_name(self) -> str:
        """Class and name, as py_trees shows them."""
        return f"{type(self).__qualname__}/{self.name}"

    @property
    def iterator(self) -> Iterator[Behaviour]:
        """py_trees' generator of one tick."""
        return self._tick_for_py_trees()


def select_kernels(nodes: list[TreeNode]) -> None:
    """`TreeNode.select_kernel` of many nodes."""
    for node in nodes:
        node._run = node._kernel()


def _pre_order(node: TreeNode) -> Iterator[TreeNode]:
    yield node
    for child in node.children:
        if isinstance(child, TreeNode):  # a leaf may hold py_trees behaviours
            yield from _pre_order(child)
