# SPDX-License-Identifier: Apache-2.0
"""Typed key-value storage of one tree or SubTree, linked to its parent by remapping.

Each SubTree has its own blackboard. A key is looked up locally, then through an explicit remapping,
then (with autoremap) under the same name in the parent, except for private keys that start with
``_``.
``@key`` always addresses the root blackboard.

An entry has a type once a typed port, a script or a typed `Blackboard.set` gave it one; afterwards
it only takes values of that type, numbers that fit without loss, and text that converts. Texts
written with ``set`` leave the entry untyped, as upstream.
"""

from __future__ import annotations

import copy
import operator
import reprlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from behavior_tree.blackboard.conversion import TypeRegistry, accepts, type_name
from behavior_tree.blackboard.rules_4_8 import set_value
from behavior_tree.errors import BlackboardError, ConversionError, LogicError

_NUMBERS = (int, float)


class Entry:
    """A value with its type, the count of writes and the time of the last one."""

    __slots__ = ("opaque", "origin", "seq", "stamp", "type", "value")

    def __init__(self, entry_type: Any = Any) -> None:
        self.value: Any = None
        """None means empty."""
        self.type: Any = entry_type
        """``typing.Any`` while untyped."""
        self.opaque = False
        """Quirk F: untyped, and no text converts to it (upstream's type ``BT::Any``)."""
        self.origin: Any = None
        """Type the value came with if its Python type does not tell; see `rules_4_8`."""
        self.seq = 0
        """Number of writes so far."""
        self.stamp = 0.0
        """`time.monotonic` of the last write [s]."""

    def store(self, value: Any, origin: Any = None) -> None:
        """Write without any check."""
        self.value = value
        self.origin = origin
        self.seq += 1
        self.stamp = time.monotonic()


EntryCallback = Callable[["Blackboard", str, Entry], None]


