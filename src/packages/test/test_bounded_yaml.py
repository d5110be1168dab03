# SPDX-License-Identifier: Apache-2.0
"""YAML that stands for more than it looks, or for what cannot be, is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from behavior_packages import read_manifest
from behavior_packages.bounded_yaml import DEEPEST, MOST_REPEATED, compose_yaml, read_yaml
from behavior_packages.extended_file import FileError, read_extended


def bomb(line: str) -> str:
    """Nine lines, each of which names the one before ten times: 10^9 values."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{i}: &a{i} {line.format(', '.join([f'*a{i - 1}'] * 10))}" for i in range(1, 10)]
    return "\n".join(lines)


REFUSED = {
    bomb("[{}]"): r"aliases such as \*a4 stand for more than 100000 values",
    bomb("[{}]")
    .replace("a0: &a0 [x]", "a0: &a0 {x: 1}")
    .replace("[", "{<<: [")
    .replace("]", "]}"): ("aliases such as"),
    "a: &a [*a]": r"\*a stands within itself",
    "[" * 3000 + "]" * 3000: "more than 100 deep",
    "a:\n  - 2024-13-45": "month must be in 1..12; write texts in quotes",
    "a: !!int x": "a date or number cannot be",
    "a: !!float x": "a date or number cannot be",
    "a: [": "expected the node content",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_read_is_told_with_its_line(text: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError, match=REFUSED[text]) as error:
        read_yaml(text)
    assert error.value.problem_mark is not None


def test_aliases_are_read_up_to_the_limit() -> None:
    values = "[" + "x, " * 999 + "]"
    read = read_yaml(f"a: &a {values}\nb: [{'*a, ' * (MOST_REPEATED // 1000)}]")
    assert len(read["b"]) == MOST_REPEATED // 1000
    assert compose_yaml("") is None
    deep = DEEPEST
    assert read_yaml("[" * deep + "]" * deep) is not None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_what_is_within_the_limits_is_read_as_ever(value: object) -> None:
    text = yaml.safe_dump([value, value])  # written with an alias
    assert read_yaml(text) == yaml.safe_load(text)


def test_files_of_packages_are_read_within_the_limits(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for text, why in REFUSED.items():
        file.write_text(text)
        with pytest.raises(FileError, match=rf"a\.yaml: is not YAML: .*{why}"):
            read_extended(file, "worlds")
    file.write_text(bomb("[{}]"))
    (problem,) = read_manifest("x", file).problems
    assert "a.yaml:6: is not YAML: aliases such as *a4" in problem
