# SPDX-License-Identifier: Apache-2.0
"""How soon an operator sees what a robot does, and what looking costs it.

    python benchmarks/console_latency.py [--seconds 20] [--viewers 50] [--json FILE]

An executor ticks a mission at 20 Hz, the console runs in a process of its own as in a stack, and
the page is open in headless Chromium. Told are

* the time from a change of status in the executor until it is drawn, at the second next frame of
  the browser, in the layout Author: without a graphics card 3D would be drawn by the processor,
* the same until one program has it, without a browser, and until 50 more have it beside the
  browser, and what the console's process needs for them,
* how old the newest state is behind a link of 256 kbit/s and 0.1 s each way,
* the time from the start of a console that was killed until the open page shows the run again,
* processor time of the executor's tick with a console that listens, by that without.

Changes that a newer one overtook before they were sent count with the newer one.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgpack
import psutil
from playwright.sync_api import Page, sync_playwright
from rclpy.parameter import Parameter
from recording_cost import document_of, executor_of, run, switch, timed, until_heard
from websockets.asyncio.client import connect

from behavior_console.access import addresses
from behavior_executor.missions.mission import Kind, MissionRequest
from behavior_executor.node.executor_node import BehaviorExecutor
from behavior_ros.testing import Spinner

PATIENCE = 120.0
"""[s] for something to come up; a limit for hangs only."""
TICKS = 20.0
"""[Hz]."""
SHOWN = ("tree", "status", "reasons", "spans", "events", "mission", "blackboard", "health")
SLOW_LINK = 256_000 / 8
"""[bytes/s]."""
SLOW_WAY = 0.1
"""[s] each way."""
CHROMIUM = ("--disable-gpu", "--enable-unsafe-swiftshader")
"""As Chromium draws where there is no graphics card."""
WATCH = """
const frames = [];
window.__frames = frames;
const bytes = (data) => {
  let text = "";
  for (const each of new Uint8Array(data)) text += String.fromCharCode(each);
  return btoa(text);
};
const now = () => (performance.timeOrigin + performance.now()) / 1000;
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.waiting = [];
    this.addEventListener("message", (event) => this.waiting.push(bytes(event.data)));
  }
  send(data) {
    super.send(data);
    const drawn = this.waiting;
    this.waiting = [];
    requestAnimationFrame(() => { for (const each of drawn) frames.push([now(), each]); });
  }
};
"""
"""In the page: keeps each message with the time at which what was drawn of it stood for a frame.

The page answers a message from its next animation frame; the one after that is waited for."""


class Console:
    """A console in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "console.url"
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, again at the same address; returns when it serves."""
        before = self._file.stat().st_mtime_ns if self._file.exists() else 0
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "behavior_packages.node_program"),
                *("behavior_console.node.main", "--ros-args", "-p", f"port:={self.port}"),
                *("-p", f"address_file:={self._file}"),
            ],
            stderr=(self._folder / "console.log").open("ab"),
        )
        _until(lambda: self._file.exists() and self._file.stat().st_mtime_ns > before)
        self.url = addresses(self._file)[0]
        self.port = int(self.url.partition("localhost:")[2].partition("/")[0])

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()

    def work(self) -> float:
        """[s] of processor time so far."""
        return float(sum(psutil.Process(self.process.pid).cpu_times()[:2]))


def _until(true: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "something does not come up"
        time.sleep(0.02)


@contextmanager
def ticking(folder: Path, conditions: int) -> Iterator[None]:
    """An executor that ticks a mission with much to see, in a thread of this process."""
    trees = folder / "trees"
    trees.mkdir()
    (trees / "main.xml").write_text(f"<!-- Looks -->{document_of(conditions)}")
    values = {
        "tree_directories": [str(trees)],
        "nodes_file": "",
        "managers": [""],
        "tick_rate": TICKS,
    }
    executor = BehaviorExecutor(
        parameter_overrides=[Parameter(name, value=value) for name, value in values.items()]
    )
    spinner = Spinner()
    spinner.start(executor)
    spinner.do(executor.core.submit, MissionRequest("seen", Kind.RUN_BEHAVIOR, "main"))
    try:
        yield
    finally:
        spinner.stop()


def ages(received: float, message: bytes) -> list[float]:
    """[s] since each change of status in a frame; a change is as old as its stamp."""
    content = msgpack.unpackb(message, strict_map_key=False)
    changes = content.get("patch", {}).get("status", {})
    return [received - entry[1] for entry in changes.values() if entry is not None]


def figures(found: list[float]) -> dict[str, float]:
    """Median, 95th percentile and the longest [ms]."""
    ordered = sorted(found)
    at = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    shown = {"median": statistics.median(ordered), "p95": at, "longest": ordered[-1]}
    return {name: round(1e3 * value, 1) for name, value in shown.items()} | {"of": len(ordered)}


def drawn(page: Page, seconds: float) -> list[float]:
    """Ages of what the page draws in a while."""
    page.evaluate("window.__frames.length = 0")
    page.wait_for_timeout(1e3 * seconds)
    frames = page.evaluate("window.__frames")
    return [age for at, text in frames for age in ages(at, base64.b64decode(text))]


async def viewer(port: int, seconds: float) -> list[float]:
    """A page without a browser: ages of what it is sent, which it has seen at once."""
    found: list[float] = []
    async with connect(f"ws://localhost:{port}/ws", max_size=2**26, open_timeout=60) as socket:
        await socket.send(msgpack.packb({"hello": {"name": "v", "role": "view", "view": "live"}}))
        await socket.send(msgpack.packb({"subscribe": list(SHOWN)}))
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                message = await asyncio.wait_for(socket.recv(), left)
            except TimeoutError:
                break
            found += ages(time.time(), message)
            content = msgpack.unpackb(message, strict_map_key=False)
            if "frame" in content:
                await socket.send(msgpack.packb({"seen": content["frame"]}))
    return found


def viewers(console: Console, count: int, seconds: float) -> dict[str, Any]:
    """Many at once."""

    async def all_of_them() -> list[list[float]]:
        return await asyncio.gather(*(viewer(console.port, seconds) for _ in range(count)))

    begin, before = time.monotonic(), console.work()
    found = asyncio.run(all_of_them())
    share = (console.work() - before) / (time.monotonic() - begin)
    served = sum(1 for each in found if each)
    return {
        **figures([age for each in found for age in each]),
        "served": served,
        "console's share of a core": round(share, 2),
    }


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand bytes on, slowly, and late."""
    late: set[asyncio.Task[None]] = set()

    async def hand_on(data: bytes) -> None:
        await asyncio.sleep(SLOW_WAY)
        writer.write(data)

    while data := await reader.read(1_400):
        task = asyncio.create_task(hand_on(data))
        late.add(task)
        task.add_done_callback(late.discard)
        await asyncio.sleep(len(data) / SLOW_LINK)
    writer.close()


