# SPDX-License-Identifier: Apache-2.0
"""Changes of a scene that may have to wait: until objects are found, or can be computed.

An operation is asked again and again (:meth:`Operation.poll`) until nothing is pending. It knows no
clock and no ROS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from behavior_motion.object_state import ObjectState
from behavior_ros.messages.sent_text import SentTextError, read_yaml, shown
from behavior_scene.derived import DerivedObject
from behavior_scene.detections import Array
from behavior_scene.objects.definitions import (
    Definition,
    DefinitionError,
    computing_order,
    definitions_from,
)
from behavior_scene.objects.scene import Scene
from behavior_scene.request_checks import MOST_DEFINED, MOST_NAMES
from behavior_tree.shown_text import named


class Operation(Protocol):
    """A change under way."""

    @property
    def names(self) -> Sequence[str]:
        """Objects that it acts on."""

    @property
    def pending(self) -> Mapping[str, str]:
        """What is not yet as asked for, and why."""

    def poll(self, now: float) -> None:
        """Do what can be done at `now` [s]."""


class SetUp:
    """Sets up objects, each as soon as it can be."""

    def __init__(
        self, scene: Scene, definitions: Mapping[str, Definition], minimum_history: int = 0
    ) -> None:
        """Begin.

        Args:
            scene: gets the objects.
            definitions: by name.
            minimum_history: detections that tracks must have; 0: the scene's default.

        Raises:
            DefinitionError: objects would depend on themselves.
        """
        order = computing_order({**scene.definitions, **definitions})
        self.names = [name for name in order if name in definitions]
        self._scene, self._definitions = scene, definitions
        self._minimum_history = minimum_history
        self._pending = dict.fromkeys(self.names, "not looked for yet")

    @property
    def pending(self) -> Mapping[str, str]:
        """Objects that are not there yet, and why."""
        return self._pending

    @property
    def underivable(self) -> bool:
        """Whether something that is pending cannot be computed."""
        return any(isinstance(self._definitions[name], DerivedObject) for name in self._pending)

    def poll(self, now: float) -> None:
        """Try again."""
        for name in list(self._pending):
            reason = self._scene.establish(
                name, self._definitions[name], now, self._minimum_history
            )
            if reason:
                self._pending[name] = reason
            else:
                del self._pending[name]


class Preview:
    """Puts objects to a nominal pose instead of looking for them.

    What is derived is computed where it can be, else it is put there too.
    """

    def __init__(
        self, scene: Scene, definitions: Mapping[str, Definition], world_T_nominal: Array
    ) -> None:
        """See `SetUp`; `world_T_nominal` is 4x4."""
        order = computing_order({**scene.definitions, **definitions})
        self.names = [name for name in order if name in definitions]
        self.pending: Mapping[str, str] = {}
        self._scene, self._definitions, self._pose = scene, definitions, world_T_nominal

    def poll(self, now: float) -> None:
        """Do it."""
        for name in self.names:
            definition = self._definitions[name]
            if isinstance(definition, DerivedObject) and not self._scene.establish(
                name, definition, now
            ):
                continue
            self._scene.place(name, definition, self._pose)


class Freeze:
    """Freezes objects as soon as they are there; lost ones must be found first."""

    def __init__(self, scene: Scene, names: Sequence[str]) -> None:
        self.names = list(names)
        self._scene = scene
        self._pending = dict.fromkeys(self.names, "not looked for yet")

    @property
    def pending(self) -> Mapping[str, str]:
        """Objects that are not frozen yet, and why."""
        return self._pending

    def poll(self, now: float) -> None:
        """Try again."""
        objects = self._scene.snapshot(now).objects
        for name in list(self._pending):
            obj = objects.get(name)
            if obj is None:
                self._pending[name] = "not in the scene"
            elif obj.state is ObjectState.LOST:
                self._pending[name] = obj.text or "lost"
            else:
                self._scene.freeze([name], True, now)
                del self._pending[name]


class InOrder:
    """One operation after the other."""

    def __init__(self, *operations: Operation) -> None:
        self._operations = operations
        self.names = operations[-1].names

    @property
    def pending(self) -> Mapping[str, str]:
        """What is pending of the first one that has not ended."""
        return next((o.pending for o in self._operations if o.pending), {})

    def poll(self, now: float) -> None:
        """Go on as far as possible."""
        for operation in self._operations:
            operation.poll(now)
            if operation.pending:
                return


def wanted_definitions(text: str, names: Sequence[str], scene: Scene) -> dict[str, Definition]:
    """What a setup asks for.

    Args:
        text: YAML: a mapping from names to definitions, with or without the key `objects`; or, for
            one name, its definition alone; or empty: what the object library says of the names,
            or else objects that are called like their classes.
        names: objects; empty: all of `text`.
        scene: with the library.

    Raises:
        DefinitionError: it cannot be read, or nothing is asked for.
    """
    try:
        data: Any = read_yaml(text, "definition") if text.strip() else {}
    except SentTextError as error:
        raise DefinitionError(str(error)) from error
    if isinstance(data, Mapping) and "objects" in data:
        data = data["objects"]
    if not isinstance(data, Mapping):
        raise DefinitionError(
            f"definition: write a mapping from names to objects, not {shown(data)}"
        )
    if any(isinstance(data.get(key), str) for key in ("kind", "class")):
        if len(names) != 1:
            raise DefinitionError(
                f"definition: it tells of one object, but the names are {named(names)}; give one "
                "name, or a mapping from names to definitions"
            )
        data = {names[0]: data}
    if len(data) > MOST_NAMES:
        raise DefinitionError(f"definition tells of {len(data)} objects: at most {MOST_NAMES}")
    found = definitions_from(data, "definition") if data else _known(names, scene)
    unknown = [name for name in names if name not in found]
    if unknown:
        raise DefinitionError(
            f"definition: it does not tell of {named(unknown)}; it has {named(found)}"
        )
    if not found:
        raise DefinitionError("nothing to set up: give `definition`, or `names` of classes")
    wanted = {name: found[name] for name in names} if names else found
    if len({*scene.definitions, *wanted}) > MOST_DEFINED:
        raise DefinitionError(
            f"more than {MOST_DEFINED} objects would be set up: delete what is not needed any more"
        )
    return wanted


def _known(names: Sequence[str], scene: Scene) -> dict[str, Definition]:
    library = scene.library
    entries: dict[str, Any] = {}
    for name in names:
        if name in library.objects:
            entries[name] = library.objects[name]
        elif library.get(name) is not None:
            entries[name] = {"class": name}
        else:
            raise DefinitionError(
                f"'{name}' is neither an object nor a class of the object library: give its "
                f"definition, or one of {named([*library.objects, *library.classes])}"
            )
    return definitions_from(entries, "object library")
