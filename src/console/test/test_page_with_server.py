# SPDX-License-Identifier: Apache-2.0
"""The built page with a real server behind it: two pages, roles, a server that goes and comes."""

from __future__ import annotations

import page_tools
import pytest
from console_client import FakeSource

from behavior_console.access import ConsoleAccess
from behavior_console.app import Pulse, application
from behavior_console.audit import Audit
from behavior_console.desk import ConsoleDesk
from behavior_console.protocol import Answer
from behavior_console.server import ConsoleServer

pytestmark = pytest.mark.slow
ACCESS = ConsoleAccess(edit="e" * 30, operate="o" * 30)
MISSION = {
    "action_id": "a1",
    "name": "stack_blocks",
    "state": "running",
    "t": 100.0,
    "elapsed": 4.0,
    "progress": 0.5,
    "active_path": "stack/Pick",
    "detail": "picks red",
    "cause": None,
    "ended": False,
    "parameters": {},
}
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


class Served:
    """A server with a source that the test fills; `stop` is a command."""

    def __init__(self, folder, port=0, access=ACCESS):
        self.live, self.stopped = FakeSource(), []
        audit = Audit(folder / "audit.jsonl", lambda _: None, pytest.fail)
        desk = ConsoleDesk(self.live, audit)
        desk.commands.offer("stop", self._stop, controls=False)
        pulse = Pulse()
        self.live.channels.on_change = pulse.announce
        self.live.channels.set("mission", MISSION)
        app = application(desk, pulse=pulse, background=desk.background)
        self.server = ConsoleServer(app, access, port=port)
        self.port = self.server.port

    async def _stop(self, client, _args):
        self.stopped.append(client.name)
        return Answer(ok=True, message="all missions are stopped")

    def address(self, token="", **query):
        query = {"layout": "diagnose"} | ({"token": token} if token else {}) | query
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return f"http://localhost:{self.port}/?{text}"


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
