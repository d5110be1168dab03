# SPDX-License-Identifier: Apache-2.0
"""Where in a YAML file a key stands: errors that name a file and a key tell its line too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from behavior_packages.bounded_yaml import compose_yaml

_KEY = re.compile(r"[\w-]+(?:\.[\w-]+)*")


def with_lines(message: str, file: Path | str) -> str:
    """A message whose lines begin ``FILE: KEY.KEY``, with ``FILE:LINE`` in place of the file.

    What tells of no key of the file, as it comes from one that the file extends, stays as it is.
    """
    try:
        root = compose_yaml(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return message
    return "\n".join(_with_line(line, str(file), root) for line in message.split("\n"))


def _with_line(message: str, file: str, root: yaml.Node | None) -> str:
    text = message.removeprefix(f"{file}: ")
    key = _KEY.match(text) if text != message else None
    line = _line(root, key[0].split(".")) if key else None
    return message if line is None else f"{file}:{line}: {text}"


def _line(node: yaml.Node | None, keys: Sequence[str]) -> int | None:
    """Of the last key, or where it is missing of the one that it is missing in; None: of none."""
    found: yaml.Node | None = None
    for key in keys:
        place = None
        if isinstance(node, yaml.MappingNode):
            place = next((each for each in node.value if each[0].value == key), None)
        elif isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
            place = (node.value[int(key)],) * 2
        if place is None:
            break
        found, node = place
    return None if found is None else found.start_mark.line + 1
