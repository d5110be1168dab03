# SPDX-License-Identifier: Apache-2.0
"""The page that the viewer serves: robot, objects, planned path, live tree, mission buttons.

No ROS: values in, clicks out. The server listens on localhost only.
"""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import viser
import yourdfpy
from numpy.typing import NDArray
from viser.extras import ViserUrdf

from behavior_bringup.progress import Progress
from behavior_bringup.tree_view import tree_html
from behavior_bringup.viewer_geometry import Box

_CAMERA, _LOOK_AT = (1.25, 0.35, 0.85), (0.3, 0.0, 0.15)
_PATH_COLOUR = (20, 110, 220)


class ViewerPage:
    """A viser server with everything on it."""

    def __init__(
        self,
        *,
        port: int,
        robot_description: str,
        on_start: Callable[[str], None],
        on_cancel: Callable[[], None],
    ) -> None:
        """Serve the page.

        Args:
            port: on localhost; the next free one when it is taken.
            robot_description: URDF with meshes as file addresses.
            on_start: called with a mission's name when the start button is clicked.
            on_cancel: called when the cancel button is clicked.
        """
        self._server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
        self._server.initial_camera.position = _CAMERA
        self._server.initial_camera.look_at = _LOOK_AT
        scene = self._server.scene
        scene.add_grid("/ground", width=2.4, height=2.4, cell_size=0.1, section_size=0.5)
        self._urdf = yourdfpy.URDF.load(
            io.BytesIO(robot_description.encode()),
            filename_handler=_mesh_file,
        )
        self._robot = ViserUrdf(self._server, self._urdf, root_node_name="/robot")
        self._joints = dict.fromkeys(self._robot.get_actuated_joint_limits(), 0.0)
        self._boxes: dict[str, tuple[Box, viser.BoxHandle, viser.LabelHandle]] = {}
        self._path: viser.LineSegmentsHandle | None = None
        self._tree = ""
        self._build_panel(on_start, on_cancel)

    @property
    def port(self) -> int:
        """Where the page is served."""
        return int(self._server.get_port())

    @property
    def boxes(self) -> dict[str, Box]:
        """The objects that are drawn."""
        return {name: box for name, (box, _, _) in self._boxes.items()}

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
        return str(self._status.content)

    def close(self) -> None:
        """Stop serving."""
        self._server.stop()

    def set_joints(self, positions: Mapping[str, float]) -> None:
        """Move the robot; joints that it does not have are ignored."""
        self._joints.update({k: v for k, v in positions.items() if k in self._joints})
        self._robot.update_cfg(np.array(list(self._joints.values())))

    def set_objects(self, boxes: Mapping[str, Box]) -> None:
        """Draw exactly these objects."""
        for name in self._boxes.keys() - boxes.keys():
            self._remove(name)
        for name, box in boxes.items():
            known = self._boxes.get(name)
            if known and known[0] == box:
                continue
            if known and (known[0].size, known[0].colour) == (box.size, box.colour):
                _, handle, label = known
                handle.position, handle.wxyz = box.position, box.wxyz
            else:
                self._remove(name)
                handle = self._server.scene.add_box(
                    f"/objects/{name}",
                    dimensions=box.size,
                    color=box.colour,
                    position=box.position,
                    wxyz=box.wxyz,
                )
                label = self._server.scene.add_label(f"/labels/{name}", box.label)
            label.text = box.label
            label.position = (*box.position[:2], box.position[2] + 0.7 * box.size[2])
            self._boxes[name] = (box, handle, label)

    def set_path(self, points: NDArray[np.float64]) -> None:
        """Draw the planned path of the tool; fewer than two points: none.

        Args:
            points: [m] in the world frame, shape (n, 3).
        """
        if self._path is not None:
            self._path.remove()
            self._path = None
        if len(points) >= 2:
            segments = np.stack([points[:-1], points[1:]], axis=1)
            self._path = self._server.scene.add_line_segments(
                "/planned_path", segments, _PATH_COLOUR, thickness=0.004
            )

    def set_tree(self, content: str) -> None:
        """Show the live tree, HTML of `tree_view.tree_html`."""
        if content != self._tree:
            self._tree = content
            self._tree_panel.content = content

    def set_missions(self, names: Sequence[str]) -> None:
        """Offer these missions."""
        if names and tuple(names) != self._choice.options:
            self._choice.options = tuple(names)

    def set_progress(self, progress: Progress, text: str) -> None:
        """Show how a mission gets on; `text` is the executor's word on it."""
        lines = [
            f"**{html.escape(progress.mission)}**: {progress.state}, {progress.simulated:.1f} s",
            html.escape(progress.doing),
            html.escape(progress.summary),
            html.escape(text),
        ]
        self._status.content = "  \n".join(line for line in lines if line)

    def _build_panel(self, on_start: Callable[[str], None], on_cancel: Callable[[], None]) -> None:
        gui = self._server.gui
        gui.configure_theme(control_width="large")
        gui.main_panel.dock_right()
        with gui.add_folder("Mission"):
            self._choice: Any = gui.add_dropdown("mission", ("stack_blocks",))
            start = gui.add_button("Start", color="green")
            cancel = gui.add_button("Cancel", color="red")
            self._status = gui.add_markdown("no mission runs")
        with gui.add_folder("Behavior tree"):
            self._tree_panel = gui.add_html(tree_html([], {}))
        start.on_click(lambda _: on_start(str(self._choice.value)))
        cancel.on_click(lambda _: on_cancel())

    def _remove(self, name: str) -> None:
        if name in self._boxes:
            _, handle, label = self._boxes.pop(name)
            handle.remove()
            label.remove()


def _mesh_file(fname: str) -> str:
    """The path of a mesh; yourdfpy calls it by this argument's name."""
    return fname.removeprefix("file://")
