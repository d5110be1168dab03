# SPDX-License-Identifier: Apache-2.0
"""Values of entries and their casts: the scenarios of gtest_any.cpp."""

from functools import partial

import pytest

from behavior_tree import Blackboard, ConversionError, TypeRegistry, Unsigned

covers = partial(pytest.mark.upstream, "gtest_any.cpp")


@covers("Any.Empty")
def test_entry_without_a_value():
    board = Blackboard.create()
    entry = board.create_entry("k", int)
    assert entry.value is None
    assert "k" not in board
    board.set("k", 0)
    assert "k" in board


@covers("Any.IsType")
@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, bool), (17, int), (Unsigned(17), Unsigned), (17.5, float), ("seventeen", str)],
)
def test_entry_has_exactly_the_type_of_its_first_value(value, kind):
    board = Blackboard.create()
    board.create_entry("k", kind)
    board.set("k", value)
    assert board.entry("k").type is kind
    assert type(board.get("k")) is kind


FAILS = "fails"
CASTS = [
    # value, as bool, int, float, str
    (True, True, 1, 1.0, "1"),
    (False, False, 0, 0.0, "0"),
    (17, FAILS, 17, 17.0, "17"),
    (-18, FAILS, -18, -18.0, "-18"),
    (0, False, 0, 0.0, "0"),
    (1, True, 1, 1.0, "1"),
    (Unsigned(19), FAILS, 19, 19.0, "19"),
    (Unsigned(1), True, 1, 1.0, "1"),
    (20.0, True, 20, 20.0, "20.000000"),
    (20.25, True, FAILS, 20.25, "20.250000"),
    (-21.0, True, -21, -21.0, "-21.000000"),
    (0.0, False, 0, 0.0, "0.000000"),
    ("seven", FAILS, FAILS, FAILS, "seven"),
    ("0", False, 0, 0.0, "0"),
    ("23", FAILS, 23, 23.0, "23"),
]


@covers("Any.Cast")
@pytest.mark.parametrize("case", CASTS, ids=lambda case: repr(case[0]))
def test_casts_lose_nothing(case):
    """Texts become bools here, as the ports' converters do; upstream's ``Any`` refuses them."""
    types = TypeRegistry()
    value, *results = case
    for kind, wanted in zip((bool, int, float, str), results, strict=True):
        if wanted is FAILS:
            with pytest.raises(ConversionError):
                types.cast(value, kind)
        else:
            assert types.cast(value, kind) == wanted
            assert type(types.cast(value, kind)) is kind


@covers("Any.Cast")
def test_list_is_cast_to_itself():
    values = [1, 2, 3]
    assert TypeRegistry().cast(values, list[int]) is values


@covers("Any.Cast")
@pytest.mark.parametrize("text", ["23.5", "2 3"])
def test_text_that_is_no_integer(text):
    """Upstream takes the 23 of ``23.5``; so does our engine as 4.8."""
    with pytest.raises(ConversionError):
        TypeRegistry().cast(text, int)
    assert TypeRegistry(exact=True).cast("23.5", int) == 23
