# SPDX-License-Identifier: Apache-2.0
"""Texts from elsewhere do no harm where they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behavior_tree.shown_text import (
    LONGEST_REASON,
    has_control_characters,
    listed,
    reason_text,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünï 机器人 🙂", "plain ünï 机器人 🙂"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("one\ntwo\tthree\r", "one\\ntwo\\tthree\\r"),
        ("a\0b\x85c", "a\\x00b\\x85c"),
        ("ab\u202ecd\u2028e", "ab\\u202ecd\\u2028e"),
        ("\ud800", "\\ud800"),
    ],
)
def test_control_characters_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_what_is_shown_stays_on_its_line(text: str) -> None:
    shown = visible(text, 10_000)
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    assert visible(shown, 10_000) == shown
    assert has_control_characters(text) == (shown != text)


def test_lines_stay_in_reasons() -> None:
    assert reason_text("line 1\n\tline 2\x1b") == "line 1\n\tline 2\\x1b"


def test_long_texts_are_shortened_and_say_so() -> None:
    assert visible("x" * 1_200_000).endswith("... (1200000 characters)")
    assert len(visible("x" * 1_200_000)) < 200
    assert len(reason_text("y" * 1_200_000)) <= LONGEST_REASON


def test_of_many_problems_the_first_are_told() -> None:
    assert listed(["a", "b"]) == "a; b"
    assert listed([str(i) for i in range(12)]) == "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; and 2 more"
