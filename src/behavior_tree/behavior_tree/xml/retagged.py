# SPDX-License-Identifier: Apache-2.0
"""A document of which one start tag was changed, without reading all of it anew."""

from __future__ import annotations

from behavior_tree.errors import LoadError
from behavior_tree.xml.document import Element, Source, parse_xml


def retagged(
    root: Element, changed: Element, data: bytes, *, at: int, old: bytes, new: bytes
) -> Element | None:
    """What reading ``data`` would give, with new elements.

    Args:
        root: of the document before
        changed: element of it in whose start tag, behind the name, ``old`` became ``new``
        data: the document as it is now, UTF-8
        at: byte at which ``old`` stood
        old: one or more attributes, or a piece of one; empty: nothing
        new: what stands there now

    Returns:
        its root element; None if it has to be read
    """
    if b"\r" in data or b"\n" in old + new:
        return None  # lines may begin elsewhere
    attributes = _attributes(changed, data)
    if attributes is None:
        return None
    source = Source(root.source.file, data, root.source.elements)
    line = changed.line + data.count(b"\n", changed.offset, at)
    columns = len(new.decode("utf-8", "replace")) - len(old.decode("utf-8", "replace"))
    bytes_more = len(new) - len(old)

    def copied(element: Element) -> Element:
        offset, close, column = element.offset, element.close, element.column
        if offset > at:
            offset += bytes_more
            if element.line == line:
                column += columns
        if close > at:
            close += bytes_more
        inside = element.children
        return Element(
            element.tag,
            attributes if element is changed else element.attributes,
            source,
            offset,
            element.line,
            column,
            [copied(child) for child in inside] if inside else (),
            element.text,
            close,
        )

    return copied(root)


def _attributes(element: Element, data: bytes) -> dict[str, str] | None:
    """Of an element, from its start tag alone; None if they cannot be read from that."""
    begin = element.offset
    end = data.find(b">", begin)
    while end >= 0:
        text = data[begin:end].removesuffix(b"/") + b"/>"
        try:
            return parse_xml(text, "<tag>", "utf-8").attributes
        except LoadError:  # perhaps a ">" in an attribute
            if end - begin > _LONGEST_TAG:
                return None
            end = data.find(b">", end + 1)
    return None


_LONGEST_TAG = 10_000
"""[bytes] of a tag that is tried this way."""
