# SPDX-License-Identifier: Apache-2.0
"""Where things are: in the checkout and in the user's cache."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

REQUIREMENT_LISTS = ("requirements.txt", "requirements-ros.txt", "requirements-test.txt")


@dataclass(frozen=True)
class Layout:
    """Folders of one checkout."""

    root: Path
    """The checkout."""

    cache: Path
    """Where built interface packages are kept for all checkouts of this user."""

    @staticmethod
    def of(root: Path) -> Layout:
        """Folders of the checkout `root`, with the cache where the XDG specification wants it."""
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return Layout(root=root.resolve(), cache=Path(base) / "behavior_suite" / "interfaces")

    @property
    def py_trees(self) -> Path:
        """Where the py_trees releases are kept that the engine is tested with."""
        return self.cache.parent / "py_trees"

    @property
    def venv(self) -> Path:
        """The virtual environment."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The virtual environment's interpreter."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where the virtual environment keeps its packages."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.venv / "lib" / version / "site-packages"

    @property
    def build(self) -> Path:
        """Where setup has colcon build; `build/` is left to whoever calls colcon himself."""
        return self.root / ".workspace" / "build"

    @property
    def install(self) -> Path:
        """Where setup has colcon install; `install/` is left to whoever calls colcon himself."""
        return self.root / ".workspace" / "install"

    @property
    def logs(self) -> Path:
        """Output of the commands that setup runs."""
        return self.root / "log" / "setup"

    @property
    def interface_packages(self) -> list[Path]:
        """Folders of the interface packages."""
        sources = (self.root / "underlay", self.root / "src" / "msgs")
        return sorted(file.parent for source in sources for file in source.glob("*/package.xml"))

    @property
    def requirements(self) -> tuple[Path, ...]:
        """The requirement lists, in the order they are given to pip."""
        return tuple(self.root / name for name in REQUIREMENT_LISTS)

    @property
    def constraints(self) -> Path:
        """Versions of the packages that the lists pull in."""
        return self.root / "constraints.txt"
