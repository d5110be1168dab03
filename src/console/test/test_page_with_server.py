# SPDX-License-Identifier: Apache-2.0
"""The built page with a real server behind it: two pages, roles, a server that goes and comes."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import page_tools
import pytest
from console_client import PageClient
from page_link import Link
from served_page import ACCESS, MISSION, Served

from behavior_console.access import ConsoleAccess

pytestmark = pytest.mark.slow
PANEL = """
import { greeting } from "./parts/words.js";
export default (element, api) => {
  const line = document.createElement("p");
  element.append(line);
  const stop = api.watch("mission", (mission) => {
    line.textContent = `${greeting} ${mission ? mission.name : "nothing"}`;
  });
  return stop;
};
"""


@pytest.fixture(scope="module")
def browser():
    page_tools.need_page()
    with page_tools.launched() as browser:
        yield browser


@pytest.fixture
def served(tmp_path, browser):
    running = Served(tmp_path)
    yield running
    running.server.close()


@pytest.fixture
def new_page(browser):
    """A page of a browser profile of its own."""
    contexts = []

    def new():
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(page_tools.TIMEOUT)
        contexts.append(context)
        return context.new_page()

    yield new
    for context in contexts:
        context.close()


def _says(page, selector, text):
    page.locator(selector, has_text=text).first.wait_for()


def test_two_pages_see_the_same_and_hand_control_over(served, new_page):
    ann, bob = new_page(), new_page()
    ann.goto(served.address(ACCESS.edit, name="ann"))
    bob.goto(served.address(ACCESS.operate, name="bob"))
    for page in (ann, bob):
        _says(page, ".bar-name", "stack_blocks")
        assert "token" not in page.url
    ann.get_by_role("button", name="Take control").click()
    ann.get_by_role("button", name="control: you").wait_for()
    bob.get_by_role("button", name="has control: ask").click()
    ann.get_by_role("button", name="Give").click()
    bob.get_by_role("button", name="control: you").wait_for()
    served.live.channels.set("mission", {**MISSION, "detail": "places red"})
    for page in (ann, bob):
        _says(page, ".bar-step", "places red")
    bob.locator(".bar-stop").click()
    _says(bob, ".notice", "all missions are stopped")
    assert [name.startswith("bob") for name in served.stopped] == [True]


def test_who_has_no_token_looks_and_who_has_a_wrong_one_is_refused(served, new_page):
    page = new_page()
    page.goto(served.address())
    _says(page, ".bar-control", "you watch")
    assert page.get_by_role("button", name="Take control").count() == 0
    page.locator(".bar-stop").click()
    _says(page, ".notice[data-level=error]", "")
    assert served.stopped == []
    refused = page.goto(served.address("x" * 30))
    assert refused is not None
    assert refused.status in {401, 403}
    assert "token" in page.locator("body").inner_text()


def test_a_server_that_is_gone_is_said_and_found_again(served, new_page, tmp_path):
    page = new_page()
    page.goto(served.address(ACCESS.edit))
    _says(page, ".bar-name", "stack_blocks")
    served.server.close()
    _says(page, ".banner[data-kind=lost]", "is lost")
    again = Served(tmp_path, served.port)
    try:
        assert again.port == served.port
        again.live.channels.set("mission", {**MISSION, "name": "another_one"})
        page.locator(".banner[data-kind=lost]").wait_for(state="detached")
        _says(page, ".bar-name", "another_one")
    finally:
        again.server.close()
    stranger = Served(tmp_path, served.port, ConsoleAccess(edit="f" * 30, operate="g" * 30))
    try:
        _says(page, ".banner[data-kind=lost]", "refused this page")
    finally:
        stranger.server.close()


def _detail(viewer):
    return viewer.state.get("mission", {}).get("detail")


@contextmanager
def _process(folder):
    """A server in a process of its own; its port."""
    program = Path(__file__).with_name("served_page.py")
    with subprocess.Popen(
        [sys.executable, str(program), str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.timeout(400)
def test_a_server_that_is_killed_is_said_and_found_again(browser, new_page, tmp_path):
    page = new_page()
    with _process(tmp_path) as port:
        page.goto(f"http://localhost:{port}/?layout=diagnose&token={ACCESS.edit}")
        _says(page, ".bar-name", "stack_blocks")
        page.get_by_role("button", name="Take control").click()
        page.get_by_role("button", name="control: you").wait_for()
    _says(page, ".banner[data-kind=lost]", "is lost")
    again = Served(tmp_path, port)
    try:
        assert again.port == port
        page.locator(".banner[data-kind=lost]").wait_for(state="detached")
        page.locator(".bar-stop").click()
        _says(page, ".notice", "all missions are stopped")
    finally:
        again.server.close()


def test_behind_a_slow_link_the_newest_is_shown_and_nothing_piles_up(served, new_page):
    page, link = new_page(), Link(served.port)
    try:
        page.goto(f"http://localhost:{link.port}/?layout=diagnose&token={ACCESS.edit}")
        _says(page, ".bar-name", "stack_blocks")
        link.hold()
        before = link.brought
        for number in range(2_000):
            served.live.channels.set("mission", {**MISSION, "detail": f"step {number}"})
        link.release()
        _says(page, ".bar-step", "step 1999")
        assert link.brought - before < 20_000
        link.rate = 32_000.0
        before = link.brought
        for number in range(2_000, 4_000):
            served.live.channels.set("mission", {**MISSION, "detail": f"step {number}"})
        _says(page, ".bar-step", "step 3999")
        assert link.brought - before < 100_000
    finally:
        link.close()


def test_fifty_watch_and_one_acts(served, new_page):
    page = new_page()
    page.goto(served.address(ACCESS.operate))
    with ExitStack() as stack:
        viewers = [stack.enter_context(PageClient(served.port)) for _ in range(50)]
        for viewer in viewers:
            viewer.hello("vic", "view").show("mission")
        served.live.channels.set("mission", {**MISSION, "detail": "places red"})
        for viewer in viewers:
            viewer.until(lambda who=viewer: _detail(who) == "places red")
        _says(page, ".bar-step", "places red")
        page.locator(".bar-stop").click()
        _says(page, ".notice", "all missions are stopped")


def test_a_package_brings_a_panel(served, new_page, tmp_path, monkeypatch):
    folder = tmp_path / "share" / "my_jobs" / "panels"
    (folder / "parts").mkdir(parents=True)
    index = tmp_path / "share/ament_index/resource_index/behavior_packages"
    index.mkdir(parents=True)
    (index / "my_jobs").touch()
    (folder.parent / "behavior.yaml").write_text("panels: [panels]\n")
    (folder / "greeting_panel.js").write_text(PANEL)
    (folder / "broken.js").write_text("export const nothing = 1;")
    (folder / "parts" / "words.js").write_text('export const greeting = "it runs:";')
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    from behavior_console.offered_panels import offered_panels

    served.live.channels.set("modules", offered_panels())
    page = new_page()
    page.goto(served.address(ACCESS.edit))
    _says(page, ".bar-name", "stack_blocks")
    for panel, text in (
        ("greeting panel", "it runs: stack_blocks"),
        ("broken", "no default export"),
    ):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Command").fill(f"panel {panel}")
        page.locator("#choices [aria-selected=true]", has_text=panel.capitalize()).wait_for()
        page.keyboard.press("Enter")
        page.get_by_text(text).wait_for()
    served.live.channels.set("mission", {**MISSION, "name": "<b>x</b>"})
    page.locator(".dv-tab", has_text="Greeting panel").click()
    page.get_by_text("it runs: <b>x</b>").wait_for()


LARGE, BRANCH = 5_000, 7
"""Nodes of a large tree, and children of one."""
PAN = """(seconds) => new Promise((done) => {
  const canvas = document.querySelector(".tree-canvas > canvas");
  const frame = document.querySelector(".tree-map-frame");
  const [times, places] = [[], new Set()];
  const step = (time) => {
    times.push(time);
    places.add(frame.style.cssText);
    const part = (time - times[0]) / 1000;
    if (part >= seconds) return done([times.length / part, places.size]);
    const to = { clientX: 700 + 150 * Math.sin(2 * part), clientY: 400 + 100 * Math.cos(3 * part) };
    canvas.dispatchEvent(new PointerEvent("pointermove", { pointerId: 1, bubbles: true, ...to }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
"""Moves the pointer that holds the canvas with each frame of the screen; returns how many there
were a second, and at how many places the view was."""


def _show_large_tree(channels):
    """A tree in which all inner nodes have seven children."""
    nodes = []
    for uid in range(1, LARGE + 1):
        kind = ("Sequence", "Control") if BRANCH * (uid - 1) + 1 < LARGE else ("Work", "Action")
        above = (uid - 2) // BRANCH + 1 if uid > 1 else None
        nodes.append([uid, above, kind[0], f"node {uid}", kind[1], f"large/{uid}"])
    elements = "".join(f'<Work _uid="{node[0]}" speed="{{speed}}"/>' for node in nodes)
    xml = f'<root BTCPP_format="4"><BehaviorTree ID="large">{elements}</BehaviorTree></root>'
    about = {"life": "1", "action_id": "a1", "tree_id": "large", "revision": 1, "ended": None}
    channels.set("tree", {**about, "xml": xml, "nodes": nodes})
    channels.restart("status", {node[0]: [0, time.time(), 0, 0] for node in nodes})


def _tick(channels, ended):
    """At 20 Hz a hundred leaves end, and the next one runs with all that is above it."""
    leaves = itertools.cycle(range((LARGE - 2) // BRANCH + 2, LARGE + 1))
    runs = []
    while not ended.wait(0.05):
        now = time.time()
        changes = {uid: [2, now, 1, 2] for uid in (*runs, *itertools.islice(leaves, 100))}
        runs = [next(leaves)]
        while runs[-1] > 1:
            runs.append((runs[-1] - 2) // BRANCH + 1)
        channels.patch("status", changes | {uid: [1, now, 0, 0] for uid in runs})


@pytest.mark.skipif(
    os.environ.get("BEHAVIOR_LONG_TESTS") != "1", reason="times the machine: BEHAVIOR_LONG_TESTS=1"
)
@pytest.mark.parametrize("whole", [False, True], ids=["near", "whole"])
def test_a_tree_of_5000_nodes_is_panned_at_30_frames_a_second(served, new_page, whole):
    channels, ended = served.live.channels, threading.Event()
    _show_large_tree(channels)
    ticks = threading.Thread(target=_tick, args=(channels, ended))
    ticks.start()
    try:
        page = new_page()
        page.goto(served.address(layout="author"))
        page.get_by_role("button", name="Follow").click()
        page.locator(".tree-running time").first.wait_for()
        if whole:
            page.get_by_role("button", name="Fit", exact=True).click()
        page.mouse.move(700, 400)
        page.mouse.down()
        rate, places = page.evaluate(PAN, 5.0)
        page.mouse.up()
    finally:
        ended.set()
        ticks.join()
    print(f"{rate:.0f} frames a second")
    assert places > 10
    assert rate >= 30.0
