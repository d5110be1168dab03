# SPDX-License-Identifier: Apache-2.0
"""Panels that other packages offer: the channel ``modules``, and the files below ``/modules``.

A panel is an ES module NAME.js in a folder that a package names in its ``behavior.yaml``::

    panels: [panels]

It runs in the page with all the rights of whoever looks: like a tree node, it is code of a package
that somebody has installed.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from behavior_packages import packages

KIND = "panels"
_FOLDER = "/modules"
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript"}


def offered_panels() -> list[dict[str, Any]]:
    """What the channel ``modules`` holds: id, title and address of each panel."""
    return [
        {
            "id": f"{offer.package}/{offer.name}",
            "title": offer.name.replace("_", " ").capitalize(),
            "url": f"{_FOLDER}/{quote(offer.package)}/{quote(offer.name)}.js",
        }
        for offer in packages().offers(KIND)
    ]


def modules_route() -> Route:
    """``/modules/PACKAGE/FILE``: files in the folders that packages offer as panels, no others."""

    async def module(request: Request) -> Response:
        package, name = request.path_params["package"], request.path_params["file"]
        file = _file(package, name)
        if file is None:
            return PlainTextResponse(f"{package} offers no panel file '{name}'\n", 404)
        return FileResponse(
            file, media_type=_TYPES.get(file.suffix), headers={"Cache-Control": "no-cache"}
        )

    return Route(f"{_FOLDER}/{{package}}/{{file:path}}", module)


def _file(package: str, name: str) -> Path | None:
    for owner, folder in packages().folders(KIND):
        # Pages may ask for names that no file can have.
        with contextlib.suppress(OSError, ValueError):
            file = (folder / name).resolve()
            if owner == package and file.is_relative_to(folder.resolve()) and file.is_file():
                return file
    return None
