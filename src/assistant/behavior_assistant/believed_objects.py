# SPDX-License-Identifier: Apache-2.0
"""What a running stack believes of the objects around it."""

from __future__ import annotations

from typing import Any

from behavior_bringup.client import SERVICE_TIMEOUT, StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.connection import SCENE, enter
from behavior_sim.judging import Objects


def believed_objects(stack: str, namespace: str = "") -> dict[str, dict[str, Any]]:
    """The objects of a running stack's scene, by JSON's types.

    Raises:
        BringupError: it is not up, or tells nothing.
    """
    enter(stack, SCENE)
    with StackClient(namespace, name="behavior_assistant") as client:
        if not client.wait(lambda: client.scene_time >= 0.0, SERVICE_TIMEOUT):
            raise BringupError("The stack tells nothing of its scene: 'behavior status' says why")
        return object_rows(client.scene)


def object_rows(objects: Objects) -> dict[str, dict[str, Any]]:
    """Objects by JSON's types: class, place and size [m], whether they are held."""
    return {
        name: {
            "class": item.class_id,
            "position": [round(float(part), 3) for part in item.position],
            "size": [round(float(part), 3) for part in item.size],
            "held": item.held,
        }
        for name, item in sorted(objects.items())
    }
