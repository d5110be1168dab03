# SPDX-License-Identifier: Apache-2.0
"""Where worlds are found by their names."""

from collections.abc import Iterator
from pathlib import Path

from behavior_motion.resources import resolve, ros_share_folders


def _configurations(folder: str) -> Iterator[Path]:
    for share in ros_share_folders():
        yield share / "behavior_bringup" / "config" / folder
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
        return resolve(name, Path())
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
