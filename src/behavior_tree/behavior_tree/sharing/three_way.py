# SPDX-License-Identifier: Apache-2.0
"""Takes one edit back although others came after it, or makes it again; by identifiers.

What went from one state to another is done backwards to the state of now, wherever that is still
as the edit left it. Where somebody has changed the same since, all is refused.
"""

from __future__ import annotations

from behavior_tree.editing.tree_files import Editors
from behavior_tree.editing.write_back import longest_rise
from behavior_tree.errors import LogicError
from behavior_tree.sharing.identified import Draft, Numbered, Snapshot, Spot, State, labelled
from behavior_tree.shown_text import shorten
from behavior_tree.xml.edit import element_text


def gone_back(now: State, left: Snapshot, wanted: Snapshot) -> State:
    """The state of now with what differs between two others.

    Args:
        now: to be changed
        left: what an edit led to
        wanted: what it was before

    Raises:
        LogicError: others have changed the same; all such things are told
        LoadError: the result would not load
    """
    if left.numbers.keys() != wanted.numbers.keys():
        raise LogicError("it has also changed which files are included: edit these files instead")
    if _equal(now.snapshot, left):
        files = now.files.with_data(wanted.data)
        return State(files, wanted.numbers, now.next_number)
    files, drafts = now.files.fork(), []

    def edit(editors: Editors) -> None:
        drafts.append(Draft(now, editors))
        _Backwards(drafts[0], now, left.spots, wanted).run()

    files.change(edit)
    return State(files, drafts[0].numbers, now.next_number)


def _equal(one: Snapshot, other: Snapshot) -> bool:
    return one.data == other.data and all(
        one.numbers[file] is other.numbers[file]
        or [each.id for each in one.numbers[file].all()]
        == [each.id for each in other.numbers[file].all()]
        for file in one.numbers
    )


