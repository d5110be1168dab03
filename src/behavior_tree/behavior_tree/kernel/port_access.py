# SPDX-License-Identifier: Apache-2.0
"""`PortAccess`: how a node reads its input ports and writes its output ports."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from behavior_tree.basic_types import NodeStatus, PortDirection
from behavior_tree.blackboard.ports import PortInfo, pointer_key
from behavior_tree.errors import ConversionError, PortError
from behavior_tree.kernel.node_state import NodeState

_ABSENT: Any = object()


class PortAccess(NodeState):
    """Ports of a node, by name."""

    __slots__ = ()

    ports: ClassVar[dict[str, PortInfo]] = {}
    """Ports of this class; see `behavior_tree.blackboard.ports`."""

    @classmethod
    def provided_ports(cls) -> dict[str, PortInfo]:
        """Ports of this class, for those that are known only when it is used."""
        return cls.ports

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
        if not text:
            return False  # as editors write what is not connected
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

    def is_literal(self, name: str) -> bool:
        """True if a port always reads the same, until `port_changed`: its text is no key."""
        text = self.raw_port(name)
        return text is None or pointer_key(text, name) is None

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
        # Of BehaviorTree.CPP's entries integers have 64 bits, of its ports 32.
        as_it_is = None if port_type is int and self._rt.types.exact else port_type

        def read(default: Any) -> Any:
            entry = bb._entries.get(key) or bb.entry(key)
            if entry is None or entry.value is None:
                return default
            value = entry.value
            return value if value.__class__ is as_it_is else self._convert(name, value, port_type)

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
