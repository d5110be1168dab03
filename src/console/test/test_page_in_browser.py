# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, with scripted runs instead of a server."""

from __future__ import annotations

import os

import page_tools
import pytest

pytestmark = pytest.mark.slow
BUSY = "fake=stack_blocks&t=32"
PLAIN = f"{BUSY}&layout=diagnose"
"""Without the 3D view, which a machine without a graphics card draws slowly."""
NOT_REACHED = """() => [...document.querySelectorAll("button, a[href], input, select, textarea")]
    .filter((each) => each.checkVisibility() && !each.disabled && each.tabIndex >= 0)
    .filter((each) => !each.hasAttribute("data-was")).map((each) => each.outerHTML)"""
"""What can be clicked and was not marked as it had the focus."""
LAYOUTS = ("operate", "author", "diagnose", "replay")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    page_tools.need_chromium()
    page_tools.need_node()
    folder = tmp_path_factory.mktemp("page")
    page_tools.build_with_fakes(folder)
    with page_tools.served(folder) as url:
        yield url


@pytest.fixture(scope="module")
def browser(address):
    with page_tools.launched() as browser:
        yield browser


@pytest.fixture
def open_page(browser, address):
    """Opens the page at a query; it must say no error."""
    contexts, errors = [], []

    def opened(query=BUSY, *, width=1440, height=900, theme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
        )
        context.set_default_timeout(page_tools.TIMEOUT)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(dialog.message))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(f"{address}/?{query}")
        _settle(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def _settle(page):
    page.locator(".bar").wait_for()
    page.wait_for_function(
        "document.querySelector('.dv-content-container, .narrow-panel') !== null"
        " && !document.body.innerText.includes('loading th')"
    )


def _violations(page, *rules):
    if not page.evaluate("'axe' in window"):
        page.evaluate(page_tools.AXE.read_text())
    options = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    found = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [
        f"{each['id']}: {node['html'][:160]}: {node['failureSummary'][:200]}"
        for each in found
        for node in each["nodes"][:3]
    ]


def _choose(page, text):
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill(text)
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")


def _is_within(page, selector):
    box = page.locator(selector).bounding_box()
    size = page.viewport_size
    return (
        box is not None
        and box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= size["width"]
        and box["y"] + box["height"] <= size["height"]
    )


def _scrolls_sideways(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_every_layout_is_accessible_in_both_themes(open_page):
    page = open_page()
    for number, layout in enumerate(LAYOUTS, start=1):
        page.keyboard.press(str(number))
        page.get_by_role("button", name=layout.capitalize(), exact=True, pressed=True).wait_for()
        _settle(page)
        assert _violations(page) == [], layout
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert _violations(page, "color-contrast") == [], layout
        page.evaluate("document.documentElement.dataset.theme = 'light'")


def test_a_small_screen_keeps_mission_and_stop(open_page):
    page = open_page(PLAIN, width=1024)
    for width in (1024, 700, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.locator(".narrow" if width < 900 else ".dv-groupview").first.wait_for()
        _settle(page)
        assert _is_within(page, ".bar-stop")
        assert _is_within(page, ".bar-name")
        assert not _scrolls_sideways(page)
    assert _violations(page) == []


def test_layouts_survive_a_reload_and_so_does_the_theme(open_page):
    page = open_page(PLAIN)
    before = page.locator(".dv-tab").count()
    page.locator(".dv-tab", has_text="Log").locator(".dock-close").click(force=True)
    page.wait_for_function(f"document.querySelectorAll('.dv-tab').length === {before - 1}")
    _choose(page, "light or dark")
    page.locator("[data-theme=dark]").wait_for()
    page.reload()
    _settle(page)
    page.locator("[data-theme=dark]").wait_for()
    page.get_by_role("button", name="Diagnose", pressed=True).wait_for()
    assert page.locator(".dv-tab").count() == before - 1
    _choose(page, "panel log")
    page.locator(".dv-tab", has_text="Log").wait_for()


def test_the_tab_key_reaches_all_that_can_be_clicked(open_page):
    page = open_page(PLAIN)
    page.evaluate(
        """() => {
            document.addEventListener("focusin", ({ target }) => (target.dataset.was = ""));
            document.body.setAttribute("tabindex", "-1");
            document.body.focus();
        }"""
    )
    left = ["the focus never came back"]
    for _ in range(300):
        page.keyboard.press("Tab")
        # At the end, or what had the focus is gone; panels may have come meanwhile.
        if page.evaluate("document.activeElement === document.body") and not (
            left := page.evaluate(NOT_REACHED)
        ):
            break
    assert left == []
    assert page.locator(".bar-stop[data-was]").count() == 1
    apart = page.evaluate(
        """() => [...document.querySelectorAll("button[tabindex='-1']")]
            .filter((each) => each.checkVisibility())
            .filter((each) => !each.closest("[role=tablist], [role=tree], [role=toolbar]"))
            .map((each) => each.outerHTML)"""
    )
    assert apart == []


def test_the_palette_goes_to_a_node_and_help_lists_every_key(open_page):
    page = open_page(PLAIN)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("place blue")
    assert _violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_function("/[?&]node=\\d+/.test(location.search)")
    assert page.locator("dialog").count() == 0
    page.keyboard.press("?")
    shown = page.locator("dialog")
    for key in ("Ctrl", "L", "Space", "Esc", "?"):
        shown.locator("kbd", has_text=key).first.wait_for()
    assert _violations(page) == []
    page.keyboard.press("Escape")
    shown.wait_for(state="detached")


def test_a_failure_is_one_line_whose_moment_frames_the_page_and_one_key_goes_back(open_page):
    page = open_page(PLAIN)
    line = page.locator(".banner[data-kind=failure]")
    assert "Raise z by 0.03" in line.inner_text()
    line.get_by_role("button", name="Show moment").click()
    page.locator(".frame[data-live=false]").wait_for()
    page.locator(".bar-clock", has_text="00:31.0").wait_for()
    page.wait_for_function("new URLSearchParams(location.search).get('at') === '31'")
    assert _violations(page, "color-contrast") == []
    page.keyboard.press("l")
    page.locator(".frame[data-live=true]").wait_for()
    page.wait_for_function("!location.search.includes('at=')")


def test_without_a_stack_the_page_says_what_to_do(open_page):
    page = open_page("fake=empty&t=0&layout=diagnose", theme="dark")
    page.get_by_text("start a stack: behavior up").first.wait_for()
    assert _violations(page) == []


def test_hostile_names_are_text_and_push_nothing_out(open_page):
    page = open_page("fake=hostile&t=32")
    page.locator(".bar-name", has_text="<script>").wait_for()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.locator(".narrow" if width < 900 else ".dv-groupview").first.wait_for()
        _settle(page)
        assert _is_within(page, ".bar-stop")
        assert not _scrolls_sideways(page)
    assert page.evaluate("window.struck === undefined")


def test_of_a_tree_of_5000_nodes_only_what_is_seen_is_there(open_page):
    page = open_page("fake=large&t=3&layout=author")
    page.get_by_role("button", name="Outline").click()
    lines = page.get_by_role("treeitem")
    lines.first.wait_for()
    assert lines.count() < 200
    search = page.get_by_role("searchbox", name="Search the tree")
    search.fill("node 4991")
    search.press("Enter")
    page.wait_for_function("new URLSearchParams(location.search).get('node') === '4991'")
    lines.filter(has_text="node 4991").wait_for()
    assert lines.count() < 200
    page.evaluate("fakeServer.advance(300)")
    page.locator(".tree-line[data-running=true]").first.wait_for()
    assert page.evaluate("window.harmed === undefined")


@pytest.mark.skipif(
    os.environ.get("BEHAVIOR_LONG_TESTS") != "1", reason="times the machine: BEHAVIOR_LONG_TESTS=1"
)
def test_something_is_drawn_soon(open_page):
    page = open_page()
    drawn = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"first paint after {drawn:.0f} ms")
    assert drawn <= 1500
