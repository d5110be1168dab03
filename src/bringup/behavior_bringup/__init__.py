# SPDX-License-Identifier: Apache-2.0
"""Brings stacks up and drives them: stack descriptions, the `behavior` command, the viewer.

`description` says which nodes run in which processes, `supervisor` runs these processes, `stack`
starts and stops a supervised stack, `client` talks to it over ROS, `missions` knows how each
mission is judged and disturbed, and `cli` is the command.
"""

from behavior_bringup.description import Process, StackDescription, load_stack, resolve
from behavior_bringup.errors import BringupError

__all__ = ["BringupError", "Process", "StackDescription", "load_stack", "resolve"]
