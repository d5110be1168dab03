# SPDX-License-Identifier: Apache-2.0
"""``escape`` as in `xml.sax.saxutils`, whose import costs a fifth of that of the whole engine (it
brings ``urllib``, ``http`` and ``ssl``).
"""

from __future__ import annotations

from collections.abc import Mapping

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape(text: str, entities: Mapping[str, str] | None = None) -> str:
    """Text as XML content.

    Args:
        text: any text
        entities: what else to replace, by single characters
    """
    table: dict[str, str | int | None] = {**_ENTITIES, **(entities or {})}
    return text.translate(str.maketrans(table))
