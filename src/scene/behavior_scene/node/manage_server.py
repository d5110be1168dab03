# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that changes the scene on request: `/scene/manage`.

A goal that succeeds has its change published before its result, and the result
carries the revision of that, so that its client can wait until it sees it.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from behavior_msgs.action import ManageScene
from geometry_msgs.msg import PoseStamped

from behavior_ros import ParameterSpec, declare_all, pose_to_matrix, seconds
from behavior_ros.messages.sent_text import SentTextError, read_yaml, shown
from behavior_scene.detections import Array
from behavior_scene.memory.store import SceneMemory, UnknownMemoryError
from behavior_scene.node.conversion import object_message
from behavior_scene.node.detector_configuration import (
    DetectorConfiguration,
    DetectorDefinitionError,
    wanted_parameters,
)
from behavior_scene.node.host import SceneHost
from behavior_scene.node.open_goals import LOOK, OpenGoal, OpenGoals
from behavior_scene.objects.definitions import DefinitionError, names_from
from behavior_scene.objects.operations import (
    Freeze,
    InOrder,
    Operation,
    Preview,
    SetUp,
    wanted_definitions,
)
from behavior_scene.objects.saved_objects import SavedObject
from behavior_scene.objects.scene import UnknownLinkError, UnknownObjectError
from behavior_scene.request_checks import MOST_OPEN, MOST_PENDING, manage_problem
from behavior_scene.tracking.parameters import TrackerParameterError
from behavior_tree.shown_text import named, reason_text

Goal = ManageScene.Goal
Result = ManageScene.Result
PARAMETERS = [
    ParameterSpec(
        "manage_timeout", 5.0, "[s] of /scene/manage where the goal gives none", range=(0.01, 3600)
    ),
    ParameterSpec("detectors", [""], "names of detector nodes that `exclusive` disables"),
]
FEEDBACK = 0.2
"""[s] node time between two feedback messages of a goal, at least."""


class RefusalError(Exception):
    """A goal cannot be fulfilled."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class _Done:
    """An operation that was done at once."""

    pending: Mapping[str, str] = MappingProxyType({})

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = names

    def poll(self, now: float) -> None:
        """Nothing is left to do."""


class _OnMemory:
    """Work on the memory."""

    def __init__(self, what: str) -> None:
        self.names: Sequence[str] = ()
        self.pending: dict[str, str] = {"memory": what}
        self.error: RefusalError | None = None

    def poll(self, now: float) -> None:
        """The worker's answer ends it; see whether it was an error."""
        if self.error is not None:
            raise self.error


@dataclass(slots=True, eq=False, kw_only=True)
class _Open(OpenGoal):
    """A goal under way."""

    operation: Operation
    total: int
    feedback_at: float = -math.inf


