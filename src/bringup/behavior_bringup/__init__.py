# SPDX-License-Identifier: Apache-2.0
"""Brings stacks up and drives them: stack descriptions, the `behavior` command.

`description` says which nodes run in which processes, `supervisor` runs these processes, `stack`
starts and stops a supervised stack, `client` talks to it over ROS, `missions` knows how each
mission is judged and disturbed, and `cli` is the command.

Nothing is imported here: `ros2 launch` and `ros2 bt` import `launching` and `ros2cli_command` in a
Python that has the distribution's packages only.
"""
