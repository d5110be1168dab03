# SPDX-License-Identifier: Apache-2.0
"""``check``: all problems of files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from behavior_tree.errors import LoadError, XmlProblem, problem_lines
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.placeholders import register_models
from behavior_tree.stand_ins import Extend, make_factory
from behavior_tree.xml.loader import NO_SUCH_TREE, Loader


def find_problems(
    files: Sequence[Path],
    register: Sequence[str] = (),
    extend: Extend | None = None,
    compat: str | None = None,
) -> list[XmlProblem]:
    """Errors and warnings of files, by place.

    Each file is checked with what it includes, and with what the ``<TreeNodesModel>`` of the others
    describe. One that lacks a tree is checked once more together with the other files, since a
    program may register them all.
    """
    check = _Check(files, register, extend, compat)
    found: dict[XmlProblem, None] = {}
    for file in files:
        problems = check.file(file, [])
        if any(each.message.startswith(NO_SUCH_TREE) for each in problems):
            problems = check.file(file, [each for each in files if each != file])
        found.update(dict.fromkeys(problems))
    return sorted(found, key=lambda each: (each.file, each.line, each.column))


class _Check:
    """Checks files one by one; each is read once for what the others need of it."""

    def __init__(
        self,
        files: Sequence[Path],
        register: Sequence[str],
        extend: Extend | None,
        compat: str | None,
    ) -> None:
        self._register, self._extend, self._compat = register, extend, compat
        self._documents = {file: Loader(lambda: "main_tree").load_file(file) for file in files}

    def file(self, file: Path, others: Sequence[Path]) -> list[XmlProblem]:
        """Problems of a file where the trees of the others are registered."""
        factory = self._factory(file)
        for other in others:
            try:
                factory.register_behavior_tree_from_file(other)
            except LoadError:
                continue  # reported for that file
        documents = self._documents[file]
        problems = factory.check_file(file)
        read = documents.warnings if self._compat is None else []
        warnings = [*read, *factory.load_warnings()]
        return [*problems, *(each for each in warnings if each.file in documents.files)]

    def _factory(self, file: Path) -> BehaviorTreeFactory:
        factory = make_factory([], self._register, extend=self._extend, compat=self._compat)
        own, *others = (self._documents[each] for each in (file, *self._documents))
        register_models(
            factory,
            chain(own.node_models.values(), *(other.node_models.values() for other in others)),
        )
        return factory


def report(problems: Sequence[XmlProblem], files: int, *, as_json: bool) -> str:
    """What is printed: problems as JSON list, or errors, then warnings."""
    if as_json:
        return json.dumps([asdict(problem) for problem in problems], indent=1)
    errors = [each for each in problems if each.severity == "error"]
    warnings = [each for each in problems if each.severity != "error"]
    lines = [str(LoadError(errors))] if errors else []
    if warnings:
        count = "1 warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        lines += [f"{count}:", *problem_lines(warnings)]
    return "\n".join(lines) or f"{files} file{'s' if files > 1 else ''}, no problems"
