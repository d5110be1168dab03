# SPDX-License-Identifier: Apache-2.0
"""The built page: the files that ``web/`` was built into, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PAGE_FOLDER = Path(__file__).parent / "page"
"""Written by the build of ``web/``."""
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Console: not built</title>
<h1>The console's page is not built</h1>
<p>The server runs, but its page is missing. Build it in the checkout with <code>make page</code>
(it brings its own Node; where you built with <code>colcon build</code>, do that again), then load
this page again.</p></html>"""


class _Assets(StaticFiles):
    """Files whose names change with their contents."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file, which the browser may keep for good."""
        response = await super().get_response(path, scope)
        if response.status_code == 200:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def page_routes(folder: Path) -> list[Route | Mount]:
    """Addresses of the page in a folder; it may be built while the server runs."""

    async def index(_: Request) -> Response:
        file = folder / "index.html"
        if not file.is_file():
            return HTMLResponse(_MISSING, 503, {"Cache-Control": "no-store"})
        return FileResponse(file, headers={"Cache-Control": "no-cache"})

    return [
        Route("/", index),
        Mount("/assets", _Assets(directory=folder / "assets", check_dir=False)),
        Mount("/", StaticFiles(directory=folder, check_dir=False)),
    ]
