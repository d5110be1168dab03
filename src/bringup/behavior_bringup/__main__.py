# SPDX-License-Identifier: Apache-2.0
"""The command `behavior`, also `python -m behavior_bringup`: finds its Python, then its verbs."""
# PYTHON_ARGCOMPLETE_OK

import sys

from behavior_packages.interpreter import enter


def main() -> int:
    """Run the command; returns the exit code."""
    enter()
    from behavior_bringup.cli import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
