# SPDX-License-Identifier: Apache-2.0
"""The buttons of one page that may act: which mission, with which parameters, start, pause, cancel.

A page that only looks gets none; the server takes no clicks from it either.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import viser

from behavior_bringup.errors import UsageError

_LIVING = ("waiting", "initializing", "running", "paused")


@dataclass(frozen=True, kw_only=True)
class Commands:
    """What clicks do; each may be called from any thread."""

    start: Callable[[str, dict[str, str]], None]
    """A mission's name and its parameters."""
    pause: Callable[[], None]
    resume: Callable[[], None]
    cancel: Callable[[], None]
    drive: Callable[[float, float], None]
    """To a place on the map [m]."""


class Controls:
    """The controls in the panel of one page."""

    def __init__(self, client: viser.ClientHandle, commands: Commands, title: str) -> None:
        """Add them to the client's panel."""
        self._commands = commands
        self._state = ""
        self._missions: Mapping[str, Sequence[str]] = {}
        self._drives = False
        gui = client.gui
        self._client = client
        with gui.add_folder(title, order=0):
            self._choice: Any = gui.add_dropdown("mission", ("...",), disabled=True)
            self._parameters = gui.add_text("parameters", "", hint="KEY=VALUE; KEY=VALUE")
            self._known = gui.add_html("")
            self._start = gui.add_button("Start", color="green", disabled=True)
            self._hold = gui.add_button("Pause", color="yellow", disabled=True)
            self._cancel = gui.add_button("Cancel", color="red", disabled=True)
        self._choice.on_update(lambda _: self._show_parameters())
        self._start.on_click(lambda _: self._on_start())
        self._hold.on_click(lambda _: self._on_hold())
        self._cancel.on_click(lambda _: commands.cancel())

    def set_missions(self, missions: Mapping[str, Sequence[str]], preferred: str) -> None:
        """Offer these missions; `preferred` is chosen at first.

        Args:
            missions: for each, its parameters in a line each.
            preferred: name of one.
        """
        if missions == self._missions:
            return
        first, self._missions = not self._missions, missions
        self._choice.options = tuple(missions) or ("none runs in this world",)
        if first and preferred in missions:
            self._choice.value = preferred
        self._choice.disabled = self._start.disabled = not missions
        self._show_parameters()

    def add_drive(self) -> None:
        """Offer driving to a place on the map."""
        if self._drives:
            return
        self._drives = True
        gui = self._client.gui
        with gui.add_folder("Drive to", order=0.5):
            x = gui.add_number("x [m]", 0.0, step=0.1)
            y = gui.add_number("y [m]", 0.0, step=0.1)
            go = gui.add_button("Drive", color="green")
        go.on_click(lambda _: self._commands.drive(float(x.value), float(y.value)))

    def set_state(self, state: str) -> None:
        """Offer what fits a mission's state."""
        if state == self._state:
            return
        self._state = state
        self._cancel.disabled = self._hold.disabled = state not in _LIVING
        self._hold.label = "Resume" if state == "paused" else "Pause"

    def _show_parameters(self) -> None:
        lines = self._missions.get(str(self._choice.value), ())
        text = "<br/>".join(html.escape(line) for line in lines)
        self._known.content = (
            f'<div style="padding:0 0.8em;font-size:11px;color:#6b7280">{text}</div>'
        )

    def _on_start(self) -> None:
        try:
            parameters = parse_parameters(self._parameters.value)
        except UsageError as error:
            self._client.add_notification("Not started", str(error), color="red")
            return
        self._commands.start(str(self._choice.value), parameters)

    def _on_hold(self) -> None:
        (self._commands.resume if self._state == "paused" else self._commands.pause)()


def parse_parameters(text: str) -> dict[str, str]:
    """`KEY=VALUE; KEY=VALUE` as a mapping.

    Raises:
        UsageError: a part has another form.
    """
    parameters = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = part.partition("=")
        if not (key.strip() and equals):
            raise UsageError(f"Write parameters as KEY=VALUE; KEY=VALUE, not '{part}'")
        parameters[key.strip()] = value.strip()
    return parameters
