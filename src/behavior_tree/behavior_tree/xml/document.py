# SPDX-License-Identifier: Apache-2.0
"""Elements with their place in the file, read by expat.

Expat instead of a tree library because a problem must be shown at its line *and column*, down to
the attribute. Document types are refused, so entities cannot be declared: no expansion attacks, no
access to other files.
"""

from __future__ import annotations

import bisect
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.parsers import expat

from behavior_tree.errors import LoadError, XmlProblem
from behavior_tree.xml.encoding import encoding_mistake, encoding_of, unreadable_encoding

MAX_DEPTH = 256
"""Deepest nesting of elements that is read."""
MAX_ELEMENTS = 300_000
"""Most elements of a document with all that it includes: each takes a kilobyte."""


@dataclass(eq=False)
class Source:
    """A document's name and bytes; elements keep it to find their attributes again."""

    file: str
    data: bytes
    elements: int = 0
    """How many there are."""

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a byte."""
        line = bisect.bisect_right(self._line_starts, offset)
        start = self._line_starts[line - 1]
        return line, len(self.data[start:offset].decode("utf-8", "replace")) + 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(rb"\n", self.data))]


@dataclass(eq=False, slots=True)
class Element:
    """One XML element."""

    tag: str
    attributes: dict[str, str]
    source: Source
    offset: int
    """Byte at which its ``<`` stands."""
    line: int
    column: int
    children: Sequence[Element] = ()
    text: str = ""
    """Character data directly inside, without pieces that are blank."""
    close: int = 0
    """Byte at which its end tag stands; if it closes itself, the byte behind it."""

    def get(self, attribute: str) -> str | None:
        """Value of an attribute, None if absent."""
        return self.attributes.get(attribute)

    def attribute_position(self, attribute: str) -> tuple[int, int]:
        """Line and column of an attribute's name; of the element if it cannot be found."""
        data = self.source.data
        start = _TAG_NAME.match(data, self.offset)
        at = start.end() if start else self.offset
        for found in _ATTRIBUTE.finditer(data, at):
            if found.start() != at:
                break
            at = found.end()
            if found.group(1).decode("utf-8", "replace") == attribute:
                return self.source.position(found.start(1))
        return self.line, self.column

    def problem(
        self,
        message: str,
        remedy: str,
        *,
        path: str = "",
        attribute: str | None = None,
        severity: str = "error",
    ) -> XmlProblem:
        """A problem at this element, or at one of its attributes."""
        at_attribute = attribute is not None and attribute in self.attributes
        line, column = (
            self.attribute_position(str(attribute)) if at_attribute else (self.line, self.column)
        )
        return XmlProblem(self.source.file, line, column, path, message, remedy, severity)


_TAG_NAME = re.compile(rb"<[^\s/>]+")
_ATTRIBUTE = re.compile(rb"""\s+([^\s=<>/]+)\s*=\s*("[^"]*"|'[^']*')""")
_BREAK = re.compile(rb"[\r\n\t]")
_QUOTED_BREAK = re.compile(rb"""=\s*(?:"[^"<\r\n\t]*+[\r\n\t]|'[^'<\r\n\t]*+[\r\n\t])""")
"""Found in every document of which an attribute has a line break or a tab, and in few others."""
_LINE_BREAKS = ((b"\r\n", b"\n"), (b"\r", b"\n"), (b"\n", b"&#10;"), (b"\t", b"&#9;"))


