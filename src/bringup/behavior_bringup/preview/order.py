# SPDX-License-Identifier: Apache-2.0
"""What a preview's name stands for: a mission, a file of steps, or a place to drive to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from behavior_msgs.msg import MissionAction
from pydantic import ValidationError

from behavior_bringup.conversion import sequence_action
from behavior_bringup.errors import UsageError
from behavior_bringup.jobs.trial_run import NOTHING, order_of
from behavior_bringup.missions.mission_steps import Place, Step, read_steps
from behavior_packages.validation import faults

NAVIGATE = "navigate"
"""Name of the drive to a place, with the parameters x, y, yaw and frame."""


def previewed_order(name: str, parameters: Mapping[str, str] = NOTHING) -> MissionAction:
    """The order that is previewed, and run when it is approved.

    Raises:
        UsageError: the place or the file is wrong.
        BringupError: as `order_of`.
    """
    if name == NAVIGATE:
        try:
            place = Place.model_validate(dict(parameters))
        except ValidationError as error:
            raise UsageError(
                "navigate takes x and y, and yaw and frame, by --param: "
                + "; ".join(faults(error, "all"))
            ) from error
        return sequence_action([Step(navigate=place)])
    if name.endswith((".yaml", ".yml")):
        if parameters:
            raise UsageError(f"'{name}' is a sequence, which has no parameters: leave --param away")
        return sequence_action(read_steps(Path(name)))
    return order_of(name, parameters)
