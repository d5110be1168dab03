# SPDX-License-Identifier: Apache-2.0
"""What packages offer to the suite: the door by which all of them enter, the suite's own too.

A package says what it offers in one file, ``behavior.yaml``, whose paths count from its folder::

    trees: [trees]                                # NAME.xml is the mission NAME
    missions: [config/missions]                   # NAME.yaml is a sequence of missions
    tree_nodes: [my_jobs.tree_nodes:register]     # functions that register tree nodes
    nodes: [config/nodes.yaml]                    # tree nodes made from ROS interfaces
    worlds: [config/worlds]                       # NAME.yaml is the world NAME
    panels: [panels]                              # NAME.js is the panel NAME of the console
    managers: {greeter: "my_jobs.greeter:Greeter"}
    defaults: {stacks: my_world}                  # which one counts where nobody names one

It makes the file known by a resource in the ament index, and by an entry point under pip::

    data_files=[
        ("share/ament_index/resource_index/behavior_packages", ["resource/my_jobs"]),
        ("share/my_jobs", ["package.xml", "behavior.yaml"]),
    ],
    entry_points={"behavior_packages": ["my_jobs = my_jobs"]},

Of two packages with one name the first on AMENT_PREFIX_PATH counts, as everywhere in ROS; what is
installed by pip comes after those. Of two packages that offer the same name neither is preferred:
``PACKAGE/NAME`` says which.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import yaml

from behavior_packages.bounded_yaml import compose_yaml

INDEX = "behavior_packages"
"""Name of the ament resource and of the group of entry points."""
MANIFEST = "behavior.yaml"

FOLDER_KINDS = {
    "trees": ".xml",
    "missions": ".yaml",
    "worlds": ".yaml",
    "navigation_worlds": ".yaml",
    "robots": ".yaml",
    "scenes": ".yaml",
    "stacks": ".yaml",
    "panels": ".js",
}
"""Kinds that are folders of files, with the files' suffix; a file offers its name."""
FILE_KINDS = ("nodes",)
"""Kinds that are lists of files."""
FUNCTION_KINDS = ("tree_nodes",)
"""Kinds that are lists of ``module:function``."""
NAMED_KINDS = (
    "managers",
    "judges",
    "skills",
    "drivers",
    "planners",
    "detectors",
    "commands",
    "vda5050_actions",
)
"""Kinds that give names to ``module:attribute``."""
CODE_KINDS = (*FUNCTION_KINDS, *NAMED_KINDS)
DEFAULTS = "defaults"
"""Kind that gives names to kinds: which of their offers counts where a person names none."""
KINDS = (*FOLDER_KINDS, *FILE_KINDS, *CODE_KINDS, DEFAULTS)


class PackageError(ValueError):
    """What a package offers is not there, not clear, or broken; the message says where."""


class UnknownOfferError(PackageError):
    """No package offers this name."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One thing that a package offers."""

    kind: str
    name: str
    """Under which it is asked for; a function's is its target."""
    package: str
    value: str
    """A file, or ``module:attribute``; of a default, the name."""
    place: str
    """``FILE:LINE`` of the manifest."""

    def load(self) -> Any:
        """What ``module:attribute`` names.

        Raises:
            PackageError: it cannot be imported; the message has the manifest's line and that of
                the fault.
        """
        module, _, attribute = self.value.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except (Exception, SystemExit) as error:  # a module may raise anything, and may exit
            raise self.failure(error) from error

    def failure(self, error: BaseException) -> PackageError:
        """What to say of an error that the offered code raised."""
        return PackageError(
            f"{self.place}: {self.value} of {self.package}: {fault_place(error)}"
            f"{type(error).__name__}: {error}"
        )


@dataclass(frozen=True)
class Package:
    """A package with what its manifest says."""

    name: str
    manifest: Path
    entries: tuple[Offer, ...]
    """As they stand in the manifest; folders are not listed yet."""
    problems: tuple[str, ...]

    @property
    def share(self) -> Path:
        """The folder that its paths count from."""
        return self.manifest.parent

    def offers(self, kind: str) -> Iterator[Offer]:
        """What it offers of a kind; files are looked for anew each time."""
        suffix = FOLDER_KINDS.get(kind)
        for entry in self.entries:
            if entry.kind != kind:
                continue
            if suffix is None:
                yield entry
                continue
            for file in sorted(Path(entry.value).glob(f"*{suffix}")):
                if file.name.startswith("."):  # an editor's lock, or what a Mac puts beside files
                    continue
                yield Offer(
                    kind=kind,
                    name=file.stem,
                    package=self.name,
                    value=str(file),
                    place=entry.place,
                )


