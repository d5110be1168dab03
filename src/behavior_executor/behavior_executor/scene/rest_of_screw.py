# SPDX-License-Identifier: Apache-2.0
"""How far a screw still has to go to an absolute end: run again, it turns no further.

``Screw`` moves the tool by a rotation and a translation from wherever it is. Here the end is given,
as an angle about the axis and a place along it, and what is left is computed from where the tool
is now:

.. code-block:: xml

    <Sequence>
      <RestOfScrew axis="{hinge}" frame="tool" angle="0.9" rotation="{turn}"/>
      <Screw axis="{hinge}" rotation="{turn}" _skipIf="turn == 0"/>
    </Sequence>
"""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import PoseStamped

from behavior_executor.scene.scene_conditions import FrameCondition, Unanswerable
from behavior_ros import pose_to_matrix
from behavior_ros.messages.field_values import message_from_text
from behavior_tree import InputPort, OutputPort, ports_list, register_converter

NEAREST = 0.01
"""[m] from the axis: nearer to it a place has no angle about it that could be measured."""

register_converter(PoseStamped, lambda text: message_from_text(PoseStamped, text))


class RestOfScrew(FrameCondition):
    """Tells by how much a frame must still turn about an axis, and move along it, to where it shall
    end; 0 where it is there. What turns with it must not carry the axis's own frame.
    """

    ports = ports_list(
        InputPort("axis", PoseStamped, description="as of Screw: about and along its x axis"),
        InputPort("frame", str, description="object or frame that is moved, such as the tool"),
        InputPort(
            "angle",
            float,
            default=None,
            description="[rad] where it shall end, about the axis's x from its z axis; "
            "without: it may stay at any",
        ),
        InputPort(
            "along",
            float,
            default=None,
            description="[m] where it shall end along the axis; without: it may stay anywhere",
        ),
        InputPort("angle_tolerance", float, default=0.02, description="[rad] that count as there"),
        InputPort("along_tolerance", float, default=0.005, description="[m] that count as there"),
        OutputPort("rotation", float, description="[rad] left, the shorter way, for Screw"),
        OutputPort("translation", float, description="[m] left, for Screw"),
    )

    def holds(self) -> tuple[bool, str]:
        """Measure; it always holds where it can be measured."""
        angle, along = (self.get_input(port, None) for port in ("angle", "along"))
        if angle is None and along is None:
            raise Unanswerable("neither angle nor along says where it shall end: give one")
        axis: PoseStamped = self.get_input("axis")
        world_T_axis = self.place_of(axis.header.frame_id) @ pose_to_matrix(axis.pose)
        x, y, z = (np.linalg.inv(world_T_axis) @ self.place("frame"))[:3, 3]
        turn = 0.0 if angle is None else angle - self._angle(y, z)
        self._put("rotation", math.remainder(turn, math.tau), "angle_tolerance")
        self._put("translation", 0.0 if along is None else along - float(x), "along_tolerance")
        return True, ""

    def _angle(self, y: float, z: float) -> float:
        radius = math.hypot(y, z)
        if radius < NEAREST:
            raise Unanswerable(
                f"{self.get_input('frame')} is {1e3 * radius:.0f} mm from the axis, where its "
                "place has no angle: give the frame of something that goes around it"
            )
        return math.atan2(-y, z)

    def _put(self, port: str, left: float, tolerance: str) -> None:
        self.set_output(port, left if abs(left) > self.get_input(tolerance) else 0.0)
