# SPDX-License-Identifier: Apache-2.0
"""The trees of missions, edited by several while they tick. No ROS.

A tree is shared from the first request that names it until nobody is there any more; what has been
edited is kept on disk meanwhile, so that it is there again after a restart. Missions run what the
editors see, saved or not.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from behavior_executor.editing.edit_line import Work
from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest, Reply, TreeNews
from behavior_executor.editing.tree_room import TreeRoom
from behavior_executor.missions.catalogue import MissionEntry, Value
from behavior_executor.missions.mission import MissionError
from behavior_executor.missions.tree_digests import TreeDigests, digest
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeFactory, LogicError
from behavior_tree.sharing import Answer, Code, Limits, SharedTree
from behavior_tree.shown_text import reason_text

LIMITS = Limits(rate=20.0, burst=20, all_rate=25.0)
"""Of each tree: looking at an edit of 500 nodes takes 20 ms beside the ticks."""
MOST_TREES = 16
"""That are open at once."""
MOST_ASKING = 100
"""Requests that wait for a tree to be opened."""


class Loader(Protocol):
    """Makes trees of missions."""

    @property
    def factory(self) -> BehaviorTreeFactory:
        """Knows the node types."""

    def load(
        self, entry: MissionEntry, values: Mapping[str, Value], shared: SharedTree | None = None
    ) -> TreeRun:
        """The tree of a mission, from its file or from a shared tree."""


@dataclass
class _Current:
    """The tree that ticks."""

    entry: MissionEntry
    run: TreeRun
    factory: BehaviorTreeFactory


@dataclass
class _Opening:
    """A tree that is being opened, for requests that wait for it."""

    entry: MissionEntry
    current: _Current | None
    """The tree that ticked when that began, if it is of this mission."""
    asking: deque[tuple[ExchangeRequest, Reply]] = field(default_factory=deque)


class EditedTrees:
    """All shared trees of an executor; use it in the thread of the ticks.

    Args:
        find: the mission of a name; raises MissionError
        loader: makes trees
        folder: keeps what is not saved; None: that is lost with the process
        work: does aside what takes time
        wall: monotonic wall time [s]
        tell: publishes news
        edited: is called when the tree that ticks has been edited
        warn: is given what an operator should know
        refusal: why nobody may edit; empty: all may
    """

    def __init__(
        self,
        *,
        find: Callable[[str], MissionEntry],
        loader: Loader,
        folder: Path | None,
        work: Work,
        wall: Callable[[], float],
        tell: Callable[[TreeNews], None],
        edited: Callable[[TreeRun], None],
        warn: Callable[[str], None],
        refusal: str = "",
    ) -> None:
        self._find, self._loader, self._folder = find, loader, folder
        self._work, self._wall, self._tell = work, wall, tell
        self._edited, self._warn, self._refusal = edited, warn, refusal
        self._rooms: OrderedDict[Path, TreeRoom] = OrderedDict()
        """Used last stands last."""
        self._opening: dict[Path, _Opening] = {}
        self._digests = TreeDigests()
        self._loaded: tuple[TreeRun, MissionEntry] | None = None
        self._current: _Current | None = None

    # -- missions -------------------------------------------------------------------------------

    def load(self, entry: MissionEntry, values: Mapping[str, Value]) -> TreeRun:
        """The tree of a mission: as it was edited, else from its file as it is now.

        Raises:
            BehaviorTreeError: it cannot be made, or has edits that do not go with the file.
            OSError: the file cannot be read.
        """
        room = self._rooms.get(entry.path)
        if room is None and self._is_kept(entry):
            room = self._add(entry, self._open(entry, self._loader.factory, {}))
        if room is not None:
            self._refresh(entry, room)
        run = self._loader.load(entry, values, None if room is None else room.shared)
        self._loaded = run, entry
        return run

    def digests(self, entry: MissionEntry) -> dict[str, str]:
        """What stands in the files of a mission's tree as it would run now, by path: in those that
        are edited and not saved what the editors see.
        """
        found = self._digests.of(entry.path)
        room = self._rooms.get(entry.path)
        if room is not None:
            files = room.shared.files
            data, modified = files.data, files.modified
            new = (file for file in data if file in modified or str(file) not in found)
            found |= {str(file): digest(data[file]) for file in new}
        return found

    def _refresh(self, entry: MissionEntry, room: TreeRoom) -> None:
        try:
            room.refresh()
        except LogicError as error:
            raise LogicError(
                f"the edits of '{entry.name}' do not go with its file: {error}: undo what differs,"
                f" or drop all edits by `behavior mission edit --mission {entry.name} revert`"
            ) from error
        if room.shared.files.modified:
            self._warn(f"mission '{entry.name}' runs with edits that are not saved")

    def begin(self, run: TreeRun) -> None:
        """A tree that was loaded last is going to tick: edits reach it."""
        if self._loaded is None or self._loaded[0] is not run:
            return
        entry, self._loaded = self._loaded[1], None
        self._current = _Current(entry, run, self._loader.factory)
        run.when_closed(lambda: self._end(run))
        room = self._rooms.get(entry.path)
        if room is not None:
            room.attach(run.tree, self._loader.factory)

    def _end(self, run: TreeRun) -> None:
        if self._current is None or self._current.run is not run:
            return
        entry, self._current = self._current.entry, None
        room = self._rooms.get(entry.path)
        if room is not None:
            room.detach(run.tree)

    def after_tick(self) -> None:
        """Make the edits that have waited for what ended in this tick."""
        if self._current is not None:
            room = self._rooms.get(self._current.entry.path)
            if room is not None:
                room.after_tick()

    # -- peers ----------------------------------------------------------------------------------

    def exchange(self, request: ExchangeRequest, reply: Reply) -> None:
        """Answer a peer, at once or later, but always."""
        try:
            entry = self._entry(request)
        except (LogicError, MissionError) as error:
            reply(_refused(error))
            return
        room = self._rooms.get(entry.path)
        if room is not None:
            self._rooms.move_to_end(entry.path)
            room.exchange(request, reply)
            return
        opening = self._opening.get(entry.path)
        if opening is None:
            if len(self._rooms) + len(self._opening) >= MOST_TREES and not self._close_one():
                reply(_refused(f"{MOST_TREES} trees are being edited: leave one of them"))
                return
            opening = self._begin_to_open(entry)
        if len(opening.asking) >= MOST_ASKING:
            text = "the tree is being opened: send this one again in 1 s"
            reply(ExchangeAnswer(Answer(Code.HELD_BACK, text, retry_after=1.0)))
            return
        opening.asking.append((request, reply))

    def look_around(self) -> None:
        """Notice who has gone; call it now and then."""
        for room in self._rooms.values():
            room.look_around()

    def forget(self) -> None:
        """Close all trees, since node types may have changed; whoever is there begins anew.

        Raises:
            LogicError: edits of a tree are kept nowhere, or are under way.
        """
        for room in self._rooms.values():
            if self._folder is None and room.shared.files.modified:
                raise LogicError(f"save the edits of '{room.name}' first, they are not on disk")
            if not room.rests:
                raise LogicError(f"an edit of '{room.name}' is under way: try again")
        if self._opening:
            raise LogicError("a tree is being opened for editing: try again")
        self._rooms.clear()

    def _entry(self, request: ExchangeRequest) -> MissionEntry:
        if request.tree:
            return self._find(request.tree)
        if request.number:
            raise LogicError("an edit says which tree it means: join, and take the name from there")
        if self._current is None:
            raise LogicError("no mission runs: name the mission whose tree you mean")
        return self._current.entry

    # -- opening --------------------------------------------------------------------------------

    def _begin_to_open(self, entry: MissionEntry) -> _Opening:
        opening = self._opening[entry.path] = _Opening(entry, self._current_of(entry))
        self._open_aside(opening)
        return opening

    def _open_aside(self, opening: _Opening) -> None:
        current = opening.current
        contents = {} if current is None else current.run.contents()
        factory = self._loader.factory.fork()
        self._work(
            lambda: self._open(opening.entry, factory, contents),
            lambda outcome: self._opened(opening, outcome),
        )

    def _opened(self, opening: _Opening, outcome: SharedTree | Exception) -> None:
        path, current = opening.entry.path, self._current_of(opening.entry)
        if path not in self._rooms and current is not opening.current:
            opening.current = current  # another run, maybe of another version of the file
            self._open_aside(opening)
            return
        del self._opening[path]
        if path not in self._rooms:  # no mission has begun with what was kept
            if isinstance(outcome, Exception):
                for _, reply in opening.asking:
                    reply(_refused(outcome))
                return
            room = self._add(opening.entry, outcome)
            if current is not None:
                room.attach(current.run.tree, current.factory)
        for request, reply in opening.asking:
            self._rooms[path].exchange(request, reply)

    def _current_of(self, entry: MissionEntry) -> _Current | None:
        """What ticks, if it is the tree of this mission."""
        current = self._current
        return current if current is not None and current.entry.path == entry.path else None

    def _open(
        self, entry: MissionEntry, factory: BehaviorTreeFactory, contents: Mapping[Path, bytes]
    ) -> SharedTree:
        kept = self._kept_file(entry)
        return SharedTree(
            entry.path, factory, kept=kept, limits=LIMITS, now=self._wall, contents=contents
        )

    def _add(self, entry: MissionEntry, shared: SharedTree) -> TreeRoom:
        path = entry.path
        if shared.problem:
            self._warn(reason_text(f"tree of mission '{entry.name}': {shared.problem}"))
        room = self._rooms[path] = TreeRoom(
            entry.name,
            shared,
            work=self._work,
            wall=self._wall,
            tell=self._tell,
            edited=lambda: self._tell_edited(path),
            refusal=self._refusal,
        )
        return room

    def _tell_edited(self, path: Path) -> None:
        if self._current is not None and self._current.entry.path == path:
            self._edited(self._current.run)

    def _close_one(self) -> bool:
        """Close the tree that was used least lately of those that nobody needs."""
        for path, room in self._rooms.items():
            if room.is_idle and (self._folder is not None or not room.shared.files.modified):
                del self._rooms[path]
                return True
        return False

    def _kept_file(self, entry: MissionEntry) -> Path | None:
        if self._folder is None:
            return None
        tag = hashlib.sha256(str(entry.path).encode()).hexdigest()[:12]
        return self._folder / f"{entry.path.stem}-{tag}.json"

    def _is_kept(self, entry: MissionEntry) -> bool:
        file = self._kept_file(entry)
        return file is not None and file.is_file()


def _refused(why: object) -> ExchangeAnswer:
    return ExchangeAnswer(Answer(Code.REFUSED, reason_text(str(why))))
