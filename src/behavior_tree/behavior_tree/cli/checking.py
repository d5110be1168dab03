# SPDX-License-Identifier: Apache-2.0
"""``check``: all problems of files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from behavior_tree.cli.stand_ins import Extend, make_factory
from behavior_tree.errors import LoadError, XmlProblem

__all__ = ["find_problems", "report"]


def find_problems(
    files: Sequence[Path], register: Sequence[str] = (), extend: Extend | None = None
) -> list[XmlProblem]:
    """Errors and warnings of files, by place.

    Each file is checked with what it includes. One that lacks a tree is checked once more together
    with the other files, since a program may register them all.
    """
    found: dict[XmlProblem, None] = {}
    for file in files:
        problems = _of_file(file, [], register, extend)
        if any("Can't find a tree with name" in each.message for each in problems):
            others = [each for each in files if each != file]
            problems = _of_file(file, others, register, extend)
        found.update(dict.fromkeys(problems))
    return sorted(found, key=lambda each: (each.file, each.line, each.column))


def _of_file(
    file: Path, others: Sequence[Path], register: Sequence[str], extend: Extend | None
) -> list[XmlProblem]:
    factory = make_factory([file, *others], register, extend=extend)
    for other in others:
        try:
            factory.register_behavior_tree_from_file(other)
        except LoadError:
            continue  # reported for that file
    known = set(factory.registered_behavior_trees())
    try:
        factory.register_behavior_tree_from_file(file)
    except LoadError as error:
        return list(error.problems)
    problems: list[XmlProblem] = []
    for tree_id in factory.registered_behavior_trees():
        if tree_id not in known:
            try:
                factory.create_tree(tree_id)
            except LoadError as error:
                problems.extend(error.problems)
    return [*problems, *factory.load_warnings()]


def report(problems: Sequence[XmlProblem], files: int, *, as_json: bool) -> str:
    """What is printed: problems as JSON list, or errors, then warnings."""
    if as_json:
        return json.dumps([asdict(problem) for problem in problems], indent=1)
    errors = [each for each in problems if each.severity == "error"]
    warnings = [each for each in problems if each.severity != "error"]
    lines = [str(LoadError(errors))] if errors else []
    if warnings:
        count = "1 warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        lines += [f"{count}:", *map(str, warnings)]
    return "\n".join(lines) or f"{files} file{'s' if files > 1 else ''}, no problems"
