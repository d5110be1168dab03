# SPDX-License-Identifier: Apache-2.0
"""Two edits of one document become one: three ways, node by node.

Nodes of two versions are the same if they are equal, else if they have tag, ID and name in common,
else if they have the tag, always in the order of their parent's children. What one side did is
then done to the text of the other, so that its comments and formatting stay. What both did to the
same node is refused, unless they did the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from behavior_tree.errors import LogicError
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element
from behavior_tree.xml.edit import Address, TagRewrite, XmlEditor, element_text
from behavior_tree.xml.elements import below, node_path


def merge(base: bytes, mine: bytes, theirs: bytes, file: str) -> bytes:
    """``theirs`` with what ``mine`` changed in ``base``.

    Args:
        base: the document that both began with
        mine: after changes of elements and attributes; comments outside of new elements do not
            count
        theirs: after any changes
        file: name for messages

    Raises:
        LogicError: both changed the same thing in different ways; all such things are told
        LoadError: one of them is not well-formed, or not UTF-8
    """
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    return _Merge(XmlEditor(base, file), XmlEditor(mine, file), XmlEditor(theirs, file)).run(file)


class Pairing:
    """Tells which elements of two versions of a document are the same."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._signatures: dict[Element, int] = {}

    def sign(self, element: Element) -> int:
        """Number that equal elements have in common; signs all in it, too."""
        children = tuple(self.sign(child) for child in element.children)
        key = element.tag, frozenset(element.attributes.items()), element.text, children
        number = self._numbers.setdefault(key, len(self._numbers))
        self._signatures[element] = number
        return number

    def signature(self, element: Element) -> int:
        """The number of an element that has been signed."""
        return self._signatures[element]

    def pairs(self, ones: Sequence[Element], others: Sequence[Element]) -> dict[Element, Element]:
        """Which children of two elements that are the same are the same; all are signed."""
        first, second = (list(map(self._keys, side)) for side in (ones, others))
        found = _alignment(first, second, range(len(ones)), range(len(others)), 0)
        return {ones[i]: others[j] for i, j in found}

    def _keys(self, each: Element) -> tuple[object, ...]:
        named = each.tag, each.text, each.get("ID"), each.get("name")
        return self._signatures[each], named, (each.tag, each.text)


