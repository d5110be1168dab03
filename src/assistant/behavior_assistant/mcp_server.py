# SPDX-License-Identifier: Apache-2.0
"""The tools of the workbench, for MCP clients (https://modelcontextprotocol.io).

Imported only where the Python package ``mcp`` is installed. Every call is in the audit file before
it is answered, those with wrong arguments too.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from behavior_assistant.audit import Audit
from behavior_assistant.checked_trees import MOST_BYTES
from behavior_assistant.workbench import Workbench
from behavior_bringup.errors import BringupError

MOST_EPISODES = 20
"""Of one call."""

_INSTRUCTIONS = """\
Look at a robot's behavior trees, its missions and its scene, check and simulate trees, and propose
some. Nothing here moves the robot: a person approves each proposal at a terminal."""

Text = Annotated[str, Field(max_length=MOST_BYTES)]
Name = Annotated[str, Field(max_length=200)]
Reason = Annotated[str, Field(min_length=1, max_length=2000)]
Count = Annotated[int, Field(ge=1, le=MOST_EPISODES)]
Parameters = Annotated[dict[Name, Name], Field(max_length=50)]

_LOOK = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
_PROPOSE = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


class RecordedServer(MCPServer):
    """A server that notes every call, and how it ended."""

    def __init__(self, audit: Audit, transport: str) -> None:
        """Have no tools yet.

        Args:
            audit: is told of every call.
            transport: by which they come, for the audit.
        """
        super().__init__("behavior", instructions=_INSTRUCTIONS, log_level="WARNING")
        self._audit = audit
        self._transport = transport

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; see `MCPServer.call_tool`."""
        begun = time.monotonic()
        record = functools.partial(self._audit.record, tool=name[:200], by=self._transport)
        try:
            record("called", arguments=arguments)
        except OSError as error:
            raise ToolError("nothing is done, since the audit file cannot be written") from error
        try:
            answer = await super().call_tool(name, arguments, context)
        except BaseException as error:
            record("failed", why=str(error) or type(error).__name__)
            raise
        record("answered", seconds=round(time.monotonic() - begun, 3))
        return answer


def make_server(bench: Workbench, audit: Audit, transport: str) -> RecordedServer:
    """The server with its tools; those that propose only where that is allowed.

    Args:
        bench: does what they say.
        audit: is told of every call.
        transport: by which calls come, for the audit.
    """
    server = RecordedServer(audit, transport)
    author = f"MCP client ({transport})"

    def list_nodes(search: Name = "") -> dict[str, Any]:
        """List tree node types with their ports; `search` is part of a name or a description."""
        return bench.list_nodes(search)

    def list_missions() -> dict[str, Any]:
        """List the missions that there are, with their parameters."""
        return bench.list_missions()

    def show_mission(name: Name) -> dict[str, Any]:
        """Show one mission: what it says of itself, its parameters, the XML of its tree."""
        return bench.show_mission(name)

    def read_scene() -> dict[str, Any]:
        """Read the objects of the scene, as the robot believes them to be; positions in meters."""
        return bench.read_scene()

    def validate_tree(xml: Text) -> dict[str, Any]:
        """Check the XML of a tree against the node types; tells all that is wrong."""
        return bench.validate_tree(xml)

    def simulate_tree(xml: Text, episodes: Count = 3) -> dict[str, Any]:
        """Run a tree in a simulated world, from other start states in each episode; takes minutes.

        Success is what the tree says; look at where things are afterwards.
        """
        return bench.simulate_tree(xml, episodes)

    def preview_mission(name: Name, parameters: Parameters | None = None) -> dict[str, Any]:
        """Run a mission in a copy of the world as it is now; takes minutes. Nothing moves."""
        return bench.preview_mission(name, parameters or {})

    def list_proposals() -> dict[str, Any]:
        """List what was proposed, and what a person has decided."""
        return bench.list_proposals()

    def propose_mission(name: Name, xml: Text, reason: Reason) -> dict[str, Any]:
        """Propose a new mission. Nothing runs until a person approves it at a terminal."""
        return bench.propose_mission(name, xml, reason, author)

    def propose_edit(name: Name, xml: Text, reason: Reason) -> dict[str, Any]:
        """Propose another tree for a mission that there is: the whole XML with the change.

        It counts from the mission's next start, once a person has approved it at a terminal.
        """
        return bench.propose_edit(name, xml, reason, author)

    looking: tuple[Callable[..., dict[str, Any]], ...] = (
        *(list_nodes, list_missions, show_mission, read_scene),
        *(validate_tree, simulate_tree, preview_mission, list_proposals),
    )
    for tool in looking:
        server.add_tool(_in_thread(tool), annotations=_LOOK)
    for tool in (propose_mission, propose_edit) if bench.may_propose else ():
        server.add_tool(_in_thread(tool), annotations=_PROPOSE)
    return server


def _in_thread(tool: Callable[..., dict[str, Any]]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The tool in a thread, so that the server answers meanwhile; its errors as the client's."""

    @functools.wraps(tool)
    async def run(**arguments: Any) -> dict[str, Any]:
        try:
            return await anyio.to_thread.run_sync(functools.partial(tool, **arguments))
        except BringupError as error:
            raise ToolError(str(error)) from error

    return run
