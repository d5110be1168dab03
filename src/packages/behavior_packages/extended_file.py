# SPDX-License-Identifier: Apache-2.0
"""YAML files that take over another one of their kind and say only what differs.

``extends: NAME`` names it: a file NAME.yaml of the same folder, or one that a package offers. What
the file says counts more, key by key; a list is taken as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from behavior_packages import PackageError, UnknownOfferError, packages
from behavior_packages.bounded_yaml import read_yaml

EXTENDS = "extends"
"""Key that names the other file."""


class FileError(ValueError):
    """A file cannot be read; the text names it and says why."""


def _as_it_stands(data: dict[str, Any], file: Path) -> dict[str, Any]:
    return data


def read_extended(
    file: Path,
    kind: str,
    adapt: Callable[[dict[str, Any], Path], dict[str, Any]] = _as_it_stands,
    *,
    extended: tuple[Path, ...] = (),
) -> dict[str, Any]:
    """The keys of a file, those of the one that it extends below its own.

    Args:
        file: to read.
        kind: of it, see `behavior_packages`.
        adapt: given what one file says, and that file: what of it counts from where it stands.
        extended: files that lead here.

    Raises:
        FileError: one of them cannot be read, holds no keys, or extends itself in turn.
    """
    data = adapt(_mapping(file), file)
    name = data.pop(EXTENDS, None)
    if name is None:
        return data
    base = _named(str(name), kind, file)
    if base.resolve() in (each.resolve() for each in (file, *extended)):
        raise FileError(f"{file}: {EXTENDS}: '{name}' extends this file in turn")
    return _merged(read_extended(base, kind, adapt, extended=(file, *extended)), data)


def _mapping(file: Path) -> dict[str, Any]:
    try:
        data: Any = read_yaml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"{file}: cannot be read ({why})") from error
    except yaml.YAMLError as error:
        raise FileError(f"{file}: is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise FileError(f"{file}: write a mapping of keys and values")
    return data


def _named(name: str, kind: str, file: Path) -> Path:
    """The file that one extends.

    Raises:
        FileError: there is none of that name, or several.
    """
    beside = file.parent / f"{name}.yaml"
    if beside.is_file():
        return beside
    try:
        return Path(packages().find(kind, name).value)
    except UnknownOfferError as error:
        raise FileError(f"{file}: {EXTENDS}: {beside}: cannot be read, and {error}") from error
    except PackageError as error:
        raise FileError(f"{file}: {EXTENDS}: {error}") from error


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both else value
    return merged
