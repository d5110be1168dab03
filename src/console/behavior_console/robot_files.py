# SPDX-License-Identifier: Apache-2.0
"""What a page needs to draw the robot: its URDF, and its visual meshes with few triangles.

Robots' makers publish meshes of some hundred thousand triangles in several formats. A page gets
each as one small glTF file (``.glb``) with its colours: quick to load on a slow link, quick to draw
on a tablet. Only meshes that the robot's own URDF names are served, by names that are no paths.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from behavior_motion.robot.robot_file import load_robot_file
from behavior_motion.robot.urdf import robot_urdf

MOST_TRIANGLES = 1_500
"""About so many of one mesh are left."""
_MESH_PATH = "/api/mesh"
_KEPT = {"Cache-Control": "private, max-age=86400, immutable"}


class RobotFiles:
    """One robot as pages draw it.

    Args:
        root: of its URDF, with meshes as ``file://``; None: there is no arm.
        triangles: about so many of each mesh are left.
        query: of the addresses of its meshes, such as ``?record=run.mcap``.
    """

    def __init__(
        self, root: Element | None, *, triangles: int = MOST_TRIANGLES, query: str = ""
    ) -> None:
        self._triangles, self._query = triangles, query
        self._meshes: dict[str, Path] = {}
        self._light: dict[str, bytes] = {}
        self._one_at_a_time = threading.Lock()
        self.urdf = "" if root is None else self._visible(root)
        """With the addresses of its meshes at this server; empty: there is no arm."""

    @classmethod
    def of_file(cls, file: str) -> RobotFiles:
        """The robot of a file such as those in ``config/robots``; empty: there is no arm.

        Raises:
            OSError, ValueError, KeyError: the robot cannot be read; the message says why.
        """
        return cls(robot_urdf(load_robot_file(Path(file))) if file else None)

    @property
    def mesh_names(self) -> list[str]:
        """Of all meshes that are served."""
        return sorted(self._meshes)

    def mesh(self, name: str) -> bytes:
        """A mesh as glTF; it is made when it is first asked for.

        Args:
            name: one of `mesh_names`.

        Raises:
            KeyError: the robot has no mesh of this name.
            ValueError: its file cannot be read.
        """
        # Half of the time that the console takes to start would be this import.
        from behavior_console.light_mesh import light_mesh

        path = self._meshes[name]
        with self._one_at_a_time:
            if name not in self._light:
                self._light[name] = light_mesh(path, self._triangles)
            return self._light[name]

    def _visible(self, root: Element) -> str:
        """The URDF without what a page does not draw."""
        for link in root.findall("link"):
            for kind in ("collision", "inertial"):
                for element in link.findall(kind):
                    link.remove(element)
        for element in [each for each in root if each.tag not in ("link", "joint", "material")]:
            root.remove(element)
        for mesh in root.iter("mesh"):
            mesh.set("filename", self._address(mesh.get("filename", "")))
        return ElementTree.tostring(root, encoding="unicode")

    def _address(self, filename: str) -> str:
        path = Path(filename.removeprefix("file://"))
        digest = hashlib.sha256(f"{path}:{_changed(path)}:{self._triangles}".encode()).hexdigest()
        name = f"{digest[:20]}.glb"
        self._meshes[name] = path
        return f"{_MESH_PATH}/{name}{self._query}"


def _changed(path: Path) -> int:
    """When a file was changed last [ns]; 0: there is none, which is said when it is asked for."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def robot_routes(
    robot: RobotFiles, recorded: Callable[[str], Awaitable[RobotFiles]] | None = None
) -> list[Route]:
    """Addresses of robots: ``/api/robot``, empty where there is no arm, and ``/api/mesh/NAME``.

    Args:
        robot: that they draw.
        recorded: the robot of the recording that ``?record=`` names; it may raise ValueError.
    """

    async def chosen(request: Request) -> RobotFiles:
        record = request.query_params.get("record", "")
        return await recorded(record) if record and recorded is not None else robot

    async def urdf(request: Request) -> Response:
        try:
            robot = await chosen(request)
        except ValueError as error:
            return PlainTextResponse(f"{error}\n", 404)
        if not robot.urdf:
            return Response(status_code=204)
        return Response(
            robot.urdf, media_type="application/xml", headers={"Cache-Control": "no-cache"}
        )

    async def mesh(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            robot = await chosen(request)
            content = await run_in_threadpool(robot.mesh, name)
        except KeyError:
            return PlainTextResponse("the robot has no such mesh: load /api/robot again\n", 404)
        except ValueError as error:
            return PlainTextResponse(f"{error}\n", 422)
        return Response(content, media_type="model/gltf-binary", headers=_KEPT)

    return [Route("/api/robot", urdf), Route(f"{_MESH_PATH}/{{name}}", mesh)]
