# SPDX-License-Identifier: Apache-2.0
"""`Part`: a value of a case with its place, so that what is wrong is told with file and line.

Cases come from YAML or from Python; both are read by the same code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml

from behavior_tree.errors import LoadError, XmlProblem
from behavior_tree.shown_text import visible

_MOST_BYTES = 4_000_000
"""Of a case file; more is none."""
_MOST_VALUES = 500_000
"""That a case file stands for, aliases counted as what they name."""


class _Lines:
    """Where the items of a container stand; `line` is its own, `size` how many values it has, those
    of its items and itself.
    """

    line: int
    lines: dict[Any, int]
    size: int = 1


class _Mapping(dict[Any, Any], _Lines):
    pass


class _List(list[Any], _Lines):
    pass


@dataclass(frozen=True)
class Part:
    """A value, where it stands, and what it is."""

    value: Any
    what: str
    """Keys that lead to it, for messages."""
    file: str = "<case>"
    line: int = 0

    @property
    def place(self) -> str:
        """``FILE:LINE``, or only the file's name."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def fail(self, message: str, remedy: str) -> NoReturn:
        """Raise a LoadError that tells what is wrong here."""
        raise LoadError(
            [XmlProblem(self.file, self.line, int(self.line > 0), self.what, message, remedy)]
        )

    def part(self, key: Any, value: Any) -> Part:
        """One item of this container."""
        line = self.value.lines.get(key, self.line) if isinstance(self.value, _Lines) else 0
        what = f"{self.what}: {key}" if self.what else str(key)
        return Part(value, what, self.file, line or self.line)

    def plain(self) -> Any:
        """The value without its lines: what a node reads is a list, not one of ours."""
        return _plain(self.value)

    def mapping(self, known: Iterable[str] | None = None) -> dict[str, Part]:
        """Its items; one that is not among the known keys is refused."""
        if not isinstance(self.value, Mapping):
            form = "keys: " + ", ".join(known) if known is not None else "KEY: VALUE"
            self.fail(f"is {_shown(self.value)}", f"write {form}")
        parts = {str(key): self.part(key, value) for key, value in self.value.items()}
        for key, part in parts.items():
            if known is not None and key not in known:
                part.fail(f"unknown key '{visible(key)}'", near_names(key, known))
        return parts

    def items(self) -> list[Part]:
        """Its items; one value alone is a list of one."""
        if not isinstance(self.value, list | tuple):
            return [self]
        return [self.part(index, each) for index, each in enumerate(self.value)]

    def text(self) -> str:
        """A text; a number or a truth value is none."""
        if not isinstance(self.value, str):
            self.fail(f"is {_shown(self.value)}", "write a text; quote what YAML takes for other")
        return self.value

    def number(self, least: float = 0.0) -> float:
        """A number that is at least so great."""
        value = self.value
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if not right or not least <= value < float("inf"):
            self.fail(f"is {_shown(value)}", f"write a number from {least:g} on")
        return float(value)

    def count(self, least: int = 0) -> int:
        """A whole number that is at least so great."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            self.fail(f"is {_shown(value)}", f"write a whole number from {least} on")
        return value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.fail(f"is {_shown(self.value)}", "write true or false")
        return self.value

    def choice(self, choices: Iterable[str]) -> str:
        """One of these texts."""
        if not isinstance(self.value, str) or self.value not in choices:
            self.fail(f"is {_shown(self.value)}", f"write one of {', '.join(choices)}")
        return self.value


def _plain(value: Any) -> Any:
    if isinstance(value, _Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, _List) else value


def near_names(name: str, known: Iterable[str]) -> str:
    """The names that are near one that there is not; of none that is near, the first ones."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(repr(visible(each)) for each in near)}?"
    shown = ", ".join(visible(each) for each in names[:12])
    return f"known: {shown}{', ...' if len(names) > 12 else ''}" if names else "there is none"


def _shown(value: Any) -> str:
    return visible(repr(value), 80)


_Container = TypeVar("_Container", _Mapping, _List)


class _Loader(yaml.SafeLoader):
    """Keeps the lines, and refuses a key that stands twice. Dates are texts, which nodes can read,
    and numbers with an exponent need no point.
    """


_EXPONENT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$")
_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if not tag.endswith(":timestamp")]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_constructors = {  # not those that would make containers of another kind
    tag: make
    for tag, make in yaml.SafeLoader.yaml_constructors.items()
    if not (tag or "").endswith((":omap", ":pairs", ":set"))
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))


def _mapping(loader: _Loader, node: yaml.MappingNode) -> _Mapping:
    made = _Mapping()
    made.line, made.lines = node.start_mark.line + 1, {}
    for key_node, value_node in node.value:
        if key_node.tag == _MERGE:
            raise yaml.constructor.ConstructorError(
                None, None, "'<<' is not known here", key_node.start_mark
            )
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            key = str(key_node.value)  # a node may be called `on` or `3`
        if key in made:
            raise yaml.constructor.ConstructorError(
                None, None, f"'{key}' stands twice", key_node.start_mark
            )
        made[key] = loader.construct_object(value_node, deep=True)
        made.lines[key] = key_node.start_mark.line + 1
    return _counted(made, made.values(), node)


def _list(loader: _Loader, node: yaml.SequenceNode) -> _List:
    made = _List(loader.construct_object(each, deep=True) for each in node.value)
    made.line = node.start_mark.line + 1
    made.lines = {index: each.start_mark.line + 1 for index, each in enumerate(node.value)}
    return _counted(made, made, node)


def _counted(made: _Container, items: Iterable[Any], node: yaml.Node) -> _Container:
    """A container that knows its size: an alias takes a word, and stands for all that it names."""
    made.size = 1 + sum(getattr(each, "size", 1) for each in items)
    if made.size > _MOST_VALUES:
        problem = f"with its aliases this stands for more than {_MOST_VALUES} values"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return made


_MERGE = "tag:yaml.org,2002:merge"
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:seq", _list)


_REMEDIES = {
    "stands twice": "keep one of them",
    "'<<'": "write out what it would merge, or put it above 'cases', where it is for all of them",
    "aliases": "write out fewer of them",
    "another document": "leave out the line '---': a file is one document",
    r"'\t'": "indent by spaces",
    "'?'": "within [] and {} quote names that end with ?",
}
"""What to do, by a part of what is wrong."""


def _yaml_remedy(problem: str) -> str:
    found = (remedy for text, remedy in _REMEDIES.items() if text in problem)
    return next(found, "check brackets and indentation, and quote texts with : or #")


def read_yaml(file: Path) -> Part:
    """A YAML file with the lines of its values.

    Raises:
        LoadError: it cannot be read, or is not YAML
    """
    whole = Part(None, "", str(file))
    try:
        data = file.read_bytes()
        if len(data) > _MOST_BYTES:
            whole.fail(f"has {len(data)} bytes", f"split it: {_MOST_BYTES} at most")
        value = yaml.load(data.decode("utf-8"), _Loader)
    except OSError as error:
        whole.fail(f"cannot be read: {error.strerror}", "check the path")
    except RecursionError:
        whole.fail("is nested too deep", "write it flatter")
    except (UnicodeDecodeError, ValueError) as error:
        whole.fail(f"cannot be read: {error}", "write YAML in UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 0
        problem = error.problem or "it cannot be read"
        Part(None, "", str(file), line).fail(f"is not YAML: {problem}", _yaml_remedy(problem))
    except yaml.YAMLError as error:
        whole.fail(f"is not YAML: {' '.join(str(error).split())}", "write YAML in UTF-8")
    return Part(value, "", str(file), getattr(value, "line", 0))
