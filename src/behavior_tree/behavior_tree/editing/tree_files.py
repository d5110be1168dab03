# SPDX-License-Identifier: Apache-2.0
"""`TreeFiles`: a tree file with all that it includes, while it is edited and no tree is built."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from behavior_tree.editing.merge import merge
from behavior_tree.errors import LoadError, LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.xml.document import Element
from behavior_tree.xml.edit import XmlEditor
from behavior_tree.xml.files import read_document, replace_file
from behavior_tree.xml.loader import DocumentSet

Editors = Mapping[Path, XmlEditor]
"""The documents of one step, by file."""


@dataclass(frozen=True)
class _Step:
    """One step of the history: files before and after it."""

    before: dict[Path, bytes]
    after: dict[Path, bytes]
    included: dict[Path, bytes]
    """Files that belong to these since, as they were read."""


class TreeFiles:
    """A file of trees and the files that it includes, as one document.

    A SubTree is shared by reference: it stands once, and whoever uses it follows an edit. Each edit
    is checked like files at load and refused with a `LoadError` before anything has changed.

    Args:
        path: the first file
        factory: knows the node types; trees that these files define are not registered with it
        contents: of files that are not read, but taken as they were once read

    Raises:
        LoadError: a file cannot be read, or has mistakes: they must be mended first
    """

    def __init__(
        self,
        path: str | Path,
        factory: BehaviorTreeFactory,
        contents: Mapping[Path, bytes] | None = None,
    ) -> None:
        self.factory = factory
        """Knows the node types."""
        known = contents or {}
        documents, problems = factory.check_documents(Path(path), known)
        if problems:
            raise LoadError(problems)
        assert documents.root is not None, "else there are problems"
        self.path = Path(documents.root.source.file)
        self.documents: DocumentSet = documents
        """What the files define, as they were checked last."""
        files = [Path(file) for file in sorted(documents.files)]
        self._saved = {
            file: known[file] if file in known else read_document(file) for file in files
        }
        self._data = dict(self._saved)
        self._roots: dict[Path, Element] = {}
        self._undo: list[_Step] = []
        self._redo: list[_Step] = []

    @classmethod
    def restored(
        cls,
        path: Path,
        factory: BehaviorTreeFactory,
        saved: Mapping[Path, bytes],
        data: Mapping[Path, bytes],
    ) -> TreeFiles:
        """Files as they were once read or saved, with edits that had not been saved.

        Raises:
            LoadError: they do not load
        """
        files = cls.__new__(cls)
        files.factory, files.path = factory, path
        files._saved, files._data, files._roots = dict(saved), dict(data), {}
        files._undo, files._redo = [], []
        files._check(files._data)
        return files

    def fork(self) -> TreeFiles:
        """The same files, without a history; what is done to one of both does not reach the
        other, but what is saved does.
        """
        other = copy.copy(self)
        other._saved, other._data = dict(self._saved), dict(self._data)
        other._roots = dict(self._roots)
        other._undo, other._redo = [], []
        return other

    def with_data(self, data: Mapping[Path, bytes]) -> TreeFiles:
        """A fork with contents that these files once had; raises LoadError if they cannot be read,
        but what was found to be good once is not looked at again.
        """
        other = self.fork()
        other._data.update(data)
        other._check(other._data, retagged=[])
        return other

    def as_on_disk(self) -> TreeFiles:
        """A fork with the files as they are on disk now.

        Raises:
            LogicError: a file is gone
            LoadError: they do not load
        """
        other = self.fork()
        other._data = other._included({file: _read(file) for file in self._saved})
        other._saved = dict(other._data)
        return other

    # -- reading --------------------------------------------------------------------------------

    @property
    def saved(self) -> dict[Path, bytes]:
        """All files as they were read or saved last."""
        return dict(self._saved)

    @property
    def data(self) -> dict[Path, bytes]:
        """All files as they would be saved now."""
        return dict(self._data)

    def root(self, file: Path) -> Element:
        """Root element of a file as it is now: the same until that changes."""
        return self._editor(file).root

    def _editor(self, file: Path) -> XmlEditor:
        editor = XmlEditor(self._data[file], str(file), self._roots.get(file))
        self._roots[file] = editor.root
        return editor

    @property
    def modified(self) -> list[Path]:
        """Files with changes that have not been saved; none when all is undone."""
        return [file for file, data in self._data.items() if data != self._saved[file]]

    def changed_on_disk(self) -> list[Path]:
        """Files that somebody else has changed since they were read or saved.

        Raises:
            LogicError: a file is gone
        """
        return [file for file, data in self._saved.items() if _read(file) != data]

    # -- changes --------------------------------------------------------------------------------

    def change(self, edit: Callable[[Editors], None]) -> list[Path]:
        """Make one step of the history of what ``edit`` does to the documents.

        Returns:
            the files that have changed

        Raises:
            LoadError: the files would not load; nothing has changed
        """
        editors = {file: self._editor(file) for file in self._data}
        edit(editors)
        after = {
            file: editor.data for file, editor in editors.items() if editor.data != self._data[file]
        }
        if after:
            self._check(
                {**self._data, **after},
                {file: editor.root for file, editor in editors.items()},
                self._retagged(editors),
            )
            files = [Path(file) for file in sorted(self.documents.files)]
            included = {file: _read(file) for file in files if file not in self._data}
            before = {file: self._data[file] for file in after}
            self._undo.append(_Step(before, after, included))
            self._redo.clear()
            self._data.update({**after, **included})
            self._saved.update(included)
        return list(after)

    def _retagged(self, editors: Editors) -> list[tuple[Element, Element]] | None:
        """Nodes before and after a step that has changed attributes alone; None: of another one."""
        pairs = []
        for file, editor in editors.items():
            if editor.retagged is None:
                return None
            before = self._editor(file)
            for address in editor.retagged:
                if len(address) < 2 or before.element(address[:1]).tag != "BehaviorTree":
                    return None
                pairs.append((before.element(address), editor.element(address)))
        return pairs

    def undo(self) -> bool:
        """Take back the last step; False if there is none."""
        if not self._undo:
            return False
        step = self._undo.pop()
        self._redo.append(step)
        self._data.update(step.before)
        for file in step.included:
            if self._data[file] == self._saved[file]:  # else it is to be saved
                del self._data[file], self._saved[file]
        return True

    def redo(self) -> bool:
        """Make the step again that was taken back last; False if there is none."""
        if not self._redo:
            return False
        step = self._redo.pop()
        self._undo.append(step)
        self._data.update({**step.included, **step.after})
        self._saved = {**step.included, **self._saved}
        return True

    # -- disk -----------------------------------------------------------------------------------

    def refresh(self) -> list[Path]:
        """Take in what others have changed on disk. What was changed here stays, unsaved, but can
        no longer be undone: that would take back the others' changes, too.

        Returns:
            the files that others have changed

        Raises:
            LogicError: both changed the same thing, or a file is gone; nothing has changed
            LoadError: the merged files would not load; nothing has changed
        """
        changed = self.changed_on_disk()
        if not changed:
            return []
        disk = {file: _read(file) for file in changed}
        merged = {
            file: merge(self._saved[file], self._data[file], data, str(file))
            for file, data in disk.items()
        }
        known = {**self._data, **merged}
        data, saved = self._included(known), {**self._saved, **disk}
        for file in known.keys() - data.keys():
            if known[file] != saved[file]:
                raise LogicError(
                    f"{file} has been edited, and on disk nothing includes it any more: include it "
                    "again, or take its edits back"
                )
        self._data = data
        self._saved = {file: saved.get(file, data[file]) for file in data}
        self._undo.clear()
        self._redo.clear()
        return changed

    def save(self) -> list[Path]:
        """Write the modified files, each whole or not at all, merged with what others have changed.

        Returns:
            the files that were written

        Raises:
            LogicError, LoadError: as `refresh`; nothing has been written
            OSError: a file cannot be written
        """
        self.refresh()
        written = self.modified
        for file in written:
            replace_file(file, self._data[file])
            self._saved[file] = self._data[file]
        return written

    def _included(self, contents: Mapping[Path, bytes]) -> dict[Path, bytes]:
        """Files that belong together if some have these contents, which may include others than
        before.

        Raises:
            LogicError: a file is gone
            LoadError: they do not load
        """
        known = dict(contents)
        while True:
            documents, problems = self.factory.check_documents(self.path, known)
            if problems:
                raise LoadError(problems)
            files = [Path(file) for file in sorted(documents.files)]
            new = [file for file in files if file not in known]
            if not new:
                self.documents = documents
                return {file: known[file] for file in files}
            known.update((file, _read(file)) for file in new)

    def _check(
        self,
        contents: dict[Path, bytes],
        roots: Mapping[Path, Element] | None = None,
        retagged: list[tuple[Element, Element]] | None = None,
    ) -> None:
        documents, problems = self.factory.check_documents(self.path, contents, roots, retagged)
        if problems:
            raise LoadError(problems)
        self.documents = documents
        self._roots.update(roots or {})


def merged_files(edits: Mapping[Path, tuple[bytes, bytes]]) -> dict[Path, bytes]:
    """What to write for files that were edited from the first to the second content, if others may
    have changed them meanwhile.

    Raises:
        LogicError: both changed the same thing, or a file is gone
        LoadError: a file has become unreadable
    """
    return {
        file: merge(before, after, _read(file), str(file))
        for file, (before, after) in edits.items()
    }


def _read(file: Path) -> bytes:
    try:
        return read_document(file)
    except (OSError, ValueError) as error:
        raise LogicError(
            f"{file} has been read before and can be read no more: {error}: put it back"
        ) from None
