# SPDX-License-Identifier: Apache-2.0
"""Which Python runs our programs.

A ROS 2 distribution lacks some of what the suite needs, or has it too old. `make environment` puts
that into a virtual environment beside the distribution, which sees the distribution's own packages
too. Whoever starts a program of ours (`ros2 run`, a launch file, a shell), it ends up there.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

VARIABLE = "BEHAVIOR_PYTHON"
"""Names another Python."""
_ENTERED = "_BEHAVIOR_PYTHON_ENTERED"
"""Number of the process that has entered it."""


class InterpreterError(RuntimeError):
    """The Python that was asked for cannot be used; the message says what to do."""


def environment_folder() -> Path | None:
    """Where the environment beside the sourced ROS 2 distribution is or would be.

    `$XDG_DATA_HOME/behavior_suite/$ROS_DISTRO`, else below `~/.local/share`; None: no distribution
    is sourced.
    """
    distribution = os.environ.get("ROS_DISTRO")
    if not distribution:
        return None
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data else Path.home() / ".local" / "share"
    return base / "behavior_suite" / distribution


def interpreter() -> str:
    """The Python for processes of ours.

    That of `$BEHAVIOR_PYTHON`; else this one, if it is a virtual environment's; else that of the
    environment beside the distribution, where there is one; else this one.

    Raises:
        InterpreterError: `$BEHAVIOR_PYTHON` names no program.
    """
    if chosen := os.environ.get(VARIABLE):
        found = shutil.which(chosen)
        if found is None:
            raise InterpreterError(
                f"{VARIABLE} names no program: '{chosen}': unset it, or let it name a Python"
            )
        return found
    folder = environment_folder()
    if sys.prefix == sys.base_prefix and folder and (python := folder / "bin" / "python").exists():
        return str(python)
    return sys.executable


def lacks_environment() -> bool:
    """Whether this is a distribution's own Python, and no environment is beside it."""
    folder = environment_folder()
    return sys.prefix == sys.base_prefix and folder is not None and not folder.exists()


def enter() -> None:
    """Let this process go on in that Python, with the same arguments; come back if it is there.

    Raises:
        SystemExit: it cannot be started.
    """
    process = str(os.getpid())
    try:
        python = interpreter()
        # The number ends the matter for a Python that calls itself otherwise, such as a script's.
        if python == sys.executable or os.environ.get(_ENTERED) == process:
            return
        os.environ[_ENTERED] = process
        os.execv(python, [python, *sys.orig_argv[1:]])
    except (InterpreterError, OSError) as error:
        sys.exit(f"behavior: {error}")
