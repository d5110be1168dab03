# SPDX-License-Identifier: Apache-2.0
"""Random trees give the same on this engine (compat 4.8) and on the real BehaviorTree.CPP 4.8.2."""

import pytest

pytest.importorskip("behaviortreepy")

from conformance_kit import Generator, difference

BLOCK = 50


@pytest.mark.parametrize("block", range(6))
def test_random_trees_agree_with_upstream(block):
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        case = Generator(seed).case()
        found = difference(case)
        assert found is None, f"seed {seed}: {found}\n{case.xml}"


def test_status_transitions_agree_with_upstream():
    for seed in range(900, 925):
        case = Generator(seed).case()
        found = difference(case, transitions=True)
        assert found is None, f"seed {seed}: {found}\n{case.xml}"