class Blackboard:
    """Entries of one scope. Create with `Blackboard.create`."""

    def __init__(
        self, parent: Blackboard | None = None, *, types: TypeRegistry | None = None
    ) -> None:
        self._parent = parent
        self._entries: dict[str, Entry] = {}
        self._remap: dict[str, str] = {}
        self._autoremap = False
        self._hidden: dict[str, Entry] | None = None  # quirk B: entries nobody can read
        self._on_entry: EntryCallback | None = None
        self.on_set: Callable[[], None] | None = None
        """Called after each `set` on this very blackboard, in its thread."""
        self._types = types or (parent.types if parent is not None else TypeRegistry())

    @staticmethod
    def create(parent: Blackboard | None = None) -> Blackboard:
        """New blackboard, below ``parent`` if given."""
        return Blackboard(parent)

    # -- structure ------------------------------------------------------------------------------

    @property
    def parent(self) -> Blackboard | None:
        """The enclosing blackboard."""
        return self._parent

    @property
    def types(self) -> TypeRegistry:
        """Conversions used for this blackboard's entries."""
        return self._types

    @types.setter
    def types(self, types: TypeRegistry) -> None:
        self._types = types

    def with_names(self, names: Mapping[str, int]) -> Blackboard:
        """The same entries, for scripts that may also use ``names`` as numbers."""
        view = copy.copy(self)
        view._types = copy.copy(self._types)
        view._types.enums = {**self._types.enums, **names}
        return view

    @property
    def root(self) -> Blackboard:
        """The top of the parent chain, addressed by ``@key``."""
        board = self
        while board._parent is not None:
            board = board._parent
        return board

    def add_subtree_remapping(self, internal: str, external: str) -> None:
        """Make ``internal`` stand for ``external`` of the parent."""
        self._remap[internal] = external
        self._types.names_changed()

    def enable_autoremapping(self, enabled: bool = True) -> None:
        """Let unknown keys, except private ones, fall through to the parent."""
        self._autoremap = enabled
        self._types.names_changed()

    @property
    def autoremapping(self) -> bool:
        """True if unknown keys fall through to the parent."""
        return self._autoremap

    def use_literal_at_remaps(self) -> None:
        """Quirk B: writing through a remapping to ``@key`` makes a parent's entry of that very
        name, which nobody reads.
        """
        self._hidden = {}
        if self._parent is not None and self._parent._hidden is None:
            self._parent._hidden = {}

    def remapped_key(self, key: str) -> str | None:
        """Key of the parent that ``key`` stands for; None if it is local."""
        external = self._remap.get(key)
        if external is not None:
            return external
        return key if self._autoremap and not key.startswith("_") else None

    # -- entries --------------------------------------------------------------------------------

    def entry(self, key: str) -> Entry | None:
        """Entry that ``key`` addresses, wherever it lives; None if it does not exist."""
        found = self._entries.get(key)
        if found is not None:
            return found
        if key.startswith("@"):
            return self.root.entry(_root_key(key))
        return self._remote_entry(key)

    def _remote_entry(self, key: str) -> Entry | None:
        if self._parent is None:
            return None
        external = self._remap.get(key)
        if external is not None:
            return self._parent.entry(external)
        if self._autoremap and not key.startswith("_"):
            return self._parent.entry(key)
        return None

    def own_entry(self, key: str) -> Entry | None:
        """Entry of this name that lives here; None if there is none."""
        return self._entries.get(key)

    def create_entry(self, key: str, entry_type: Any = Any) -> Entry:
        """Entry that ``key`` addresses, made where it belongs if missing.

        An untyped entry does not become typed by this, as upstream.

        Raises:
            LogicError: it exists with another type
        """
        if key.startswith("@"):
            return self.root.create_entry(_root_key(key), entry_type)
        return self._create_entry(key, entry_type)

    def _create_entry(self, key: str, entry_type: Any) -> Entry:
        entries = self._entries
        if self._hidden is not None and key.startswith("@"):
            entries = self._hidden
        found = entries.get(key)
        if found is not None:
            if found.type is not Any and entry_type is not Any and found.type != entry_type:
                raise LogicError(_type_changed(key, found.type, entry_type))
            return found
        if self._parent is not None:
            external = self.remapped_key(key)
            if external is not None:
                if self._hidden is not None:
                    return self._parent._create_entry(external, entry_type)
                return self._parent.create_entry(external, entry_type)
        entry = entries.setdefault(key, Entry(entry_type))  # another thread may have been faster
        if self._on_entry is not None:
            self._on_entry(self, key, entry)
        return entry

    def restored_entry(self, key: str) -> Entry:
        """Entry of this name that lives here, made if missing, whatever is remapped."""
        entry = self._entries.setdefault(key, Entry())
        if self._on_entry is not None:
            self._on_entry(self, key, entry)
        return entry

    def watch_entries(self, callback: EntryCallback | None) -> None:
        """Call ``callback(self, key, entry)`` for all entries that live here and all to come; None
        ends it.

        Raises:
            LogicError: somebody watches already
        """
        if callback is not None and self._on_entry is not None:
            raise LogicError("this blackboard is being recorded already: close the other recorder")
        self._on_entry = callback
        if callback is not None:
            for key, entry in list(self._entries.items()):
                callback(self, key, entry)

    # -- values ---------------------------------------------------------------------------------

    def set(self, key: str, value: Any) -> None:
        """Write a value, creating the entry if needed.

        Raises:
            LogicError: the entry has another type and the value does not fit
            ConversionError: a text that does not convert to the entry's type
        """
        entry = None if self._types.exact else self._entries.get(key)
        if entry is not None:
            if value.__class__ is entry.type:
                entry.store(value)
            else:
                self.write(key, entry, value)
        elif self._types.exact:
            set_value(self, key, value, type(value))
        elif key.startswith("@"):
            self.root.set(_root_key(key), value)
            return
        else:
            entry = self._remote_entry(key)
            if entry is not None:
                self.write(key, entry, value)
            else:
                kind = Any if value is None or isinstance(value, str) else type(value)
                self.create_entry(key, kind).store(value)
        if self.on_set is not None:
            self.on_set()

    def write(self, key: str, entry: Entry, value: Any) -> None:
        """Write into a known entry under the type rules; ``key`` is for messages."""
        kind = entry.type
        if kind is Any:
            if value is not None:
                entry.type = type(value)
            entry.store(value)
            return
        if value is None or value.__class__ is kind:
            entry.store(value)
            return
        entry.store(self.fitted(key, kind, value))

    def fitted(self, key: str, kind: Any, value: Any) -> Any:
        """Value as an entry of type ``kind`` takes it; ``key`` is for messages.

        Raises:
            LogicError: the value does not fit
            ConversionError: a text that does not convert
        """
        if value.__class__ is kind:
            return value
        if isinstance(value, str):
            return self._types.from_text(value, kind)
        both_numbers = (
            isinstance(kind, type) and issubclass(kind, _NUMBERS) and isinstance(value, _NUMBERS)
        )
        if both_numbers or accepts(kind, value):
            try:
                return self._types.cast(value, kind)
            except ConversionError as error:
                raise LogicError(f"{_type_changed(key, kind, type(value))}: {error}") from error
        raise LogicError(_type_changed(key, kind, type(value)))

    def get(self, key: str, default: Any = ...) -> Any:
        """Value of an entry as it is stored.

        Raises:
            BlackboardError: missing or empty, and no default given
        """
        entry = self.entry(key)
        if entry is None or entry.value is None:
            if default is not ...:
                return default
            raise BlackboardError(self._missing(key, entry))
        return entry.value

    def get_stamped(self, key: str) -> tuple[Any, int, float]:
        """Value, number of writes so far, and `time.monotonic` of the last write [s].

        Raises:
            BlackboardError: missing or empty
        """
        value = self.get(key)
        entry = self.entry(key)
        assert entry is not None  # get() found it
        return value, entry.seq, entry.stamp

    def get_as(self, key: str, value_type: Any) -> Any:
        """Value of an entry converted to a type; raises BlackboardError."""
        value = self.get(key)
        try:
            return self._types.read(value, value_type)
        except ConversionError as error:
            raise BlackboardError(f"Blackboard entry [{key}]: {error}") from error

    def _missing(self, key: str, entry: Entry | None) -> str:
        if entry is not None:
            return f"Blackboard::get() error. Entry [{key}] hasn't been initialized: write it first"
        known = ", ".join(sorted(self._entries)) or "none"
        return f"Blackboard::get() error. Missing key [{key}]; keys here: {known}"

    def get_int(self, key: str) -> int:
        """Value as an integer; raises BlackboardError if that loses anything."""
        return int(self.get_as(key, int))

    def get_double(self, key: str) -> float:
        """Value as a float."""
        return float(self.get_as(key, float))

    def get_bool(self, key: str) -> bool:
        """Value as a bool."""
        return bool(self.get_as(key, bool))

    def get_string(self, key: str) -> str:
        """Value as text."""
        return str(self.get_as(key, str))

    def set_int(self, key: str, value: int) -> None:
        """Write an integer; raises TypeError for anything else."""
        number = operator.index(value)
        if self._types.exact and not -(2**31) <= number < 2**31:
            raise TypeError(f"set_int({key!r}) takes an integer of 32 bits, not {number}")
        self.set(key, number)

    def set_double(self, key: str, value: float) -> None:
        """Write a float; raises TypeError for what is no number."""
        if isinstance(value, str | bytes):
            raise TypeError(f"set_double({key!r}) takes a number, not {type(value).__name__}")
        self.set(key, float(value))

    def set_bool(self, key: str, value: bool) -> None:
        """Write a bool; raises TypeError for texts and containers."""
        if value is not None and not hasattr(value, "__bool__"):
            raise TypeError(f"set_bool({key!r}) takes a bool, not {type(value).__name__}")
        self.set(key, bool(value))

    def set_string(self, key: str, value: str) -> None:
        """Write text; a typed entry converts it."""
        if not isinstance(value, str):
            raise TypeError(f"set_string({key!r}) takes a str, not {type(value).__name__}")
        self.set(key, value)

    def unset(self, key: str) -> None:
        """Remove a local entry; nothing happens if there is none."""
        if self._entries.pop(key, None) is not None:
            self._types.names_changed()
        if self._hidden is not None:
            self._hidden.pop(key, None)

    def get_keys(self) -> list[str]:
        """Keys of the local entries, in order of creation."""
        return [*self._entries, *(self._hidden or ())]

    def __contains__(self, key: str) -> bool:
        """True if the key has a value."""
        entry = self.entry(key)
        return entry is not None and entry.value is not None

    def debug_message(self) -> str:
        """Text with one line for each entry and remapping: type, number of writes, value."""
        lines = []
        for key, entry in list(self._entries.items()):
            value = "empty" if entry.value is None else reprlib.repr(entry.value)
            lines.append(f"{key} ({type_name(entry.type)}, {entry.seq} writes): {value}")
        for inner, outer in self._remap.items():
            remote = self.entry(inner)
            kind = "no entry yet" if remote is None else type_name(remote.type)
            lines.append(f"{inner} ({kind}) -> {outer} of the parent")
        if self._autoremap:
            lines.append("all other keys -> the same of the parent, unless they begin with '_'")
        return "\n".join(lines) or "no entries"

    def __repr__(self) -> str:
        return f"<Blackboard {', '.join(self._entries) or 'empty'}>"

    def items(self) -> Iterator[tuple[str, Any]]:
        """Local keys and values; None for empty entries."""
        for key, entry in list(self._entries.items()):  # a copy: others may write meanwhile
            yield key, entry.value


def _root_key(key: str) -> str:
    if key.startswith("@@"):
        raise LogicError(f"blackboard key [{key}]: use a single '@' to address the root blackboard")
    return key[1:]


def _type_changed(key: str, before: Any, after: Any) -> str:
    return (
        f"Blackboard entry [{key}]: once declared, the type of a port shall not change. "
        f"Previously declared type [{type_name(before)}], current type [{type_name(after)}]"
    )
