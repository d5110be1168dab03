# SPDX-License-Identifier: Apache-2.0
"""`Groot2Error`."""

from behavior_tree.errors import BehaviorTreeError


class Groot2Error(BehaviorTreeError):
    """A port is taken, a package is missing, or a request is malformed or was refused."""
