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
    [(True, bool), (42, int), (Unsigned(42), Unsigned), (42.0, float), ("forty-two", str)],
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
    (42, FAILS, 42, 42.0, "42"),
    (-43, FAILS, -43, -43.0, "-43"),
    (0, False, 0, 0.0, "0"),
    (1, True, 1, 1.0, "1"),
    (Unsigned(43), FAILS, 43, 43.0, "43"),
    (Unsigned(1), True, 1, 1.0, "1"),
    (44.0, True, 44, 44.0, "44.000000"),
    (44.1, True, FAILS, 44.1, "44.100000"),
    (-45.0, True, -45, -45.0, "-45.000000"),
    (0.0, False, 0, 0.0, "0.000000"),
    ("fifty", FAILS, FAILS, FAILS, "fifty"),
    ("0", False, 0, 0.0, "0"),
    ("51", FAILS, 51, 51.0, "51"),
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
@pytest.mark.parametrize("text", ["51.1", "5 1"])
def test_text_that_is_no_integer(text):
    """Upstream takes the 51 of ``51.1``; so does our engine as 4.8."""
    with pytest.raises(ConversionError):
        TypeRegistry().cast(text, int)
    assert TypeRegistry(exact=True).cast("51.1", int) == 51
