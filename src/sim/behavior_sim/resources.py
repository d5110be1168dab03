# SPDX-License-Identifier: Apache-2.0
"""Where models and worlds are found: nothing of a robot's model is copied into this repository.

``wheel://PATH`` is a path below a folder that Python packages are installed in, ``package://NAME/PATH``
one below the share folder of a ROS package, anything else a plain path.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path


def _wheel_roots() -> Iterator[Path]:
    for entry in sys.path:
        if entry and Path(entry).is_dir():
            yield Path(entry)


def _ros_prefixes() -> Iterator[Path]:
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            yield Path(prefix)


def resolve(uri: str) -> Path:
    """The existing file or folder that `uri` names.

    Raises:
        FileNotFoundError: it is nowhere; the message names the folders searched.
    """
    scheme, separator, tail = uri.partition("://")
    if not separator:
        candidates = [Path(uri).expanduser()]
    elif scheme == "wheel":
        candidates = [root / tail for root in _wheel_roots()]
    elif scheme == "package":
        candidates = [prefix / "share" / tail for prefix in _ros_prefixes()]
    else:
        raise FileNotFoundError(f"{uri}: unknown scheme, use wheel://, package:// or a path")
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    searched = ", ".join(str(candidate) for candidate in candidates) or "no folder at all"
    raise FileNotFoundError(
        f"{uri} was not found (searched {searched}); for wheel:// install the Python package that "
        "brings it (example-robot-data for the Panda), for package:// source its workspace"
    )


def _configurations(folder: str) -> Iterator[Path]:
    for prefix in _ros_prefixes():
        yield prefix / "share" / "behavior_bringup" / "config" / folder
    for parent in Path(__file__).resolve().parents:
        yield parent / "config" / folder


def find_world(name: str) -> Path:
    """The YAML file of the world `name`: a path ending in .yaml, or a name.

    Names are looked up in the installed configuration of behavior_bringup, then in the checkout
    that this module lies in.

    Raises:
        FileNotFoundError: no such world; the message lists the worlds there are.
    """
    return _find(name, "worlds")


def find_navigation_world(name: str) -> Path:
    """The YAML file of the navigation world `name`, looked up like any world.

    Raises:
        FileNotFoundError: no such world; the message lists the worlds there are.
    """
    return _find(name, "navigation")


def _find(name: str, kind: str) -> Path:
    if name.endswith((".yaml", ".yml")):
        return resolve(name)
    folders = list(_configurations(kind))
    for folder in folders:
        candidate = folder / f"{name}.yaml"
        if candidate.is_file():
            return candidate
    known = sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})
    raise FileNotFoundError(
        f"no world named {name!r}; there are: {', '.join(known) or 'none'}. "
        "Name one of these or give the path of a YAML file"
    )
