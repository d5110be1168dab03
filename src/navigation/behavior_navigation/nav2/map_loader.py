# SPDX-License-Identifier: Apache-2.0
"""Tiles loaded by Nav2's map server: the action LoadTile on its service LoadMap."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from behavior_msgs.action import LoadTile
from rclpy.action import CancelResponse
from rclpy.node import Node
from rclpy.task import Future

from behavior_navigation.nav2.interfaces import nav2_interface
from behavior_ros import (
    BurstActionServer,
    ParameterError,
    declare_all,
    read_only,
    run,
)

PARAMETERS = (
    read_only("load_map_service", "map_server/load_map", "service (nav2_msgs/LoadMap)"),
    read_only(
        "tile_urls", [""], "where tiles lie, as name=path.yaml; a request may bring its own map_url"
    ),
)
_CAUSES = {
    1: "there is no such map file",
    2: "the map's picture cannot be read",
    3: "the map's description is wrong",
}


def read_urls(texts: Sequence[str]) -> dict[str, str]:
    """The tiles in ``name=url``.

    Raises:
        ValueError: one has another form.
    """
    urls = {}
    for text in filter(None, texts):
        name, equals, url = text.partition("=")
        if not (name and equals and url):
            raise ValueError(f"'{text}' must look like name=path.yaml")
        urls[name] = url
    return urls


class Nav2MapLoader(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves ``/map_loader/load_tile``."""

    def __init__(self, *, node_name: str = "map_loader", **kwargs: Any) -> None:
        """Make client and server.

        Raises:
            ParameterError: Nav2's messages are not there, or a tile is written wrongly.
        """
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        try:
            self._urls = read_urls(values["tile_urls"])
        except ValueError as error:
            raise ParameterError(f"{node_name}: parameter tile_urls: {error}") from error
        self._type = nav2_interface("srv", "LoadMap", node_name)
        self._client = self.create_client(self._type, values["load_map_service"])
        self._awaited: dict[int, Future] = {}
        """What goals wait for, by their handles; cancelled: they wait no more."""
        BurstActionServer(
            self,
            LoadTile,
            "map_loader/load_tile",
            work=self.execute,
            cancel_callback=self._on_cancel,
        )

    async def execute(self, handle: Any) -> Any:
        """Load what a goal asks for; cancelled, it ends at once, whatever the map server does."""
        result = LoadTile.Result(
            request_id=handle.request.request_id, tile_id=handle.request.tile_id
        )
        try:
            result.code, result.message = await self._load(handle.request, id(handle))
        finally:
            self._awaited.pop(id(handle), None)
        result.acquired = self.get_clock().now().to_msg()
        return result

    def _on_cancel(self, handle: Any) -> CancelResponse:
        awaited = self._awaited.get(id(handle))
        if awaited is not None and not awaited.done():
            awaited.set_result(None)
        return CancelResponse.ACCEPT

    async def _load(self, goal: Any, key: int) -> tuple[int, str]:
        url = goal.map_url or self._urls.get(goal.tile_id, "")
        if not url:
            known = ", ".join(sorted(self._urls)) or "none"
            return (
                LoadTile.Result.UNKNOWN_TILE,
                f"nobody knows where tile '{goal.tile_id}' lies: give a map_url, or add it to "
                f"tile_urls (there: {known})",
            )
        if not self._client.service_is_ready():
            text = f"nobody serves {self._client.service_name}: is Nav2's map server active?"
            return LoadTile.Result.LOADING_FAILED, text
        awaited = self._awaited[key] = Future()

        def answered(future: Any) -> None:
            if not awaited.done():
                awaited.set_result(future.result())

        self._client.call_async(self._type.Request(map_url=url)).add_done_callback(answered)
        answer = await awaited
        if answer is None:
            text = f"Nav2's map server had not answered yet ({url})"
            return LoadTile.Result.CANCELED, text
        if answer.result == 0:
            return LoadTile.Result.SUCCESS, f"{url} is loaded"
        cause = _CAUSES.get(answer.result, f"error {answer.result}")
        return LoadTile.Result.LOADING_FAILED, f"Nav2's map server: {cause} ({url})"


def main(args: list[str] | None = None) -> int:
    """Run the node until interrupted."""
    return run([Nav2MapLoader], args)


if __name__ == "__main__":
    sys.exit(main())
