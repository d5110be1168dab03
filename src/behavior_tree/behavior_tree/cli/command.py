# SPDX-License-Identifier: Apache-2.0
"""Arguments, output and exit codes: 0 good, 1 problems or FAILURE, 2 wrong use."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from behavior_tree.basic_types import NodeStatus
from behavior_tree.cli.profile import Profile
from behavior_tree.cli.stand_ins import make_factory
from behavior_tree.errors import BehaviorTreeError, LoadError, XmlProblem
from behavior_tree.tree import Tree
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.writer import write_tree_nodes_model_xml

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. Wrong arguments raise ``SystemExit(2)``."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except BehaviorTreeError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m behavior_tree", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="find all problems of files, without running them")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument("--json", action="store_true", help="problems as a JSON list")
    check.set_defaults(action=_check)
    show = commands.add_parser("show", help="draw the trees of a file")
    show.add_argument("file", type=Path, metavar="FILE")
    show.set_defaults(action=_show)
    models = commands.add_parser("models", help="write the TreeNodesModel of all node types")
    models.set_defaults(action=_models)
    run = commands.add_parser("run", help="run a tree with simulated leaves, log each transition")
    run.set_defaults(action=_run)
    profile = commands.add_parser("profile", help="run a tree, show where its time goes")
    profile.set_defaults(action=_profile)
    for command in (run, profile):
        command.add_argument("file", type=Path, metavar="FILE")
        command.add_argument("--tree", metavar="ID", help="tree to run, else the main one")
        command.add_argument("--rules", type=Path, metavar="JSON", help="substitution rules")
        command.add_argument("--timeout", type=float, default=60.0, help="limit [s] (60)")
    for command in (check, models, run, profile):
        command.add_argument(
            "--register",
            action="append",
            default=[],
            metavar="MODULE:FUNCTION",
            help="function that registers node types, called with the factory",
        )
    return parser


def _check(options: argparse.Namespace) -> int:
    problems = _problems(options.files, options.register)
    if options.json:
        print(json.dumps([asdict(problem) for problem in problems], indent=1))
    elif problems:
        print(LoadError(problems))
    else:
        print(f"{len(options.files)} files, no problems")
    return 1 if problems else 0


def _problems(files: Sequence[Path], register: Sequence[str]) -> list[XmlProblem]:
    factory = make_factory(files, register)
    found: dict[XmlProblem, None] = {}
    for file in files:
        try:
            factory.register_behavior_tree_from_file(file)
        except LoadError as error:
            found.update(dict.fromkeys(error.problems))
    if not found:  # else SubTrees of a refused file would be reported as unknown
        for tree_id in factory.registered_behavior_trees():
            try:
                factory.create_tree(tree_id)
            except LoadError as error:
                found.update(dict.fromkeys(error.problems))
    return sorted(found, key=lambda each: (each.file, each.line, each.column))


def _show(options: argparse.Namespace) -> int:
    try:
        root = parse_xml(options.file.read_bytes(), str(options.file))
    except OSError as error:
        raise BehaviorTreeError(f"cannot read {options.file}: {error.strerror}") from error
    for tree in root.children:
        if tree.tag == "BehaviorTree":
            print(tree.get("ID") or "(main tree)")
            _draw(tree, "")
    return 0


def _draw(parent: Element, indent: str) -> None:
    for child in parent.children:
        last = child is parent.children[-1]
        shown = {key: value for key, value in child.attributes.items() if key != "ID"}
        head = " ".join(filter(None, (child.tag, child.get("ID"))))
        text = " ".join(f'{key}="{value}"' for key, value in shown.items())
        print(f"{indent}{'└── ' if last else '├── '}{head} {text}".rstrip())
        _draw(child, indent + ("    " if last else "│   "))


def _models(options: argparse.Namespace) -> int:
    factory = make_factory((), options.register)
    print(write_tree_nodes_model_xml(factory.manifests().values(), include_builtin=True), end="")
    return 0


def _run(options: argparse.Namespace) -> int:
    tree = _tree(options)
    start = time.monotonic()
    tree.subscribe_status_change(
        lambda node, before, after: print(
            f"{time.monotonic() - start:9.3f} {node.full_path()}: {before.name} -> {after.name}"
        )
    )
    return _finish(tree, options.timeout)


def _profile(options: argparse.Namespace) -> int:
    tree = _tree(options)
    profile = Profile(tree)
    code = _finish(tree, options.timeout)
    print("\n".join(profile.table()))
    return code


def _tree(options: argparse.Namespace) -> Tree:
    factory = make_factory((options.file,), options.register, options.rules)
    if options.tree is None:
        return factory.create_tree_from_file(options.file)
    factory.register_behavior_tree_from_file(options.file)
    return factory.create_tree(options.tree)


def _finish(tree: Tree, timeout: float) -> int:
    end = time.monotonic() + timeout
    status = tree.tick_once()
    while status is NodeStatus.RUNNING:
        if time.monotonic() > end:
            print(f"still RUNNING after {timeout} s: {tree.active_path()}", file=sys.stderr)
            tree.halt_tree()
            return 1
        tree.sleep(10)
        status = tree.tick_once()
    print(status.name)
    reason = tree.failure_reason()
    if reason is not None:
        print(reason, file=sys.stderr)
    return 0 if status is NodeStatus.SUCCESS else 1
