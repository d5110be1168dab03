# SPDX-License-Identifier: Apache-2.0
"""The quirks of BehaviorTree.CPP 4.8 with both settings, from `behavior_tree.quirks`, as Markdown.

``python benchmarks/quirk_list.py`` prints them; ``--write`` puts them into docs/conformance.md,
``--check`` says whether what stands there is current (exit code 1 if not).
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from itertools import pairwise

from page import section, write_section

from behavior_tree import quirks


def described() -> dict[str, str]:
    """Name of each quirk and the text below it in the source."""
    tree = ast.parse(inspect.getsource(quirks.Quirks))
    body = tree.body[0].body  # type: ignore[attr-defined]
    texts: dict[str, str] = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            assert isinstance(field.target, ast.Name)
            texts[field.target.id] = inspect.cleandoc(ast.literal_eval(below.value))
    return texts


def markdown() -> str:
    """One entry for each quirk: what 4.8 does, and what this engine does by default."""
    lines: list[str] = []
    for name, text in described().items():
        as_4_8, _, default = text.replace("``", "`").partition("Mended: ")
        lines += [f"### `{name}`", "", f"As 4.8: {as_4_8.strip()}", "", f"Default: {default}", ""]
    return "\n".join(lines)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="put the list into the page")
    parser.add_argument("--check", action="store_true", help="only compare with the page")
    arguments = parser.parse_args()
    if arguments.check:
        current = section("quirks") == markdown()
        print("the page is current" if current else "docs/conformance.md: run with --write")
        return 0 if current else 1
    if arguments.write:
        write_section("quirks", markdown())
    else:
        print(markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
