# SPDX-License-Identifier: Apache-2.0
"""Two edits of a document become one, or are refused with both named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_tree import LogicError
from behavior_tree.editing.merge import merge
from behavior_tree.xml.document import parse_xml
from behavior_tree.xml.edit import XmlEditor

BASE = b"""<root>
  <!-- kept -->
  <T ID="M">
    <S name="s">
      <A name='a' x="1"   y="2"/>  <!-- of a -->
      <B name="b"/>
      <C name="c"><D/></C>
    </S>
  </T>
</root>
"""


def edit(old, new, data=BASE):
    assert data.count(old) == 1, old
    return data.replace(old, new)


MINE_X = edit(b'x="1"', b'x="7"')


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        (MINE_X, edit(b'y="2"', b'y="8"'), edit(b'x="1"   y="2"', b'x="7"   y="8"')),
        (MINE_X, MINE_X.replace(b"kept", b"said"), MINE_X.replace(b"kept", b"said")),
        (
            edit(b'<B name="b"/>', b'<B name="b"/>\n      <E/>'),
            edit(b"<!-- of a -->", b"<!-- of it -->\n      <F/>"),
            edit(
                b'<!-- of a -->\n      <B name="b"/>',
                b'<!-- of it -->\n      <F/>\n      <B name="b"/>\n      <E/>',
            ),
        ),
        (
            edit(b'      <B name="b"/>\n', b""),
            edit(b"<D/>", b"<D/><D z='1'/>"),
            edit(b'      <B name="b"/>\n', b"").replace(b"<D/>", b"<D/><D z='1'/>"),
        ),
        (  # both put in the same
            edit(b'<B name="b"/>', b'<B name="b"/><E/>'),
            edit(b'<B name="b"/>', b'<B name="b"/>\n      <E/>\n      <F/>'),
            edit(b'<B name="b"/>', b'<B name="b"/>\n      <E/>\n      <F/>'),
        ),
        (  # both take out the same
            edit(b'      <B name="b"/>\n', b""),
            edit(b'      <B name="b"/>\n', b"").replace(b"<D/>", b"<X/>"),
            edit(b'      <B name="b"/>\n', b"").replace(b"<D/>", b"<X/>"),
        ),
        (  # replaced here, its neighbour changed there
            edit(b'<B name="b"/>', b'<Z name="z"/>'),
            MINE_X,
            MINE_X.replace(b'<B name="b"/>', b'<Z name="z"/>'),
        ),
        (
            edit(b'   y="2"', b""),
            edit(b"<D/>", b"<D n='1'/>"),
            edit(b'   y="2"', b"").replace(b"<D/>", b"<D n='1'/>"),
        ),
    ],
)
def test_both_are_kept(mine, theirs, merged):
    assert merge(BASE, mine, theirs, "f.xml").decode() == merged.decode()


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        (MINE_X, edit(b'x="1"', b'x="9"'), r"\[x\] of 'M/s/a' is '7' here and '9' on disk"),
        (MINE_X, edit(b' x="1"', b""), r"\[x\] of 'M/s/a' is '7' here and removed on disk"),
        (
            edit(b"<D/>", b"<D z='1'/>"),
            edit(b'<C name="c"><D/></C>', b""),
            r"'M/s/c' is changed here and removed or moved on disk",
        ),
        (
            edit(b'<C name="c"><D/></C>', b""),
            edit(b"<D/>", b"<D z='1'/>"),
            r"'M/s/c' is removed or moved here and changed on disk",
        ),
    ],
)
def test_what_cannot_be_merged_is_told(mine, theirs, said):
    with pytest.raises(LogicError, match=rf"^f\.xml has been changed on disk .*: {said}$"):
        merge(BASE, mine, theirs, "f.xml")


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_node_that_both_moved_to_different_places_is_told_and_not_doubled(wrapped):
    c = b'<C name="c"><D/></C>'
    without = edit(b"      " + c + b"\n", b"")
    before_a = b"<I>" + c + b"</I>" if wrapped else c
    mine = edit(b"<A name", before_a + b"<A name", without)
    theirs = edit(b'<B name="b"/>', c + b'<B name="b"/>', without)
    for one, other in ((mine, theirs), (theirs, mine)):
        with pytest.raises(LogicError, match="'M/s/c' is moved here and to another place on disk"):
            merge(BASE, one, other, "f.xml")
    assert merge(BASE, mine, mine, "f.xml") == mine
    elsewhere = edit(b'name="b"', b'name="b2"')
    assert merge(BASE, mine, elsewhere, "f.xml").count(b'name="c"') == 1


C = b'<C name="c"><D/></C>'
WITHOUT_C = edit(b"      " + C + b"\n", b"")


@pytest.mark.parametrize("change", [b"", b"<N/>"])
def test_a_node_that_one_moved_and_the_other_took_out_is_told(change):
    moved = edit(b"<A name", C.replace(b"<D/>", b"<D/>" + change) + b"<A name", WITHOUT_C)
    for one, other, said in (
        (moved, WITHOUT_C, "moved here and removed"),
        (WITHOUT_C, moved, "removed here and moved"),
    ):
        with pytest.raises(LogicError, match=f"'M/s/c' is {said} on disk"):
            merge(BASE, one, other, "f.xml")


def test_a_node_that_one_moved_out_of_what_both_took_out_is_told():
    inside = b'<E name="e"/>'
    base = edit(b"<D/>", inside)
    gone = edit(C, b"")
    with pytest.raises(LogicError, match="what is in 'M/s/c' is removed here and moved on disk"):
        merge(base, gone, edit(b"<A name", inside + b"<A name", gone), "f.xml")


def test_a_node_that_both_moved_and_one_changed_is_told_and_not_doubled():
    mine = edit(b"<A name", C + b"<A name", WITHOUT_C)
    theirs = edit(b"<B name", C.replace(b"<D/>", b"") + b"<B name", WITHOUT_C)
    for one, other in ((mine, theirs), (theirs, mine)):
        with pytest.raises(LogicError, match="'M/s/c' is moved here and to another place on disk"):
            merge(BASE, one, other, "f.xml")


def test_a_node_that_is_moved_beside_one_that_is_replaced_is_not_lost():
    base = b'<root><A name="a"/><A name="b"/></root>'
    mine = b'<root><A name="b"/><A name="a"/></root>'
    theirs = b'<root><Z name="z"/><A name="b"/></root>'
    assert merge(base, mine, theirs, "f.xml") == theirs
    assert merge(base, theirs, mine, "f.xml") == b'<root><A name="b"/><Z name="z"/></root>'


def test_a_node_in_the_place_of_another_is_not_that_one_with_another_name():
    base = b'<root><P><A name="a"/></P><Q><A name="b"/></Q><R/></root>'
    mine = b'<root><P/><Q><A name="b"><A name="a"/></A></Q><R/></root>'
    theirs = b'<root><P/><Q><A name="a"/></Q><R><A name="b"/></R></root>'
    for one, other in ((mine, theirs), (theirs, mine)):
        with pytest.raises(LogicError, match=r"'Q/b' is .*changed"):
            merge(base, one, other, "f.xml")


def canonical(element):
    below = tuple(canonical(child) for child in element.children)
    return element.tag, tuple(sorted(element.attributes.items())), below


STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99), st.integers(0, 99)), max_size=6)


def edited(data, steps):
    """A document after some edits."""
    editor = XmlEditor(data)
    for kind, one, other in steps:
        places = [(0,)]
        for place in places:
            places += [(*place, i) for i in range(len(editor.element(place).children))]
        place = places[one % len(places)]
        if kind == 0:
            editor.set_attribute(place, "xyz"[other % 3], str(other))
        elif kind == 1:
            editor.insert(place, 0, f"<{'ABN'[other % 3]}/>")
        elif kind == 2 and len(place) > 1:
            editor.remove(place)
        elif kind == 3:
            target = places[other % len(places)]
            if len(place) > 1 and target[: len(place)] != place:
                editor.move(place, target, 0)
    return editor.data


@settings(max_examples=150, deadline=None)
@given(STEPS, STEPS)
def test_laws_of_merging(mine_steps, their_steps):
    mine, theirs = edited(BASE, mine_steps), edited(BASE, their_steps)
    assert merge(BASE, BASE, theirs, "f") == theirs
    assert merge(BASE, mine, BASE, "f") == mine
    assert merge(BASE, mine, mine, "f") == mine
    # Also where the text of theirs has other comments, only what was meant comes in.
    noted = BASE.replace(b"kept", b"noted")
    assert canonical(parse_xml(merge(BASE, mine, noted, "f"), "f")) == canonical(
        parse_xml(mine, "f")
    )
    outcomes = []
    for one, other in ((mine, theirs), (theirs, mine)):
        try:
            merged = merge(BASE, one, other, "f")
        except LogicError:
            outcomes.append(None)
            continue
        # Nothing is taken in twice.
        assert merge(one, merged, merged, "f") == merged
        outcomes.append(sorted(_nodes(parse_xml(merged, "f"))))
    assert outcomes[0] == outcomes[1]


def _nodes(element):
    """Elements with where they stand, without their order."""
    todo = [(element, ())]
    while todo:
        each, path = todo.pop()
        here = (*path, each.tag)
        yield here, tuple(sorted(each.attributes.items()))
        todo += [(child, here) for child in each.children]
