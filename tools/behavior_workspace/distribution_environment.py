# SPDX-License-Identifier: Apache-2.0
"""`make environment`: what a ROS 2 distribution lacks, in an environment beside it.

The environment sees the distribution's Python packages and leaves them as they are, numpy above
all: the distribution's C++ bindings are made for that one. Versions are those of requirements.txt.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from behavior_packages.interpreter import environment_folder
from behavior_workspace.commands import run
from behavior_workspace.digest import is_stamped, write_stamp
from behavior_workspace.errors import SetupError
from behavior_workspace.python_environment import clean_environment

EVERYWHERE = ("pydantic", "scipy", "toppra", "ruckig", "daqp")
"""Too old in Jazzy's Ubuntu, or not there; whatever moves an arm or sees needs them."""
PARTS = {
    "planning": ("ompl",),
    "robots": ("example-robot-data",),
    "simulation": ("mujoco", "pycollada"),
    "fleet": ("paho-mqtt",),
    "sharing": ("pycrdt",),
    "recording": ("mcap", "mcap-ros2-support"),
    "console": (
        "starlette",
        "uvicorn",
        "websockets",
        "trimesh",
        "pycollada",
        "fast-simplification",
    ),
}
"""What the embedded planner, our own robot files, simulated worlds, VDA 5050, trees that
several edit, recordings and the operator console need."""
KEPT = "numpy"
"""Never another version than the distribution's."""


def pins(requirements: str) -> dict[str, str]:
    """`NAME==VERSION` by name."""
    lines = (line.split("#")[0].strip() for line in requirements.splitlines())
    return {line.partition("==")[0]: line for line in lines if line}


def wanted(requirements: str, parts: Iterable[str]) -> list[str]:
    """What to install for these parts.

    Raises:
        SetupError: there is no such part, or the distribution lacks what must be its own.
    """
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise SetupError(f"there is no part '{unknown[0]}': choose from {', '.join(PARTS)}")
    known = pins(requirements)
    names = [*EVERYWHERE, *(name for part in parts for name in PARTS[part])]
    try:
        kept = f"{KEPT}=={version(KEPT)}"
    except PackageNotFoundError as error:
        raise SetupError(
            f"the distribution's Python has no {KEPT}: run rosdep first (docs/setup.md)"
        ) from error
    return [*(known[name] for name in names), kept]


def make_environment(folder: Path, wanted: list[str], logs: Path) -> bool:
    """Make the environment, unless it is there.

    Returns:
        Whether anything was done.

    Raises:
        SetupError: venv or pip failed.
    """
    stamp = folder / "made.stamp"
    value = "\n".join([sys.version, *wanted])
    if is_stamped(stamp, value):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    env = clean_environment()
    run(
        [sys.executable, "-m", "venv", "--system-site-packages", folder],
        what="make the environment (is python3-venv installed?)",
        log=logs / "environment_venv.log",
        cwd=folder.parent,
        env=env,
    )
    run(
        [
            *(folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check"),
            *("--no-input", "--retries", "2", "--timeout", "30", *wanted),
        ],
        what="install what the distribution lacks",
        log=logs / "environment_pip.log",
        cwd=folder,
        env=env,
    )
    write_stamp(stamp, value)
    return True


def main() -> int:
    """Entry point; the exit code is 0 when the environment is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; none: all")
    parts = parser.parse_args().parts
    root = Path(__file__).resolve().parents[2]
    try:
        folder = environment_folder()
        own = sys.prefix == sys.base_prefix and importlib.util.find_spec("rclpy") is not None
        if folder is None or not own:
            raise SetupError(
                "no ROS 2 distribution is sourced: '. /opt/ros/jazzy/setup.bash' first; without"
                " one 'make setup' makes everything"
            )
        requirements = (root / "requirements.txt").read_text(encoding="utf-8")
        listed = wanted(requirements, parts or PARTS)
        done = make_environment(folder, listed, root / "log" / "setup")
    except (SetupError, OSError) as error:
        print(f"environment: {error}", file=sys.stderr)
        return 1
    print(f"environment: {folder} {'made' if done else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
