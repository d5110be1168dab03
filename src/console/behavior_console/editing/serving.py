# SPDX-License-Identifier: Apache-2.0
"""``/api/models``: what kinds of nodes there are. ``/api/tree/NAME``: tree files as on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from behavior_console.channels import Channels
from behavior_console.editing.known_models import KnownModels
from behavior_console.protocol import Role

_LARGEST = 10_000_000
"""[bytes] of a tree file that is shown."""


def edit_routes(channels: Channels, models: KnownModels) -> tuple[Route, ...]:
    """The addresses of editing.

    Args:
        channels: ``document`` tells which files may be read: those of trees that are open.
        models: what kinds of nodes there are.
    """

    async def kinds(_: Request) -> Response:
        return JSONResponse(await models.rows(), headers={"Cache-Control": "no-store"})

    async def tree(request: Request) -> Response:
        if request.scope["admitted"].role < Role.EDIT:
            return PlainTextResponse("files are shown to who may edit\n", 403)
        name, file = request.path_params["name"], request.query_params.get("file", "")
        row = channels.value("document").get(name)
        if row is None or file not in row["files"]:
            return PlainTextResponse("this is no file of a tree that is being edited\n", 404)
        try:
            return PlainTextResponse(await asyncio.to_thread(_read, Path(file)))
        except (OSError, UnicodeDecodeError) as error:
            return PlainTextResponse(f"{file} cannot be read: {error}\n", 404)

    return Route("/api/models", kinds), Route("/api/tree/{name:path}", tree)


def _read(file: Path) -> str:
    with file.open(encoding="utf-8") as stream:
        return stream.read(_LARGEST)
