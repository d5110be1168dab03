# SPDX-License-Identifier: Apache-2.0
"""Elements with their place in the file, read by expat.

Expat instead of a tree library because a problem must be shown at its line *and column*, down to
the attribute. Document types are refused, so entities cannot be declared: no expansion attacks, no
access to other files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from behavior_tree.errors import LoadError, XmlProblem

__all__ = ["Element", "parse_xml"]

MAX_DEPTH = 256
"""Deepest nesting of elements that is read."""


@dataclass(eq=False)
class Source:
    """A document's name and bytes; elements keep it to find their attributes again."""

    file: str
    data: bytes

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a byte."""
        line_start = self.data.rfind(b"\n", 0, offset) + 1
        column = len(self.data[line_start:offset].decode("utf-8", "replace")) + 1
        return self.data.count(b"\n", 0, offset) + 1, column


@dataclass(eq=False)
class Element:
    """One XML element."""

    tag: str
    attributes: dict[str, str]
    source: Source
    offset: int
    """Byte at which its ``<`` stands."""
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def get(self, attribute: str) -> str | None:
        """Value of an attribute, None if absent."""
        return self.attributes.get(attribute)

    def attribute_position(self, attribute: str) -> tuple[int, int]:
        """Line and column of an attribute's name; of the element if it cannot be found."""
        data, at = self.source.data, self.offset + 1 + len(self.tag.encode())
        for found in _ATTRIBUTE.finditer(data, at):
            if found.start() != at:
                break
            at = found.end()
            if found.group(1).decode("utf-8", "replace") == attribute:
                return self.source.position(found.start(1))
        return self.line, self.column

    def problem(
        self, message: str, remedy: str, *, path: str = "", attribute: str | None = None
    ) -> XmlProblem:
        """A problem at this element, or at one of its attributes."""
        at_attribute = attribute is not None and attribute in self.attributes
        line, column = (
            self.attribute_position(str(attribute)) if at_attribute else (self.line, self.column)
        )
        return XmlProblem(self.source.file, line, column, path, message, remedy)


_ATTRIBUTE = re.compile(rb"""\s+([^\s=<>/]+)\s*=\s*(?:"[^"]*"|'[^']*')""")


class _Reader:
    """Handlers of one parse."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root: Element | None = None
        self._open: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        parser = self.parser
        element = Element(
            tag,
            attributes,
            self.source,
            parser.CurrentByteIndex,
            parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
        )
        if len(self._open) >= MAX_DEPTH:
            raise LoadError(
                [
                    element.problem(
                        f"Maximum XML nesting depth exceeded (limit: {MAX_DEPTH})",
                        "move parts into SubTrees",
                    )
                ]
            )
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        self._open[-1].text += text

    def _doctype(self, *_: object) -> None:
        parser = self.parser
        raise LoadError(
            [
                XmlProblem(
                    self.source.file,
                    parser.CurrentLineNumber,
                    parser.CurrentColumnNumber + 1,
                    "",
                    "document types and entities are not supported",
                    "remove the <!DOCTYPE ...>",
                )
            ]
        )


def parse_xml(data: bytes, file: str) -> Element:
    """Root element of a document.

    Args:
        data: the document as it stands in the file
        file: name for messages

    Raises:
        LoadError: not well-formed, too deep, or with a document type
    """
    reader = _Reader(Source(file, data))
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        problem = XmlProblem(
            file,
            error.lineno,
            error.offset + 1,
            "",
            f"Error parsing the XML: {expat.ErrorString(error.code)}",
            "mend the XML syntax",
        )
        raise LoadError([problem]) from None
    except (ValueError, LookupError) as error:  # unknown or wrong encoding
        problem = XmlProblem(
            file, 1, 1, "", f"Error parsing the XML: {error}", "save the file as UTF-8"
        )
        raise LoadError([problem]) from None
    if reader.root is None:
        problem = XmlProblem(
            file, 1, 1, "", "Invalid XML: missing root element", "write <root>...</root>"
        )
        raise LoadError([problem])
    return reader.root
