# SPDX-License-Identifier: Apache-2.0
"""Workers on a Ray cluster: an actor for each, which runs its episodes in a process of its node.

Ray finds a node with room, carries an episode there and its record back, and says when a node has
died; who does which episode, and that each counts once, is the schedule's business as everywhere.
Needs Ray (https://docs.ray.io), an extra of this package.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.task import Task
from behavior_bringup.evaluation.worker_process import (
    EPISODE_LIMIT,
    CannotWorkError,
    WorkerDiedError,
)

INSTALL = "python -m pip install -c constraints.txt ray==2.60.0"
_ROOM = 600.0
"""[s] for a node with room to be found, and for its worker to begin."""
_KNOCK = 20.0
"""[s] for the cluster's port to answer."""
_FAREWELL = 90.0
"""[s] for a worker to bring its stack down."""
_LOOK = 0.5
"""[s] between two looks at whether an answer is still wanted."""


class RayCluster:
    """The cluster of an evaluation; use it as a context manager."""

    def __init__(self, address: str, *, cores: float) -> None:
        """Connect.

        Args:
            address: `ray://HOST:PORT`; `ray`: the cluster of RAY_ADDRESS, else one that is made on
                this machine.
            cores: that an episode needs.

        Raises:
            BringupError: there is no Ray, no such cluster, or no node with so many cores.
        """
        # To whom it runs is nobody else's business.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            raise BringupError(f"Ray is not installed: '{INSTALL}' installs it") from error
        self._ray, self.cores = ray, cores
        where = os.environ.get("RAY_ADDRESS", "") if address == "ray" else address
        try:
            if where:
                _knock(where)  # Ray itself tries for minutes
            ray.init(where or None, log_to_driver=False, logging_level="ERROR")
            nodes = ray.nodes()
        except Exception as error:  # Ray has many, and none in common
            raise BringupError(
                f"The Ray cluster {where or 'of this machine'} cannot be reached:"
                f" {first_line(error)}; 'ray status' on its head node tells whether it is up"
            ) from error
        self._living = [node["Resources"].get("CPU", 0.0) for node in nodes if node["Alive"]]
        if not self.room:
            ray.shutdown()
            raise BringupError(
                f"No node of the Ray cluster has {cores:g} cores, the largest has"
                f" {max(self._living, default=0):g}: choose fewer with --cores"
            )

    @property
    def room(self) -> int:
        """Episodes that it can run at once."""
        return sum(int(cores // self.cores) for cores in self._living)

    def worker(self, task: Task, wanted: Callable[[], bool]) -> RayWorker:
        """A worker somewhere in the cluster.

        Args:
            task: what it does.
            wanted: says whether it still has something to do, while it waits for a node.
        """
        host = self._ray.remote(num_cpus=self.cores, max_restarts=0)(_host_class())
        return RayWorker(self._ray, host.remote(), task, wanted)

    def __enter__(self) -> RayCluster:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect; a cluster that was made for the evaluation ends."""
        self._ray.shutdown()


def _knock(address: str) -> None:
    """Make sure that something listens at an address.

    Raises:
        OSError: nothing does, or the address is none.
    """
    place = urlsplit(address if "//" in address else f"//{address}")
    if place.hostname and place.port:
        socket.create_connection((place.hostname, place.port), timeout=_KNOCK).close()


def first_line(error: BaseException) -> str:
    """What an error says, in short."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".:") if lines else type(error).__name__


def _host_class() -> type:
    """What runs on the node. It travels there, and finds its imports there or says that it cannot.

    It is made within a function so that Ray sends its code, not the name of this module.
    """

    class EpisodeHost:
        def open(self, document: dict[str, Any]) -> dict[str, Any]:
            try:
                from behavior_bringup.evaluation import worker_process
                from behavior_bringup.evaluation.task import Task
            except ImportError as error:
                return {"missing": str(error)}
            try:
                self.worker = worker_process.WorkerProcess(Task.parse(document))
                return {"versions": dict(self.worker.open())}
            except worker_process.CannotWorkError as error:
                return {"cannot": str(error)}
            except worker_process.WorkerDiedError as error:
                return {"died": str(error)}

        def run(self, document: dict[str, Any]) -> dict[str, Any]:
            from dataclasses import asdict

            from behavior_bringup.evaluation.record import Episode
            from behavior_bringup.evaluation.worker_process import WorkerDiedError

            try:
                record = self.worker.run(Episode.parse(document))
            except WorkerDiedError as error:
                return {"died": str(error)}
            return {"record": asdict(record), "alive": self.worker.alive}

        def close(self) -> None:
            if hasattr(self, "worker"):
                self.worker.abort()
                self.worker.close()

    return EpisodeHost


class RayWorker:
    """A worker on some node; see `worker_process.Worker`."""

    def __init__(self, ray: Any, actor: Any, task: Task, wanted: Callable[[], bool]) -> None:
        """Made by `RayCluster.worker`."""
        self._ray, self._actor, self._task, self._wanted = ray, actor, task, wanted
        self._alive, self._aborted = True, False

    def open(self) -> Mapping[str, str]:
        """See `Worker`."""
        answer = self._answer(self._actor.open.remote(self._task.document()), _ROOM)
        if "missing" in answer:
            raise CannotWorkError(
                f"A node of the cluster lacks the project ({answer['missing']}): install it there,"
                " and start 'ray start' in its environment"
            )
        if "cannot" in answer:
            raise CannotWorkError(answer["cannot"])
        versions: Mapping[str, str] = answer["versions"]
        return versions

    @property
    def alive(self) -> bool:
        """See `Worker`."""
        return self._alive

    def run(self, episode: Episode) -> EpisodeRecord:
        """See `Worker`."""
        answer = self._answer(self._actor.run.remote(asdict(episode)), 2 * EPISODE_LIMIT)
        self._alive = answer["alive"]
        return EpisodeRecord(**answer["record"])

    def close(self) -> None:
        """See `Worker`."""
        try:
            self._ray.get(self._actor.close.remote(), timeout=0.1 if self._aborted else _FAREWELL)
        except Exception:  # it is gone already, with its node
            self._alive = False
        self._kill()

    def abort(self) -> None:
        """See `Worker`. Its process notices that the actor ends, and brings its stack down."""
        self._aborted = True
        self._kill()

    def _kill(self) -> None:
        try:
            self._ray.kill(self._actor)
        except Exception:  # so is the cluster
            self._alive = False

    def _answer(self, reference: Any, limit: float) -> dict[str, Any]:
        """What a call of the actor returns.

        Raises:
            WorkerDiedError: it never will.
        """
        end = time.monotonic() + limit
        while True:
            try:
                answer: dict[str, Any] = self._ray.get(reference, timeout=_LOOK)
                break
            except self._ray.exceptions.GetTimeoutError:
                if self._aborted or not self._wanted():
                    raise WorkerDiedError("it was ended") from None
                if time.monotonic() > end:
                    raise WorkerDiedError(f"no answer within {limit:g} s") from None
            except Exception as error:  # of the actor, its node, or the connection
                raise WorkerDiedError(f"the cluster says: {first_line(error)}") from error
        if "died" in answer:
            raise WorkerDiedError(answer["died"])
        return answer
