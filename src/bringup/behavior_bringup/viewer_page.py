# SPDX-License-Identifier: Apache-2.0
"""The page that the viewer serves: robot, objects, paths, map, live tree, and the controls.

No ROS: values in, clicks out. Who may look and who may act: `viewer_server`.
"""

from __future__ import annotations

import html
import io
import threading
from collections.abc import Mapping, Sequence

import numpy as np
import viser
import yourdfpy
from numpy.typing import NDArray
from viser.extras import ViserUrdf

from behavior_bringup.progress import Progress
from behavior_bringup.tree_view import tree_html
from behavior_bringup.viewer_controls import Commands, Controls
from behavior_bringup.viewer_geometry import Colour, GroundMap, Part, ShownObject, cone_mesh
from behavior_bringup.viewer_server import guarded_server, may_act
from behavior_ros.web_access import WebAccess

_CAMERA, _LOOK_AT = (1.25, 0.35, 0.85), (0.3, 0.0, 0.15)
_PATH_COLOURS: Mapping[str, Colour] = {
    "planned_path": (20, 110, 220),
    "preview": (190, 90, 240),
    "route": (120, 160, 120),
    "plan": (20, 110, 220),
}
_OF_THE_TOOL = ("planned_path", "preview")
_BASE_COLOUR = (217, 106, 20)
_LOOKING = (
    '<div style="padding:0.4em 0.8em;font-size:12px;color:#6b7280">You may look. To act, open the'
    " address that 'behavior up' and 'behavior status' print.</div>"
)


