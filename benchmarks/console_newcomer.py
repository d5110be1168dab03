# SPDX-License-Identifier: Apache-2.0
"""What a newcomer needs to write, approve, watch and mend a mission in the console.

    python benchmarks/console_newcomer.py [--pictures FOLDER] [--json FILE] [--seed 4]

Brings a simulated stack up with nothing of anybody's own in it, and opens its page in headless
Chromium. There it does what somebody does who sees the page for the first time: makes a mission
"pick the red block, put it on the blue one, retry twice, then go home", previews it, approves it
and watches it finish. Then it gives the place a height that the arm cannot reach, has the page wait
at failures, starts the mission again, reads why it failed, changes the place while the run waits,
and retries. Each click and each field that is filled in is counted; the clock runs from the opening
of the page, the preview and the robot's motions included. It ends with 1 if that took more than
five minutes or sixty clicks and fields, or if the red block is not on the blue one in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from behavior_bringup.stacks.stack import Stack
from behavior_console.access import addresses

MISSION = "red_on_blue"
ON_BLUE = "blue_block;0;0;0.0515"
"""Where the red block's centre rests on the blue one."""
TOO_HIGH = "blue_block;0;0;1.5"
MOST_ACTIONS = 60
LONGEST = 300.0
"""[s]"""
PATIENCE = 240_000
"""[ms] for hangs only."""
CHROMIUM = (
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--no-sandbox", "--disable-dev-shm-usage"),
)


class User:
    """Somebody at the page, whose clicks and fields are counted."""

    def __init__(self, page: Page, pictures: Path | None) -> None:
        self.page, self._pictures = page, pictures
        self.actions, self._begin = 0, time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the page was opened."""
        return time.monotonic() - self._begin

    def click(self, what: Locator) -> None:
        """Click once."""
        what.click()
        self._count(f"click {what}")

    def fill(self, what: Locator, text: str) -> None:
        """Fill a field in."""
        what.fill(text)
        self._count(f"fill in {text}")

    def button(self, name: str, within: Locator | None = None) -> None:
        """Click the button of this name."""
        self.click((within or self.page).get_by_role("button", name=name, exact=True))

    def tab(self, name: str) -> None:
        """Bring a panel to the front."""
        self.click(self.page.get_by_role("tab", name=name))

    def node(self, name: str) -> None:
        """Select a node in the outline."""
        self.click(self.page.get_by_role("treeitem").filter(has_text=name).first)

    def picture(self, name: str) -> None:
        """Keep how the page looks, if anybody wants to know."""
        if self._pictures is not None:
            self.page.screenshot(path=self._pictures / f"{name}.png")

    def _count(self, text: str) -> None:
        self.actions += 1
        print(f"{self.actions:3} {self.seconds:6.1f} s  {text}", flush=True)


def author(user: User) -> None:
    """Make the mission: new, three kinds of nodes from the palette, saved."""
    page = user.page
    user.button("Author")
    user.button("New")
    user.fill(page.get_by_label("Name of the new mission"), MISSION)
    user.button("Make")
    user.button("Outline")
    user.node("first step")
    put_in(user, "PickAndPlace", {"object_name": "red_block", "target": ON_BLUE})
    put_in(user, "RetryUntilSuccessful", {"num_attempts": "3"})
    put_in(user, "GoHome", {})
    user.picture("authored")
    user.button("Save •")
    dialog = page.get_by_role("dialog")
    user.button("Save", dialog)
    dialog.wait_for(state="hidden")


def put_in(user: User, kind: str, fields: dict[str, str]) -> None:
    """Put a node of a kind behind the selected one, or around it."""
    page = user.page
    user.fill(page.get_by_label("Search kinds of nodes"), kind)
    user.click(page.locator(".palette-kind").filter(has=page.get_by_text(kind, exact=True)).first)
    if fields:
        form = page.get_by_role("form", name=f"Put in {kind}")
        for label, text in fields.items():
            user.fill(form.get_by_label(label).first, text)
        user.button("Put in", form)
    page.get_by_role("treeitem").filter(has_text=kind).first.wait_for()


def choose(user: User) -> Locator:
    """Open the mission's form."""
    user.tab("Missions")
    form = user.page.get_by_role("form", name=f"Start {MISSION}")
    if form.count() == 0:
        user.click(user.page.locator(".mission-name").filter(has_text=MISSION))
    return form


