# SPDX-License-Identifier: Apache-2.0
"""Edits of an XML text that leave every byte alone that they do not mean.

Comments, order of attributes, quotes, indentation and line ends stay as they are; what is new
follows the style around it. Comments stay where they are when nodes go: nobody but the author knows
what they speak of.

Elements are addressed by their way from the root: ``(0, 2)`` is the third child of the first child
of the root element, ``()`` the root element itself.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from behavior_tree.errors import LoadError, LogicError, XmlProblem
from behavior_tree.xml.document import Element, parse_xml
from behavior_tree.xml.encoding import encoding_of
from behavior_tree.xml.retagged import retagged

Address = tuple[int, ...]

_ATTRIBUTE = rb"""\s+[^\s=<>/]+\s*=\s*(?:"[^"]*"|'[^']*')"""
_START_TAG = re.compile(rb"<([^\s/>]+)((?:" + _ATTRIBUTE + rb")*)\s*(/?)>")
_ONE_ATTRIBUTE = re.compile(rb"""(\s+)([^\s=<>/]+)(\s*=\s*)("[^"]*"|'[^']*')""")
_NAME = re.compile(r"[^\W\d][\w.\-]*(:[^\W\d][\w.\-]*)?")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_COMMENT_ABOVE = re.compile(rb"[ \t]*<!--(?:(?!-->).)*-->[ \t]*\r?\n\Z", re.S)
_COMMENT_BEHIND = re.compile(rb"[ \t]*<!--(?:(?!-->)[^\n])*-->(?=[ \t]*\r?\n)")
_PIECES = re.compile(
    rb"""<!--(?:(?!-->).)*-->|<!\[CDATA\[(?:(?!\]\]>).)*\]\]>|<\?(?:(?!\?>).)*\?>|<[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>"""
    rb"""|[^<]+""",
    re.S,
)
_QUOTED = re.compile(rb""""[^"]*"|'[^']*'|[^"']+""")


@dataclass(frozen=True)
class _Splice:
    """``old`` at a byte offset became ``new``."""

    offset: int
    old: bytes
    new: bytes


@dataclass(frozen=True)
class _Span:
    """Where an element stands."""

    start: int
    inside: int
    """Behind its start tag."""
    close: int
    """Before its end tag; as ``inside`` if it closes itself."""
    end: int
    closes_itself: bool


@dataclass(frozen=True)
class TagRewrite:
    """What becomes of the tags of one element."""

    element: Element
    tag: str | None = None
    """New name; None keeps it."""
    attributes: Mapping[str, tuple[str, str] | None] = field(default_factory=dict)
    """From an old attribute to its new name and value; None removes it."""
    added: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _History:
    undo: list[list[_Splice]] = field(default_factory=list)
    redo: list[list[_Splice]] = field(default_factory=list)