def _keep_line_breaks(element: Element) -> None:
    """Give attributes the line breaks and tabs that they have in the file.

    XML reads them as blanks, BehaviorTree.CPP does not, and in a script of several lines or a
    text they are meant.
    """
    data, at = element.source.data, element.offset + 1 + len(element.tag.encode())
    end = data.find(b"<", at)  # no attribute holds one
    if not _BREAK.search(data[at:end].rstrip()):
        return
    for found in _ATTRIBUTE.finditer(data, at):
        if found.start() != at:
            break
        at = found.end()
        quoted = found.group(2)
        if b"\n" in quoted or b"\t" in quoted or b"\r" in quoted:
            for character, written in _LINE_BREAKS:
                quoted = quoted.replace(character, written)
            parser = expat.ParserCreate()
            parser.StartElementHandler = lambda _, parsed: element.attributes.update(parsed)
            # Another encoding than UTF-8 keeps the blanks.
            with contextlib.suppress(expat.ExpatError):
                parser.Parse(b"<a " + found.group(1) + b"=" + quoted + b"/>", True)


class _Reader:
    """Handlers of one parse."""

    def __init__(self, source: Source, encoding: str | None, most: int) -> None:
        self.source = source
        self._most = most
        self._has_breaks = _QUOTED_BREAK.search(source.data) is not None
        self.root: Element | None = None
        self._open: list[Element] = []
        self._texts: dict[Element, list[str]] = {}
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._doctype

    def read(self) -> None:
        """Parse the whole document."""
        self.parser.Parse(self.source.data, True)
        for element, pieces in self._texts.items():
            element.text = "".join(pieces)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        parser, source, around = self.parser, self.source, self._open
        element = Element(
            tag,
            attributes,
            source,
            parser.CurrentByteIndex,
            parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
        )
        if self._has_breaks and attributes and " " in "".join(attributes.values()):
            _keep_line_breaks(element)
        source.elements += 1
        if source.elements > self._most:
            message = f"the documents have more than {MAX_ELEMENTS} elements"
            raise LoadError([element.problem(message, "load them one by one, or split them")])
        if len(around) >= MAX_DEPTH:
            message = f"Maximum XML nesting depth exceeded (limit: {MAX_DEPTH})"
            raise LoadError([element.problem(message, "move parts into SubTrees")])
        if not around:
            self.root = element
        elif around[-1].children:
            around[-1].children.append(element)  # type: ignore[attr-defined]
        else:
            around[-1].children = [element]
        around.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop().close = self.parser.CurrentByteIndex

    def _characters(self, text: str) -> None:
        if not text.isspace():
            self._texts.setdefault(self._open[-1], []).append(text)

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


def parse_xml(
    data: bytes, file: str, encoding: str | None = None, most: int = MAX_ELEMENTS
) -> Element:
    """Root element of a document.

    Args:
        data: the document as it stands in the file
        file: name for messages
        encoding: None takes what the document declares
        most: elements that it may have

    Raises:
        LoadError: not well-formed, too deep, too large, or with a document type
    """
    reader = _Reader(Source(file, data), encoding, most)
    try:
        reader.read()
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise LoadError([_syntax_problem(reader.source, encoding, error)]) from None
    if reader.root is None:
        problem = XmlProblem(
            file, 1, 1, "", "Invalid XML: missing root element", "write <root>...</root>"
        )
        raise LoadError([problem])
    return reader.root


_ENCODING_ERRORS = (18, 19)
"""Expat's numbers for an encoding that is unknown, or not what is declared."""


def _syntax_problem(source: Source, encoding: str | None, error: Exception) -> XmlProblem:
    """Why the parser refused: first of all a wrong encoding, which makes other mistakes."""
    syntax = error if isinstance(error, expat.ExpatError) else None
    mistake = encoding_mistake(source.data, encoding)
    if mistake is None and (syntax is None or syntax.code in _ENCODING_ERRORS):
        mistake = unreadable_encoding(encoding or encoding_of(source.data))
    if mistake is not None:
        line, column = source.position(mistake.offset)
        message, remedy = mistake.message, mistake.remedy
    elif syntax is not None:
        line, column = syntax.lineno, syntax.offset + 1
        message, remedy = expat.ErrorString(syntax.code), "mend the XML syntax"
    return XmlProblem(source.file, line, column, "", f"Error parsing the XML: {message}", remedy)
