# SPDX-License-Identifier: Apache-2.0
"""A program with nodes: `python -m behavior_packages.node_program PACKAGE.MODULE.FUNCTION`."""

import sys

from behavior_packages.programs import NodeProgram

if __name__ == "__main__":
    sys.exit(NodeProgram(sys.argv.pop(1))())