class XmlEditor:
    """A document and its changes, each of which can be taken back.

    Args:
        data: the document, UTF-8
        file: name for messages
        root: of the document, as another editor has read it; None: it is read

    Raises:
        LoadError: not well-formed, or in another encoding
    """

    def __init__(self, data: bytes, file: str = "<text>", root: Element | None = None) -> None:
        self._file = file
        self._mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        self._data = data[len(self._mark) :]
        encoding = encoding_of(self._data)
        if encoding.lower() not in ("utf-8", "us-ascii", "ascii"):
            message = f"files in the encoding {encoding} cannot be edited"
            raise LoadError([XmlProblem(file, 1, 1, "", message, "save the file as UTF-8")])
        if root is None or root.source.data != self._data:
            root = parse_xml(self._data, file, "utf-8")
        self._known_root: Element | None = root
        self.retagged: set[Address] | None = set()
        """Elements whose attributes were changed; None: more than attributes has changed."""
        self._newline = b"\r\n" if b"\r\n" in self._data else b"\n"
        self._history = _History()
        self._step: list[_Splice] = []

    # -- reading --------------------------------------------------------------------------------

    @property
    def data(self) -> bytes:
        """The document as it is now."""
        return self._mark + self._data

    @property
    def root(self) -> Element:
        """The root element as it is now; new after each change."""
        if self._known_root is None:
            self._known_root = parse_xml(self._data, self._file, "utf-8")
        return self._known_root

    def element(self, address: Address) -> Element:
        """The element at an address; raises LogicError."""
        found = self.root
        for index in address:
            if not 0 <= index < len(found.children):
                raise LogicError(f"{self._file}: there is no element {address}")
            found = found.children[index]
        return found

    # -- changes --------------------------------------------------------------------------------

    def set_attribute(self, address: Address, name: str, value: str) -> None:
        """Give an attribute a value; a new one goes behind the others."""
        self._retag(address, lambda element: self._set_attribute(element, name, value))

    def remove_attribute(self, address: Address, name: str) -> None:
        """Remove an attribute; one that is not there is fine."""
        self._retag(address, lambda element: self._remove_attribute(element, name))

    def rename(self, address: Address, tag: str) -> None:
        """Give an element another tag."""
        self._change(lambda: self._rename(self.element(address), tag))

    def rewrite_tags(self, rewrites: Iterable[TagRewrite]) -> None:
        """Change tags and attributes of many elements in one step; elements are those of `root`."""

        def change() -> None:
            splices = [splice for each in rewrites for splice in self._rewritten(each)]
            for splice in sorted(splices, key=lambda each: -each.offset):
                self._splice(splice.offset, splice.offset + len(splice.old), splice.new)

        self._change(change)

    def insert(self, parent: Address, index: int, xml: str) -> None:
        """Make an XML fragment child number ``index`` of an element.

        Raises:
            LoadError: the fragment is not one well-formed element
        """
        fragment = _fragment(xml)
        self._change(lambda: self._insert(self.element(parent), index, fragment))

    def remove(self, address: Address) -> None:
        """Remove an element and all in it."""
        if not address:
            raise LogicError("the root element cannot be removed")
        self._change(lambda: self._remove(self.element(address)))

    def move(self, address: Address, parent: Address, index: int) -> None:
        """Make an element child number ``index``, counted without it, of an element.

        ``parent`` is its address before the move.
        """
        if parent[: len(address)] == address:
            raise LogicError("an element cannot be moved into itself")
        target = _without(parent, address)

        def change() -> None:
            element = self.element(address)
            self.element(parent)
            text = self._text_of(element)
            self._remove(element)
            self._insert(self.element(target), index, text)

        self._change(change)

    def replace(self, address: Address, xml: str) -> None:
        """Put an XML fragment in the place of an element; raises LoadError as `insert`."""
        fragment = _fragment(xml)

        def change() -> None:
            element = self.element(address)
            span = _span(self._data, element)
            text = self._styled(fragment, self._indent(span.start))
            self._splice(span.start, span.end, text)

        self._change(change)

    # -- history --------------------------------------------------------------------------------

    def undo(self) -> bool:
        """Take back the last change; False if there is none."""
        if not self._history.undo:
            return False
        step = self._history.undo.pop()
        for splice in reversed(step):
            self._apply(_Splice(splice.offset, splice.new, splice.old))
        self._history.redo.append(step)
        return True

    def redo(self) -> bool:
        """Make the change again that was taken back last; False if there is none."""
        if not self._history.redo:
            return False
        step = self._history.redo.pop()
        for splice in step:
            self._apply(splice)
        self._history.undo.append(step)
        return True

    def _retag(self, address: Address, change: Callable[[Element], None]) -> None:
        """Change the attributes of one element."""

        def retag() -> None:
            root, element = self.root, self.element(address)
            change(element)
            for splice in self._step:
                self._known_root = retagged(
                    root, element, self._data, at=splice.offset, old=splice.old, new=splice.new
                )

        others = self.retagged
        self._change(retag)
        self.retagged = None if others is None else others | {address}

    def _change(self, change: Callable[[], None]) -> None:
        before, root = self._data, self._known_root
        self._step = []
        try:
            change()
            assert self.root.tag, "what has been written can be read"
        except Exception:
            self._data, self._known_root = before, root
            raise
        self.retagged = None
        if self._data != before:
            self._history.undo.append(self._step)
            self._history.redo.clear()

    def _splice(self, start: int, end: int, new: bytes) -> None:
        splice = _Splice(start, self._data[start:end], new)
        if splice.old == new:
            return
        self._apply(splice)
        self._step.append(splice)

    def _apply(self, splice: _Splice) -> None:
        behind = splice.offset + len(splice.old)
        self._data = self._data[: splice.offset] + splice.new + self._data[behind:]
        self._known_root = self.retagged = None

    # -- attributes -----------------------------------------------------------------------------

    def _set_attribute(self, element: Element, name: str, value: str) -> None:
        _check_attribute(name, value)
        found = self._attribute(element, name)
        if found is not None:
            start, end = found.span(4)
            quote = self._data[start : start + 1]
            raw = self._data[start + 1 : end - 1]
            self._splice(start + 1, end - 1, _respelled(raw, value, quote))
            return
        tag = self._start_tag(element)
        *_, last = [None, *_ONE_ATTRIBUTE.finditer(self._data, tag.start(2), tag.end(2))]
        space = b" " if last is None else last.group(1)
        quote = b'"' if last is None else last.group(4)[:1]
        text = _attribute_text(space, (name, value), quote)
        self._splice(tag.end(2), tag.end(2), text)

    def _remove_attribute(self, element: Element, name: str) -> None:
        found = self._attribute(element, name)
        if found is not None:
            self._splice(found.start(), found.end(), b"")

    def _attribute(self, element: Element, name: str) -> re.Match[bytes] | None:
        tag = self._start_tag(element)
        for found in _ONE_ATTRIBUTE.finditer(self._data, tag.start(2), tag.end(2)):
            if found.group(2) == name.encode():
                return found
        return None

    def _start_tag(self, element: Element) -> re.Match[bytes]:
        return _start_tag(self._data, element)

    def _rename(self, element: Element, tag: str) -> None:
        _check_name(tag)
        span, start = _span(self._data, element), self._start_tag(element)
        if not span.closes_itself:
            name = span.close + 2
            self._splice(name, name + len(start.group(1)), tag.encode())
        self._splice(start.start(1), start.end(1), tag.encode())

    def _rewritten(self, rewrite: TagRewrite) -> Iterator[_Splice]:
        element, span = rewrite.element, _span(self._data, rewrite.element)
        start = self._start_tag(element)
        tag = start.group(1) if rewrite.tag is None else rewrite.tag.encode()
        text, space, quote = tag, b" ", b'"'
        for found in _ONE_ATTRIBUTE.finditer(self._data, start.start(2), start.end(2)):
            space, quote = found.group(1), found.group(4)[:1]
            name = found.group(2).decode()
            if name not in rewrite.attributes:
                text += found.group()
                continue
            new = rewrite.attributes[name]
            if new is not None:
                _check_attribute(*new)
                value = _respelled(found.group(4)[1:-1], new[1], quote)
                text += space + new[0].encode() + found.group(3) + quote + value + quote
        for pair in rewrite.added.items():
            _check_attribute(*pair)
            text += _attribute_text(space, pair, quote)
        yield _Splice(start.start(1), self._data[start.start(1) : start.end(2)], text)
        if not span.closes_itself:
            yield _Splice(span.close + 2, start.group(1), tag)

    # -- elements -------------------------------------------------------------------------------

    def _insert(self, parent: Element, index: int, fragment: bytes) -> None:
        children = parent.children
        if not 0 <= index <= len(children):
            raise LogicError(f"<{parent.tag}> has {len(children)} children: no place {index}")
        if not children:
            self._insert_first(parent, fragment)
        elif index < len(children):
            last = _span(self._data, children[index - 1]).end if index else 0
            floor = max(last, _span(self._data, parent).inside)
            self._insert_before(children[index], fragment, floor)
        else:
            self._insert_behind(children[-1], fragment)

    def _insert_before(self, anchor: Element, fragment: bytes, floor: int) -> None:
        """Insert before an element; only white space and comments stand between it and floor."""
        at = anchor.offset
        if not self._own_line(at):
            self._splice(at, at, self._styled(fragment, self._indent(at)) + self._gap(at))
            return
        line = self._line_start(at)
        while above := _COMMENT_ABOVE.search(self._data, floor, line):
            if self._line_start(above.start()) != above.start():
                break
            line = above.start()  # the comment speaks of the node below it
        indent = self._indent(at)
        self._splice(line, line, indent + self._styled(fragment, indent) + self._newline)

    def _insert_behind(self, anchor: Element, fragment: bytes) -> None:
        end, indent = _span(self._data, anchor).end, self._indent(anchor.offset)
        text = self._styled(fragment, indent)
        if not self._own_line(anchor.offset):
            self._splice(end, end, self._gap(anchor.offset) + text)
            return
        comment = _COMMENT_BEHIND.match(self._data, end)
        at = comment.end() if comment else end
        self._splice(at, at, self._newline + indent + text)

    def _insert_first(self, parent: Element, fragment: bytes) -> None:
        span, outer = _span(self._data, parent), self._indent(parent.offset)
        before = after = b""
        text = self._styled(fragment, outer)
        if self._own_line(parent.offset):
            inner = outer + self._unit()
            text = self._styled(fragment, inner)
            before, after = self._newline + inner, self._newline + outer
        if span.closes_itself:
            tag = self._start_tag(parent)
            end_tag = b"</" + tag.group(1) + b">"
            self._splice(tag.end(2), span.end, b">" + before + text + after + end_tag)
            return
        content = self._data[span.inside : span.close]
        at = span.inside + len(content.rstrip())
        self._splice(at, span.close, before + text + after)

    def _remove(self, element: Element) -> None:
        span = _span(self._data, element)
        start, end = span.start, span.end
        line_end = re.compile(rb"[ \t]*(\r?\n|\Z)").match(self._data, end)
        if self._own_line(start) and line_end is not None:
            self._splice(self._line_start(start), line_end.end(), b"")
            return
        if self._own_line(start):
            end += len(self._data[end:]) - len(self._data[end:].lstrip(b" \t"))
        else:
            start -= len(self._gap(start))
        self._splice(start, end, b"")

    def _text_of(self, element: Element) -> bytes:
        """Bytes of an element as if it stood at the left margin."""
        span = _span(self._data, element)
        text = self._data[span.start : span.end]
        return _shifted(text, self._indent(span.start), b"", self._newline)

    def _styled(self, fragment: bytes, indent: bytes) -> bytes:
        """A fragment of the left margin, at an indentation and with our line ends."""
        return _shifted(fragment, b"", indent, self._newline)

    # -- lines ----------------------------------------------------------------------------------

    def _line_start(self, at: int) -> int:
        return self._data.rfind(b"\n", 0, at) + 1

    def _own_line(self, at: int) -> bool:
        """True if only white space stands before it in its line, and it is not the only line."""
        return not self._data[self._line_start(at) : at].strip() and b"\n" in self._data

    def _indent(self, at: int) -> bytes:
        """White space at the beginning of the line."""
        line = self._data[self._line_start(at) : at]
        return line[: len(line) - len(line.lstrip())]

    def _gap(self, at: int) -> bytes:
        """Spaces before a byte in its line."""
        line = self._data[self._line_start(at) : at]
        return line[len(line.rstrip()) :]

    def _unit(self) -> bytes:
        """One step of indentation: that of the first child that has a line of its own."""
        stack = [self.root]
        while stack:
            each = stack.pop()
            outer = self._indent(each.offset)
            for child in each.children:
                inner = self._indent(child.offset)
                if self._own_line(child.offset) and inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
            stack.extend(reversed(each.children))
        return b"  "


