# SPDX-License-Identifier: Apache-2.0
"""Expressions over the fields of a track, such as `confidence > 0.5 and z < 0.4`.

They are written in the script language of the trees (`behavior_tree.script`): nothing of them is
ever evaluated by Python. `and`, `or` and `not` may be written for `&&`, `||` and `!`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from behavior_tree import BehaviorTreeError, Blackboard
from behavior_tree.script import compile_script

_WORDS = {"and": "&&", "or": "||", "not": "!"}
_PARTS = re.compile(r"'[^']*'|\b(?:and|or|not)\b")
Fields = Mapping[str, float | str]


class ExpressionError(ValueError):
    """The expression cannot be read or evaluated; the message tells why and what may be used."""


class TrackExpression:
    """A condition over named fields."""

    def __init__(self, text: str, example: Fields) -> None:
        """Compile `text` and try it.

        Args:
            text: the expression.
            example: any values of all fields that may be used.

        Raises:
            ExpressionError: a syntax error, an unknown field, or no condition.
        """
        self.text = text
        self._known = sorted(example)
        script = _PARTS.sub(lambda found: _WORDS.get(found.group(), found.group()), text)
        try:
            self._script = compile_script(script)
        except BehaviorTreeError as error:
            raise ExpressionError(f"'{text}' cannot be read: {error}") from error
        self.holds(example)

    def holds(self, fields: Fields) -> bool:
        """Tell whether the condition holds; raises `ExpressionError`."""
        blackboard = Blackboard.create()
        for name, value in fields.items():
            blackboard.set(name, value)
        try:
            return bool(self._script.test(blackboard))
        except BehaviorTreeError as error:
            raise ExpressionError(
                f"'{self.text}' is no condition over {', '.join(self._known)}: {error}"
            ) from error
