# SPDX-License-Identifier: Apache-2.0
"""The console on recordings alone: no stack, no ROS."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from behavior_console.access import ConsoleAccess
from behavior_console.app import Pulse, application
from behavior_console.audit import Audit
from behavior_console.desk import ConsoleDesk
from behavior_console.offered_panels import offered_panels
from behavior_console.page import PAGE_FOLDER
from behavior_console.records.record_source import RecordSource
from behavior_console.records.recorded_robot import recorded_robot
from behavior_console.records.shelf import RecordShelf
from behavior_console.robot_files import robot_routes
from behavior_console.server import ConsoleServer
from behavior_recording.folder import default_folder
from behavior_ros.web_access import new_token


def records_route(shelf: RecordShelf) -> Route:
    """``/api/records``: what recordings there are."""

    async def records(_: Request) -> JSONResponse:
        rows = await asyncio.to_thread(shelf.rows)
        return JSONResponse(rows, headers={"Cache-Control": "no-store"})

    return Route("/api/records", records)


def serve_record(path: Path, *, port: int, page_folder: Path = PAGE_FOLDER) -> ConsoleServer:
    """Serve the page on one recording, and on those in the recordings' folder, until it is closed.

    Args:
        path: of the recording that the page shows first.
        port: of the page on localhost; the next free one when it is taken; 0: any.
        page_folder: of the built page.

    Raises:
        SourceError: it cannot be read.
        OSError: there is no free port.
    """
    pulse = Pulse()
    source = RecordSource(path, on_change=pulse.announce)
    audit = Audit(None, lambda _: None, lambda text: print(text, file=sys.stderr))
    shelf = RecordShelf([default_folder()], on_change=pulse.announce)
    desk = ConsoleDesk(source, audit, shelf=shelf)
    # Nobody is given a token: there is nothing to act on.
    access = ConsoleAccess(new_token(), new_token())
    routes = (records_route(shelf), *robot_routes(recorded_robot(path), shelf.robot))
    app = application(desk, pulse=pulse, page_folder=page_folder, routes=routes)
    source.channels.set("modules", offered_panels())
    server = ConsoleServer(app, access, port=port)
    source.start()
    return server
