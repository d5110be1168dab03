# SPDX-License-Identifier: Apache-2.0
"""Pictures of all panels, for people to look at: ``python src/console/test/photographs.py OUT``.

Scripted runs stand for a stack; the robot and the kinds of nodes are real. Each picture is taken in
both themes and in three widths; ``--only TEXT`` takes those whose names have it, ``--widths 1440``
and ``--themes dark`` fewer.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import page_tools
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from behavior_console.channels import Channels
from behavior_console.editing.serving import edit_routes
from behavior_console.robot_files import RobotFiles, robot_routes

ROBOT = Path(__file__).parents[3] / "config" / "robots" / "panda.yaml"
HEIGHTS = {1440: 900, 1024: 768, 700: 900}
BUSY, WAITS, OVER = "fake=stack_blocks&t=22", "fake=operator&t=43", "fake=stack_blocks&t=60"
FAILED = "fake=stack_blocks&t=32"
SCENES = {
    # name: (address, what is pressed then: a tab's title, or a button's after '!')
    "operate": (f"{BUSY}&layout=operate", ()),
    "operate-failed": (f"{FAILED}&layout=operate", ()),
    "operate-waits": (f"{WAITS}&layout=operate", ()),
    "operate-empty": ("fake=empty&layout=operate", ()),
    "operate-clouds": (f"{BUSY}&layout=operate&object=red_block", ("3D", "!Clouds")),
    "author": (f"{BUSY}&layout=author&node=12", ("Tree",)),
    "author-preview": (f"{WAITS}&layout=author", ("Preview",)),
    "author-empty": ("fake=empty&layout=author", ()),
    "diagnose": (f"{FAILED}&layout=diagnose", ("Explain",)),
    "diagnose-waits": (f"{WAITS}&layout=diagnose", ("Explain",)),
    "diagnose-empty": ("fake=empty&layout=diagnose", ()),
    "replay": (f"{OVER}&layout=replay&at=30", ("Timeline",)),
    "replay-failed": (f"{OVER}&layout=replay&at=32", ("Explain",)),
    "map": ("fake=warehouse&t=20&layout=operate", ("Map",)),
    "run": (f"{WAITS}&layout=operate", ("Run",)),
    "health": (f"{FAILED}&layout=operate", ("Health",)),
    "server": (f"{FAILED}&layout=operate&server=camera", ("Inspector",)),
    "log": (f"{FAILED}&layout=operate", ("Log",)),
    "blackboard": (f"{FAILED}&layout=diagnose", ("Blackboard",)),
    "hostile": ("fake=hostile&t=10&layout=operate", ()),
}


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the page with a robot and kinds of nodes."""
    page = Mount("/", StaticFiles(directory=folder, html=True))
    robot = RobotFiles.of_file(str(ROBOT))
    for name in robot.mesh_names:  # made light before anybody looks
        robot.mesh(name)
    records = Route("/api/records", lambda _: JSONResponse([]))
    routes = [*robot_routes(robot), *edit_routes(Channels(), print), records, page]
    config = uvicorn.Config(Starlette(routes=routes), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def photograph(browser: Any, address: str, name: str, width: int, theme: str, out: Path) -> None:
    """Take one picture."""
    query, steps = SCENES[name]
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHTS[width]},
        color_scheme=theme,
        reduced_motion="reduce",
    )
    context.set_default_timeout(page_tools.TIMEOUT)
    page = context.new_page()
    page.on("pageerror", lambda error: print(name, error))
    page.goto(f"{address}/?{query}")
    page.locator(".bar").wait_for()
    page.wait_for_function(
        "document.querySelector('.dv-content-container, .narrow-panel') !== null"
        " && !/loading th|asks which kinds/.test(document.body.innerText)"
    )
    for step in steps:
        if step.startswith("!"):
            page.get_by_role("button", name=step[1:], exact=True).first.click()
        else:
            page.get_by_role("tab", name=step, exact=True).first.click()
    if page.locator("[data-testid=scene]").count():
        page.wait_for_selector("[data-testid=scene][data-robot=ready], [data-robot=none]")
    # What was just loaded draws in the next frames.
    page.evaluate("new Promise((done) => setTimeout(done, 500))")
    page.screenshot(path=str(out / f"{name}-{width}-{theme}.png"))
    context.close()


def main() -> None:
    """Take them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=Path, help="built with fakes already")
    parser.add_argument("--widths", type=int, nargs="+", default=[*HEIGHTS])
    parser.add_argument("--themes", nargs="+", default=["light", "dark"])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = options.page or Path(folder)
        if not (page / "index.html").is_file():
            page_tools.build_with_fakes(page)
        with served(page) as address, page_tools.launched() as browser:
            for name in SCENES:
                for width in options.widths if options.only in name else ():
                    for theme in options.themes:
                        photograph(browser, address, name, width, theme, options.out)


if __name__ == "__main__":
    main()