class _Backwards:
    def __init__(self, draft: Draft, now: State, left: dict[str, Spot], wanted: Snapshot) -> None:
        self._draft = draft
        self._now, self._left, self._wanted = now.spots, left, wanted.spots
        self._numbers = {each.id: each for root in wanted.numbers.values() for each in root.all()}
        self._conflicts: list[str] = []

    def run(self) -> None:
        stay = self._left.keys() & self._wanted.keys()
        gone = [id for id in self._left if id not in self._wanted]
        back = [id for id in self._wanted if id not in self._left]
        tops = self._tops(back, stay)
        whole = {each.id for top in tops for each in self._numbers[top].all()}
        inside = whole - set(back)
        moved = [id for id in self._moved(stay) if id not in inside]
        self._check_removed(gone, {*gone, *moved, *inside})
        for id in stay:
            self._check_attributes(id)
        for id in (*moved, *inside):
            self._check_place(id)
        for id in inside:
            self._check_unchanged(id)
            self._check_children(id, {*gone, *moved, *inside})
        for top in tops:
            if self._wanted[top].parent not in self._draft:
                self._refuse(self._wanted[top], "cannot come back: what it stood in is gone")
            for each in self._numbers[top].all():
                if each.id in self._now and each.id not in stay:  # was moved out before it went
                    self._refuse(self._now[each.id], "is there already, in another place")
        if self._conflicts:
            raise LogicError("others have changed the same since: " + "; ".join(self._conflicts))
        for id in stay:
            self._set(id)
        # From above to below, since what was above may stand below now; and before anything is
        # removed, since they may stand in it.
        moved.reverse()  # the next sibling first, before which another one is put
        for id in sorted(moved, key=self._depth):
            self._draft.move(id, self._wanted[id].parent, self._anchor(id))
        for id in (each for each in inside if each in self._draft):
            self._draft.remove(id)
        for id in gone:
            if id in self._draft and self._left[id].parent not in gone:
                self._draft.remove(id)
        for id in reversed(tops):
            self._bring_back(id)

    # -- what differs ---------------------------------------------------------------------------

    def _tops(self, back: list[str], stay: set[str]) -> list[str]:
        """Elements that come back, each with all that stood in it, if nobody has brought them."""
        parents = {id: self._wanted[id].parent for id in back if id not in self._draft}
        tops = [id for id, parent in parents.items() if parent in stay]
        below = {
            each.id for top in tops for child in self._numbers[top].children for each in child.all()
        }
        return [top for top in tops if top not in below]

    def _depth(self, id: str) -> int:
        """How many elements it is to stand in."""
        above = self._wanted[id].parent
        return 1 + self._depth(above) if above else 0

    def _moved(self, stay: set[str]) -> list[str]:
        """Elements that stand elsewhere, in the order of the document that is wanted."""
        found = set()
        for id in stay:
            wanted, left = self._wanted[id].children, self._left[id].children
            both = [child for child in wanted if child in left]
            at = {child: index for index, child in enumerate(left)}
            rise = set(longest_rise([at[child] for child in both]))
            found |= {child for child in both if at[child] not in rise}
            found |= {child for child in wanted if child in stay and child not in left}
        return [each for each in self._wanted if each in found]

    def _check_attributes(self, id: str) -> None:
        left, wanted = self._left[id].element.attributes, self._wanted[id].element.attributes
        if left == wanted:
            return
        if id not in self._now:
            self._refuse(self._wanted[id], "has been removed")
            return
        now = self._now[id].element.attributes
        for name in left.keys() | wanted.keys():
            if left.get(name) != wanted.get(name) and now.get(name) not in (
                left.get(name),
                wanted.get(name),
            ):
                text = shorten(repr(now.get(name)))
                self._refuse(self._wanted[id], f"has {text} for [{name}] now")

    def _check_place(self, id: str) -> None:
        if id not in self._now:
            self._refuse(self._wanted[id], "has been removed")
        elif self._now[id].parent not in (self._left[id].parent, self._wanted[id].parent):
            self._refuse(self._wanted[id], "has been moved")

    def _check_unchanged(self, id: str) -> None:
        if id in self._now and not _same(self._now[id], self._left[id]):
            self._refuse(self._left[id], "has been changed")

    def _check_removed(self, gone: list[str], known: set[str]) -> None:
        for id in gone:
            if id not in self._now:
                continue
            self._check_unchanged(id)
            self._check_children(id, known)

    def _check_children(self, id: str, known: set[str]) -> None:
        """An element that is taken out takes nothing with it that others have put into it.

        ``known``: what this edit puts elsewhere, or takes out itself.
        """
        for child in self._now[id].children if id in self._now else ():
            if child not in known:
                self._refuse(self._left[id], f"has got {labelled(self._now[child])}")

    def _refuse(self, spot: Spot, why: str) -> None:
        self._conflicts.append(f"{labelled(spot)} {why}")

    # -- what is done ---------------------------------------------------------------------------

    def _set(self, id: str) -> None:
        left, wanted = self._left[id].element.attributes, self._wanted[id].element.attributes
        changed = {
            name: wanted.get(name)
            for name in {**wanted, **left}
            if left.get(name) != wanted.get(name)
        }
        if changed:
            self._draft.set(id, changed)

    def _anchor(self, id: str) -> str:
        """The next sibling that is there, before which an element belongs; empty: none."""
        parent = self._wanted[id].parent
        siblings = self._wanted[parent].children
        behind = siblings[siblings.index(id) + 1 :]
        return next((each for each in behind if self._draft_parent(each) == parent), "")

    def _draft_parent(self, id: str) -> str:
        return self._draft.parent(id) if id in self._draft else ""

    def _bring_back(self, id: str) -> None:
        spot = self._wanted[id]
        text = element_text(spot.element.source.data, spot.element)
        numbers: Numbered = self._numbers[id].copy()
        self._draft.insert(spot.parent, self._anchor(id), text, numbers)


def _same(one: Spot, other: Spot) -> bool:
    return (one.element.tag, one.element.attributes, one.element.text) == (
        other.element.tag,
        other.element.attributes,
        other.element.text,
    )
