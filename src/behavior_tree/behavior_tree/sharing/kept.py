# SPDX-License-Identifier: Apache-2.0
"""A shared tree on disk, as it was after its last accepted edit: whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from behavior_tree.editing.tree_files import TreeFiles
from behavior_tree.errors import BehaviorTreeError, LogicError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.sharing.edits import Answer, Code
from behavior_tree.sharing.identified import Numbered, State
from behavior_tree.xml.document import Element
from behavior_tree.xml.edit import XmlEditor
from behavior_tree.xml.files import read_document, replace_file


@dataclass
class Kept:
    """What outlives the process."""

    state: State
    revision: int
    answers: dict[str, dict[int, tuple[str, Answer]]] = field(default_factory=dict)
    """Of each editor: the answers to its last edits, with what tells the edits apart."""


def write_kept(file: Path, kept: Kept) -> None:
    """Write it; raises OSError."""
    state = kept.state
    data, saved = state.files.data, state.files.saved
    text = json.dumps(
        {
            "version": 1,
            "path": str(state.files.path),
            "revision": kept.revision,
            "next": state.next_number,
            "files": {
                str(each): {
                    "data": data[each].decode(),
                    "saved": None if saved[each] == data[each] else saved[each].decode(),
                    "ids": [number.id for number in state.numbers[each].all()],
                }
                for each in data
            },
            "answers": {
                editor: [
                    [
                        number,
                        digest,
                        int(answer.code),
                        answer.message,
                        answer.revision,
                        answer.nodes,
                    ]
                    for number, (digest, answer) in answers.items()
                ]
                for editor, answers in kept.answers.items()
            },
        },
        ensure_ascii=False,
    )
    body = text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def read_kept(file: Path, factory: BehaviorTreeFactory) -> Kept | None:
    """What has been written; None if nothing has.

    Raises:
        LogicError: it cannot be read, or would not load
    """
    try:
        checksum, _, body = read_document(file).partition(b"\n")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _unusable(file, error) from None
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise _unusable(file, "its checksum is wrong")
    try:
        return _restored(json.loads(body), factory)
    except (BehaviorTreeError, KeyError, ValueError, TypeError) as error:
        raise _unusable(file, error) from None


def _unusable(file: Path, why: object) -> LogicError:
    return LogicError(
        f"{file} has edits of a shared tree that cannot be taken up: {why}. Move it away to begin "
        "with the tree's files as they are"
    )


def _restored(found: dict[str, Any], factory: BehaviorTreeFactory) -> Kept:
    if found["version"] != 1:
        raise LogicError(f"it is of version {found['version']}, which this program does not know")
    data = {Path(each): value["data"].encode() for each, value in found["files"].items()}
    saved = {
        Path(each): data[Path(each)] if value["saved"] is None else value["saved"].encode()
        for each, value in found["files"].items()
    }
    files = TreeFiles.restored(Path(found["path"]), factory, saved, data)
    numbers = {
        file: _numbered(
            XmlEditor(data[file], str(file)).root, iter(found["files"][str(file)]["ids"])
        )
        for file in data
    }
    answers = {
        editor: {
            number: (digest, Answer(Code(code), message, revision, tuple(nodes)))
            for number, digest, code, message, revision, nodes in each
        }
        for editor, each in found["answers"].items()
    }
    return Kept(State(files, numbers, found["next"]), found["revision"], answers)


def _numbered(element: Element, ids: Iterator[str]) -> Numbered:
    return Numbered(next(ids), [_numbered(child, ids) for child in element.children])
