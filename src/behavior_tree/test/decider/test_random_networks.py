# SPDX-License-Identifier: Apache-2.0
"""A few of the random networks of ``benchmarks/fuzz_decider_networks.py``."""

import pytest
from random_networks import compare_decisions, live, lives_on


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2))
def test_random_networks_decide_as_the_model_of_the_sweep(block):
    for seed in range(block * 40, (block + 1) * 40):
        compare_decisions(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2))
def test_whatever_happens_enters_equal_exits_and_the_path_is_one(block):
    assert sum(live(seed) for seed in range(block * 30, (block + 1) * 30)) > 20


@pytest.mark.slow
def test_random_networks_go_on_after_a_restart():
    assert sum(lives_on(seed) for seed in range(20)) > 15


def test_a_lock_that_is_set_after_a_leaf_has_halted_its_tree_is_released():
    assert live(5019767)  # found by the long run