def element_text(data: bytes, element: Element) -> str:
    """XML of an element as it stands in its document, moved to the left margin."""
    span = _span(data, element)
    line = data[data.rfind(b"\n", 0, span.start) + 1 : span.start]
    indent = line[: len(line) - len(line.lstrip())]
    return _shifted(data[span.start : span.end], indent, b"", b"\n").decode()


def _start_tag(data: bytes, element: Element) -> re.Match[bytes]:
    found = _START_TAG.match(data, element.offset)
    assert found is not None, "expat has accepted it"
    return found


def _span(data: bytes, element: Element) -> _Span:
    tag = _start_tag(data, element)
    if tag.group(3):
        return _Span(tag.start(), tag.end(), tag.end(), tag.end(), True)
    end = data.index(b">", element.close) + 1
    return _Span(tag.start(), tag.end(), element.close, end, False)


def _fragment(xml: str) -> bytes:
    """One element, checked, moved to the left margin."""
    text = xml.strip().encode("utf-8", "replace")
    element = parse_xml(text, "<edit>", "utf-8")
    line = text[text.rfind(b"\n") + 1 :]  # that of the end tag
    indent = line[: len(line) - len(line.lstrip())] if line.lstrip().startswith(b"</") else b""
    span = _span(text, element)
    if span.start > 0 and text.startswith(b"<?"):
        text = text[span.start : span.end]
    return _shifted(text, indent, b"", b"\n")


