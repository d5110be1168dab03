# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that remembers: sightings as they come, `/scene/where_seen`.

The disk is waited for in a thread. Work on the memory is done in order, so whoever asks gets what
was noted before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from behavior_msgs.srv import WhereSeen
from rclpy.exceptions import InvalidHandle
from rclpy.task import Future

from behavior_ros import (
    OK,
    QOS_REQUESTS,
    WARN,
    DiagnosticsPublisher,
    declare_all,
    read_only,
    seconds,
)
from behavior_ros.node.closing import register_closable
from behavior_scene.memory.sightings import SightingFilter
from behavior_scene.memory.store import SceneMemory, Sighted, StorageError
from behavior_scene.memory.worker import MemoryWorker, Work
from behavior_scene.node.conversion import sighting_message
from behavior_scene.node.host import SceneHost
from behavior_scene.objects.snapshot import Snapshot
from behavior_scene.request_checks import names_problem
from behavior_tree.shown_text import reason_text

SUCCESS, UNKNOWN_OBJECT, NO_MEMORY = 0, 101, 104
LONGEST_ANSWER = 10_000
"""Sightings in one answer at most."""
PARAMETERS = [
    read_only(
        "memory", "", "SQLite file of saved scenes and sightings; empty: kept until the node ends"
    ),
    read_only(
        "memory_capacity",
        100_000,
        "sightings that are kept at least, and twice as many at most",
        range=(1, 10**8),
    ),
]


class MemoryPart:
    """Notes where objects are seen, and answers from the memory."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        values = declare_all(host.node, PARAMETERS)
        path = Path(values["memory"]).expanduser() if values["memory"] else None
        self._worker = MemoryWorker(path, values["memory_capacity"])
        self._filter = SightingFilter(host.frame)
        self._waiting: list[Sighted] = []
        host.run_on_memory = self.run
        host.on_snapshot(self._note)
        host.node.create_service(
            WhereSeen, "scene/where_seen", self._on_where_seen, qos_profile=QOS_REQUESTS
        )
        self._diagnostics = DiagnosticsPublisher(host.node, "memory")
        host.node.create_timer(1.0, self._flush)
        register_closable(host.node, self)

    def begin_close(self) -> None:
        """Write what waits, and close the memory."""
        self._flush()
        self._worker.begin_close()

    def closed(self) -> bool:
        """Tell whether that is done."""
        return self._worker.closed()

    def run(self, work: Work, then: Callable[[Any, Exception | None], None]) -> None:
        """Have work done on the memory after all that was asked before.

        Args:
            work: gets the memory, in the worker's thread.
            then: gets its result or error, in the executor's thread.
        """
        self._flush()

        def done(result: Any, error: Exception | None) -> None:
            executor = self._host.node.executor
            try:
                if executor is not None:
                    executor.create_task(then, result, error)
            except InvalidHandle:
                pass  # the executor was shut down meanwhile, nobody waits any more

        self._worker.submit(work, done)

    def _note(self, snapshot: Snapshot) -> None:
        self._waiting += self._filter.choose(snapshot)

    def _flush(self) -> None:
        sightings, self._waiting = self._waiting, []
        if sightings:
            self._worker.note(lambda memory: memory.note(sightings))
        problem = self._worker.problem
        self._diagnostics.set(
            WARN if problem else OK, problem or "remembers", dropped=self._worker.dropped
        )

    async def _on_where_seen(
        self, request: WhereSeen.Request, response: WhereSeen.Response
    ) -> WhereSeen.Response:
        problem = names_problem(name=request.name, class_id=request.class_id)
        if problem:
            response.code, response.message = UNKNOWN_OBJECT, problem
            return response
        answered: Future = Future()
        limit = min(int(request.limit), LONGEST_ANSWER)

        def look(memory: SceneMemory) -> tuple[list[Sighted], bool]:
            found = memory.where_seen(
                name=request.name,
                class_id=request.class_id,
                since=seconds(request.since),
                limit=limit,
            )
            return found, bool(found) or not request.name or memory.knows(request.name)

        self.run(look, lambda result, error: answered.set_result((result, error)))
        result, error = await answered
        response.code, response.message = SUCCESS, "ok"
        if error is not None:
            response.code, response.message = NO_MEMORY, reason_text(str(error))
            if not isinstance(error, StorageError):
                response.message = "the memory cannot be used; why is in the log of the scene"
                self._host.log_error(f"scene/where_seen: {error!r}")
            return response
        sightings, known = result
        if not known:
            response.code = UNKNOWN_OBJECT
            response.message = (
                f"'{request.name}' was never seen. Ask with an empty name for all that were."
            )
        response.sightings = [sighting_message(sighted) for sighted in sightings]
        return response
