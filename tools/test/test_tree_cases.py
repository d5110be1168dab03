# SPDX-License-Identifier: Apache-2.0
"""Every shipped tree has cases that pass, and they reach its branches."""

from pathlib import Path

import pytest

from behavior_tree.testing import Coverage, case_files, read_case_file, run_file
from behavior_tree.testing.case_file import trees_without_cases

REPOSITORY = Path(__file__).resolve().parents[2]
TREES = REPOSITORY / "trees"
FILES = case_files([TREES])


@pytest.mark.slow
def test_every_tree_has_cases():
    assert len(FILES) >= 23
    assert trees_without_cases([TREES], [read_case_file(file) for file in FILES]) == []


@pytest.fixture(scope="module")
def coverage():
    return Coverage()


@pytest.fixture(scope="module")
def ran():
    """Files whose cases ran in this process."""
    return set()


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_cases_pass(file, coverage, ran):
    ran.add(file)
    results = list(run_file(read_case_file(file), coverage=coverage))
    assert {each.case.name: each.failures for each in results if each.failures} == {}
    assert [note for each in results for note in each.notes] == [], "an outcome was never used"


@pytest.mark.slow
def test_more_than_90_percent_of_the_branches_are_reached(coverage, ran):
    if ran != set(FILES):
        pytest.skip("some of the cases were run elsewhere")
    assert coverage.ratio("branches").percent > 90
    assert coverage.ratio("nodes").percent == 100
