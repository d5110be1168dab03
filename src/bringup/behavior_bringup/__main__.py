# SPDX-License-Identifier: Apache-2.0
"""The command `behavior`, also `python -m behavior_bringup`: finds its Python, then its verbs."""
# PYTHON_ARGCOMPLETE_OK

import sys

from behavior_packages.programs import Program

main = Program("behavior_bringup.cli.main")

if __name__ == "__main__":
    sys.exit(main())
