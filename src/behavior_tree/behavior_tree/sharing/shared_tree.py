# SPDX-License-Identifier: Apache-2.0
"""`SharedTree`: the authority over a tree that several editors change."""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.editing.tree_files import TreeFiles
from behavior_tree.errors import BehaviorTreeError, LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.failure import LONGEST_REASON, bounded
from behavior_tree.kernel.node import RUNNING, TreeNode
from behavior_tree.kernel.tree import Tree
from behavior_tree.sharing.edits import (
    TO_FILES,
    Answer,
    Code,
    Edit,
    Operation,
    Running,
    operation_of,
)
from behavior_tree.sharing.identified import Snapshot, State, first_state
from behavior_tree.sharing.kept import Kept, read_kept, write_kept
from behavior_tree.sharing.limits import Bucket, Limits
from behavior_tree.sharing.live_tree import LiveTree, RunsNowError
from behavior_tree.sharing.operations import changed, retagged
from behavior_tree.sharing.three_way import gone_back
from behavior_tree.xml.version3 import is_version_3

if TYPE_CHECKING:
    from behavior_tree.sharing.document import TreeDocument

REMEMBERED = 20
"""Answers of one editor that are given again when its edit comes again."""
LOOKED_AT = 0.2
"""[s] after which an edit may be asked for again that is being looked at."""
Subscriber = Callable[[bytes, int], None]
"""Is given each Yjs update and the revision after it."""


@dataclass(eq=False)
class _Step:
    """An edit that can be taken back."""

    before: Snapshot
    after: Snapshot
    retagged: tuple[str, ...] | None
    """Elements whose attributes alone it changes; None: it changes more."""
    passed_over: bool = False
    """It could not be taken back, or made again, when that was asked for last."""


@dataclass(eq=False)
class _Session:
    """What is known of one editor."""

    bucket: Bucket
    last: int = 0
    answers: dict[int, tuple[str, Answer]] = field(default_factory=dict)
    undo: list[_Step] = field(default_factory=list)
    redo: list[_Step] = field(default_factory=list)

    def note(self, edit: Edit, answer: Answer) -> None:
        """Remember what an edit was answered."""
        self.last = max(self.last, edit.number)
        self.answers.pop(edit.number, None)
        self.answers[edit.number] = edit.digest, answer
        for number in list(self.final_answers())[:-REMEMBERED]:
            del self.answers[number]

    def final_answers(self) -> dict[int, tuple[str, Answer]]:
        """Answers that will not change: what outlives the process."""
        return {number: each for number, each in self.answers.items() if each[1].is_final}


@dataclass(eq=False)
class Prepared:
    """An edit whose result has been found to be good."""

    edit: Edit
    operation: Operation
    running: Running
    base: State
    """Of the files that were looked at."""
    state: State
    """What the edit makes of them."""
    nodes: tuple[str, ...]
    notes: str
    retagged: tuple[str, ...] | None
    """Elements of ``base`` whose attributes alone have changed; None: more has."""
    step: _Step | None = None
    """That is taken back, or made again."""
    kept: Kept | None = None
    """What is to be written before it is acknowledged."""


