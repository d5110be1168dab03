# SPDX-License-Identifier: Apache-2.0
"""The missions there are: tree files in folders, with what they say about themselves. No ROS.

A file ``NAME.xml`` in one of the folders is the mission NAME. Packages offer folders too (see
:mod:`behavior_packages`); ``PACKAGE/NAME`` tells missions of two packages apart.

A mission's description is the first line of the comment that opens the file. Its parameters are
the ports that the file's ``TreeNodesModel`` declares for the main tree::

    <TreeNodesModel>
      <SubTree ID="stack_blocks">
        <input_port name="max_failures" type="int" default="3">failed steps in a row</input_port>
      </SubTree>
    </TreeNodesModel>

Values come as text and become numbers by the declared type; a port without a default must be given.
The unit is what the description has in brackets, as ``[m]``. What else a value must be say metadata
of the main tree, named after the parameter::

    <MetadataFields>
      <Metadata max_failures.minimum="1" max_failures.maximum="20"/>
      <Metadata afterwards.choices="end;idle"/>
      <Metadata order.of="objects"/>
    </MetadataFields>

``of`` is for those who fill in forms: ``object`` or ``frame`` is the name of one, ``objects`` or
``frames`` are several with semicolons between them; ``place`` is ``x;y`` on the ground [m].
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from behavior_executor.missions.mission import Code, MissionError
from behavior_packages import ambiguity, packages
from behavior_tree.shown_text import MOST_PROBLEMS, listed, visible

Value = str | int | float | bool
"""What a mission parameter can be on the blackboard."""

EVERYTHING = "*"
"""In the executor's parameters: whatever packages offer."""

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_ROOT = re.compile(r"<root\b")
_UNIT = re.compile(r"\[([^\]\s]{1,12})\]")
_INT64 = 2**63
"""The integers of the engine, its scripts and all messages are smaller."""
_SETTLED = 2.0
"""[s] of wall time after which a file's time of change tells versions apart."""


@dataclass(frozen=True)
class MissionParameter:
    """One parameter of a mission."""

    name: str
    type: str
    """``int``, ``double``, ``bool``; any other type is passed on as text."""
    default: str | None
    """None: the mission must say it."""
    description: str
    unit: str = ""
    """As ``m`` or ``rad``; empty: none."""
    minimum: float | None = None
    """The least number that it may be; NaN, which nothing is: the file's limit is no number."""
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    """All that it may be; empty: anything."""
    of: str = ""
    """``object``, ``objects``, ``frame``, ``frames``, ``place``: what it names; empty: nothing."""

    def parse(self, text: str) -> Value:
        """The value that a text stands for.

        Raises:
            ValueError: the text is none of this type.
        """
        return _PARSERS.get(self.type, str)(text)

    def problem(self, value: Value) -> str:
        """Why the mission does not take this value; empty: it does."""
        if self.choices and str(value) not in self.choices:
            return f"'{visible(str(value))}' is none of {', '.join(self.choices)}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            if isinstance(value, int) and not -_INT64 <= value < _INT64:
                return f"{value} does not fit into 64 bits"
            if self.minimum is not None and not value >= self.minimum:
                return f"{value:g} is less than {self.minimum:g}"
            if self.maximum is not None and not value <= self.maximum:
                return f"{value:g} is more than {self.maximum:g}"
        return ""


