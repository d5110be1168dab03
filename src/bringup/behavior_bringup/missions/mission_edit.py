# SPDX-License-Identifier: Apache-2.0
"""`behavior mission edit`: the tree of a mission is edited together with others, while it runs."""

from __future__ import annotations

import argparse
import getpass
import platform
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from behavior_bringup.arguments import completion
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.stacks.connection import live_editor
from behavior_bringup.terminal import print_json, say, sentence

if TYPE_CHECKING:
    from behavior_executor.editing.live_editor import LiveEditor
    from behavior_executor.editing.tree_exchange import TreeNews

_OWN = {
    "undo": "",
    "redo": "",
    "save": "",
    "refresh": "",
    "revert": "",
}
"""Operations without arguments."""
_LOOKS = {"show": "", "watch": ""}
_DAYS = 1e7
"""[s] that `watch` goes on at most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    from behavior_tree.cli.edit import OPERATIONS, add_operation

    mission = parser.add_argument(
        "--mission", default="", metavar="NAME", help="whose tree is edited (the running one's)"
    )
    completion.offer(mission, completion.mission_names)
    add_editor(parser)
    add_operation(parser.add_argument, {**_LOOKS, **OPERATIONS, **_OWN})


def add_editor(parser: argparse.ArgumentParser) -> None:
    """Add who edits, and what becomes of what runs."""
    parser.add_argument(
        "--as",
        dest="editor",
        default=_somebody(),
        metavar="EDITOR",
        help="under which name; each has an undo of his own (%(default)s)",
    )
    parser.add_argument(
        "--running",
        choices=("refuse", "after", "halt"),
        default="refuse",
        help="if it changes what runs now: refuse it, wait for the end, or halt that (refuse)",
    )


def _somebody() -> str:
    user = "operator"
    with suppress(Exception):  # what is raised without a user differs between versions
        user = getpass.getuser()
    return f"{user}@{platform.node()}"


def mission_edit(options: argparse.Namespace) -> int:
    """Edit the tree of a mission, also while it ticks: show, watch, the operations of `behavior
    tree edit`, undo and redo (of this editor), save, refresh (take in what has changed on disk),
    revert (drop all edits that are not saved). docs/authoring.md tells more.
    """
    looks = options.operation in _LOOKS
    if (looks or options.operation in _OWN) and options.arguments:
        raise UsageError(f"'{options.operation}' takes no arguments")
    name = "" if looks else options.editor
    on_news = _print_news if options.operation == "watch" else None
    with live_editor(name, options.stack, options.namespace, on_news) as editor:
        editor.join(options.mission)
        if options.operation == "show":
            _show(editor, options.json)
            return 0
        if options.operation == "watch":
            say(_summary(editor))
            editor.spin(_DAYS)
            return 0
        return edit(editor, options)


def edit(editor: LiveEditor, options: argparse.Namespace) -> int:
    """Make one edit of a tree that the editor has joined, and say what became of it.

    Returns:
        The exit code.

    Raises:
        UsageError: no node is called so, or an argument is missing.
        BringupError: it was refused.
    """
    from behavior_tree import BehaviorTreeError
    from behavior_tree.cli.edit import operation_from
    from behavior_tree.sharing import Code, Running

    try:
        own = options.operation in _OWN
        operation = (
            {"op": options.operation} if own else operation_from(options, editor.replica.find)
        )
    except BehaviorTreeError as error:
        raise UsageError(sentence(str(error))) from error
    answer = editor.edit(operation, Running(options.running))
    if options.json:
        print_json(
            {
                "code": answer.code.name,
                "message": answer.message,
                "revision": answer.revision,
                "nodes": list(answer.nodes),
            }
        )
    elif answer.code is Code.MADE:
        say(": ".join(filter(None, (f"made, revision {answer.revision}", answer.message))))
        say(_summary(editor))
    elif answer.code is Code.WAITING:
        say(f"waits: {answer.message}")
    else:
        raise BringupError(sentence(answer.message))
    return 0 if answer.code in (Code.MADE, Code.WAITING) else 1


def _show(editor: LiveEditor, as_json: bool) -> None:
    replica, peer = editor.replica, editor.peer
    if as_json:
        row: dict[str, Any] = {
            "mission": peer.tree,
            "runs": peer.ticks,
            "revision": replica.revision,
            "editors": list(peer.editors),
            "problem": peer.problem,
            "files": replica.files,
            "nodes": replica.nodes,
        }
        print_json(row)
        return
    say(_summary(editor))
    for file in replica.files:
        say(f"\n{file}\n{replica.xml(file)}")


def _summary(editor: LiveEditor) -> str:
    peer, files = editor.peer, editor.replica.files
    unsaved = [file for file, each in files.items() if each["modified"]]
    parts = [
        f"mission '{peer.tree}' {'runs' if peer.ticks else 'does not run'}",
        f"revision {editor.replica.revision}",
        f"editors: {', '.join(peer.editors) or 'nobody'}",
        f"not saved: {', '.join(unsaved)}" if unsaved else "all saved",
        peer.problem,
    ]
    return "; ".join(filter(None, parts))


def _print_news(news: TreeNews) -> None:
    if news.editor:
        code = news.answer.code.name.lower()
        say(f"{news.editor}'s edit {news.number} {code} {news.answer.message}".rstrip())
    else:
        say(f"editors: {', '.join(news.editors) or 'nobody'}")
