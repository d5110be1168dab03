# SPDX-License-Identifier: Apache-2.0
"""`behavior tree import` and `export`: behaviours and projects of other programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from behavior_tree.errors import BehaviorTreeError
from behavior_tree.importing import export_ihmc, import_groot, import_ihmc
from behavior_tree.xml.files import replace_file

Add = Callable[..., argparse.Action]


def add_import(add: Add) -> None:
    """Add the arguments of ``import``."""
    add("file", type=Path, metavar="FILE", help="behaviour of IHMC (.json), project (.btproj)")
    add("-o", "--output", type=Path, metavar="FILE.xml", help="what to write, else beside FILE")
    add("--force", action="store_true", help="write over a file that is there")


def add_export(add: Add) -> None:
    """Add the arguments of ``export``."""
    add("file", type=Path, metavar="FILE.xml", help="tree file that was imported, perhaps edited")
    add("-o", "--output", type=Path, metavar="FOLDER", required=True, help="gets the JSON files")
    add("--force", action="store_true", help="write over files that are there")


def import_tree(options: argparse.Namespace) -> int:
    """Make a tree file of a behaviour of IHMC or a project of Groot2, and tell what has no
    counterpart.
    """
    file: Path = options.file
    output: Path = options.output or file.with_suffix(".xml")
    if file.suffix == ".btproj":
        imported = import_groot(file, output)
    elif file.suffix == ".json":
        imported = import_ihmc(file)
    else:
        raise BehaviorTreeError(f"{file}: import takes a .json of IHMC or a .btproj of Groot2")
    _write(output, imported.xml, options.force)
    for note in imported.notes:
        print(f"note: {note}")
    print(f"wrote {output}")
    return 0


def export_tree(options: argparse.Namespace) -> int:
    """Write a tree as behaviour JSON of IHMC: what was imported and not edited, byte for byte."""
    folder: Path = options.output
    files = {folder / name: text for name, text in export_ihmc(options.file).items()}
    for path in files:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise BehaviorTreeError(f"{path} is not below {folder}: rename the list at its root")
        _refuse_existing(path, options.force)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, text, options.force)
        print(f"wrote {path}")
    return 0


def _write(path: Path, text: str, force: bool) -> None:
    _refuse_existing(path, force)
    replace_file(path, text.encode())


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise BehaviorTreeError(f"{path} is there already: choose another, or --force")