def _shifted(text: bytes, old: bytes, new: bytes, newline: bytes) -> bytes:
    """Text whose further lines are moved from one indentation to another.

    Line breaks inside of quotes, CDATA and processing instructions are part of a value, so they
    stay.
    """
    pieces: list[bytes] = []
    for piece in _PIECES.findall(text):
        if piece.startswith((b"<![CDATA[", b"<?")):
            pieces.append(piece)
        elif piece.startswith(b"<") and not piece.startswith(b"<!--"):
            for part in _QUOTED.findall(piece):
                whole = part[:1] in (b'"', b"'")
                pieces.append(part if whole else _shifted_lines(part, old, new, newline))
        else:
            pieces.append(_shifted_lines(piece, old, new, newline))
    return b"".join(pieces)


def _shifted_lines(text: bytes, old: bytes, new: bytes, newline: bytes) -> bytes:
    first, *others = text.replace(b"\r\n", b"\n").split(b"\n")
    moved = [first]
    for line in others:
        rest = line[len(old) :] if line.startswith(old) else line.lstrip(b" \t")
        moved.append(new + rest)
    return newline.join(moved)


def _attribute_text(space: bytes, pair: tuple[str, str], quote: bytes) -> bytes:
    name, value = pair
    return space + name.encode() + b"=" + quote + _escaped(value, quote) + quote