class Packages:
    """All packages that offer something."""

    def __init__(self, packages: list[Package]) -> None:
        """Keep them in this order."""
        self.packages = tuple(packages)

    @property
    def problems(self) -> list[str]:
        """What is wrong with manifests, each with file and line."""
        return [problem for package in self.packages for problem in package.problems]

    def offers(self, kind: str) -> list[Offer]:
        """What all of them offer of a kind."""
        return [offer for package in self.packages for offer in package.offers(kind)]

    def load_all(self, kind: str, warn: Callable[[str], None]) -> Iterator[tuple[Offer, Any]]:
        """What all of them offer of a kind that is code, loaded; of one name the first.

        Args:
            kind: that gives names to ``module:attribute``.
            warn: is given what is broken or offered twice; the others come all the same.
        """
        first: dict[str, Offer] = {}
        for offer in self.offers(kind):
            if offer.name in first:
                both = [(each.package, each.place) for each in (first[offer.name], offer)]
                warn(ambiguity(one_of(kind), offer.name, both))
                continue
            first[offer.name] = offer
            try:
                loaded = offer.load()
            except PackageError as error:
                warn(str(error))
                continue
            yield offer, loaded

    def names(self, kind: str) -> list[str]:
        """Names of a kind, sorted; one that several packages offer stands with each of them."""
        offers = self.offers(kind)
        plain = [offer.name for offer in offers]
        return sorted(
            offer.name if plain.count(offer.name) == 1 else f"{offer.package}/{offer.name}"
            for offer in offers
        )

    def folders(self, kind: str) -> list[tuple[str, Path]]:
        """The folders of a kind, each with its package."""
        return [
            (package.name, Path(entry.value))
            for package in self.packages
            for entry in package.entries
            if entry.kind == kind
        ]

    def find(self, kind: str, name: str, known: Callable[[], list[str]] | None = None) -> Offer:
        """The offer with a name, or with ``PACKAGE/NAME``.

        Args:
            kind: what is looked for.
            name: of it.
            known: names to choose from if there is none; without any, all of the kind.

        Raises:
            UnknownOfferError: there is none; the message names those that are near.
            PackageError: there are several; the message names them.
        """
        package, _, plain = name.rpartition("/")
        found = [
            offer
            for offer in self.offers(kind)
            if offer.name == plain and package in ("", offer.package)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            both = ambiguity(one_of(kind), plain, [(o.package, o.place) for o in found])
            if len({offer.package for offer in found}) == 1:
                each = " and ".join(offer.value for offer in found)
                raise PackageError(f"{both}: give {each} different names")
            raise PackageError(f"{both}: say which, as in {found[0].package}/{plain}")
        names = (known and known()) or self.names(kind)
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names
        raise UnknownOfferError(
            f"no {one_of(kind)} '{name}': choose one of {', '.join(close) or 'none'}"
        )

    def default(self, kind: str) -> str:
        """The name of a kind that counts where nobody names one.

        Raises:
            UnknownOfferError: no package says.
            PackageError: several do; the message names them.
        """
        said = [offer for offer in self.offers(DEFAULTS) if offer.name == kind]
        if not said:
            raise UnknownOfferError(f"no package says which {one_of(kind)} is the default")
        if len(said) > 1:
            both = [(offer.package, offer.place) for offer in said]
            raise PackageError(ambiguity("the default", one_of(kind), both))
        return said[0].value


def one_of(kind: str) -> str:
    """A kind's name for one of its things, in words."""
    return kind.removesuffix("s").replace("_", " ")


def ambiguity(kind: str, name: str, offers: list[tuple[str, str]]) -> str:
    """What to say when several packages, each with a place, offer the same name."""
    each = " and ".join(f"{package} ({place})" for package, place in offers)
    return f"{kind} '{name}' is offered by {each}"


def packages() -> Packages:
    """The packages of this environment: looked for once, read again when their manifests change."""
    located = _located(os.environ.get("AMENT_PREFIX_PATH", ""))
    return Packages([_newest(name, file) for name, file in located])


def _newest(name: str, file: Path) -> Package:
    try:
        stat = file.stat()
    except OSError:
        return read_manifest(name, file)
    package = _read(name, file, (stat.st_mtime_ns, stat.st_size))
    # What was wrong may have been mended elsewhere: a folder that was missing.
    return read_manifest(name, file) if package.problems else package


@lru_cache(maxsize=256)
def _read(name: str, file: Path, stamp: tuple[int, int]) -> Package:
    return read_manifest(name, file)


@lru_cache(maxsize=8)
def _located(prefixes: str) -> tuple[tuple[str, Path], ...]:
    """Packages and their manifests, by name."""
    manifests: dict[str, Path] = {}
    for prefix in filter(None, prefixes.split(os.pathsep)):
        index = Path(prefix) / "share" / "ament_index" / "resource_index" / INDEX
        for marker in sorted(index.glob("*")):
            manifests.setdefault(marker.name, Path(prefix) / "share" / marker.name / MANIFEST)
    for point in entry_points(group=INDEX):
        if point.name not in manifests:
            manifests[point.name] = _manifest_of_module(point)
    # Links lead to the checkout, where files that were added are found without an installation.
    return tuple((name, manifests[name].resolve()) for name in sorted(manifests))


def _manifest_of_module(point: EntryPoint) -> Path:
    """Where the manifest of a package lies that pip has installed, or links to."""
    name, module = point.name, point.value
    try:
        found = importlib.util.find_spec(module)
    except (Exception, SystemExit):  # the packages that it is in are imported for that
        found = None
    folder = Path(module)
    if found and found.origin:
        folder = Path(found.origin).parent
    elif found and found.submodule_search_locations:  # a folder without __init__.py
        folder = Path(next(iter(found.submodule_search_locations)))
    for file in (folder / MANIFEST, folder.parent / MANIFEST):
        if file.is_file():
            return file
    # pip knows where it has put it: below sys.prefix, ~/.local, /usr/local, or another folder.
    wanted = ("share", name, MANIFEST)
    for entry in (point.dist and point.dist.files) or ():
        if entry.parts[-3:] == wanted:
            return Path(str(entry.locate()))
    installed = Path(sys.prefix, *wanted)
    return installed if installed.is_file() else folder / MANIFEST


def read_manifest(name: str, file: Path) -> Package:
    """A package by its manifest; what is wrong with it is among its problems.

    Args:
        name: of the package.
        file: the manifest.
    """
    entries: list[Offer] = []
    problems: list[str] = []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Package(name, file, (), (f"{file}:1: {name} cannot be read: {error}",))
    try:
        document = compose_yaml(text)
    except yaml.YAMLError as error:
        line, why = _fault_in_yaml(error, text)
        return Package(name, file, (), (f"{file}:{line}: is not YAML: {why}",))
    if not isinstance(document, yaml.MappingNode):
        return Package(name, file, (), (f"{file}:1: must hold keys such as 'trees'",))

    def complain(node: yaml.Node, text: str) -> None:
        problems.append(f"{file}:{node.start_mark.line + 1}: {text}")

    for key, content in document.value:
        kind = str(key.value)
        if kind not in KINDS:
            close = difflib.get_close_matches(kind, KINDS, n=1) or KINDS
            complain(key, f"'{kind}' is nothing to offer: {', '.join(close)}")
            continue
        pairs = _pairs(kind, content)
        if pairs is None:
            named = {DEFAULTS: "KIND: NAME"} | dict.fromkeys(NAMED_KINDS, "NAME: module:attribute")
            form = named.get(kind, "a list")
            complain(content, f"{kind} must be {form}")
            continue
        for title, node in pairs:
            value = str(node.value)
            problem = _problem(kind, title, value, file.parent)
            if problem:
                complain(node, f"{kind}: {problem}")
                continue
            entries.append(
                Offer(
                    kind=kind,
                    name=title,
                    package=name,
                    value=value if kind in (*CODE_KINDS, DEFAULTS) else str(file.parent / value),
                    place=f"{file}:{node.start_mark.line + 1}",
                )
            )
    return Package(name, file, tuple(entries), tuple(problems))


def _fault_in_yaml(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Line of a text where it is no YAML, and why it is none."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return (mark.line + 1 if mark else 1), str(error.problem or error.context)
    if isinstance(error, yaml.reader.ReaderError):
        return text.count("\n", 0, error.position) + 1, str(error).splitlines()[0]
    return 1, str(error)


def _pairs(kind: str, content: yaml.Node) -> list[tuple[str, yaml.ScalarNode]] | None:
    """Names and values of a key's content; None: it has the wrong form."""
    if kind in (*NAMED_KINDS, DEFAULTS):
        pairs = content.value if isinstance(content, yaml.MappingNode) else None
    else:
        items = content.value if isinstance(content, yaml.SequenceNode) else None
        pairs = None if items is None else [(each, each) for each in items]
    if pairs is None or not all(
        isinstance(part, yaml.ScalarNode) for pair in pairs for part in pair
    ):
        return None
    return [(str(title.value), node) for title, node in pairs]


def _problem(kind: str, title: str, value: str, folder: Path) -> str:
    """What is wrong with a value; empty: nothing."""
    if kind == DEFAULTS:
        known = ", ".join((*FOLDER_KINDS, *NAMED_KINDS))
        return "" if title in (*FOLDER_KINDS, *NAMED_KINDS) else f"no kind '{title}': {known}"
    # `os.path`, since what no path can be is an error to `Path`, and no file to these.
    if kind in FOLDER_KINDS:
        return "" if os.path.isdir(folder / value) else f"there is no folder {folder / value}"
    if kind in FILE_KINDS:
        return "" if os.path.isfile(folder / value) else f"there is no file {folder / value}"
    module, colon, attribute = value.partition(":")
    good = colon and attribute.isidentifier() and all(p.isidentifier() for p in module.split("."))
    return "" if good else f"'{value}' must be written as module:attribute"


def fault_place(error: BaseException) -> str:
    """``FILE:LINE: `` where an error arose; empty: that cannot be told."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: "
    frames = traceback.extract_tb(error.__traceback__)
    outside = [f for f in frames if f.filename != __file__ and not f.filename.startswith("<")]
    own = [f for f in outside if f"{os.sep}importlib{os.sep}" not in f.filename]
    return f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
