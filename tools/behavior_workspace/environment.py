# SPDX-License-Identifier: Apache-2.0
"""The variables of a shell in which `behavior`, `colcon` and `python` find everything."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from behavior_workspace.layout import Layout
from behavior_workspace.python_environment import clean_environment


def library_folders(layout: Layout) -> list[Path]:
    """Folders of the ROS wheels' shared libraries."""
    return [layout.venv / "lib", *sorted(layout.site_packages.glob("ros_*.libs"))]


def build_environment(layout: Layout) -> dict[str, str]:
    """Environment in which interface packages are built: the wheels and nothing else."""
    env = clean_environment()
    env.update(variables(layout, prefixes=(), python_path=()))
    env["PATH"] = f"{layout.venv / 'bin'}:{env.get('PATH', '')}"
    return env


def variables(
    layout: Layout, *, prefixes: Sequence[Path], python_path: Sequence[Path]
) -> dict[str, str]:
    """Variables beside PATH, with `prefixes` before the virtual environment's own prefix."""
    return {
        "VIRTUAL_ENV": str(layout.venv),
        "AMENT_PREFIX_PATH": _joined([*prefixes, layout.venv]),
        "CMAKE_PREFIX_PATH": _joined([*prefixes, layout.venv]),
        "LD_LIBRARY_PATH": _joined(
            [*library_folders(layout), *(prefix / "lib" for prefix in prefixes)]
        ),
        "PYTHONPATH": _joined(python_path),
        "ROS_DISTRO": "jazzy",
        "ROS_VERSION": "2",
        "ROS_PYTHON_VERSION": "3",
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        # colcon's Python hooks warn about `setup.py develop` on every package.
        "PYTHONWARNINGS": "ignore:setup.py install is deprecated,ignore:easy_install command",
    }


def write_environment(
    layout: Layout, *, prefixes: Sequence[Path], python_path: Sequence[Path]
) -> Path:
    """Write the shell file that `activate` reads, and return it."""
    lines = ["# Written by setup; read by `. ./activate`."]
    lines += [
        f"export {name}={shlex.quote(value)}"
        for name, value in variables(layout, prefixes=prefixes, python_path=python_path).items()
    ]
    lines += _local_by_default(layout)
    binaries = _joined([layout.venv / "bin", *(prefix / "bin" for prefix in prefixes)])
    lines += [
        f"_binaries={shlex.quote(binaries)}",
        # Sourcing twice must not grow PATH.
        'case ":$PATH:" in *":$_binaries:"*) ;; *) export PATH="$_binaries:$PATH" ;; esac',
        "unset _binaries",
    ]
    file = layout.venv / "environment.sh"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def _local_by_default(layout: Layout) -> list[str]:
    """Shell lines that keep ROS on this machine unless the user chose otherwise before.

    The profile binds DDS to the loopback interface, as `behavior_ros.process.local_transport` does
    in the suite's own programs; sourcing again after another choice takes it back.
    """
    profile = layout.root / "src" / "ros" / "behavior_ros" / "fastdds_loopback.xml"
    name = "FASTRTPS_DEFAULT_PROFILES_FILE"
    return [
        'export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"',
        f'case "${{{name}:-}}" in',
        f'""|*/{profile.name})',
        '  case "$ROS_AUTOMATIC_DISCOVERY_RANGE+${ROS_STATIC_PEERS:-}" in',
        f"  LOCALHOST+|OFF+) export {name}={shlex.quote(str(profile))} ;;",
        f"  *) unset {name} ;;",
        "  esac ;;",
        "esac",
    ]


def _joined(paths: Sequence[Path]) -> str:
    return ":".join(str(path) for path in paths)