class SharedTree:
    """Tree files, and perhaps the tree that ticks, edited by several.

    `submit` does everything at once. Who must not be kept waiting does its parts where they
    belong: `begin` at once, `prepare` in any thread, `apply` between two ticks, `keep` in any
    thread, then `commit`, or `roll_back` if `keep` failed; one edit at a time.

    Args:
        path: the first file
        factory: knows the node types; its trees stay as they are
        kept: file that keeps accepted edits over a crash; None: they are not kept
        limits: how many edits are looked at
        now: [s], monotonic
        client: number of the Yjs document among Yjs clients; None: a random one
        contents: of files from which a tree was built that ticks already and shall be attached;
            other files are read

    Raises:
        LoadError: the files cannot be read, or have mistakes: they must be mended first
        LogicError: files of version 3, or ``kept`` cannot be used
    """

    def __init__(
        self,
        path: str | Path,
        factory: BehaviorTreeFactory,
        *,
        kept: Path | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        now: Callable[[], float] = time.monotonic,
        client: int | None = None,
        contents: Mapping[Path, bytes] | None = None,
    ) -> None:
        from behavior_tree.sharing.document import TreeDocument  # needs pycrdt

        self.document_id = uuid.uuid4().hex
        """Of the Yjs document: whoever has another one begins anew."""
        self.problem = ""
        """What is wrong though editing goes on, such as files that others have changed."""
        self._kept_file = kept
        self._limits, self._now = limits, now
        self._lock = threading.RLock()
        self._sessions: dict[str, _Session] = {}
        self._all = Bucket(limits.all_rate, 2 * limits.all_rate, now)
        self._steps: deque[tuple[_Session, _Step]] = deque()
        self._waiting: list[tuple[Edit, list[TreeNode]]] = []
        self._live: LiveTree | None = None
        self._subscribers: list[Subscriber] = []
        self._state, self.revision = self._first(Path(path), factory.fork(), contents or {})
        self._document: TreeDocument = TreeDocument(client)
        self._document.show(self._state, self.revision)

    def _first(
        self, path: Path, factory: BehaviorTreeFactory, contents: Mapping[Path, bytes]
    ) -> tuple[State, int]:
        known = None if self._kept_file is None else read_kept(self._kept_file, factory)
        if known is None:
            state = first_state(TreeFiles(path, factory, contents))
            if any(is_version_3(spot.element) for spot in state.spots.values() if not spot.parent):
                raise LogicError(
                    f"{path} is of BehaviorTree.CPP 3: convert it by `behavior tree migrate` first"
                )
            return state, 0
        for editor, answers in known.answers.items():
            session = self._session(editor)
            session.answers = dict(answers)
            session.last = max(answers, default=0)
        state = known.state
        try:
            state, _, _ = changed(state, {"op": "refresh"})
        except BehaviorTreeError as error:
            self.problem = f"the tree is as it was edited, and not as on disk: {error}"
        return state, known.revision

    # -- reading --------------------------------------------------------------------------------

    @property
    def files(self) -> TreeFiles:
        """The files as they are now; a copy, for reading."""
        return self._state.files.fork()

    @property
    def state(self) -> State:
        """The files as they are now, with the identifiers of their elements."""
        return self._state

    @property
    def live(self) -> LiveTree | None:
        """The tree that ticks; None: none does."""
        return self._live

    def last_number(self, editor: str) -> int:
        """Of the edits of an editor that were answered."""
        session = self._sessions.get(editor)
        return 0 if session is None else session.last

    def update_for(self, state_vector: bytes = b"") -> bytes:
        """Yjs update with what a replica lacks; raises LogicError if that is no state vector."""
        return self._document.update_for(state_vector)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Have each update; returns the function that ends that."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    # -- the tree that ticks --------------------------------------------------------------------

    def build(self, factory: BehaviorTreeFactory, blackboard: Blackboard | None = None) -> Tree:
        """The tree of the files as they are now, which follows all edits from here on.

        Args:
            factory: builds it, and new nodes; its trees become those of the files
            blackboard: root blackboard of the tree

        Raises:
            LoadError: it cannot be built
        """
        with self._lock:
            tree = self.create(factory, blackboard)
            self.attach(tree, factory)
            return tree

    def create(self, factory: BehaviorTreeFactory, blackboard: Blackboard | None = None) -> Tree:
        """The same, but it follows no edits before it is attached."""
        factory.adopt(self._state.files.documents)
        return factory.create_tree(_main_tree(self._state), blackboard)

    def attach(self, tree: Tree, factory: BehaviorTreeFactory) -> None:
        """Let a tree follow all edits from here on; it was built by ``factory`` from the files as
        they are now.
        """
        with self._lock:
            self._live = LiveTree(tree, factory, self._state)

    def detach(self) -> None:
        """Leave the tree alone that was built last."""
        with self._lock:
            self._live = None

    # -- edits ----------------------------------------------------------------------------------

    def submit(self, edit: Edit) -> Answer:
        """Make an edit, or say why not; from any thread, but not from inside a tick."""
        with self._lock:
            answer = self.begin(edit)
            return self._carry_out(edit) if answer is None else answer

    def poll(self) -> list[Answer]:
        """Make the edits that what runs has kept waiting; call it after ticks."""
        with self._lock:
            return [self._carry_out(edit) for edit in self.due()]

    def _carry_out(self, edit: Edit) -> Answer:
        try:
            prepared = self.prepare(edit)
        except (BehaviorTreeError, OSError) as error:
            return self.refuse(edit, error)
        answer = self.apply(prepared)
        if answer is not None:
            return answer
        try:
            self.keep(prepared)
        except (BehaviorTreeError, OSError) as error:
            return self.roll_back(prepared, error)
        return self.commit(prepared)

    def begin(self, edit: Edit) -> Answer | None:
        """The answer to an edit that need not be looked at; None: go on with `prepare`."""
        problem = edit.problem()
        if problem:
            return Answer(Code.REFUSED, problem)
        session = self._sessions.get(edit.editor)
        if session is None and len(self._sessions) >= self._limits.editors:
            text = f"{len(self._sessions)} editors have been here: go on under the name of one"
            return Answer(Code.HELD_BACK, text, retry_after=60.0)
        session = session or self._session(edit.editor)
        if edit.number in session.answers:
            return self._again(edit, session)
        if edit.number <= session.last:
            text = f"number {edit.number} comes after number {session.last} was answered"
            return Answer(Code.LATE, f"{text}: send it as number {session.last + 1}")
        wait = session.bucket.wait() or self._all.wait()
        if wait:
            text = f"too many edits at once: send this one again in {wait:.2g} s"
            return Answer(Code.HELD_BACK, text, retry_after=wait)
        session.bucket.take()
        self._all.take()
        text = "it is being looked at: ask again"
        session.note(edit, Answer(Code.WAITING, text, retry_after=LOOKED_AT))
        return None

    def prepare(self, edit: Edit) -> Prepared:
        """Find out what an edit makes of the files.

        Raises:
            LogicError: it cannot be made
            LoadError: the files would not load
            OSError: a file cannot be read
        """
        operation, running = operation_of(edit)
        op, step, now = operation["op"], None, self._state
        if op in ("undo", "redo"):
            session = self._sessions[edit.editor]
            steps = session.undo if op == "undo" else session.redo
            step = _next_step(steps, op)
            left, wanted = (step.after, step.before)[:: 1 if op == "undo" else -1]
            try:
                state = gone_back(now, left.without_elements(), wanted.without_elements())
            except BehaviorTreeError as error:
                step.passed_over = True  # else it would hide all before it for good
                if all(each.passed_over for each in steps):
                    raise
                raise LogicError(f"{error}; to {op} another edit of yours, {op} again") from error
            nodes: tuple[str, ...] = tuple(id for id in state.spots if id not in now.spots)
            # What it left as it was may be gone by now.
            only = step.retagged and tuple(id for id in step.retagged if id in state.spots)
            notes = ""
        else:
            state, nodes, notes = changed(now, {"op": "refresh"} if op == "save" else operation)
            only = retagged(operation)
        if _main_tree(now) and not _main_tree(state):
            raise LogicError(
                "nothing would tell which tree is run: set [main_tree_to_execute] of the root of "
                f"{state.files.path} first, or in the same edit"
            )
        assert state.spots, "which is read here, so that nobody must wait for it between two ticks"
        return Prepared(edit, operation, running, now, state, nodes, notes, only, step)

    def is_stale(self, prepared: Prepared) -> bool:
        """Whether the files have changed since: `prepare` again."""
        return prepared.base is not self._state

    def apply(self, prepared: Prepared) -> Answer | None:
        """Let the tree that ticks follow, between two ticks; returns the answer if that ends the
        edit, for now or for good; None: go on with `keep`.
        """
        live, edit = self._live, prepared.edit
        try:
            if live is not None:
                halt = prepared.running is Running.HALT
                known = prepared.retagged if live.state is prepared.base else None
                live.follow(prepared.state, halt=halt, retagged=known)
        except RunsNowError as error:
            if prepared.running is not Running.AFTER:
                return self._answered(edit, Answer(Code.RUNNING, _text(error)))
            if len(self._waiting) >= self._limits.waiting:
                text = f"{len(self._waiting)} edits wait already: halt what runs, or wait"
                return self._answered(edit, Answer(Code.REFUSED, text))
            self._waiting.append((edit, error.nodes))
            paths = ", ".join(f"'{node.full_path()}'" for node in error.nodes[:5])
            text = bounded(f"it is made when this has ended: {paths}", LONGEST_REASON)
            return self._answered(edit, Answer(Code.WAITING, text))
        except BehaviorTreeError as error:
            return self.refuse(edit, error)
        except Exception as error:  # a node may raise anything while it is built or halted
            return self.refuse(edit, LogicError(f"{type(error).__name__}: {error}"))
        answers = {name: each.final_answers() for name, each in self._sessions.items()}
        answers[edit.editor][edit.number] = edit.digest, self._made(prepared)
        prepared.kept = Kept(prepared.state, self.revision + 1, answers)
        return None

    def keep(self, prepared: Prepared) -> None:
        """Write an edit to disk; whoever is told of it later can rely on it.

        Raises:
            LogicError, LoadError, OSError: it cannot be written
        """
        if prepared.operation["op"] == "save":
            files = prepared.state.files
            if files.changed_on_disk():
                raise LogicError("somebody has just changed a file on disk: save again")
            files.save()
        if self._kept_file is not None and prepared.kept is not None:
            write_kept(self._kept_file, prepared.kept)

    def commit(self, prepared: Prepared) -> Answer:
        """Let all see an edit that is in effect and kept."""
        with self._lock:
            before, self._state = self._state, prepared.state
            self._note_step(prepared, before)
            answer = self._made(prepared)
            self.revision += 1
            if prepared.operation["op"] in TO_FILES:
                self.problem = ""
            if self._live is not None and self._live.state is not self._state:
                self._live.follow(self._state, halt=True)  # was built meanwhile
            self._show(prepared.retagged if before is prepared.base else None)
            return self._answered(prepared.edit, answer)

    def roll_back(self, prepared: Prepared, why: Exception) -> Answer:
        """Take an edit back that could not be kept."""
        with self._lock:
            if self._live is not None:
                self._live.follow(self._state, halt=True)
            saved = prepared.operation["op"] == "save"
            text = f"it could not be kept{'' if saved else ', and was taken back'}: {why}"
            return self._answered(prepared.edit, Answer(Code.REFUSED, _text(text)))

    def refuse(self, edit: Edit, why: Exception) -> Answer:
        """Answer an edit that cannot be made."""
        return self._answered(edit, Answer(Code.REFUSED, _text(why)))

    def refresh(self) -> None:
        """Take in what others have changed on disk, before a tree is built; nobody has to know it
        to rely on it, since it is on disk.

        Raises:
            LogicError: both have changed the same, or a file is gone
            LoadError: the files would not load
        """
        with self._lock:
            if not self._state.files.changed_on_disk() and not self.problem:
                return
            self._state, _, _ = changed(self._state, {"op": "refresh"})
            self.revision += 1
            self.problem = ""
            self._show()

    def _show(self, retagged: tuple[str, ...] | None = None) -> None:
        update = self._document.show(self._state, self.revision, retagged)
        for subscriber in tuple(self._subscribers):
            subscriber(update, self.revision)

    def due(self) -> list[Edit]:
        """Edits that waited for something that runs no more: `prepare` them again."""
        now, self._waiting = self._waiting, []
        due = []
        for edit, nodes in now:
            if self._live is not None and any(node.status is RUNNING for node in nodes):
                self._waiting.append((edit, nodes))
            else:
                due.append(edit)
        return due

    # -- books ----------------------------------------------------------------------------------

    def _session(self, editor: str) -> _Session:
        bucket = Bucket(self._limits.rate, self._limits.burst, self._now)
        return self._sessions.setdefault(editor, _Session(bucket))

    def _again(self, edit: Edit, session: _Session) -> Answer:
        digest, answer = session.answers[edit.number]
        if digest == edit.digest:
            return answer
        text = f"number {edit.number} of '{edit.editor}' was another edit"
        return Answer(Code.LATE, f"{text}: send it as number {session.last + 1}")

    def _made(self, prepared: Prepared) -> Answer:
        notes = _text(prepared.notes)
        return Answer(Code.MADE, notes, self.revision + 1, prepared.nodes)

    def _answered(self, edit: Edit, answer: Answer) -> Answer:
        self._session(edit.editor).note(edit, answer)
        return answer

    def _note_step(self, prepared: Prepared, before: State) -> None:
        session, op = self._session(prepared.edit.editor), prepared.operation["op"]
        if op in ("save", "refresh"):
            return
        if prepared.step is not None:
            taken, given = session.undo, session.redo
            if op == "redo":
                taken, given = given, taken
            taken.remove(prepared.step)
            given.append(prepared.step)
            return
        after = prepared.state.snapshot
        step = _Step(
            before.snapshot.without_elements(), after.without_elements(), prepared.retagged
        )
        for each in session.undo:
            each.passed_over = False
        session.undo.append(step)
        session.redo.clear()
        self._steps.append((session, step))
        while len(self._steps) > self._limits.steps:
            owner, oldest = self._steps.popleft()
            for steps in (owner.undo, owner.redo):
                if oldest in steps:
                    steps.remove(oldest)


def _next_step(steps: list[_Step], op: str) -> _Step:
    """The last step that has not been passed over, or the last one when all have been; raises
    LogicError if there is none.
    """
    if not steps:
        raise LogicError(f"there is no edit of yours to {op}")
    if all(step.passed_over for step in steps):
        for step in steps:
            step.passed_over = False
    return next(step for step in reversed(steps) if not step.passed_over)


def _main_tree(state: State) -> str | None:
    """The tree that is run; None: the files do not say which."""
    documents = state.files.documents
    own = documents.own_trees
    return documents.main_tree or (own[0] if len(own) == 1 else None)


def _text(why: object) -> str:
    return bounded(str(why), LONGEST_REASON)