class _Merge:
    def __init__(self, base: XmlEditor, mine: XmlEditor, theirs: XmlEditor) -> None:
        self._base, self._mine, self._theirs = base, mine, theirs
        self._pairing = Pairing()
        self._rewrites: list[TagRewrite] = []
        self._removed: set[Address] = set()
        self._inserted: dict[Address, list[Element]] = {}
        self._left: list[tuple[int, str]] = []
        """What neither of both has in its place any more: signature and path."""
        self._new_there: set[int] = set()
        """Signatures of what is new in theirs."""
        self._conflicts: list[str] = []

    def run(self, file: str) -> bytes:
        roots = self._base.root, self._mine.root, self._theirs.root
        for root in roots:
            self._pairing.sign(root)
        self._node(*roots, (), "")
        new_here = self._signed(each for new in self._inserted.values() for each in new)
        for number, path in self._left:
            if number in new_here and number in self._new_there:
                self._conflicts.append(f"'{path}' is moved here and to another place on disk")
        if self._conflicts:
            raise LogicError(
                f"{file} has been changed on disk since it was read, and this cannot be merged: "
                + "; ".join(self._conflicts)
            )
        self._theirs.rewrite_tags(self._rewrites)
        # From back to front, so that the places of those before stay.
        for place in sorted({*self._removed, *self._inserted}, reverse=True):
            self._change(place)
        return self._theirs.data

    def _change(self, place: Address) -> None:
        *above, index = place
        new = [element_text(each.source.data, each) for each in self._inserted.get(place, ())]
        if place in self._removed and new:
            self._theirs.replace(place, new.pop())
        elif place in self._removed:
            self._theirs.remove(place)
        for text in reversed(new):
            self._theirs.insert(tuple(above), index, text)

    def _node(self, base: Element, mine: Element, theirs: Element, at: Address, path: str) -> None:
        """Note what to do to an element of theirs, and below it."""
        self._attributes(base, mine, theirs, path)
        to_mine = self._pairing.pairs(base.children, mine.children)
        to_theirs = self._pairing.pairs(base.children, theirs.children)
        places = {child: index for index, child in enumerate(theirs.children)}
        old = set(to_theirs.values())
        self._new_there |= self._signed(each for each in theirs.children if each not in old)
        for child in base.children:
            here, there = to_mine.get(child), to_theirs.get(child)
            inside = node_path(path, child) if path else child.get("ID") or child.tag
            if here is not None and there is not None:
                self._node(child, here, there, (*at, places[there]), inside)
            elif here is not None and self._differ(here, child):
                self._conflicts.append(f"'{inside}' is changed here and removed or moved on disk")
            elif there is not None and self._differ(there, child):
                self._conflicts.append(f"'{inside}' is removed or moved here and changed on disk")
            elif there is not None:
                self._removed.add((*at, places[there]))
            elif here is None:
                self._left.append((self._pairing.signature(child), inside))
        self._insertions(mine, theirs, at, {to_mine[b]: to_theirs.get(b) for b in to_mine}, places)

    def _attributes(self, base: Element, mine: Element, theirs: Element, path: str) -> None:
        changed: dict[str, tuple[str, str] | None] = {}
        added: dict[str, str] = {}
        for name in {**base.attributes, **mine.attributes}:
            before, here, there = base.get(name), mine.get(name), theirs.get(name)
            if here in (before, there):
                continue
            if there != before:
                here_text, there_text = _shown(here), _shown(there)
                self._conflicts.append(
                    f"[{name}] of '{path or 'root'}' is {here_text} here and {there_text} on disk"
                )
            elif here is None:
                changed[name] = None
            elif there is None:
                added[name] = here
            else:
                changed[name] = (name, here)
        if changed or added:
            self._rewrites.append(TagRewrite(theirs, None, changed, added))

    def _signed(self, elements: Iterable[Element]) -> set[int]:
        """Signatures of elements and of all in them."""
        return {self._pairing.signature(each) for top in elements for each in (top, *below(top))}

    def _differ(self, one: Element, other: Element) -> bool:
        return self._pairing.signature(one) != self._pairing.signature(other)

    def _insertions(
        self,
        mine: Element,
        theirs: Element,
        at: Address,
        stay: dict[Element, Element | None],
        places: dict[Element, int],
    ) -> None:
        """What is new here goes before the next node that is there, too, behind what is new there.

        ``stay``: children of mine that are not new, and what they are there; ``places``: index of
        each child of theirs.
        """
        known = {each for each in stay.values() if each is not None}
        gap: list[Element] = []
        for child in (*mine.children, None):
            if child is not None and child not in stay:
                gap.append(child)
                continue
            anchor = None if child is None else stay[child]
            if child is not None and anchor is None:
                continue
            index = len(theirs.children) if anchor is None else places[anchor]
            self._fill(gap, theirs, at, index, known)
            gap = []

    def _fill(
        self, gap: list[Element], theirs: Element, at: Address, index: int, known: set[Element]
    ) -> None:
        start = index
        while start and theirs.children[start - 1] not in known:
            start -= 1
        there = [self._pairing.signature(each) for each in theirs.children[start:index]]
        new = []
        for each in gap:
            if (number := self._pairing.signature(each)) in there:
                there.remove(number)  # both put in the same
            else:
                new.append(each)
        if new:
            before = (*at, index - 1)
            self._inserted[before if before in self._removed else (*at, index)] = new


def _alignment(
    ones: list[tuple[object, ...]],
    others: list[tuple[object, ...]],
    left: range,
    right: range,
    level: int,
) -> Iterator[tuple[int, int]]:
    """Positions that belong together, by the strictest keys first, in rising order."""
    if level == 3 or not left or not right:
        return
    first = [ones[i][level] for i in left]
    second = [others[j][level] for j in right]
    i = j = 0
    for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        yield from _alignment(ones, others, left[i : block.a], right[j : block.b], level + 1)
        yield from zip(left[block.a :], right[block.b : block.b + block.size], strict=False)
        i, j = block.a + block.size, block.b + block.size


def _shown(value: str | None) -> str:
    return "removed" if value is None else f"'{shorten(value)}'"