class ManageServer:
    """Serves `/scene/manage`."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        values = declare_all(host.node, PARAMETERS)
        self._timeout: float = values["manage_timeout"]
        self._detectors = [name for name in values["detectors"] if name]
        self._begin_by: dict[int, Callable[[Any], Operation]] = {
            Goal.SETUP: self._set_up,
            Goal.FREEZE: self._freeze,
            Goal.UNFREEZE: self._unfreeze,
            Goal.DELETE: self._delete,
            Goal.CLEAR: self._clear,
            Goal.CONFIGURE_DETECTOR: self._configure_detector,
            Goal.CONFIGURE_TRACKER: self._configure_tracker,
            Goal.SAVE: self._save,
            Goal.RESTORE: self._restore,
            Goal.ATTACH: self._attach,
            Goal.DETACH: self._detach,
            Goal.RENAME: self._rename,
        }
        self.goals: OpenGoals[_Open] = OpenGoals(
            host, ManageScene, "scene/manage", work=self._execute, look=self._poll_all
        )

    # ------------------------------------------------------------------ goals

    async def _execute(self, handle: Any) -> Any:
        goal, result = handle.request, Result()
        operation: Operation | None = None
        try:
            self._check(goal)
            operation = self._begin(goal)
            result.code, result.message = await self._wait(handle, operation)
        except RefusalError as refusal:
            result.code, result.message = refusal.code, reason_text(str(refusal))
        finally:
            if isinstance(operation, DetectorConfiguration):
                operation.close()
        shown = self._host.publish()
        result.revision = shown.revision
        names = [] if operation is None else operation.names
        result.objects = [object_message(shown.objects[n]) for n in names if n in shown.objects]
        return result

    def _check(self, goal: Any) -> None:
        """Refuse what is too large, or too much; raises `RefusalError`."""
        problem = manage_problem(goal)
        waiting = [entry.operation for entry in self.goals.waiting]
        pending = sum(len(operation.pending) for operation in waiting)
        if not problem and (len(waiting) >= MOST_OPEN or pending >= MOST_PENDING):
            problem = (
                f"{len(waiting)} goals wait for {pending} objects already: cancel some, or try "
                "again later"
            )
        if problem:
            raise RefusalError(Result.INVALID_REQUEST, problem)

    def _begin(self, goal: Any) -> Operation:
        """Start what a goal asks for; raises `RefusalError`."""
        begin = self._begin_by.get(int(goal.operation))
        if begin is None:
            raise RefusalError(
                Result.INVALID_REQUEST,
                f"operation {goal.operation} is unknown; see behavior_msgs/action/ManageScene",
            )
        try:
            return begin(goal)
        except (
            DefinitionError,
            DetectorDefinitionError,
            TrackerParameterError,
            SentTextError,
        ) as error:
            raise RefusalError(Result.INVALID_REQUEST, str(error)) from error
        except UnknownObjectError as error:
            text = self._host.unknown_object(error.args[0])
            raise RefusalError(Result.UNKNOWN_OBJECT, text) from error
        except UnknownLinkError as error:
            text = self._host.unknown_link(error.args[0])
            raise RefusalError(Result.UNKNOWN_LINK, text) from error

    async def _wait(self, handle: Any, operation: Operation) -> tuple[int, str]:
        """Wait until nothing is pending; returns code and message; raises `RefusalError`."""
        entry = _Open(
            handle=handle,
            operation=operation,
            begun=self._host.now(),
            timeout=handle.request.timeout or self._timeout,
            total=max(len(operation.pending), 1),
        )
        return await self.goals.ended(entry, lambda: self._poll(entry, self._host.now()))

    def _poll_all(self) -> None:
        now = self._host.now()
        for entry in self.goals.waiting:
            self._poll(entry, now)

    def _poll(self, entry: _Open, now: float) -> None:
        operation = entry.operation
        try:
            operation.poll(now)
        except RefusalError as refusal:
            entry.end(refusal.code, str(refusal))
            return
        except DefinitionError as error:  # others were set up meanwhile
            entry.end(Result.INVALID_REQUEST, str(error))
            return
        except Exception as error:  # the scene goes on whatever one goal does
            self._host.log_error(f"scene/manage: {''.join(traceback.format_exception(error))}")
            entry.end(
                Result.INVALID_REQUEST,
                "the scene could not do this; why is in the log of the scene",
            )
            return
        pending = operation.pending
        refused = operation.refused if isinstance(operation, DetectorConfiguration) else {}
        if not pending and refused:
            entry.end(Result.INVALID_REQUEST, f"refused: {_listed(refused)}")
        elif not pending:
            entry.end(Result.SUCCESS, "ok")
        elif not 0.0 <= now - entry.begun < entry.timeout:
            code = Result.TIMED_OUT
            if isinstance(operation, SetUp) and operation.underivable:
                code = Result.NOT_DERIVABLE
            entry.end(code, f"not within {entry.timeout:g} s: {_listed(pending)}")
        elif now - entry.feedback_at >= FEEDBACK - 0.5 * LOOK:
            entry.feedback_at = now
            entry.handle.publish_feedback(
                ManageScene.Feedback(
                    pending=[f"{name}: {why}" for name, why in pending.items()],
                    progress=1.0 - len(pending) / max(entry.total, len(pending)),
                )
            )

    # ------------------------------------------------------------------ operations

    def _set_up(self, goal: Any) -> Operation:
        scene = self._host.scene
        definitions = wanted_definitions(goal.definition, goal.names, scene)
        if goal.preview:
            return Preview(scene, definitions, self._nominal(goal.nominal_pose))
        return SetUp(scene, definitions, goal.minimum_history)

    def _freeze(self, goal: Any) -> Operation:
        scene = self._host.scene
        if goal.definition:
            begun = self._set_up(goal)
            return InOrder(begun, Freeze(scene, begun.names))
        names = list(goal.names) or list(self._host.snapshot().objects)
        if not goal.names:
            scene.freeze([], True, self._host.now())
            return _Done(names)
        return Freeze(scene, names)

    def _unfreeze(self, goal: Any) -> Operation:
        self._host.scene.freeze(goal.names, False, self._host.now())
        return _Done(list(goal.names) or list(self._host.snapshot().objects))

    def _delete(self, goal: Any) -> Operation:
        if not goal.names:
            raise RefusalError(
                Result.INVALID_REQUEST, "names is empty: name what to delete, or use CLEAR"
            )
        self._host.scene.delete(goal.names)
        return _Done()

    def _clear(self, goal: Any) -> Operation:
        self._host.scene.clear()
        return _Done()

    def _attach(self, goal: Any) -> Operation:
        if not goal.names:
            raise RefusalError(Result.INVALID_REQUEST, "names is empty: name what is attached")
        self._check_known(goal.names)
        for name in goal.names:
            self._host.scene.attach(name, goal.link, self._host.now())
        return _Done(list(goal.names))

    def _detach(self, goal: Any) -> Operation:
        held = [n for n, obj in self._host.snapshot().objects.items() if obj.attached_link]
        names = list(goal.names) or held
        self._check_known(names)
        for name in names:
            self._host.scene.detach(name)
        return _Done(names)

    def _rename(self, goal: Any) -> Operation:
        old, new = list(goal.names), names_from(goal.definition)
        if not len(new) == len(old) == len(set(old)):
            raise RefusalError(
                Result.INVALID_REQUEST,
                f"{len(new)} new names for {len(set(old))} objects: as many are needed",
            )
        self._host.scene.rename(dict(zip(old, new, strict=True)))
        return _Done(new)

    def _configure_tracker(self, goal: Any) -> Operation:
        changes = read_yaml(goal.definition, "definition")
        if not isinstance(changes, Mapping) or not changes:
            raise RefusalError(
                Result.INVALID_REQUEST,
                "definition: write a mapping from parameters of the tracker to values, such as "
                f"{{stability_frequency: 2.0}}, not {shown(changes)}",
            )
        self._host.scene.tracker.configure(changes)
        return _Done()

    def _configure_detector(self, goal: Any) -> Operation:
        node = self._host.node
        wanted = wanted_parameters(goal.definition, self._detectors, node.get_namespace())
        return DetectorConfiguration(node, wanted, self.goals.look)

    def _save(self, goal: Any) -> Operation:
        name, stamp, frame = _memory_name(goal), self._host.now(), self._host.frame
        saved = self._host.scene.saved(stamp)
        if goal.names:
            self._require([entry.name for entry in saved], goal.names)
            saved = [entry for entry in saved if entry.name in goal.names]
        operation = _OnMemory("being written")
        operation.names = [entry.name for entry in saved]
        self._on_memory(operation, lambda memory: memory.save(name, frame, stamp, saved))
        return operation

    def _restore(self, goal: Any) -> Operation:
        name, operation = _memory_name(goal), _OnMemory("being read")

        def read(memory: SceneMemory) -> tuple[str, list[SavedObject]]:
            try:
                return memory.restore(name)
            except UnknownMemoryError:
                raise RefusalError(
                    Result.UNKNOWN_OBJECT,
                    f"no scene was saved as '{name}'; there are {named(memory.names())}",
                ) from None

        def take(found: tuple[str, list[SavedObject]]) -> None:
            frame, saved = found
            if frame != self._host.frame:
                raise RefusalError(
                    Result.STORAGE_FAILED,
                    f"'{name}' was saved in the frame '{frame}', this scene's is "
                    f"'{self._host.frame}'",
                )
            if goal.names:
                self._require([entry.name for entry in saved], goal.names)
                saved = [entry for entry in saved if entry.name in goal.names]
            text = f"as saved in '{name}', not seen since"
            self._host.scene.restore(saved, text, keep_others=bool(goal.names))
            operation.names = [entry.name for entry in saved]

        self._on_memory(operation, read, take)
        return operation

    def _on_memory(
        self,
        operation: _OnMemory,
        work: Callable[[SceneMemory], Any],
        take: Callable[[Any], None] = lambda result: None,
    ) -> None:
        def then(result: Any, error: Exception | None) -> None:
            try:
                if error is not None:
                    raise error
                take(result)
                operation.pending.clear()
            except RefusalError as refusal:
                operation.error = refusal
            except Exception as failure:
                operation.error = RefusalError(Result.STORAGE_FAILED, str(failure))
            self.goals.look()

        self._host.run_on_memory(work, then)

    def _check_known(self, names: Sequence[str]) -> None:
        """Raise `UnknownObjectError` before anything is done where one of several is not there."""
        objects = self._host.snapshot().objects
        for name in names:
            if name not in objects:
                raise UnknownObjectError(name)

    def _require(self, known: Sequence[str], names: Sequence[str]) -> None:
        missing = [name for name in names if name not in known]
        if missing:
            raise RefusalError(
                Result.UNKNOWN_OBJECT, f"unknown objects {named(missing)}; known are {named(known)}"
            )

    def _nominal(self, pose: PoseStamped) -> Array:
        """world_T_pose of a nominal pose; raises `RefusalError`."""
        p, q = pose.pose.position, pose.pose.orientation
        norm = math.hypot(q.x, q.y, q.z, q.w)
        if not (np.all(np.isfinite([p.x, p.y, p.z])) and abs(norm - 1.0) <= 0.01):
            raise RefusalError(
                Result.INVALID_REQUEST,
                f"nominal_pose: a position of finite numbers and a quaternion of norm 1 are "
                f"needed; the norm is {norm:g}",
            )
        local = pose_to_matrix(pose.pose)
        frame = pose.header.frame_id or self._host.frame
        stamp = seconds(pose.header.stamp)
        known = self._host.scene.snapshot(self._host.now()).objects.get(frame)
        if known is not None:
            return np.asarray(known.world_T_object @ local)
        parent = self._host.detector_pose(frame, stamp)
        if parent is None:
            raise RefusalError(
                Result.INVALID_REQUEST,
                f"nominal_pose: frame '{frame}' is not known: give one that is on /tf",
            )
        return np.asarray(parent @ local)


def _memory_name(goal: Any) -> str:
    return str(goal.definition).strip() or "default"


def _listed(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {why}" for name, why in reasons.items())
