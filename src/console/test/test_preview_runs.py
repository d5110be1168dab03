# SPDX-License-Identifier: Apache-2.0
"""Previews in processes of their own: results, refusals, cancelling, limits. No stack."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from behavior_console.preview_runs import PreviewError, PreviewRuns

FOUND = {
    "success": True,
    "reason": "the tower stands",
    "duration_s": 31.5,
    "tool_path": [[0.0, 0.4, 0.0, 0.4], [1.0, 0.5, 0.1, 0.3]],
    "touched": [{"name": "red", "time_s": 4.0, "links": ["hand"]}],
    "clearance": None,
    "notes": ["a note"],
    "begin": {"joints": {"j": 0.0}, "objects": {}},
    "end": {
        "joints": {"j": 1.0},
        "objects": {"red": {"class": "b", "sight": "tracked", "position": [1, 2, 3]}},
    },
}
WRITE = f"""
import json, sys
print("Bringing up a copy", flush=True)
file = sys.argv[sys.argv.index("--json") + 1]
open(file, "w").write(json.dumps({FOUND!r}))
print("args", sys.argv[1:])
"""
REFUSE = "import sys; print('No mission x: choose y'); sys.exit(2)"
# One long sleep may miss a signal that came just before it.
HANG = "print('runs', flush=True)\nimport time\nwhile True: time.sleep(0.05)"
PATIENCE = 120.0


class Watch:
    """What was shown, and the wait for a state."""

    def __init__(self, script: str, **options: Any) -> None:
        self.rows: list[dict[str, Any] | None] = []
        self.news = asyncio.Event()
        self.runs = PreviewRuns(self.show, command=(sys.executable, "-c", script), **options)

    def show(self, row: dict[str, Any] | None) -> None:
        self.rows.append(row)
        self.news.set()

    async def until(self, key: str, *values: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while not (row := self.rows[-1]) or row[key] not in values:
                self.news.clear()
                await self.news.wait()
        return row


def test_what_was_found_is_shown() -> None:
    async def run() -> None:
        watch = Watch(WRITE, namespace="left")
        watch.runs.start("stack", {"order": "a;b"})
        row = await watch.until("state", "done", "failed")
        assert (row["state"], row["success"], row["duration"]) == ("done", True, 31.5)
        assert row["path"] == [[0.4, 0.0, 0.4], [0.5, 0.1, 0.3]]
        assert row["ghost"] == {"j": 1.0}
        assert row["end"]["red"]["position"] == [1, 2, 3]
        said = [each["text"] for each in watch.rows if each]
        assert "Bringing up a copy" in said
        args = next(text for text in said if text.startswith("args"))
        for part in ("'stack'", "'--param=order=a;b'", "'--namespace', 'left'"):
            assert part in args
        json.dumps(row)
        watch.runs.discard()
        assert watch.rows[-1] is None

    asyncio.run(run())


def test_the_motions_of_a_preview_stay_its_own(tmp_path: Path) -> None:
    file = tmp_path / "motions.json"
    file.write_text("[1]", encoding="utf-8")

    async def run() -> None:
        watch = Watch(WRITE.replace("'notes'", f"'motions': {str(file)!r}, 'notes'"))
        watch.runs.start("stack", {})
        await watch.until("state", "done", "failed")
        file.write_text("[2]", encoding="utf-8")  # of another preview, from a terminal
        assert watch.runs.motions == "[1]"
        watch.runs.discard()
        assert watch.runs.motions == ""

    asyncio.run(run())


def test_a_refusal_is_shown_with_its_sentence() -> None:
    async def run() -> None:
        watch = Watch(REFUSE)
        watch.runs.start("x", {})
        row = await watch.until("state", "done", "failed")
        assert (row["state"], row["text"]) == ("failed", "No mission x: choose y")
        watch.runs.start("x", {})  # the next one may begin
        await watch.until("state", "failed")

    asyncio.run(run())


def test_a_preview_is_cancelled_and_only_one_runs() -> None:
    async def run() -> None:
        watch = Watch(HANG)
        with pytest.raises(PreviewError, match="no preview runs"):
            await watch.runs.cancel()
        watch.runs.start("x", {})
        await watch.until("text", "runs")
        with pytest.raises(PreviewError, match="runs already"):
            watch.runs.start("y", {})
        with pytest.raises(PreviewError, match="cancel it first"):
            watch.runs.discard()
        await watch.runs.cancel()
        assert watch.rows[-1]
        assert watch.rows[-1]["state"] == "canceled"
        assert not watch.runs.runs

    asyncio.run(run())


def test_a_preview_ends_at_its_limit() -> None:
    async def run() -> None:
        watch = Watch(HANG, limit=0.2)
        watch.runs.start("x", {})
        row = await watch.until("state", "failed", "done")
        assert "had not ended after 0.2 s" in row["text"]

    asyncio.run(run())


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def run() -> None:
        watch = Watch("")
        watch.runs._command = [str(tmp_path / "gone")]
        watch.runs.start("x", {})
        row = await watch.until("state", "failed")
        assert "gone" in row["text"]

    asyncio.run(run())


def test_a_preview_that_breaks_off_runs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    async def run() -> None:
        watch = Watch("")
        monkeypatch.setattr(asyncio, "create_subprocess_exec", breaks)
        watch.runs.start("x", {})
        row = await watch.until("state", "failed")
        assert row["text"] == "the preview broke off: MemoryError: no room"
        watch.runs.discard()

    asyncio.run(run())


@pytest.mark.parametrize("name", ["", "--approve"])
def test_names_that_are_options_are_refused(name: str) -> None:
    async def run() -> None:
        with pytest.raises(PreviewError, match="name of a mission"):
            Watch(WRITE).runs.start(name, {})

    asyncio.run(run())
