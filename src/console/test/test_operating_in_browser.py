# SPDX-License-Identifier: Apache-2.0
"""An operator at the page in a real browser, with a real executor and no simulation."""

from __future__ import annotations

from pathlib import Path

import pytest
from operated import start
from page_tools import SOFTWARE_DRAWING, need_chromium, need_page

from behavior_ros.testing import Spinner

pytestmark = pytest.mark.slow
TIMEOUT = 90_000
"""[ms] for hangs only."""


@pytest.mark.timeout(280)
def test_a_mission_is_started_mended_paused_and_cancelled(spinner: Spinner, tmp_path: Path) -> None:
    chromium = need_chromium()
    need_page()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=TIMEOUT)
    address = start(spinner, tmp_path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SOFTWARE_DRAWING)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(TIMEOUT)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}&layout=author")  # it has no 3D view, which is slow in software
        page.get_by_role("tab", name="Missions").click()

        # The form: what the executor refuses stands at its field.
        page.get_by_role("button", name="look").click()
        form = page.get_by_role("form", name="Start look")
        expect(
            form.get_by_text("It could start: everything is there that it needs.")
        ).to_be_visible()
        form.get_by_label("far").fill("near")
        form.get_by_role("button", name="Start").click()
        expect(form.get_by_role("alert").first).to_be_visible()
        form.get_by_label("far").fill("2.5")
        form.get_by_label("room").select_option("lab")

        # It waits at its failure, which no panel hides.
        page.keyboard.press("Control+K")
        page.get_by_role("combobox", name="Command").fill("Panel: Run")
        page.keyboard.press("Enter")
        page.get_by_role("switch", name="by itself").click()
        page.get_by_role("tab", name="Missions").click()
        form.get_by_role("button", name="Start").click()
        waits = page.get_by_label("Waits for you").first
        expect(waits).to_contain_text("count waits for you")
        waits.get_by_role("button", name="Go on by itself").click()
        expect(waits).to_contain_text("found has failed and waits for you")
        waits.get_by_role("button", name="Skip").click()
        expect(waits).to_be_hidden()

        # Paused by a key, resumed by a button; another page asks for control, and cancels.
        running = page.get_by_role("region", name="Running")
        expect(running).to_contain_text("running")
        page.locator(".bar-mission").click()  # a key goes to no button then
        page.keyboard.press("Space")
        expect(running).to_contain_text("paused")
        running.get_by_role("button", name="Resume").click()
        expect(running).to_contain_text("running,")
        other = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        other.set_default_timeout(TIMEOUT)
        other.goto(f"{address}&layout=author&name=bob")
        other.get_by_role("tab", name="Missions").click()
        theirs = other.get_by_role("region", name="Running")
        expect(theirs.get_by_role("button", name="Cancel")).to_be_disabled()
        other.get_by_role("button", name="has control: ask").click()
        page.get_by_role("button", name="Give", exact=True).click()
        theirs.get_by_role("button", name="Cancel").click()
        for each in (page, other):
            expect(each.get_by_role("region", name="Ended last")).to_contain_text("canceled")
        browser.close()
    assert errors == []