def _without(parent: Address, gone: Address) -> Address:
    """Address of ``parent`` when ``gone`` has been taken out."""
    depth = len(gone) - 1
    if depth < 0 or len(parent) <= depth or parent[:depth] != gone[:depth]:
        return parent
    if parent[depth] > gone[depth]:
        return (*parent[:depth], parent[depth] - 1, *parent[depth + 1 :])
    return parent


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise LogicError(f"{name!r} cannot be a name in XML")


def _check_attribute(name: str, value: str) -> None:
    _check_name(name)
    if _CONTROL.search(value):
        raise LogicError(f"[{name}]: XML cannot hold the control characters in {value!r}")


def _escaped(value: str, quote: bytes) -> bytes:
    text = value.replace("&", "&amp;").replace("<", "&lt;")
    text = text.replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
    name = "&quot;" if quote == b'"' else "&apos;"
    return text.replace(quote.decode(), name).encode()


_UNIT = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(\w+));|\r\n?|.", re.S)
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_MOST_WORDS = 1000
"""Longer values are written anew: comparing takes the square of it."""


def _respelled(raw: bytes, value: str, quote: bytes) -> bytes:
    """A value, spelled as the old one where they agree, line breaks and entities included."""
    old: list[tuple[str, str]] = []  # words, and how they are written
    for unit in _UNIT.finditer(raw.decode()):
        written, (hexadecimal, decimal, entity) = unit[0], unit.groups()
        code = int(hexadecimal, 16) if hexadecimal else int(decimal or 0)
        plain = "\n" if written[0] == "\r" else _ENTITIES[entity] if entity else written
        plain = chr(code) if code else plain
        if old and plain.isalnum() and old[-1][0].isalnum():
            plain, written = old[-1][0] + plain, old.pop()[1] + written
        old.append((plain, written))
    new = re.findall(r"[^\W_]+|[\W_]", value)
    if max(len(old), len(new)) > _MOST_WORDS:
        return _escaped(value, quote)
    words = [plain for plain, _ in old]
    text = b""
    for change, i, j, first, last in SequenceMatcher(None, words, new, False).get_opcodes():
        if change == "equal":
            text += "".join(written for _, written in old[i:j]).encode()
        else:
            text += _escaped("".join(new[first:last]), quote)
    return text
