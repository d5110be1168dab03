# SPDX-License-Identifier: Apache-2.0
"""Actions of an order: handlers that do them, and what may run beside what (VDA5050 6.8, 6.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from behavior_vda5050.messages import Action, ActionState, ActionStatus, BlockingType


class RunningAction(Protocol):
    """An action under way."""

    def poll(self) -> tuple[ActionStatus, str]:
        """Its status now, and a text on it; not WAITING."""

    def cancel(self) -> None:
        """End it soon; it becomes FAILED."""

    def pause(self) -> None:
        """Hold it, if it can be held."""

    def resume(self) -> None:
        """Go on."""


class ActionHandler(Protocol):
    """Does the actions of one type."""

    description: str
    """For the factsheet, one line."""

    def start(self, action: Action) -> RunningAction:
        """Begin one.

        Raises:
            ValueError: its parameters are wrong. Whatever is raised, the action becomes FAILED.
        """


@dataclass
class _Entry:
    action: Action
    status: ActionStatus = ActionStatus.WAITING
    text: str = ""
    running: RunningAction | None = None
    due: bool = False
    """Whether its node or edge was reached."""


class ActionBook:
    """All actions of an order, with their states."""

    def __init__(self, handlers: Mapping[str, ActionHandler]) -> None:
        """Start empty.

        Args:
            handlers: by action type.
        """
        self._handlers = handlers
        self._entries: dict[str, _Entry] = {}

    def add(self, actions: Iterable[Action]) -> None:
        """Take note of actions that will be due later; known ones are left alone."""
        for action in actions:
            self._entries.setdefault(action.action_id, _Entry(action))

    @property
    def due(self) -> frozenset[str]:
        """Identifiers of the actions whose node or edge was reached."""
        return frozenset(key for key, entry in self._entries.items() if entry.due)

    def keep_newest(self, most: int) -> None:
        """Forget ended actions beyond this number, the oldest first."""
        ended = [key for key, entry in self._entries.items() if entry.status.is_final]
        for key in ended[: max(0, len(ended) - most)]:
            del self._entries[key]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._entries)

    def drop_waiting(self) -> None:
        """Forget the actions whose node or edge was not reached: those of a horizon may be other
        ones, or in another order, in the update that replaces it.
        """
        self._entries = {
            key: entry for key, entry in self._entries.items() if entry.due or entry.status.is_final
        }

    def reach(self, actions: Iterable[Action]) -> None:
        """The node or edge of these actions was reached."""
        for action in actions:
            self._entries[action.action_id].due = True

    def begin(self, action: Action) -> None:
        """Start an action at once, whatever else runs."""
        entry = self._entries.setdefault(action.action_id, _Entry(action))
        entry.due = True
        self._start(entry)

    def record(self, action: Action, status: ActionStatus, text: str = "") -> None:
        """Enter the state of an action that needs no handler."""
        entry = self._entries.setdefault(action.action_id, _Entry(action))
        entry.status, entry.text, entry.due = status, text, True

    def step(self, *, paused: bool = False) -> None:
        """See how actions are doing, and start those that may start."""
        for entry in self._entries.values():
            if _is_open(entry):
                _poll(entry)
        if paused:
            return
        for entry in self._entries.values():
            if not entry.due or entry.status is not ActionStatus.WAITING:
                continue
            running = [e for e in self._entries.values() if e.due and _is_open(e)]
            if any(e.action.blocking_type is BlockingType.HARD for e in running):
                return
            if entry.action.blocking_type is BlockingType.HARD and running:
                return  # and what comes after it waits for it
            self._start(entry)

    def cancel(self) -> None:
        """End what runs; what waits never starts."""
        for entry in self._entries.values():
            if entry.status is ActionStatus.WAITING:
                entry.status, entry.text = ActionStatus.FAILED, "the order was cancelled"
            else:
                _tell(entry, lambda running: running.cancel())

    def pause(self) -> None:
        """Hold what can be held."""
        for entry in self._entries.values():
            _tell(entry, lambda running: running.pause())

    def resume(self) -> None:
        """Go on."""
        for entry in self._entries.values():
            _tell(entry, lambda running: running.resume())

    @property
    def may_drive(self) -> bool:
        """Whether no action that is due forbids driving."""
        return not any(
            entry.due
            and not entry.status.is_final
            and entry.action.blocking_type is not BlockingType.NONE
            for entry in self._entries.values()
        )

    @property
    def busy(self) -> bool:
        """Whether an action that is due has not ended."""
        return any(entry.due and not entry.status.is_final for entry in self._entries.values())

    @property
    def failed(self) -> Action | None:
        """The first action that failed and that the order cannot do without."""
        failed = (e.action for e in self._entries.values() if e.status is ActionStatus.FAILED)
        return next((a for a in failed if a.blocking_type is not BlockingType.NONE), None)

    def states(self) -> tuple[ActionState, ...]:
        """For the state message."""
        return tuple(
            ActionState(
                action_id=entry.action.action_id,
                action_type=entry.action.action_type,
                action_description=entry.action.action_description,
                action_status=entry.status,
                result_description=entry.text or None,
            )
            for entry in self._entries.values()
        )

    def _start(self, entry: _Entry) -> None:
        try:
            entry.running = self._handlers[entry.action.action_type].start(entry.action)
        except Exception as error:  # a package's handler may raise anything
            entry.status, entry.text = ActionStatus.FAILED, f"cannot be started: {_words(error)}"
        else:
            _poll(entry)


def _poll(entry: _Entry) -> None:
    """See how an action that was started is doing."""
    assert entry.running is not None
    try:
        entry.status, entry.text = entry.running.poll()
    except Exception as error:  # a package's handler may raise anything
        _lose(entry, error)


def _tell(entry: _Entry, request: Callable[[RunningAction], None]) -> None:
    """Cancel, hold or continue an action, if it goes on."""
    if entry.running is None or entry.status.is_final:
        return
    try:
        request(entry.running)
    except Exception as error:  # a package's handler may raise anything
        _lose(entry, error)


def _lose(entry: _Entry, error: Exception) -> None:
    entry.status, entry.text = ActionStatus.FAILED, f"its handler failed: {_words(error)}"


def _words(error: Exception) -> str:
    """What to say of it: that of a handler's own check as it stands, any other with its kind."""
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _is_open(entry: _Entry) -> bool:
    return entry.running is not None and not entry.status.is_final
