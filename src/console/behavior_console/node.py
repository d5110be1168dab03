# SPDX-License-Identifier: Apache-2.0
"""The console's node: hears a running stack, serves the page, and hands on what operators ask for.

The node's callbacks fill the channels in the thread of its executor; the web server has a thread of
its own.
"""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from behavior_console.access import ADDRESS_FILE, kept_access
from behavior_console.app import Pulse, application
from behavior_console.audit import Audit, AuditEntry
from behavior_console.cloud_feed import CloudFeed
from behavior_console.desk import ConsoleDesk, event_of, log_line
from behavior_console.editing.edit_desk import EditDesk
from behavior_console.editing.known_models import KnownModels
from behavior_console.editing.new_mission import NewMissions, parts_for
from behavior_console.editing.node_models import node_models
from behavior_console.editing.ros_carrier import RosCarrier
from behavior_console.editing.serving import edit_routes
from behavior_console.live_source import LiveSource
from behavior_console.offered_panels import offered_panels
from behavior_console.operating import offer_operating
from behavior_console.preview_runs import PreviewRuns
from behavior_console.proposals import ProposalDesk
from behavior_console.records import RecordShelf
from behavior_console.records.serving import records_route
from behavior_console.robot_files import RobotFiles, robot_routes
from behavior_console.ros_stack import RosStack
from behavior_console.server import ConsoleServer
from behavior_packages.folders import node_file, proposals_folder
from behavior_recording.folder import default_folder
from behavior_ros import OK, DiagnosticsPublisher, declare_all, read_only, run

PARAMETERS = [
    read_only("port", 8090, "of the page on localhost; the next free one", range=(0, 65535)),
    read_only("world", "", "name of the stack's world; empty: unknown"),
    read_only("robot", "", "robot configuration; empty: no arm"),
    read_only(
        "address_file",
        "",
        "where the page's addresses with the right to act are written, for this user alone, and "
        "beside it the audit; empty: in the runtime folder",
    ),
]


class ConsoleNode(Node):  # type: ignore[misc] # rclpy has no type information
    """Serves the console of a running stack."""

    def __init__(self, node_name: str = "console", **kwargs: Any) -> None:
        """Begin to listen and to serve.

        Raises:
            OSError: there is no free port, or the address cannot be written down.
        """
        super().__init__(node_name, **kwargs)
        values = declare_all(self, PARAMETERS)
        self._live = LiveSource(self, world=values["world"])
        file = node_file(values["address_file"], self.get_namespace(), ADDRESS_FILE)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        audit = Audit(file.with_suffix(".audit.jsonl"), self._note, self.get_logger().error)
        access, self._pulse = kept_access(file), Pulse()
        CloudFeed(self, self._live.channels, partial(self._pulse.wants, "clouds"))
        shelf = RecordShelf([default_folder()], on_change=self._pulse.announce)
        desk = ConsoleDesk(self._live, audit, shelf=shelf)
        self._live.channels.on_change = self._pulse.announce
        self._desk, self._stack, self._world = desk, RosStack(self), values["world"]
        self._previews = PreviewRuns(
            partial(self._live.channels.set, "preview"), namespace=self.get_namespace().strip("/")
        )
        offer_operating(desk.commands, self._stack, self._live.channels, self._previews)
        channels = self._live.channels
        channels.set("modules", offered_panels())
        carrier = RosCarrier(self)
        self._edits = EditDesk(carrier, channels)
        carrier.on_news = self._edits.hear
        self._edits.offer(desk.commands)
        self._proposals = ProposalDesk(
            channels, proposals_folder(), namespace=self.get_namespace().strip("/")
        )
        self._proposals.offer(desk.commands)
        parts = partial(parts_for, values["world"])
        NewMissions(self._stack.own_missions, channels, parts).offer(desk.commands)
        self._models = KnownModels(partial(node_models, self.get_logger().warning))
        app = application(
            desk,
            pulse=self._pulse,
            routes=(
                records_route(shelf),
                *edit_routes(channels, self._models),
                *robot_routes(self._robot(values["robot"]), shelf.robot),
            ),
            background=self._background,
        )
        self.server = ConsoleServer(app, access, port=values["port"])
        access.write(file, self.server.port)
        self._diagnostics = DiagnosticsPublisher(self, "console")
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._report()
        self.get_logger().info(
            f"the console is at http://localhost:{self.server.port}, to look at;"
            f" the addresses with the right to act are in {file}"
        )

    def destroy_node(self) -> None:
        """Stop serving."""
        self._previews.close()
        self.server.close()
        self._edits.close()
        super().destroy_node()

    async def _background(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._models.find_ahead())
            group.create_task(self._desk.background())
            group.create_task(self._stack.keep_forms(self._live.channels, self._world))
            group.create_task(self._stack.keep_queue(self._live.channels))
            group.create_task(self._proposals.keep())

    def _robot(self, file: str) -> RobotFiles:
        try:
            return RobotFiles.of_file(file)
        except (OSError, ValueError, KeyError) as error:  # what else there is shall be shown
            self.get_logger().error(f"the robot of {file} cannot be drawn: {error}")
            return RobotFiles(None)

    def _report(self) -> None:
        pages = len(self._pulse.sessions)
        about = f"serves {pages} page{'' if pages == 1 else 's'}"
        self._diagnostics.set(OK, about, port=self.server.port)

    def _note(self, entry: AuditEntry) -> None:
        self.get_logger().info(log_line(entry))
        self._live.channels.add("events", [event_of(entry, self._live.now())])


def main() -> int:
    """Run the console alone."""
    return run([ConsoleNode])


if __name__ == "__main__":
    sys.exit(main())
