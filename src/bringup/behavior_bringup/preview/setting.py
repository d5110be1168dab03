# SPDX-License-Identifier: Apache-2.0
"""Puts the copy into the state of the real stack: its world first, then its scene."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
from behavior_msgs.action import ManageScene
from behavior_msgs.srv import AttachObject, FreezeObjects
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from std_srvs.srv import SetBool

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.preview.live_state import BelievedObject, LiveState
from behavior_bringup.preview.observer import Observer
from behavior_bringup.preview.start_state import CopiedWorld

SEEN_WITHIN = 10.0
"""[s simulated] that the copy's scene gets to see everything."""
_NEAR = 0.03
"""[m] The scene agrees with the world when no object is further off."""
_MANAGED = 60.0
"""[s] of wall time for a change of the scene."""


class CopySetter(ABC):
    """Sets a copy through a client in its ROS domain."""

    def __init__(self, client: StackClient) -> None:
        """Work through that client."""
        self._client = client

    def run(self, busy: float) -> None:
        """Let the copy's time run as fast as it can.

        Args:
            busy: times real time at most while a program computes; 0: as fast as it can then too.

        Raises:
            BringupError: the simulation does not answer.
        """
        wanted = {"speed": 0.0, "busy_speed": busy}
        kind = ParameterType.PARAMETER_DOUBLE
        values = {n: ParameterValue(type=kind, double_value=wanted[n]) for n in wanted}
        request = SetParameters.Request(
            parameters=[Parameter(name=name, value=value) for name, value in values.items()]
        )
        self._client.call(SetParameters, "simulation/set_parameters", request)
        self._client.call(SetBool, "simulation/pause", SetBool.Request(data=False))

    def halt(self) -> None:
        """Let the copy's time stand still.

        Raises:
            BringupError: the simulation does not answer.
        """
        self._client.call(SetBool, "simulation/pause", SetBool.Request(data=True))

    @abstractmethod
    def set(self, live: LiveState, world: CopiedWorld, file: str, seed: int = 0) -> list[str]:
        """The copy as the real stack is.

        Args:
            live: the real stack.
            world: the state made of it.
            file: with that state.
            seed: of the noise.

        Returns:
            What is not as it is there, a sentence each.

        Raises:
            BringupError: the copy refuses.
        """


class ObjectsSetter(CopySetter):
    """Sets a copy that has a scene of objects."""

    def __init__(self, client: StackClient, observer: Observer) -> None:
        """Work through that client, and see what the copy believes by the observer."""
        super().__init__(client)
        self._observer = observer

    def set(self, live: LiveState, world: CopiedWorld, file: str, seed: int = 0) -> list[str]:
        """World and scene."""
        self._client.reset(seed=seed, layout=file)
        self._manage(ManageScene.Goal(operation=ManageScene.Goal.CLEAR))
        wanted = {
            name: live.objects[name]
            for name in world.names
            if live.objects[name].sight in ("tracked", "frozen", "held")
        }
        self._client.wait_simulated(
            lambda: len(counterparts(wanted, self._observer.objects)) == len(wanted),
            limit=SEEN_WITHIN,
        )
        found = counterparts(wanted, self._observer.objects)
        notes = [
            f"{name} is not seen in the copy within {SEEN_WITHIN:g} s"
            for name in wanted
            if name not in found
        ]
        notes += self._named(found)
        return [*notes, *self._marked(live, found), *self._derived(live)]

    def _named(self, found: dict[str, str]) -> list[str]:
        """Call everything as it is called there: of like things it is chance who is the first.

        Args:
            found: name in the copy by name; corrected.

        Returns:
            What is called otherwise after all.
        """
        own = {name: other for name, other in found.items() if name != other}
        if own:
            goal = ManageScene.Goal(
                operation=ManageScene.Goal.RENAME,
                names=list(own.values()),
                definition=json.dumps(list(own)),
            )
            try:
                self._manage(goal)
            except BringupError as error:
                return [f"{name} is called {own[name]} in the copy: {error}" for name in own]
            found.update({name: name for name in own})
        return []

    def _marked(self, live: LiveState, found: Mapping[str, str]) -> Iterator[str]:
        """Attach what is held, freeze what is frozen; tells what does not work."""
        for name, own in found.items():
            item = live.objects[name]
            if item.sight == "held":
                request = AttachObject.Request(name=own, attach=True, link=item.link)
                answer = self._client.call(AttachObject, "scene/attach", request)
            elif item.sight == "frozen":
                frozen = FreezeObjects.Request(names=[own], freeze=True)
                answer = self._client.call(FreezeObjects, "scene/freeze", frozen)
            else:
                continue
            if answer.code != 0:
                yield f"{name} is not {item.sight} in the copy: {answer.message}"

    def _derived(self, live: LiveState) -> Iterator[str]:
        """Set up what is derived from others; tells what does not work."""
        for name, item in live.objects.items():
            if item.derived:
                goal = ManageScene.Goal(
                    operation=ManageScene.Goal.SETUP, names=[name], timeout=SEEN_WITHIN
                )
                try:
                    self._manage(goal)
                except BringupError as error:
                    yield f"{name} is not in the copy: {error}"

    def _manage(self, goal: ManageScene.Goal) -> None:
        result = self._client.run_action(ManageScene, "scene/manage", goal, timeout=_MANAGED)
        if result.code != result.SUCCESS:
            raise BringupError(str(result.message).rstrip("."))


def counterparts(
    wanted: Mapping[str, BelievedObject], seen: Mapping[str, BelievedObject]
) -> dict[str, str]:
    """Names by which a scene has objects, those that it sees near where they are wanted.

    Args:
        wanted: objects by name.
        seen: objects of that scene.

    Returns:
        Name in the scene by the wanted object's name.
    """
    found: dict[str, str] = {}
    for name, item in wanted.items():
        apart = {
            other: float(np.linalg.norm(thing.pose[:3, 3] - item.pose[:3, 3]))
            for other, thing in seen.items()
            if thing.class_id == item.class_id and other not in found.values()
        }
        near = {other: distance for other, distance in apart.items() if distance <= _NEAR}
        if near:
            found[name] = name if name in near else min(near, key=lambda other: near[other])
    return found