@dataclass(frozen=True)
class MissionEntry:
    """One mission of the catalogue."""

    name: str
    path: Path
    description: str
    """One line."""
    main_tree: str
    """ID of the tree that runs; empty: the file leaves the choice to the engine."""
    parameters: tuple[MissionParameter, ...]
    worlds: tuple[str, ...] = ()
    """It is made for these; empty: for any."""

    def blackboard_values(self, given: Mapping[str, str]) -> dict[str, Value]:
        """Values for the blackboard: what the mission says, else the defaults.

        A mission without declared parameters takes any, as text.

        Raises:
            MissionError: INVALID_REQUEST; unknown, missing or malformed parameters, all at once.
        """
        declared = {parameter.name: parameter for parameter in self.parameters}
        if not declared:
            return dict(given)
        unknown = [name for name in given if name not in declared]
        near = [_nearest(name, list(declared), "parameters") for name in unknown[:MOST_PROBLEMS]]
        problems = [
            f"no parameter '{name}'{hint}"
            for name, hint in itertools.zip_longest(unknown, near, fillvalue="")
        ]
        values: dict[str, Value] = {}
        for name, parameter in declared.items():
            text = given.get(name, parameter.default)
            if text is None:
                problems.append(f"parameter '{name}' is missing ({parameter.description})")
                continue
            try:
                values[name] = parameter.parse(text)
            except ValueError:
                problems.append(
                    f"parameter '{name}': '{visible(text)}' is not of type {parameter.type}"
                )
                continue
            if problem := parameter.problem(values[name]):
                problems.append(f"parameter '{name}': {problem}")
        if problems:
            raise MissionError(Code.INVALID_REQUEST, f"mission '{self.name}': {listed(problems)}")
        return values


class MissionCatalogue:
    """The missions in a list of folders, and single files; of two with one name the earlier counts,
    files before folders, and these before those of packages, which do not shadow each other.

    A file that was added, edited or removed counts at the next call; what has not changed is not
    read again.
    """

    def __init__(
        self,
        directories: Sequence[Path],
        files: Sequence[Path] = (),
        packages: Sequence[tuple[str, Path]] = (),
    ) -> None:
        """Remember folders and files; one that does not exist holds no mission.

        Args:
            directories: somebody's own.
            files: single ones.
            packages: folders of packages, with their names.
        """
        self.directories = tuple(directories)
        self.files = tuple(files)
        self.packages = tuple(packages)
        self._read: dict[Path, tuple[object, MissionEntry]] = {}
        """By file: what told one version from another, and what it said."""

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._paths())

    def entries(self) -> list[MissionEntry]:
        """All missions, sorted by name; a broken file is listed too, its description says so."""
        return [self._entry(name, path) for name, path in sorted(self._paths().items())]

    def find(self, name: str) -> MissionEntry:
        """The mission of this name.

        Raises:
            MissionError: UNKNOWN_MISSION, with the nearest names.
        """
        path = self._path(name)
        if path is None:
            raise MissionError(
                Code.UNKNOWN_MISSION,
                f"no mission '{name}'{_nearest(name, self.names(), 'missions')}; "
                f"looked in {', '.join(map(str, self._searched())) or 'no folder'}",
            )
        return self._entry(name, path)

    def _path(self, name: str) -> Path | None:
        """The file of a mission, without looking at any other; names are no paths.

        Raises:
            MissionError: UNKNOWN_MISSION; several packages have one of this name.
        """
        package, slash, plain = name.rpartition("/")
        if not plain or "\0" in name:
            return None
        if not slash:
            named = (path for path in self.files if path.stem == name)
            for path in (*named, *(directory / f"{name}.xml" for directory in self.directories)):
                if _is_file(path):
                    return path
        found = {
            owner: folder / f"{plain}.xml"
            for owner, folder in self.packages
            if package in ("", owner) and _is_file(folder / f"{plain}.xml")
        }
        if len(found) > 1:
            both = ambiguity("mission", plain, [(owner, str(at)) for owner, at in found.items()])
            text = f"{both}: say which, as in {next(iter(found))}/{plain}"
            raise MissionError(Code.UNKNOWN_MISSION, text)
        return next(iter(found.values()), None)

    def _searched(self) -> list[Path]:
        return [*self.files, *self.directories, *(folder for _, folder in self.packages)]

    def _entry(self, name: str, path: Path) -> MissionEntry:
        """What a file says of itself, read again if it may have changed."""
        try:
            found = path.stat()
        except OSError:
            return _read(name, path)
        version = (found.st_mtime_ns, found.st_size, found.st_ino)
        known, entry = self._read.get(path, (None, None))
        # Two versions within one step of the file system's clock would look the same.
        if entry is None or known != version or time.time() - found.st_mtime < _SETTLED:
            entry = _read(name, path)
            self._read[path] = version, entry
        return entry

    def _paths(self) -> dict[str, Path]:
        paths = {path.stem: path for path in reversed(self.files) if path.is_file()}
        for directory in self.directories:
            for path in directory.glob("*.xml"):
                if path.is_file():
                    paths.setdefault(path.stem, path)
        offered = [
            (package, path)
            for package, folder in self.packages
            for path in folder.glob("*.xml")
            if path.stem not in paths and path.is_file()
        ]
        counts = Counter(path.stem for _, path in offered)
        for package, path in offered:
            paths[path.stem if counts[path.stem] == 1 else f"{package}/{path.stem}"] = path
        return paths


