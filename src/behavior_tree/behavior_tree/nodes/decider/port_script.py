# SPDX-License-Identifier: Apache-2.0
"""`PortScript`: the script that stands in a port, compiled once and run on each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_tree.kernel.node import TreeNode
from behavior_tree.script import compile_script


class PortScript:
    """Reads its port at each call, so that an edit or a ``{key}`` counts at once."""

    __slots__ = ("_asks", "_code", "_node", "_port", "_source")

    def __init__(self, node: TreeNode, port: str, *, asks: bool = True) -> None:
        """``asks``: its truth matters, for `holds`."""
        self._node = node
        self._port = port
        self._asks = asks
        self._source = ""
        self._code: Callable[[], Any] | None = None

    @property
    def given(self) -> bool:
        """True if the port holds a script."""
        return self._bound() is not None

    def run(self) -> None:
        """Run the script, if there is one."""
        code = self._bound()
        if code is not None:
            code()

    def holds(self, otherwise: bool = True) -> bool:
        """Truth of the script; ``otherwise`` if there is none."""
        code = self._bound()
        return otherwise if code is None else code()

    def _bound(self) -> Callable[[], Any] | None:
        node = self._node
        source: str = node.get_input(self._port, "")
        if source != self._source:
            script = compile_script(source, node._rt.quirks) if source.strip() else None
            self._code = None
            if script is not None:
                bind = script.bind_test if self._asks else script.bind_run
                self._code = bind(node._bb)
            self._source = source
        return self._code