def slow_link(console: Console, seconds: float) -> dict[str, Any]:
    """One viewer behind a slow link; a page that shows all of a tree of this size."""

    async def measured() -> list[float]:
        async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection("localhost", console.port, limit=4_096)
            await asyncio.gather(_pump(reader, back), _pump(there, writer))

        server = await asyncio.start_server(link, "127.0.0.1", 0, limit=4_096)
        found = await viewer(server.sockets[0].getsockname()[1], seconds)
        server.close()
        return found

    found = asyncio.run(measured())
    half = len(found) // 2
    return {
        **figures(found),
        "median, first half [ms]": figures(found[:half])["median"],
        "median, second half [ms]": figures(found[half:])["median"],
    }


def reconnected(page: Page, console: Console) -> float:
    """[s] from the start of a new console until the page shows the run again, untouched."""
    console.kill()
    page.wait_for_timeout(1_000)
    page.evaluate("window.__frames.length = 0")
    console.start()
    begin = time.time()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        page.wait_for_timeout(50)
        for at, text in page.evaluate("window.__frames"):
            if ages(at, base64.b64decode(text)):
                return float(at) - begin
    raise AssertionError("the page did not come back")


def tick_cost(folder: Path, console: Console, options: argparse.Namespace) -> dict[str, Any]:
    """Tick a mission, in turn a hundred times while the console listens and a hundred without."""
    executor = executor_of(folder, options.conditions)
    records = executor.records
    cost: dict[str, list[float]] = {"open": [], "plain": []}
    until_heard(executor)
    for number in range(options.ticks):
        listens = bool(number // 100 % 2)
        switch(records, to=listens)
        cost["open" if listens else "plain"].append(timed(executor.core.tick)[0])
        time.sleep(1.0 / TICKS / 2)
    executor.destroy_node()
    opened, plain = (1e6 * statistics.median(cost[name]) for name in ("open", "plain"))
    return {
        "open [us]": round(opened, 1),
        "plain [us]": round(plain, 1),
        "ratio": round(opened / plain, 3),
        "more, of a 50 ms period [%]": round((opened - plain) / 500.0, 3),
    }


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All of it, one after the other."""
    found: dict[str, Any] = {"load at the beginning": os.getloadavg()[0]}
    console = Console(folder)
    try:
        with ticking(folder, options.conditions), sync_playwright() as playwright:
            with ThreadPoolExecutor(1) as other:
                one = other.submit(viewers, console, 1, options.seconds)
                found["sent, one viewer [ms]"] = one.result()
            browser = playwright.chromium.launch(executable_path=options.chromium, args=CHROMIUM)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script(WATCH)
            page.goto(f"{console.url}&layout=author")
            _until(lambda: page.evaluate("window.__frames.length") > 20)
            found["drawn [ms]"] = figures(drawn(page, options.seconds))
            # Playwright's loop runs in this thread.
            with ThreadPoolExecutor(1) as other:
                many = other.submit(viewers, console, options.viewers, options.seconds)
                found["drawn, beside the viewers [ms]"] = figures(drawn(page, options.seconds))
                found[f"{options.viewers} viewers [ms]"] = many.result()
                slow = other.submit(slow_link, console, options.seconds)
                found["slow link [ms]"] = slow.result()
            found["page is back after [s]"] = round(reconnected(page, console), 2)
            browser.close()
        found["tick"] = tick_cost(folder, console, options)
    finally:
        console.process.send_signal(signal.SIGINT)
        console.process.wait(PATIENCE)
    found["load at the end"] = os.getloadavg()[0]
    return found


def main() -> int:
    """Measure and print; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--conditions", type=int, default=40)
    parser.add_argument("--ticks", type=int, default=1_200, help="for their cost")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    return run(measure, parser)


if __name__ == "__main__":
    sys.exit(main())
