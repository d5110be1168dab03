# SPDX-License-Identifier: Apache-2.0
"""What drawing without a screen needs of the system: libraries that no wheel brings."""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Backend:
    """One way in which MuJoCo draws without a screen."""

    title: str
    """As people write it."""
    libraries: tuple[str, ...]
    """Shared libraries, as `ctypes.util.find_library` names them."""
    packages: str
    """Debian packages with those libraries and a driver that draws in software."""


BACKENDS: Mapping[str, Backend] = {
    "egl": Backend("EGL", ("EGL", "OpenGL"), "libegl1 libopengl0 libgl1-mesa-dri"),
    "osmesa": Backend("OSMesa", ("OSMesa",), "libosmesa6"),
}
"""By their names in MUJOCO_GL, in the order in which they are tried."""


def missing_library(
    backend: str, find: Callable[[str], str | None] = ctypes.util.find_library
) -> str:
    """What the system lacks for a backend, and which packages bring it; empty: nothing.

    Args:
        backend: key of `BACKENDS`.
        find: finds a shared library by its short name.
    """
    wanted = BACKENDS[backend]
    missing = [f"lib{name}" for name in wanted.libraries if find(name) is None]
    return with_remedy(backend, f"{' and '.join(missing)} missing") if missing else ""


def with_remedy(backend: str, problem: str) -> str:
    """A problem of a backend, and the packages with which it works."""
    return f"{problem} (apt-get install {BACKENDS[backend].packages})"
