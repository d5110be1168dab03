# SPDX-License-Identifier: Apache-2.0
"""Wildcards in the filters of substitution rules: the scenario of gtest_match.cpp."""

import pytest

from behavior_tree.substitution import matching_rule


@pytest.mark.upstream("gtest_match.cpp", "Match.Match")
@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        *(("*/suffix", True), ("*pre*suff*", True), ("prefix?suffix", True), ("pre*", True)),
        *(("pre*fi", False), ("re*fix", False), ("prefix??suffix", False)),
    ],
)
def test_wildcards_match_the_whole_path(pattern, matches):
    found = matching_rule({pattern: "Other"}, "Type", "name", "prefix/suffix")
    assert (found == "Other") is matches
