# SPDX-License-Identifier: Apache-2.0
"""What operators ask for: missions, control of a run, values, the level of autonomy, previews.

What they do to the stack stands behind `Stack`; `behavior_console.ros_stack` does it over ROS.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from behavior_console.channels import Channels
from behavior_console.commands import Client, CommandError, Commands
from behavior_console.forms import problems_of
from behavior_console.object_changes import SeenObject, object_changes
from behavior_console.orders import MissionOrder, order_of, order_previewed, previewed, text_of
from behavior_console.preview_runs import PreviewError, PreviewRuns
from behavior_console.protocol import Answer, Role
from behavior_console.reducers.mission import order_queue
from behavior_console.tree_files import digests_of

LEVELS = {"manual": 1, "autonomous": 3}
"""What an operator may choose, as ``behavior_msgs/AutonomyLevel`` numbers it."""
POLICIES = {"default": 0, "reject": 1, "queue": 2, "replace": 3}
_MOST_NAMES = 256
_MOST_ORDERS = 200
_RUN = "run."
_OTHERWISE = {
    "set": "values are written by 'blackboard.set'",
    "queue": "missions that wait are moved by 'mission.move'",
}


@dataclass(frozen=True)
class Said:
    """What the executor, or another server, answered."""

    ok: bool
    message: str


class Stack(Protocol):
    """A running stack, as operators act on it.

    All methods wait for the answer and raise `CommandError` if there is none.
    """

    async def start(self, order: MissionOrder, action_id: str, policy: int, priority: int) -> Said:
        """Hand a mission in; the answer comes when it was accepted or refused."""
        ...

    def use_motions(self, motions: str, action_id: str) -> None:
        """Have previewed motions, as `behavior preview` writes them, done by a mission until it
        ends; empty: it has none any more.
        """
        ...

    async def preflight(self, order: MissionOrder) -> Said:
        """Could it start now?"""
        ...

    async def tree_revision(self, mission: str) -> str:
        """Of the mission's tree with all edits, saved or not: `EditPeer.revision`."""
        ...

    async def control(self, verb: str, action_id: str) -> Said:
        """Pause, resume or cancel a mission; empty: the one that runs."""
        ...

    async def run_control(self, line: str) -> Said:
        """A line of docs/run_control.md."""
        ...

    async def move(self, action_id: str, place: int) -> Said:
        """Let a mission wait at another place, 1 being the next.

        The answer's message has the identifiers of those that wait, in their order then.
        """
        ...

    async def set_level(self, level: int) -> Said:
        """Choose who moves the robot."""
        ...

    async def freeze(self, names: Sequence[str], freeze: bool) -> Said:
        """Hold objects of the scene where they are, or let them follow their detections again."""
        ...


