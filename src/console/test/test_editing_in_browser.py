# SPDX-License-Identifier: Apache-2.0
"""Two browsers edit one tree at once, of a real executor by a real console."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import page_tools
import pytest
from test_editing_node import start

from behavior_console.page import PAGE_FOLDER
from behavior_ros.testing import Spinner

TIMEOUT = 120_000
"""[ms] for hangs only."""


@pytest.fixture
def open_page() -> Any:
    """Opens an address in a browser of its own; pages must say no error."""
    program = page_tools.need_chromium()
    if not (PAGE_FOLDER / "index.html").is_file():
        pytest.skip("the page is not built: 'make page'")
    from playwright.sync_api import sync_playwright

    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=page_tools.SOFTWARE_DRAWING
        )

        def opened(address: str) -> Any:
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.set_default_timeout(TIMEOUT)
            page = context.new_page()
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(address)
            return page

        yield opened
        browser.close()
    assert errors == []


def line(page: Any, name: str) -> Any:
    """A node in the outline."""
    return page.get_by_role("treeitem").filter(has_text=name)


def corner(page: Any, name: str) -> tuple[float, float]:
    """A point at the upper edge of a node's card on the canvas, by where its name is edited."""
    page.get_by_role("button", name="Outline", pressed=False).click()
    line(page, name).click()
    page.get_by_role("button", name="Outline", pressed=True).click()
    page.locator("canvas[data-edits=true]").press("Enter")
    field = page.locator(".tree-rename")
    field.click(trial=True)  # it stands still then
    found = field.bounding_box()
    field.press("Escape")
    field.wait_for(state="detached")
    assert found is not None
    return found["x"] + 30, found["y"] + 4


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_nodes_are_dragged_by_mouse_in_the_tree_and_into_it(
    spinner: Spinner, tmp_path: Path, open_page: Any
) -> None:
    from playwright.sync_api import expect

    port, token = start(spinner, tmp_path)
    page = open_page(f"http://localhost:{port}/?token={token}&layout=author")
    edit = page.get_by_role("button", name="Edit", exact=True)
    edit.and_(page.locator(":enabled")).click()
    canvas = page.locator("canvas[data-edits=true]")
    canvas.wait_for()
    names, outline = page.locator(".tree-name"), page.get_by_role("button", name="Outline")

    mark, look = corner(page, "mark"), corner(page, "look")
    page.mouse.move(*look)
    page.mouse.down()
    page.mouse.move(*mark, steps=5)
    page.mouse.up()
    outline.click()
    expect(names).to_have_text(["all", "long", "look", "mark"], timeout=TIMEOUT)
    outline.click()

    page.get_by_label("Search kinds of nodes").fill("AlwaysSuccess")
    x, y = corner(page, "mark")
    place = canvas.bounding_box()
    kind = page.locator(".palette-kind", has_text="AlwaysSuccess").first
    kind.drag_to(canvas, target_position={"x": x - place["x"], "y": y - place["y"]})
    outline.click()
    expect(names).to_have_text(["all", "long", "look", "AlwaysSuccess", "mark"], timeout=TIMEOUT)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_two_browsers_edit_one_tree_and_undo_their_own(
    spinner: Spinner, tmp_path: Path, open_page: Any
) -> None:
    port, token = start(spinner, tmp_path)
    pages = []
    for name in ("ann", "bob"):
        address = f"http://localhost:{port}/?token={token}&name={name}&layout=author"
        page = open_page(address)
        edit = page.get_by_role("button", name="Edit", exact=True)
        edit.and_(page.locator(":enabled")).click()
        page.locator("canvas[data-edits=true]").wait_for()
        page.get_by_role("button", name="Outline").click()
        line(page, "mark").wait_for()
        pages.append(page)
    ann, bob = pages

    line(ann, "long").click()
    ann.get_by_label("Search kinds of nodes").fill("Sleep")
    ann.locator(".palette-kind", has_text="Sleep").first.click()
    form = ann.get_by_role("form", name="Put in Sleep")
    form.get_by_label("msec").fill("5")
    form.get_by_role("button", name="Put in").click()
    line(bob, "Sleep").nth(1).wait_for()

    line(bob, "mark").click()
    settings = bob.get_by_role("region", name="Settings")
    settings.get_by_label("name").first.fill("note")
    settings.get_by_role("button", name="Set").click()
    ann.get_by_role("button", name="Outline").click()
    ann.locator(".tree-other", has_text="bob").first.wait_for()
    ann.get_by_role("button", name="Outline").click()
    line(ann, "note").wait_for()

    ann.get_by_role("button", name="Undo").click()
    for page in pages:
        line(page, "Sleep").nth(1).wait_for(state="detached")
        line(page, "note").wait_for()
    bob.get_by_role("button", name="Undo").click()
    for page in pages:
        line(page, "mark").wait_for()
        assert page.get_by_role("treeitem").count() == 4
