# SPDX-License-Identifier: Apache-2.0
"""Where worlds are found by their names."""

from pathlib import Path

from behavior_motion.robot.resources import resolve
from behavior_packages import PackageError, one_of, packages


def find_world(name: str) -> Path:
    """The YAML file of the world `name`: a path ending in .yaml, or a name that a package offers.

    Raises:
        FileNotFoundError: no such world; the message lists the worlds there are.
    """
    return find(name, "worlds")


def find_navigation_world(name: str) -> Path:
    """The YAML file of the navigation world `name`, looked up like any world.

    Raises:
        FileNotFoundError: no such world; the message lists the worlds there are.
    """
    return find(name, "navigation_worlds")


def find(name: str, kind: str, folder: Path = Path()) -> Path:
    """The YAML file of a kind that packages offer: a path ending in .yaml, or a name.

    Args:
        name: path or name.
        kind: see `behavior_packages`.
        folder: that a relative path counts from.

    Raises:
        FileNotFoundError: there is none; the message lists what there is.
    """
    if not name:
        known = ", ".join(packages().names(kind)) or "none"
        raise FileNotFoundError(
            f"no {one_of(kind)} is named: choose one of {known}; or give the path of a YAML file"
        )
    if name.endswith((".yaml", ".yml")):
        return resolve(name, folder)
    try:
        return Path(packages().find(kind, name).value)
    except PackageError as error:
        raise FileNotFoundError(f"{error}; or give the path of a YAML file") from error