class _Operating:
    def __init__(self, stack: Stack, channels: Channels, previews: PreviewRuns) -> None:
        self._stack, self._channels, self._previews = stack, channels, previews
        self._approving = False
        self._told: _Trees | None = None
        """The trees as they were when pages were last told that they are edited."""

    # -- missions ----------------------------------------------------------------------------------

    async def start(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``mission.start``."""
        order = order_of(args)
        policy, priority = text_of(args, "policy", "queue"), args.get("priority", 0)
        if policy not in POLICIES:
            raise CommandError(f"'policy' is one of {', '.join(POLICIES)}")
        if isinstance(priority, bool) or not isinstance(priority, int) or not 0 <= priority <= 255:
            raise CommandError("'priority' is a whole number from 0 to 255")
        return await self._start(client, order, POLICIES[policy], priority)

    async def _start(
        self,
        client: Client,
        order: MissionOrder,
        policy: int,
        priority: int = 0,
        motions: str = "",
    ) -> Answer:
        action_id = uuid.uuid4().hex[:12]
        if motions:
            self._stack.use_motions(motions, action_id)
        try:
            said = await self._stack.start(order, action_id, policy, priority)
        except CommandError:
            if motions:  # no end of this mission will take them back
                self._stack.use_motions("", action_id)
            raise
        if said.ok:
            self._remember(action_id, client, order)
            return Answer(ok=True, message=said.message, value={"action_id": action_id})
        return _refused(said)

    def _remember(self, action_id: str, client: Client, order: MissionOrder) -> None:
        """Show who asked for it, with what; only so many are kept."""
        with self._channels.lock:
            self._channels.patch(
                "orders",
                {action_id: {"who": client.who, "parameters": dict(order.parameters)}},
            )
            kept = self._channels.value("orders")
            self._channels.patch("orders", dict.fromkeys(list(kept)[:-_MOST_ORDERS]))

    async def preflight(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``mission.preflight``."""
        said = await self._stack.preflight(order_of(args))
        if not said.ok:
            return _refused(said)
        first, *there = said.message.splitlines()
        return Answer(ok=True, message=first, value={"there": there})

    async def control(self, verb: str, client: Client, args: Mapping[str, Any]) -> Answer:
        """``mission.pause``, ``mission.resume``, ``mission.cancel``."""
        return _answer(await self._stack.control(verb, text_of(args, "action_id", "")))

    async def move(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``mission.move``: one that waits, to a place of the queue."""
        place = args.get("place")
        if isinstance(place, bool) or not isinstance(place, int) or place < 1:
            raise CommandError("'place' is a whole number, 1 for the next one to run")
        action_id = text_of(args, "action_id")
        if not action_id or len(action_id.split()) != 1:
            raise CommandError("'action_id' names a mission that waits")
        said = await self._stack.move(action_id, place)
        if not said.ok:
            return _refused(said)
        order_queue(self._channels, said.message.split())
        return Answer(ok=True)

    # -- the run -----------------------------------------------------------------------------------

    async def run(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``run.step`` and what else docs/run_control.md lists, with the path or uid of a node."""
        verb = text_of(args, "command").removeprefix(_RUN)
        line = f"{verb} {self._node(args)}".strip()
        # As the executor has it: the first word is the command, whatever blanks are around it.
        words = line.split(None, 1)
        if words and words[0] in _OTHERWISE:
            raise CommandError(_OTHERWISE[words[0]])
        return _answer(await self._stack.run_control(line))

    def _node(self, args: Mapping[str, Any]) -> str:
        if (path := text_of(args, "node", "")) or args.get("uid") is None:
            return path
        tree = self._channels.value("tree") or {}
        for uid, _, _, _, _, path in tree.get("nodes", []):
            if uid == args["uid"]:
                return str(path)
        raise CommandError("that node is no more in the tree: select it anew")

    async def set_value(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``blackboard.set``: a value as text, which becomes one of the entry's type."""
        key, value = text_of(args, "key"), text_of(args, "value")
        if "=" in key or "\n" in key:
            raise CommandError("an entry with '=' in its name can be written in a tree only")
        said = await self._stack.run_control(f"set {key} = {value}")
        return Answer(ok=True, message=f"{key} = {value}") if said.ok else _refused(said)

    async def set_level(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``mode.set``."""
        level = LEVELS.get(text_of(args, "level"))
        if level is None:
            raise CommandError(
                f"an operator chooses {' or '.join(LEVELS)}; the other levels follow from what is"
                " enabled"
            )
        return _answer(await self._stack.set_level(level))

    async def stop(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``stop``: nothing more begins, and what runs is cancelled. No safety function."""
        held, ended = await asyncio.gather(
            _said(self._stack.run_control("stop")), _said(self._stack.control("cancel", ""))
        )
        state = self._channels.value("mission") or {}
        nothing_ran = not state or state.get("ended", True)
        if not held.ok or not (ended.ok or nothing_ran):
            why = "; ".join(each.message for each in (held, ended) if not each.ok)
            return Answer(ok=False, message=f"not stopped, use the emergency stop: {why}")
        return Answer(
            ok=True, message="stopped: nothing begins before 'by itself' or a step, in panel Run"
        )

    # -- the scene ---------------------------------------------------------------------------------

    async def freeze(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``scene.freeze``: hold these objects, or with ``freeze`` false let them follow again."""
        names, freeze = args.get("names"), args.get("freeze", True)
        if not isinstance(names, list) or not 0 < len(names) <= _MOST_NAMES:
            raise CommandError(f"'names' is a list of 1 to {_MOST_NAMES} objects")
        if not isinstance(freeze, bool):
            raise CommandError("'freeze' is true or false")
        texts = [text_of({"name": each}, "name") for each in names]
        return _answer(await self._stack.freeze(texts, freeze))

    # -- previews ----------------------------------------------------------------------------------

    async def preview(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``preview.start``."""
        order = previewed(order_of(args))
        return _preview(lambda: self._previews.start(*order), "the preview begins")

    async def cancel_preview(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``preview.cancel``."""
        try:
            await self._previews.cancel()
        except PreviewError as error:
            raise CommandError(str(error)) from error
        return Answer(ok=True, message="the preview is cancelled")

    async def discard_preview(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``preview.discard``."""
        return _preview(self._previews.discard, "")

    async def _trees_now(self, row: Mapping[str, Any]) -> _Trees:
        files = await asyncio.to_thread(digests_of, row["tree_files"])
        revisions = {each: await self._stack.tree_revision(each) for each in row["tree_revisions"]}
        return _Trees(files, revisions)

    async def approve(self, client: Client, args: Mapping[str, Any]) -> Answer:
        """``preview.approve``: run for real what was previewed.

        ``changed`` says that the page has shown what has changed since: of objects it sees that
        itself, of trees it has what was told when it was asked before.
        """
        if self._approving:  # a button that was pressed twice
            raise CommandError("the preview is being approved already: wait for the answer")
        self._approving = True
        try:
            return await self._approve(client, may_differ=args.get("changed") is True)
        finally:
            self._approving = False

    async def _approve(self, client: Client, *, may_differ: bool) -> Answer:
        row, motions = self._previews.row, self._previews.motions
        if row is None or row["state"] != "done":
            raise CommandError("there is no preview to approve: begin one")
        trees = await self._trees_now(row)
        edited = trees.edited_since(_Trees(row["tree_files"], row["tree_revisions"]))
        changes = [*_changes(row, self._channels), *edited]
        if changes and not (may_differ and (not edited or trees == self._told)):
            self._told = trees
            self._previews.tell_edited(row, edited)
            raise CommandError(
                f"changed since the preview: {'; '.join(changes)}. Preview it again, or run it all"
                " the same"
            )
        order = order_previewed(row["mission"], row["parameters"])
        answer = await self._start(client, order, POLICIES["queue"], motions=motions)
        if answer.ok and self._previews.row is row:  # else another one has begun meanwhile
            self._previews.discard()
        return answer


@dataclass(frozen=True)
class _Trees:
    """The trees of a preview's mission at one moment."""

    files: Mapping[str, str]
    """Digests by path."""
    revisions: Mapping[str, str]
    """By mission."""

    def edited_since(self, before: _Trees) -> list[str]:
        """What is not as it was, a sentence each."""
        files = (file for file, digest in before.files.items() if self.files[file] != digest)
        names = (each for each, was in before.revisions.items() if self.revisions[each] != was)
        return [
            *(f"{file} has been edited" for file in sorted(files)),
            *(f"the tree of '{name}' has been edited" for name in names),
        ]


DRIVEN = 0.1
"""[m] from which on a robot that drives counts as moved, as `behavior preview` has it."""


def _changes(row: Mapping[str, Any], channels: Channels) -> list[str]:
    """What is not as it was when the preview began."""
    before = {
        name: SeenObject(
            position=tuple(each["position"]),
            orientation=tuple(each["orientation_xyzw"]),
            held=each["sight"] == "held",
            lost=each["sight"] == "lost",
        )
        for name, each in row["begin"].items()
        if not each["derived"]
    }
    now = {
        name: SeenObject(
            position=tuple(each["pose"][:3]),
            orientation=tuple(each["pose"][3:]),
            held=each["state"] == "attached",
            lost=each["state"] == "lost",
        )
        for name, each in (channels.value("objects") or {}).items()
        if each["kind"] in ("", "detected")
    }
    changes = object_changes(before, now)
    stood, stands = row.get("stood"), channels.value("localization")
    if stood and stands and (shift := math.dist(stood, stands["pose"][:2])) > DRIVEN:
        changes.append(f"the robot stands elsewhere, by {shift:.2f} m")
    return changes


def offer_operating(
    commands: Commands, stack: Stack, channels: Channels, previews: PreviewRuns
) -> None:
    """Offer the commands of operators to pages.

    Args:
        commands: are offered more.
        stack: is acted upon.
        channels: what is now.
        previews: run missions in a copy.
    """
    operating = _Operating(stack, channels, previews)
    commands.offer("mission.start", operating.start)
    commands.offer("mission.preflight", operating.preflight, role=Role.VIEW, controls=False)
    for verb in ("pause", "resume", "cancel"):
        commands.offer(f"mission.{verb}", partial(operating.control, verb))
    commands.offer("mission.move", operating.move)
    commands.offer("run.*", operating.run)
    commands.offer("blackboard.set", operating.set_value, role=Role.EDIT)
    commands.offer("mode.set", operating.set_level)
    commands.offer("stop", operating.stop, controls=False)
    commands.offer("scene.freeze", operating.freeze)
    commands.offer("preview.start", operating.preview)
    commands.offer("preview.cancel", operating.cancel_preview)
    commands.offer("preview.discard", operating.discard_preview)
    commands.offer("preview.approve", operating.approve)


async def _said(asked: Awaitable[Said]) -> Said:
    """What was answered; that nobody does is an answer."""
    try:
        return await asked
    except CommandError as error:
        return Said(ok=False, message=str(error))


def _answer(said: Said) -> Answer:
    return Answer(ok=said.ok, message=said.message or ("done" if said.ok else "refused"))


def _refused(said: Said) -> Answer:
    problems = problems_of(said.message)
    return Answer(
        ok=False, message=said.message, value={"problems": problems} if problems else None
    )


def _preview(call: Callable[[], None], message: str) -> Answer:
    try:
        call()
    except PreviewError as error:
        raise CommandError(str(error)) from error
    return Answer(ok=True, message=message)
