# SPDX-License-Identifier: Apache-2.0
"""The client of the process that draws what cameras see (`behavior_sim.cameras.camera_server`).

OpenGL is chosen by an environment variable that is read when MuJoCo is imported, a broken driver
may take its process down, and drawing in software takes processor time: none of that is to touch
the physics, or whoever asked for the pictures.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from behavior_sim.cameras.camera_noise import Instance
from behavior_sim.cameras.opengl import BACKENDS, missing_library, with_remedy
from behavior_sim.worlds.camera_config import CameraNoise
from behavior_sim.worlds.config import WorldConfig

_START = 60.0
"""[s] that a process gets to build the world and open OpenGL."""
_ANSWER = 30.0
"""[s] that drawing may take."""


class CameraError(RuntimeError):
    """Nothing can be drawn; the message says why."""


@dataclass(frozen=True, kw_only=True)
class CameraRequest:
    """Pictures asked for, of one state."""

    nanoseconds: int
    """Simulated time of the state."""
    qpos: NDArray[np.float64]
    """MuJoCo's generalised positions (nq,)."""
    cameras: Mapping[str, bool]
    """Cameras to take pictures with, and whether colours are wanted."""
    seed: int = 0
    """Of the noise."""
    noise: Mapping[str, CameraNoise] = field(default_factory=dict)
    """Instead of the cameras' own, where given."""


@dataclass(frozen=True, kw_only=True)
class CameraFrame:
    """What a camera and its detector of objects give of one instant."""

    camera: str
    nanoseconds: int
    """Simulated time at which it was taken."""
    rgb: NDArray[np.uint8] | None
    """(h, w, 3); None: nobody wanted it."""
    depth: NDArray[np.float32]
    """(h, w) [m] along the optical axis; NaN: unknown, +inf: beyond the range."""
    mask: NDArray[np.uint16]
    """(h, w) labels of the instances; 0: none."""
    instances: tuple[Instance, ...]
    world_T_optical: NDArray[np.float64]
    """True pose of the optical frame (4, 4)."""


class CameraProcess:
    """Client of the process that draws.

    Args:
        config: the world.

    Raises:
        CameraError: neither EGL nor OSMesa draws here.
    """

    def __init__(self, config: WorldConfig) -> None:
        self.backend = ""
        """egl or osmesa."""
        self.coordinates: list[str] = []
        """Names of the numbers of a state."""
        problems = []
        for backend in BACKENDS:
            problem = self._start(backend, config)
            if not problem:
                return
            problems.append(f"{BACKENDS[backend].title}: {problem}")
        raise CameraError(f"no OpenGL for cameras here ({'; '.join(problems)})")

    def _start(self, backend: str, config: WorldConfig) -> str:
        """Start the process with one backend; what went wrong."""
        if lack := missing_library(backend):
            return lack
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "MUJOCO_GL": backend, "PYOPENGL_PLATFORM": backend}
        self._connection = Connection(ours.detach())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "behavior_sim.cameras.camera_server", str(theirs.fileno())],
                env=environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # An interrupt of the terminal is for whoever asked; the process ends with it.
                start_new_session=True,
            )
        try:
            answer = self._ask(config.text, _START)
        except CameraError as error:
            self.close()
            return with_remedy(backend, str(error))
        self.backend, self.coordinates = backend, answer
        return ""

    def render(self, request: CameraRequest) -> list[CameraFrame]:
        """The pictures asked for, without those that the noise loses.

        Raises:
            CameraError: the process ended, or the state is not one of this world.
        """
        frames: list[CameraFrame] = self._ask(request, _ANSWER)
        return frames

    def _ask(self, request: Any, timeout: float) -> Any:
        try:
            self._connection.send(request)
            if not self._connection.poll(timeout):
                raise CameraError(f"the drawing process does not answer within {timeout:g} s")
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise CameraError(f"the drawing process ended (exit code {self._end()})") from error
        if isinstance(answer, CameraError):
            raise answer
        return answer

    def _end(self) -> int | None:
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