class ViewerPage:
    """A viser server with everything on it."""

    def __init__(
        self,
        *,
        port: int,
        access: WebAccess,
        title: str,
        mission: str,
        robot_description: str,
        commands: Commands,
    ) -> None:
        """Serve the page.

        Args:
            port: on localhost; the next free one when it is taken.
            access: who may look, who may act.
            title: of the panel: what is shown.
            mission: which one is offered first.
            robot_description: URDF with meshes as file addresses; empty: no arm.
            commands: what clicks do.
        """
        self._server = guarded_server(access, port=port)
        self._title, self._mission, self._commands = title, mission, commands
        self._server.initial_camera.position = _CAMERA
        self._server.initial_camera.look_at = _LOOK_AT
        scene = self._server.scene
        self._grid = scene.add_grid(
            "/ground", width=2.4, height=2.4, cell_size=0.1, section_size=0.5
        )
        self._robot: ViserUrdf | None = None
        self._joints: dict[str, float] = {}
        if robot_description:
            self._add_robot(robot_description)
        self._objects: dict[str, tuple[ShownObject, viser.FrameHandle, viser.LabelHandle]] = {}
        self._paths: dict[str, viser.LineSegmentsHandle] = {}
        self._base: viser.FrameHandle | None = None
        self._map: viser.ImageHandle | None = None
        self._tree = self._status = ""
        self._controls: dict[int, Controls] = {}
        self._missions: Mapping[str, Sequence[str]] = {}
        self._state = ""
        self._changing = threading.RLock()
        self._build_panel()
        self._server.on_client_connect(self._welcome)
        self._server.on_client_disconnect(self._forget)

    @property
    def port(self) -> int:
        """Where the page is served."""
        return int(self._server.get_port())

    @property
    def objects(self) -> dict[str, ShownObject]:
        """The objects that are drawn."""
        return {name: shown for name, (shown, _, _) in self._objects.items()}

    @property
    def paths(self) -> set[str]:
        """The paths that are drawn."""
        return set(self._paths)

    @property
    def has_map(self) -> bool:
        """Whether a map is drawn."""
        return self._map is not None

    @property
    def base(self) -> tuple[float, float, float] | None:
        """Where a mobile robot is drawn [m]; None: nowhere."""
        return tuple(self._base.position) if self._base is not None else None

    @property
    def tree(self) -> str:
        """The HTML of the live tree."""
        return self._tree

    @property
    def joints(self) -> dict[str, float]:
        """The joint positions that are drawn [rad, m]."""
        return dict(self._joints)

    @property
    def status(self) -> str:
        """The words on the mission."""
        return self._status

    def close(self) -> None:
        """Stop serving."""
        self._server.stop()

    def set_joints(self, positions: Mapping[str, float]) -> None:
        """Move the robot; joints that it does not have are ignored."""
        if self._robot is not None:
            self._joints.update({k: v for k, v in positions.items() if k in self._joints})
            self._robot.update_cfg(np.array(list(self._joints.values())))

    def set_objects(self, objects: Mapping[str, ShownObject]) -> None:
        """Draw exactly these objects."""
        for name in self._objects.keys() - objects.keys():
            self._remove(name)
        for name, shown in objects.items():
            known = self._objects.get(name)
            if known and _looks(known[0]) == _looks(shown):
                _, frame, label = known
            else:
                self._remove(name)
                frame, label = self._add_object(name, shown)
            frame.position, frame.wxyz = shown.position, shown.wxyz
            x, y, z = shown.position
            label.position, label.text = (x, y, z + shown.height), shown.label
            self._objects[name] = (shown, frame, label)

    def set_path(self, name: str, points: NDArray[np.float64]) -> None:
        """Draw a path instead of the former one of that name; fewer than two points: none.

        Args:
            name: planned_path or preview (of the tool), route or plan (of the base).
            points: [m] in the world frame, shape (n, 3).
        """
        former = self._paths.pop(name, None)
        if former is not None:
            former.remove()
        if len(points) >= 2:
            segments = np.stack([points[:-1], points[1:]], axis=1)
            self._paths[name] = self._server.scene.add_line_segments(
                f"/{name}",
                segments,
                _PATH_COLOURS[name],
                thickness=0.004 if name in _OF_THE_TOOL else 0.08,
            )

    def set_map(self, ground: GroundMap) -> None:
        """Draw the map on the ground, and look at it as a whole when it is the first."""
        x, y = ground.centre
        if self._map is None or tuple(self._map.position[:2]) != (x, y):
            self._grid.visible = False
            self._look_at_ground(x, y, 0.6 * max(ground.width, ground.height))
        with self._changing:
            for controls in self._controls.values():
                controls.add_drive()
        # viser's pictures hang in the x-y plane, their upper edge towards -y.
        self._map = self._server.scene.add_image(
            "/map",
            ground.image,
            ground.width,
            ground.height,
            position=(x, y, -0.01),
            wxyz=(0.0, 1.0, 0.0, 0.0),
            format="png",
            cast_shadow=False,
        )

    def _look_at_ground(self, x: float, y: float, reach: float) -> None:
        eye, at = (x, y - reach, 1.6 * reach), (x, y, 0.0)
        self._server.initial_camera.position, self._server.initial_camera.look_at = eye, at
        for client in self._server.get_clients().values():
            client.camera.position, client.camera.look_at = eye, at

    def set_base(self, x: float, y: float, yaw: float) -> None:
        """Draw a mobile robot there [m, rad]."""
        if self._base is None:
            scene = self._server.scene
            self._base = scene.add_frame("/base", show_axes=False)
            scene.add_cylinder("/base/body", 0.35, 0.3, _BASE_COLOUR, position=(0.0, 0.0, 0.15))
            scene.add_box(
                "/base/front",
                color=(255, 255, 255),
                dimensions=(0.25, 0.08, 0.02),
                position=(0.2, 0.0, 0.31),
            )
        self._base.position = (x, y, 0.0)
        self._base.wxyz = (float(np.cos(yaw / 2)), 0.0, 0.0, float(np.sin(yaw / 2)))

    def set_tree(self, content: str) -> None:
        """Show the live tree, HTML of `tree_view.tree_html`."""
        if content != self._tree:
            self._tree = self._tree_panel.content = content

    def set_missions(self, missions: Mapping[str, Sequence[str]]) -> None:
        """Offer these missions; for each, its parameters in a line each."""
        with self._changing:
            self._missions = missions
            for controls in self._controls.values():
                controls.set_missions(self._missions, self._mission)

    def set_progress(self, progress: Progress, text: str) -> None:
        """Show how a mission gets on; `text` is the executor's word on it."""
        lines = [
            f"<b>{html.escape(progress.mission)}</b>: {progress.state}, {progress.simulated:.1f} s",
            html.escape(progress.doing),
            html.escape(progress.summary),
            html.escape(text),
        ]
        self._say("<br/>".join(line for line in lines if line))
        with self._changing:
            self._state = progress.state
            for controls in self._controls.values():
                controls.set_state(self._state)

    def _say(self, content: str) -> None:
        self._status = content
        self._status_panel.content = (
            f'<div style="padding:0.3em 0.8em;font-size:12px;line-height:1.5">{content}</div>'
        )

    def _build_panel(self) -> None:
        gui = self._server.gui
        gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        gui.set_panel_label(self._title)
        gui.main_panel.dock_right()
        with gui.add_folder("Now", order=1):
            self._status_panel = gui.add_html("")
        with gui.add_folder("Behavior tree", order=2):
            self._tree_panel = gui.add_html(tree_html([], {}))
        self._say("no mission runs")

    def _welcome(self, client: viser.ClientHandle) -> None:
        """Give a page the controls if it may act."""
        if not may_act(client):
            client.gui.add_html(_LOOKING, order=0)
            return
        with self._changing:
            controls = Controls(client, self._commands, "Mission")
            controls.set_missions(self._missions, self._mission)
            controls.set_state(self._state)
            if self._map is not None:
                controls.add_drive()
            self._controls[client.client_id] = controls

    def _forget(self, client: viser.ClientHandle) -> None:
        with self._changing:
            self._controls.pop(client.client_id, None)

    def _add_robot(self, description: str) -> None:
        urdf = yourdfpy.URDF.load(io.BytesIO(description.encode()), filename_handler=_mesh_file)
        self._robot = ViserUrdf(self._server, urdf, root_node_name="/robot")
        self._joints = dict.fromkeys(self._robot.get_actuated_joint_limits(), 0.0)

    def _add_object(
        self, name: str, shown: ShownObject
    ) -> tuple[viser.FrameHandle, viser.LabelHandle]:
        scene = self._server.scene
        frame = scene.add_frame(f"/objects/{name}", show_axes=False)
        for number, part in enumerate(shown.parts):
            self._add_part(f"/objects/{name}/{number}", part, shown)
        label = scene.add_label(f"/labels/{name}", shown.label, font_screen_scale=0.8)
        return frame, label

    def _add_part(self, name: str, part: Part, shown: ShownObject) -> None:
        scene = self._server.scene
        x, y, z = part.size
        opacity = None if shown.solid else 0.15
        if part.kind == "box":
            scene.add_box(name, shown.colour, part.size, position=part.offset, opacity=opacity)
        elif part.kind == "sphere":
            scene.add_icosphere(name, x / 2, shown.colour, position=part.offset, opacity=opacity)
        elif part.kind == "cylinder":
            scene.add_cylinder(name, x / 2, z, shown.colour, position=part.offset, opacity=opacity)
        else:
            vertices, faces = cone_mesh((x, y, z))
            scene.add_mesh_simple(
                name, vertices, faces, color=shown.colour, position=part.offset, opacity=opacity
            )

    def _remove(self, name: str) -> None:
        if name in self._objects:
            _, frame, label = self._objects.pop(name)
            frame.remove()  # its parts go with it
            label.remove()


def _looks(shown: ShownObject) -> tuple[object, ...]:
    """What cannot be changed in place."""
    return (shown.parts, shown.colour, shown.solid)


def _mesh_file(fname: str) -> str:
    """The path of a mesh; yourdfpy calls it by this argument's name."""
    return fname.removeprefix("file://")
