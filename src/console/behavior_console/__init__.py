# SPDX-License-Identifier: Apache-2.0
"""The operator console: one page to see, run, edit, explain and replay what robots do.

* `behavior_console.channels`: what pages show, as named channels, with only changes to send.
* `behavior_console.app`: the web server's addresses; `behavior_console.session`: one page's
  websocket.
* `behavior_console.node`: the ROS node that fills the channels of a running stack.
* ``web/``: the page itself.

The protocol is described in docs/console.md.
"""
