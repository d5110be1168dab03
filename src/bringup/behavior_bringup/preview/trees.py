# SPDX-License-Identifier: Apache-2.0
"""The trees of a previewed mission: a copy reads their files, the real stack runs what editors see.

So what is edited and not saved cannot be previewed, and what is edited afterwards was not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from behavior_msgs.msg import MissionAction

from behavior_bringup.errors import UsageError
from behavior_bringup.stacks.connection import live_editor
from behavior_bringup.stacks.stack import Stack
from behavior_console.tree_files import digest_of

if TYPE_CHECKING:
    from behavior_executor.editing.live_editor import LiveEditor


@dataclass(frozen=True, kw_only=True)
class MissionTrees:
    """The trees of a mission at one moment."""

    files: Mapping[str, str] = field(default_factory=dict)
    """What stands in each of their files, as a digest by the file's path."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """Of the tree of each mission, as the executor counts its edits: `DOCUMENT/NUMBER`."""
    unsaved: tuple[str, ...] = ()
    """Missions whose trees have edits that are in no file."""
    unknown: tuple[str, ...] = ()
    """Of which trees nobody could be asked, and why: sentences."""

    def refuse_unsaved(self) -> None:
        """Raise UsageError where a copy would not have all that runs for real."""
        if self.unsaved:
            name = self.unsaved[0]
            raise UsageError(
                f"The tree of '{name}' has edits that are not saved, which a copy does not have:"
                f" 'behavior mission edit --mission {name} save' or 'revert', then preview it"
            )


def trees_of(stack: Stack, order: MissionAction, namespace: str = "") -> MissionTrees:
    """The trees that an order names, as the stack's executor has them now.

    Raises:
        BringupError: the stack is not up.
    """
    parts = order.steps if order.type == MissionAction.SEQUENCE else [order]
    names = sorted({part.name for part in parts if part.type == MissionAction.RUN_BEHAVIOR})
    if not names:
        return MissionTrees()
    try:
        with live_editor("", stack.name, namespace) as editor:
            return seen_by(editor, names)
    except ImportError:  # without pycrdt no tree is shared, so what runs is what the files hold
        return MissionTrees()


def seen_by(editor: LiveEditor, names: list[str]) -> MissionTrees:
    """The trees of some missions as an editor sees them."""
    from behavior_executor.editing.live_editor import LiveEditorError

    files: dict[str, str] = {}
    revisions: dict[str, str] = {}
    unsaved, unknown = [], []
    for name in names:
        try:
            editor.join(name)
        except LiveEditorError as error:
            unknown.append(f"whether the tree of '{name}' is edited is not known: {error}")
            continue
        seen = editor.replica.files
        if any(each["modified"] for each in seen.values()):
            unsaved.append(name)
        revisions[name] = editor.peer.revision
        files.update({file: digest_of(Path(file)) for file in seen})
    return MissionTrees(
        files=files, revisions=revisions, unsaved=tuple(unsaved), unknown=tuple(unknown)
    )


def tree_changes(before: MissionTrees, now: MissionTrees) -> Iterator[str]:
    """What of the trees is not as it was, a sentence each."""
    for name in now.unsaved:
        if name not in before.unsaved or (now.revisions.get(name) != before.revisions.get(name)):
            yield f"the tree of '{name}' has been edited"
    for text in now.unknown:
        if text not in before.unknown:
            yield text
    if now.unknown == before.unknown:
        for file in sorted(before.files.keys() | now.files.keys()):
            if before.files.get(file) != now.files.get(file):
                yield f"{file} has been edited"
