# SPDX-License-Identifier: Apache-2.0
"""`Action`: the leaf of a decider network that is written in Python."""

from __future__ import annotations

import logging
from typing import Any

from behavior_tree.basic_types import NodeStatus
from behavior_tree.kernel.leaf import ActionNodeBase
from behavior_tree.kernel.node import RUNNING, NodeConfig
from behavior_tree.nodes.decider.session import given_params

_LOG = logging.getLogger(__name__)


class Action(ActionNodeBase):
    """Define `step`, and what is to be done around it: `enter` before the first one, `exit` after
    the last one, for whatever reason.

    Args:
        name: of the node
        config: what the tree gives
        context: what the callbacks of the network share
    """

    def __init__(self, name: str, config: NodeConfig | None = None, context: Any = None) -> None:
        super().__init__(name, config)
        self.context = context
        self._entered = False

    @property
    def params(self) -> Any:
        """What the decider above gave with its decision, of this tick; None if nothing."""
        return given_params(self)

    def enter(self) -> None:
        """Begin."""

    def step(self) -> NodeStatus | None:
        """One tick of work; None means RUNNING."""

    def exit(self) -> None:
        """Clean up."""

    def tick(self) -> NodeStatus:
        try:
            if not self._entered:
                self._entered = True
                self.enter()
            status = self.step()
        except Exception:
            self._abandon()
            raise
        if status is None or status is RUNNING:
            return RUNNING
        self._leave()
        return status

    def _abandon(self) -> None:
        """End the session because of an error, which is told; what the exit raises is logged."""
        try:
            self._leave()
        except Exception as error:
            _LOG.error("'%s' is left because of an error; then: %s", self.full_path(), error)

    def _leave(self) -> None:
        if self._entered:
            self._entered = False
            self.exit()

    def drop(self) -> None:
        """Forget the session without its exit, as the reference does in its defect D1."""
        self._entered = False

    def halt(self) -> None:
        try:
            self._leave()
        except Exception as error:
            raise self._execution_error(error) from error
        finally:
            self.reset_status()

    def restore_state(self, state: Any) -> None:
        super().restore_state(state)
        self._entered = True
