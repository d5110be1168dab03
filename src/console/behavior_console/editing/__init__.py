# SPDX-License-Identifier: Apache-2.0
"""Trees that pages edit while they tick.

* `behavior_console.editing.room`: one shared tree, its pages, and what they all see of it. No ROS.
* `behavior_console.editing.edit_desk`: the commands, in a thread and event loop of their own, so
  that reading a large tree keeps no page waiting.
* `behavior_console.editing.ros_carrier`: brings requests to the executor, and its news.
* `behavior_console.editing.node_models`: what kinds of nodes there are, for the palette.
* `behavior_console.editing.new_mission`: files of new missions.
"""
