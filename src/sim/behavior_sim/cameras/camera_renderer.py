# SPDX-License-Identifier: Apache-2.0
"""Draws what a world's cameras see: colour, depth and which object each pixel belongs to.

Depth and labels come from one drawing (each geom in a colour of its own, without light), colour
from a second one. No multisampling, no shadows, the robot by its collision hulls: on a machine
without graphics hardware that is the difference between 10 and 400 ms.

To be used in a process in which ``MUJOCO_GL`` was set before ``mujoco`` was imported; see
:mod:`behavior_sim.cameras.camera_process`.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from behavior_sim.worlds.camera_config import CameraConfig
from behavior_sim.worlds.config import WorldConfig
from behavior_sim.worlds.model import GROUP_COLLISION, build_model, coordinate_names
from behavior_sim.worlds.visible_objects import visible_objects


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What a camera sees, without noise."""

    rgb: NDArray[np.uint8] | None
    """(h, w, 3)"""
    depth: NDArray[np.float32]
    """(h, w) [m] along the optical axis; +inf: beyond the camera's range."""
    mask: NDArray[np.uint16]
    """(h, w) place of the object in `CameraRenderer.classes` plus 1; 0: none."""
    world_T_optical: NDArray[np.float64]
    """Where the camera was (4, 4)."""


class CameraRenderer:
    """Draws states of one world.

    Args:
        config: the world.

    Raises:
        RuntimeError: no OpenGL.
    """

    def __init__(self, config: WorldConfig) -> None:
        self._cameras = config.cameras
        self._model = build_model(config)
        self._data = mujoco.MjData(self._model)
        self.classes = [obj.class_id for obj in visible_objects(config).values()]
        """True class of each label."""
        self._labels = _labels(self._model, config)
        self._model.vis.quality.offsamples = 0
        width = max((c.width for c in self._cameras.values()), default=8)
        height = max((c.height for c in self._cameras.values()), default=8)
        self._model.vis.global_.offwidth = width
        self._model.vis.global_.offheight = height
        if not hasattr(mujoco, "GLContext"):
            raise RuntimeError("MuJoCo found no OpenGL; set MUJOCO_GL to egl or osmesa")
        self._gl = mujoco.GLContext(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_50.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene = mujoco.MjvScene(self._model, maxgeom=self._model.ngeom + 100)
        self._option = mujoco.MjvOption()
        # MuJoCo hides this group by default, and with it the robot.
        self._option.geomgroup[GROUP_COLLISION] = 1
        self._option.flags[mujoco.mjtVisFlag.mjVIS_TENDON] = 0
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = 0

    @property
    def coordinates(self) -> list[str]:
        """Names of the numbers that make up a state."""
        return coordinate_names(self._model)

    def set_state(self, qpos: NDArray[np.float64]) -> None:
        """Put everything to where it is at MuJoCo's generalised positions (nq,)."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)

    def draw(self, name: str, *, color: bool = True) -> Picture:
        """What the camera `name` sees of the state; without colours if nobody wants them."""
        config = self._cameras[name]
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        camera.fixedcamid = self._model.camera(name).id
        # The ground is laid out around the camera of before, which would show in the last digits.
        mujoco.mjv_updateCamera(self._model, self._data, camera, self._scene)
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            self._option,
            None,
            camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        depth, mask = self._draw_depth(config)
        return Picture(
            rgb=self._draw_color(config) if color else None,
            depth=depth,
            mask=mask,
            world_T_optical=self._pose(camera.fixedcamid),
        )

    def _draw_color(self, config: CameraConfig) -> NDArray[np.uint8]:
        rect = mujoco.MjrRect(0, 0, config.width, config.height)
        mujoco.mjr_render(rect, self._scene, self._context)
        pixels = np.empty((config.height, config.width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, rect, self._context)
        return np.ascontiguousarray(pixels[::-1])

    def _draw_depth(self, config: CameraConfig) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
        rect = mujoco.MjrRect(0, 0, config.width, config.height)
        flags = self._scene.flags
        identify = (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR)
        for flag in identify:
            flags[flag] = 1
        mujoco.mjr_render(rect, self._scene, self._context)
        for flag in identify:
            flags[flag] = 0
        colors = np.empty((config.height, config.width, 3), np.uint8)
        buffer = np.empty((config.height, config.width), np.float32)
        mujoco.mjr_readPixels(colors, buffer, rect, self._context)
        depth = self._metres(buffer)[::-1]
        ids = colors[..., 0] | (colors[..., 1].astype(np.uint16) << 8)
        mask = self._label_of_color()[ids][::-1]
        return np.where(depth > config.range, np.float32(np.inf), depth), mask

    def _metres(self, buffer: NDArray[np.float32]) -> NDArray[np.float32]:
        """Depth [m] of OpenGL's depth buffer, in which 0 is far and 1 near."""
        extent = self._model.stat.extent
        near, far = self._model.vis.map.znear * extent, self._model.vis.map.zfar * extent
        wide = buffer.astype(np.float64)
        depth: NDArray[np.float32] = (near * far / (near + wide * (far - near))).astype(np.float32)
        return depth

    def _label_of_color(self) -> NDArray[np.uint16]:
        """Label of each identifying colour of the scene as drawn last."""
        table = np.zeros(self._scene.ngeom + 1, np.uint16)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                table[geom.segid + 1] = self._labels[geom.objid]
        return table

    def _pose(self, camera: int) -> NDArray[np.float64]:
        pose = np.eye(4)
        pose[:3, :3] = self._data.cam_xmat[camera].reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        pose[:3, 3] = self._data.cam_xpos[camera]
        return pose

    def close(self) -> None:
        """Give OpenGL back."""
        self._context.free()
        self._gl.free()


def _labels(model: mujoco.MjModel, config: WorldConfig) -> NDArray[np.uint16]:
    """Label of each geom (ngeom,)."""
    labels = {name: index + 1 for index, name in enumerate(visible_objects(config))}
    for name, fixture in config.fixtures.items():
        if fixture.seen == "whole":
            labels |= {f"{name}_{part}": labels[name] for part in fixture.boxes}
    names = [model.geom(geom).name for geom in range(model.ngeom)]
    return np.array([labels.get(name, 0) for name in names], dtype=np.uint16)
