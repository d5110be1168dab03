# SPDX-License-Identifier: Apache-2.0
"""Wildcards in the filters of substitution rules: the scenario of gtest_match.cpp."""

import pytest

from behavior_tree.xml.substitution import matching_rule


@pytest.mark.upstream("gtest_match.cpp", "Match.Match")
@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        *(("*/grasp", True), ("*ar*gra*", True), ("arm?grasp", True), ("arm*", True)),
        *(("arm*gra", False), ("rm*grasp", False), ("arm??grasp", False)),
    ],
)
def test_wildcards_match_the_whole_path(pattern, matches):
    found = matching_rule({pattern: "Other"}, "Type", "name", "arm/grasp")
    assert (found == "Other") is matches