def catalogue_of(directories: Sequence[str], file: str = "") -> MissionCatalogue:
    """The catalogue that an executor's parameters describe.

    Args:
        directories: ``tree_directories``; ``*`` stands for what packages offer.
        file: ``behavior_tree_file``.
    """
    return MissionCatalogue(
        [Path(name) for name in directories if name not in ("", EVERYTHING)],
        [Path(file).expanduser()] if file else [],
        packages().folders("trees") if EVERYTHING in directories else [],
    )


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError):  # a name that is too long for the file system
        return path.is_file()
    return False


def _read(name: str, path: Path) -> MissionEntry:
    """Read what a file says about itself; loading the tree is the engine's business."""
    try:
        text = path.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        return MissionEntry(name, path, f"(cannot be read: {error})", "", ())
    main_tree = root.get("main_tree_to_execute", "")
    if not main_tree and len(trees := root.findall("BehaviorTree")) == 1:
        main_tree = trees[0].get("ID", "")
    models = [
        model
        for model in root.iterfind("TreeNodesModel/SubTree")
        if main_tree and model.get("ID") == main_tree
    ]
    metadata = [
        pair
        for model in models
        for each in model.iterfind("MetadataFields/Metadata")
        for pair in each.items()
    ]
    return MissionEntry(
        name,
        path,
        _description(text),
        main_tree,
        _parameters(models, dict(metadata)),
        tuple(value for key, value in metadata if key == "world"),
    )


def _description(text: str) -> str:
    start = _ROOT.search(text)
    comment = _COMMENT.search(text, 0, start.start() if start else len(text))
    lines = comment.group(1).strip().splitlines() if comment else []
    return lines[0].strip() if lines else ""


def _parameters(
    models: Sequence[ElementTree.Element], metadata: Mapping[str, str]
) -> tuple[MissionParameter, ...]:
    return tuple(
        _parameter(port, metadata)
        for model in models
        for port in model
        if port.tag in ("input_port", "inout_port")
    )


def _parameter(port: ElementTree.Element, metadata: Mapping[str, str]) -> MissionParameter:
    name = port.get("name", "")
    description = " ".join((port.get("description") or port.text or "").split())
    unit = _UNIT.search(description)
    return MissionParameter(
        name=name,
        type=port.get("type", "std::string"),
        default=port.get("default"),
        description=description,
        unit=unit.group(1) if unit else "",
        minimum=_limit(metadata.get(f"{name}.minimum")),
        maximum=_limit(metadata.get(f"{name}.maximum")),
        choices=tuple(filter(None, metadata.get(f"{name}.choices", "").split(";"))),
        of=metadata.get(f"{name}.of", ""),
    )


def _limit(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return math.nan


def _nearest(name: str, known: Sequence[str], what: str) -> str:
    if not known:
        return f"; there are no {what}"
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "; did you mean " + " or ".join(f"'{candidate}'" for candidate in close) + "?"
    return f"; {what}: {', '.join(known)}"


def _parse_bool(text: str) -> bool:
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.strip().lower() not in values:
        raise ValueError(text)
    return values[text.strip().lower()]


def _parse_double(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


_PARSERS: dict[str, Callable[[str], Value]] = {
    "int": int,
    "double": _parse_double,
    "bool": _parse_bool,
}
