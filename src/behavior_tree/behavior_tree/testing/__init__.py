# SPDX-License-Identifier: Apache-2.0
"""Tests for trees: outcomes of leaves are injected, time is simulated, faults are explored.

Cases beside a tree need no Python (``behavior tree test trees/``); in Python::

    from behavior_tree.testing import TreeUnderTest

    def test_a_failed_pick_is_repeated():
        run = TreeUnderTest("trees/bring.xml").run({"pick": ["FAILURE", "SUCCESS"]})
        assert run.status == "SUCCESS"
        assert run.begun("pick") == 2

Leaves whose program is not here are stand-ins (`behavior_tree.placeholders`); every other node
becomes one by being given an outcome. docs/tree_tests.md explains the rest.
"""

from behavior_tree.testing.case_file import Case, CaseFile, case_files, read_case_file
from behavior_tree.testing.case_run import CaseResult, FileRun, run_file
from behavior_tree.testing.clock import SimulatedClock
from behavior_tree.testing.coverage import METRICS, Coverage, NodeCoverage, Ratio
from behavior_tree.testing.exploration import Exploration, Explored, TooManyError, explore
from behavior_tree.testing.outcomes import Outcome, OutcomeRule, Turns, read_rules
from behavior_tree.testing.parts import Part, read_yaml
from behavior_tree.testing.plan import Attempt, Fault
from behavior_tree.testing.tree_under_test import Run, TimedEvent, TreeUnderTest

__all__ = [
    "METRICS",
    "Attempt",
    "Case",
    "CaseFile",
    "CaseResult",
    "Coverage",
    "Exploration",
    "Explored",
    "Fault",
    "FileRun",
    "NodeCoverage",
    "Outcome",
    "OutcomeRule",
    "Part",
    "Ratio",
    "Run",
    "SimulatedClock",
    "TimedEvent",
    "TooManyError",
    "TreeUnderTest",
    "Turns",
    "case_files",
    "explore",
    "read_case_file",
    "read_rules",
    "read_yaml",
    "run_file",
]
