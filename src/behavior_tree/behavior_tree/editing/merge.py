# SPDX-License-Identifier: Apache-2.0
"""Two edits of one document become one: three ways, node by node.

Nodes of two versions are the same if they are equal, else if they have tag, ID and name in common,
else if they have the tag and their ID and name is that of no other node, always in the order of
their parent's children. What one side did is then done to the text of the other, so that its
comments and formatting stay. What both did to the same node is refused, unless they did the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from behavior_tree.errors import LogicError
from behavior_tree.shown_text import shorten
from behavior_tree.xml.document import Element, Source
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
        self._names: dict[Source, set[object]] = {}
        """What is called by name in each document."""

    def sign(self, element: Element) -> int:
        """Number that equal elements have in common; signs all in it, too."""
        children = tuple(self.sign(child) for child in element.children)
        key = element.tag, frozenset(element.attributes.items()), element.text, children
        number = self._numbers.setdefault(key, len(self._numbers))
        self._signatures[element] = number
        if (name := _named(element)) is not None:
            self._names.setdefault(element.source, set()).add(name)
        return number

    def signature(self, element: Element) -> int:
        """The number of an element that has been signed."""
        return self._signatures[element]

    def pairs(self, ones: Sequence[Element], others: Sequence[Element]) -> dict[Element, Element]:
        """Which children of two elements that are the same are the same; all are signed."""
        if not ones or not others:
            return {}
        first = [self._keys(each, others[0].source) for each in ones]
        second = [self._keys(each, ones[0].source) for each in others]
        found = _alignment(first, second, range(len(ones)), range(len(others)), 0)
        return {ones[i]: others[j] for i, j in found}

    def _keys(self, each: Element, other: Source) -> tuple[object, ...]:
        name = _named(each)
        called = each.tag, each.text, each.get("ID"), each.get("name")
        is_there = name is not None and name in self._names.get(other, ())
        return self._signatures[each], called, each if is_there else (each.tag, each.text)


def _named(element: Element) -> tuple[str, str | None, str | None] | None:
    """What tells an element from others of its tag; None: nothing does."""
    key = element.tag, element.get("ID"), element.get("name")
    return None if key[1:] == (None, None) else key


class _Merge:
    def __init__(self, base: XmlEditor, mine: XmlEditor, theirs: XmlEditor) -> None:
        self._base, self._mine, self._theirs = base, mine, theirs
        self._pairing = Pairing()
        self._rewrites: list[TagRewrite] = []
        self._removed: set[Address] = set()
        self._inserted: dict[Address, list[Element]] = {}
        self._left: list[tuple[Element, str]] = []
        """What neither of both has in its place any more, and its path."""
        self._conflicts: list[str] = []

    def run(self, file: str) -> bytes:
        roots = self._base.root, self._mine.root, self._theirs.root
        for root in roots:
            self._pairing.sign(root)
        self._node(*roots, (), "")
        if self._left:
            self._check_left()
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

    def _check_left(self) -> None:
        """What neither has in its place any more is gone in both, or has come to one place."""
        inserted = self._known_as(each for new in self._inserted.values() for each in new)
        new_here = self._known_as(self._new(self._base.root, self._mine.root))
        new_there = self._known_as(self._new(self._base.root, self._theirs.root))
        for left, path in self._left:
            keys = [_named(left) or self._pairing.signature(left), *map(_named, below(left))]
            for key in (each for each in keys if each is not None):
                if key in new_here and key in new_there:
                    what = "moved here and to another place on disk" if key in inserted else ""
                elif key in new_here:
                    what = "moved here and removed on disk"
                else:
                    what = "removed here and moved on disk" if key in new_there else ""
                if what:
                    inside = "" if key == keys[0] else "what is in "
                    self._conflicts.append(f"{inside}'{path}' is {what}")
                    break

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
                self._left.append((child, inside))
        stay = {to_mine[each]: to_theirs.get(each) for each in to_mine}
        self._insertions(mine, theirs, at, stay, {e: places[e] for e in old})

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

    def _new(self, base: Element, other: Element) -> Iterator[Element]:
        """What another version has put into an element, and into those in it."""
        pairs = self._pairing.pairs(base.children, other.children)
        old = set(pairs.values())
        yield from (each for each in other.children if each not in old)
        for one, each in pairs.items():
            yield from self._new(one, each)

    def _known_as(self, elements: Iterable[Element]) -> set[object]:
        """By what elements and all in them are known again elsewhere."""
        return {
            _named(each) or self._pairing.signature(each)
            for top in elements
            for each in (top, *below(top))
        }

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
        each child of theirs that is not new.
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
            start = index
            while start and theirs.children[start - 1] not in known:
                start -= 1
            new_there = [each for each in theirs.children[start:index] if each not in places]
            self._fill(gap, [self._pairing.signature(each) for each in new_there], (*at, index))
            gap = []

    def _fill(self, gap: list[Element], there: list[int], place: Address) -> None:
        """Note what is to be inserted at a place, where theirs has new elements, too."""
        new = []
        for each in gap:
            if (number := self._pairing.signature(each)) in there:
                there.remove(number)  # both put in the same
            else:
                new.append(each)
        if new:
            *above, index = place
            before = (*above, index - 1)
            self._inserted[before if before in self._removed else place] = new


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
