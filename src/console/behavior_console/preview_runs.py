# SPDX-License-Identifier: Apache-2.0
"""`PreviewRuns`: missions run in a copy of the world, each in a process of its own.

The process is the command ``behavior preview``, which brings the copy up, runs the mission there
and writes what it found. One preview at a time; it ends by itself, by its limit, or when it is
cancelled. No ROS.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from behavior_console.processes import started

PREVIEW: Sequence[str] = (
    *(["nice", "-n", "10"] if shutil.which("nice") else []),
    *(sys.executable, "-m", "behavior_bringup", "preview"),
)
"""With low priority: the robot's own processes come first."""
LIMIT = 900.0
"""[s] wall time, the start of the copy included."""
GRACE = 20.0
"""[s] in which a cancelled preview ends; then it is killed."""
_LONGEST_TEXT = 1_000
_LAST_LINES = 4


class PreviewError(Exception):
    """A preview cannot be begun or cancelled; the sentence says why and what to do."""


class PreviewRuns:
    """Runs previews and shows the last one. Use it in one event loop.

    Args:
        show: is given the channel ``preview``, whenever it changes.
        namespace: of the robot; empty: none. Which stack it belongs to says the environment.
        command: the command line before the mission.
        limit: [s] wall time for one.
    """

    def __init__(
        self,
        show: Callable[[dict[str, Any] | None], None],
        *,
        namespace: str = "",
        command: Sequence[str] = PREVIEW,
        limit: float = LIMIT,
    ) -> None:
        self._show = show
        self._command = [*command]
        self._options = ["--namespace", namespace] if namespace else []
        self._limit = limit
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._canceled = False
        self.row: dict[str, Any] | None = None
        """The last preview as it is shown; None: there is none."""
        self.motions = ""
        """The motions that it has planned: the next preview, be it from a terminal, writes its own
        into the same file."""

    @property
    def runs(self) -> bool:
        """Whether one runs now."""
        return self._task is not None and not self._task.done()

    def start(self, mission: str, parameters: Mapping[str, str]) -> None:
        """Begin a preview; `show` is given how it goes on.

        Raises:
            PreviewError: one runs already, or the name cannot be a mission's.
        """
        if self.runs:
            raise PreviewError("a preview runs already: wait for its end, or cancel it")
        if not mission or mission.startswith("-"):
            raise PreviewError("the name of a mission is missing")
        self._canceled = False
        self._set(_row("running", mission, parameters, text="begins"))
        self._task = asyncio.create_task(self._run(mission, dict(parameters)))

    async def cancel(self) -> None:
        """End the preview that runs, and wait for its end.

        Raises:
            PreviewError: none runs.
        """
        if not self.runs or self._task is None:
            raise PreviewError("no preview runs")
        self._canceled = True
        if self._process is not None:
            await self._end(self._process)
        await asyncio.shield(self._task)

    def discard(self) -> None:
        """Show the last one no more.

        Raises:
            PreviewError: it runs.
        """
        if self.runs:
            raise PreviewError("the preview runs: cancel it first")
        self._set(None)

    def tell_edited(self, row: Mapping[str, Any], edited: Sequence[str]) -> None:
        """Show what of a preview's trees was edited since, if it is still the last one."""
        if row is self.row:
            self._set({**row, "tree_changes": list(edited)}, self.motions)

    def close(self) -> None:
        """End what runs, without waiting for its end; any thread may do so."""
        self._canceled = True
        if (process := self._process) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)

    # -- one run -----------------------------------------------------------------------------------

    async def _run(self, mission: str, parameters: dict[str, str]) -> None:
        with tempfile.TemporaryDirectory(prefix="behavior-preview-") as folder:
            file = Path(folder) / "preview.json"
            given = [f"--param={key}={value}" for key, value in parameters.items()]
            line = [*self._command, mission, *given, "--json", str(file), *self._options]
            try:
                said = await self._carry_out(line, mission, parameters)
            except OSError as error:
                text = f"the command cannot be run: {error.strerror}: {line[0]}"
                self._set(_row("failed", mission, parameters, text=text))
                return
            except BaseException as error:
                text = f"the preview broke off: {type(error).__name__}: {error}"
                self._set(_row("failed", mission, parameters, text=text[:_LONGEST_TEXT]))
                raise
            found = _read(file)
        motions = await asyncio.to_thread(_motions, found) if found is not None else ""
        if self._canceled:
            self._set(_row("canceled", mission, parameters, text="cancelled"))
        elif found is None:
            self._set(_row("failed", mission, parameters, text=said or "it ended without a result"))
        else:
            self._set(_found_row(mission, parameters, found), motions)

    async def _carry_out(self, line: list[str], mission: str, parameters: dict[str, str]) -> str:
        """Run the process to its end; the last lines that it said, or why it was ended."""
        process = await started(line)
        self._process = process
        if self._canceled:
            await self._end(process)
        try:
            async with asyncio.timeout(self._limit):
                return await self._listen(process, mission, parameters)
        except TimeoutError:
            await self._end(process)
            return f"it had not ended after {self._limit:g} s and was ended"
        finally:
            self._process = None
            if process.returncode is None:
                await self._end(process)

    async def _listen(
        self, process: asyncio.subprocess.Process, mission: str, parameters: dict[str, str]
    ) -> str:
        assert process.stdout is not None
        lines: list[str] = []
        while data := await _line(process.stdout):
            if text := data.decode("utf-8", "replace").strip():
                lines = [*lines[1 - _LAST_LINES :], text[:_LONGEST_TEXT]]
                self._set(_row("running", mission, parameters, text=text[:_LONGEST_TEXT]))
        await process.wait()
        return "\n".join(lines)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """As Ctrl-C does, which leaves nothing behind; by force if that does not help."""
        for number, patience in ((signal.SIGINT, GRACE), (signal.SIGKILL, GRACE)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await process.wait()
                    return

    def _set(self, row: dict[str, Any] | None, motions: str = "") -> None:
        self.row, self.motions = row, motions
        self._show(row)


async def _line(stream: asyncio.StreamReader) -> bytes:
    """The next line; of one that is too long its end. Empty: there is no more."""
    try:
        return await stream.readline()
    except ValueError:
        return b" \n"


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _motions(found: Mapping[str, Any]) -> str:
    """What stands in the file of motions that a report names; nothing if it has gone."""
    file = found.get("motions")
    try:
        return Path(file).read_text(encoding="utf-8") if isinstance(file, str) and file else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _row(state: str, mission: str, parameters: Mapping[str, str], *, text: str) -> dict[str, Any]:
    return {
        "state": state,
        "mission": mission,
        "parameters": dict(parameters),
        "text": text,
        "success": False,
        "reason": "",
        "duration": 0.0,
        "path": [],
        "ghost": {},
        "touched": [],
        "clearance": None,
        "notes": [],
        "tree_files": {},
        "tree_revisions": {},
        "tree_changes": [],
        "begin": {},
        "end": {},
        "stood": None,
    }


def _found_row(
    mission: str, parameters: Mapping[str, str], found: Mapping[str, Any]
) -> dict[str, Any]:
    """What ``behavior preview --json`` wrote, as the channel has it."""
    begin, end = found.get("begin") or {}, found.get("end") or {}
    return {
        **_row("done", mission, parameters, text=""),
        "success": bool(found.get("success")),
        "reason": str(found.get("reason", ""))[:_LONGEST_TEXT],
        "duration": float(found.get("duration_s", 0.0)),
        "path": [place[1:4] for place in found.get("tool_path", [])],
        "ghost": dict(end.get("joints", {})),
        "touched": list(found.get("touched", [])),
        "clearance": found.get("clearance"),
        "notes": list(found.get("notes", [])),
        "tree_files": dict(found.get("tree_files") or {}),
        "tree_revisions": dict(found.get("tree_revisions") or {}),
        "begin": _objects(begin),
        "end": _objects(end),
        "stood": (begin.get("base") or {}).get("pose", [])[:2] or None,
    }


def _objects(state: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("class", "sight", "position", "orientation_xyzw")
    return {
        name: {key: item.get(key) for key in keys} | {"derived": bool(item.get("derived"))}
        for name, item in state.get("objects", {}).items()
    }