def preview_and_run(user: User) -> None:
    """Preview it, approve what was found, watch it finish."""
    user.button("Preview", choose(user))
    found = user.page.get_by_label("What the preview found")
    found.wait_for()
    user.picture("previewed")
    user.button("Approve and run")
    user.button("Operate")
    finished(user.page)
    user.picture("finished")


def provoke(user: User) -> None:
    """Give the place a height out of reach, and start it again, this time waiting at failures."""
    user.button("Author")
    user.node("PickAndPlace")
    change(user, TOO_HIGH)
    form = choose(user)
    user.click(form.get_by_role("switch", name="wait for me at a failure"))
    user.button("Start", form)


def mend(user: User) -> None:
    """Read why it waits, change the setting that the failure speaks of, and retry."""
    waits = user.page.get_by_label("Waits for you")
    expect(waits).to_contain_text("The target is out of the workspace")
    user.picture("waits")
    user.button("Why?", waits)
    expect(user.page.get_by_label("The failure")).to_contain_text("Choose a nearer place")
    user.picture("explained")
    user.button("Change target", waits)
    change(user, ON_BLUE)
    user.picture("mended")
    user.button("Retry", waits)
    finished(user.page)
    user.picture("finished_again")


def change(user: User, target: str) -> None:
    """Set the target of the selected node."""
    settings = user.page.get_by_role("region", name="Settings")
    user.fill(settings.get_by_label("target"), target)
    user.button("Set", settings)
    expect(settings.get_by_role("button", name="Set", exact=True)).to_be_disabled()


def finished(page: Page) -> None:
    """Wait until the bar shows that the mission has finished."""
    bar = page.locator(".bar-mission").filter(has_text=MISSION)
    bar.get_by_role("img", name="finished").wait_for()


def stacked() -> bool:
    """Whether the scene sees the red block on the blue one."""
    done = subprocess.run(
        ["behavior", "scene", "list", "--json"], capture_output=True, text=True, check=True
    )
    objects = {each["name"]: each for each in json.loads(done.stdout)}
    red, blue = (objects[name]["position"] for name in ("red_block", "blue_block"))
    aside = max(abs(red[0] - blue[0]), abs(red[1] - blue[1]))
    print(f"red is {1e3 * aside:.0f} mm aside of blue, {1e3 * (red[2] - blue[2]):.0f} mm above it")
    return bool(aside < 0.02 and 0.04 < red[2] - blue[2] < 0.06)


@contextmanager
def stack(seed: int) -> Iterator[str]:
    """A stack with its console; the address of a page that may do everything."""
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        os.environ["BEHAVIOR_RUNTIME_DIR"] = folder
        subprocess.run(
            ["behavior", "up", "--world", "block_stacking", "--console", "--seed", str(seed)],
            check=True,
        )
        try:
            state = Stack("default").state()
            assert state is not None
            yield addresses(Path(str(state.arguments["console_address"])))[0]
        finally:
            subprocess.run(["behavior", "down"], check=True)


def measure(address: str, pictures: Path | None, chromium: str) -> dict[str, float]:
    """Do all of it; what it took so far after each part."""
    expect.set_options(timeout=PATIENCE)
    found: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM)
        page = browser.new_page(viewport={"width": 1600, "height": 950})
        page.set_default_timeout(PATIENCE)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        user = User(page, pictures)
        page.goto(address)
        for part in (author, preview_and_run, provoke, mend):
            try:
                part(user)
            except Exception:
                user.picture("stuck")
                raise
            found[f"{part.__name__} [s]"] = round(user.seconds, 1)
            found[f"{part.__name__}, clicks and fields"] = user.actions
        browser.close()
    assert errors == [], errors
    return found


def main() -> int:
    """Measure and print; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the page")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    options = parser.parse_args()
    if options.chromium is None:
        parser.error("Chromium is missing: 'sudo apt-get install chromium'")
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with stack(options.seed) as address:
        found = measure(address, options.pictures, options.chromium)
        there = stacked()
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found))
    few = found["mend, clicks and fields"] < MOST_ACTIONS and found["mend [s]"] < LONGEST
    return 0 if few and there else 1


if __name__ == "__main__":
    sys.exit(main())
