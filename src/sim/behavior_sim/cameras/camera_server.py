# SPDX-License-Identifier: Apache-2.0
"""The process that draws what cameras see, for :mod:`behavior_sim.cameras.camera_process`.

    python -m behavior_sim.cameras.camera_server DESCRIPTOR

It answers over the socket of that number: first a world's description with the names of the numbers
that make up a state, or an error; then each `CameraRequest` with a list of `CameraFrame`, or an
error. It ends when the other side is gone.
"""

import sys
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from behavior_sim.cameras.camera_noise import Instance, find_instances, noise_generator, noisy_depth
from behavior_sim.cameras.camera_process import CameraError, CameraFrame, CameraRequest
from behavior_sim.cameras.camera_renderer import CameraRenderer
from behavior_sim.worlds.config import WorldConfig, parse_world


class _Server:
    def __init__(self, config: WorldConfig) -> None:
        self._config = config
        self._renderer = CameraRenderer(config)
        self.coordinates = self._renderer.coordinates

    def answer(self, request: CameraRequest) -> list[CameraFrame]:
        if len(request.qpos) != len(self.coordinates):
            raise CameraError(
                f"a state of world {self._config.name} has {len(self.coordinates)} numbers, not "
                f"{len(request.qpos)}; give cameras and simulation the same world"
            )
        self._renderer.set_state(request.qpos)
        frames = (self._frame(request, camera) for camera in request.cameras)
        return [frame for frame in frames if frame is not None]

    def _frame(self, request: CameraRequest, camera: str) -> CameraFrame | None:
        noise = request.noise.get(camera, self._config.cameras[camera].noise)
        rng = noise_generator(request.seed, camera, request.nanoseconds)
        if rng.random() < noise.frame_dropout:
            return None
        picture = self._renderer.draw(camera, color=request.cameras[camera])
        instances = find_instances(picture.mask, self._renderer.classes, noise, rng)
        return CameraFrame(
            camera=camera,
            nanoseconds=request.nanoseconds,
            rgb=picture.rgb,
            depth=noisy_depth(picture.depth, noise, rng),
            mask=_found(picture.mask, instances),
            instances=instances,
            world_T_optical=picture.world_T_optical,
        )


def _found(mask: NDArray[np.uint16], instances: tuple[Instance, ...]) -> NDArray[np.uint16]:
    """The mask without what was not found."""
    table = np.zeros(int(mask.max()) + 1, np.uint16)
    for instance in instances:
        table[instance.label] = instance.label
    return table[mask]


def main(descriptor: int) -> int:
    """Answer requests until the other side is gone."""
    connection = Connection(descriptor)
    try:
        server = _Server(parse_world(yaml.safe_load(connection.recv())))
    except Exception as error:  # whatever a graphics driver can think of
        connection.send(CameraError(f"{type(error).__name__}: {error}"))
        return 1
    connection.send(server.coordinates)
    while True:
        try:
            request = connection.recv()
        except (EOFError, OSError):
            return 0
        try:
            answer: Any = server.answer(request)
        except Exception as error:
            answer = error if isinstance(error, CameraError) else CameraError(repr(error))
        connection.send(answer)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
