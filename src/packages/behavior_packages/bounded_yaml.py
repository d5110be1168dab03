# SPDX-License-Identifier: Apache-2.0
"""YAML files of users, read within limits.

A few lines of YAML can stand for more than any memory holds, as each of them names the one before
ten times; lists in each other end Python's stack, and the thirteenth month its date. All of that is
a `yaml.YAMLError` here, with the line, like any other text that is no YAML.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

MOST_REPEATED = 100_000
"""Values that aliases may stand for, all of them together."""
DEEPEST = 100
"""Lists and mappings in each other."""


class BoundedLoader(yaml.SafeLoader):
    """Of `yaml.load` and `yaml.compose`; the text itself may be as long as it likes."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._depth = self._values = self._repeated = 0
        self._sizes: dict[yaml.Node | None, int] = {}
        """Values that a node stands for, it included, once it is complete."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """A node of what comes next in the text."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        before = self._values
        mark = event.start_mark
        if self._depth > DEEPEST:
            why = f"lists and mappings stand more than {DEEPEST} deep in each other"
            raise ComposerError(None, None, why, mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not isinstance(event, yaml.AliasEvent):
            self._values += 1
            self._sizes[node] = self._values - before
            return node
        size = self._sizes.get(node)
        if size is None:
            raise ComposerError(None, None, f"*{event.anchor} stands within itself", mark)
        self._values += size
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            why = f"aliases such as *{event.anchor} stand for more than {MOST_REPEATED} values"
            raise ComposerError(None, None, why, mark)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """What a node says."""
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        # The constructors of YAML's types raise whatever their conversions raise.
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
            why = f"a date or number cannot be: {error}; write texts in quotes"
            raise ConstructorError(None, None, why, node.start_mark) from error


def read_yaml(text: str | bytes) -> Any:
    """What a text says, as mappings, lists, texts, numbers and so on.

    Raises:
        yaml.YAMLError: it is no YAML, or stands for more than the limits.
    """
    return yaml.load(text, Loader=BoundedLoader)


def compose_yaml(text: str) -> yaml.Node | None:
    """The nodes of a text, which know their lines; None: it is empty.

    Raises:
        yaml.YAMLError: it is no YAML, or stands for more than the limits.
    """
    return yaml.compose(text, Loader=BoundedLoader)
