# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON from outside: hostile texts cost little and are refused in plain words."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_ros.messages.sent_text import SentTextError, read_json, read_yaml

LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"
PER_REFUSAL = 0.015
"""[s] of processor time: three times what is promised, as on a busy machine with shared caches."""


def least_time(work, times=5):
    """Processor time [s] of the fastest of some runs: others use the processor's caches too."""
    found = []
    for _ in range(times):
        begun = time.thread_time()
        work()
        found.append(time.thread_time() - begun)
    return min(found)


def refusal(read, text):
    with pytest.raises(SentTextError) as caught:
        read(text, "definition")
    return str(caught.value)


HOSTILE = {
    "ten megabytes": ("a: 1\n" * 2_000_000, "definition has 10000000 characters: at most 8192"),
    "lists in each other": ("[" * 8_000, "nested more than 20 levels"),
    "mappings in each other": ("{a: " * 2_000, "nested more than 20 levels"),
    "blocks in each other": ("- " * 4_000, "nested more than 20 levels"),
    "aliases": (LAUGHS, "has YAML aliases (*a)"),
    "many values": ("[" + "1," * 4_000 + "]", "more than 500 keys and values"),
    "control characters": ('a: "\\x1b[2J"', r"control characters: '\x1b[2J'"),
    "a date that is none": ("a: 2024-99-99", "a date or number in it cannot be"),
    "a date": ("a: 2024-01-01", "write it as a text, in quotes"),
    "a huge whole number": (f"a: {'9' * 4_000}", "more than 64 bits"),
    "more digits than Python reads": (f"a: {'9' * 8_000}", "a date or number in it cannot be"),
    "an empty whole number": ("a: !!int ''", "no valid YAML"),
    "no truth value": ("a: !!bool x", "no valid YAML"),
    "no date": ("a: !!timestamp x", "no valid YAML"),
    "a tag": ("a: !!python/object/apply:os.system [ls]", "no valid YAML"),
    "a list as a key": ("{[a]: b}", "no valid YAML"),
    "no YAML": ("a: [", "no valid YAML: line "),
    "a null character": ("a: \0", "no valid YAML"),
    "a surrogate": ("a: \ud800", "no valid YAML"),
}


@pytest.mark.parametrize(("text", "why"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_yaml_is_refused_soon_and_in_one_sentence(text, why):
    said = refusal(read_yaml, text)
    assert why in said
    assert len(said) < 500
    assert said.isprintable()
    assert least_time(lambda: refusal(read_yaml, text)) < PER_REFUSAL


def test_yaml_of_specifications_is_read():
    assert read_yaml("cup: {class: mug, where: 'x > 1', n: [1, 2.5, true, null]}", "it") == {
        "cup": {"class": "mug", "where": "x > 1", "n": [1, 2.5, True, None]}
    }
    assert read_yaml("", "it") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 60_000, "nested more than 20 levels"),
        ("[" * 30 + "]" * 30, "nested more than 20 levels"),
        ("[" * 100_000, "100000 characters: at most 65536"),
        ('{"a": }', "no valid JSON: line 1, column 7"),
        ("9" * 5_000, "too many digits"),
        ("9" * 400, "more than 64 bits"),
        ('"\\u001b"', r"control characters: '\x1b'"),
    ],
    ids=["deep", "a little deep", "long", "syntax", "digits", "bits", "control characters"],
)
def test_hostile_json_is_refused_soon_and_in_one_sentence(text, why):
    said = refusal(read_json, text)
    assert why in said
    assert len(said) < 500
    assert least_time(lambda: refusal(read_json, text)) < PER_REFUSAL


@settings(max_examples=200, deadline=None)
@given(st.text("[]{}:,-?&*!|>'\"#%@\\ \nab10.e\0\x1b\ud800", max_size=200))
def test_any_text_is_read_or_refused(text):
    for read in (read_yaml, read_json):
        said = ""
        try:
            read(text, "definition")
        except SentTextError as error:
            said = str(error)
        assert len(said) < 500
        assert said.isprintable()
