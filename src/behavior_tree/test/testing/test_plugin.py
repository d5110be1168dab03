# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: case files are collected, Python tests get a runner."""

from __future__ import annotations

import json
from importlib.metadata import entry_points

import pytest

from behavior_tree.testing import Coverage, TreeUnderTest

pytest_plugins = ["pytester"]

TREE = """<root BTCPP_format="4"><BehaviorTree ID="go">
  <RetryUntilSuccessful num_attempts="2"><Own name="own"/></RetryUntilSuccessful>
</BehaviorTree></root>"""
CASES = """cases:
  goes well:
    explore: {faults: 1, status: SUCCESS}
  fails at last:
    outcomes: {own: FAILURE}
    expect: FAILURE
"""


@pytest.fixture
def package(pytester):
    pytester.makefile(".xml", go=TREE)
    pytester.makefile(".test.yaml", go=CASES)
    return pytester


def run(package, *arguments):
    known = {point.name for point in entry_points(group="pytest11")}
    plugin = [] if "behavior_tree" in known else ["-p", "behavior_tree.testing.plugin"]
    return package.inline_run(*plugin, "-p", "no:cacheprovider", *arguments)


def test_cases_are_tests(package):
    run(package).assertoutcome(passed=2)


def test_a_case_that_fails_tells_its_story_without_python(package, capsys):
    package.makefile(".test.yaml", go=CASES.replace("expect: FAILURE", "expect: SUCCESS"))
    run(package).assertoutcome(passed=1, failed=1)
    told = capsys.readouterr().out
    assert "go.test.yaml:6: ended FAILURE, expected SUCCESS" in told
    assert "own FAILURE" in told
    assert "Traceback" not in told


def test_a_wrong_case_file_is_an_error_with_its_line(package, capsys):
    package.makefile(".test.yaml", go="cases:\n  a: {expct: SUCCESS}\n")
    run(package)
    assert "go.test.yaml:2:1: [case 'a': expct] unknown key" in capsys.readouterr().out


def test_python_tests_run_trees(package):
    package.makepyfile(
        """
        def test_again(tree_runner):
            done = tree_runner("go.xml").run({"own": ["FAILURE", "SUCCESS"]})
            assert (done.status, done.begun("own")) == ("SUCCESS", 2)
        """
    )
    run(package).assertoutcome(passed=3)


def test_programs_of_the_package_are_registered(package):
    package.makepyfile(
        my_nodes="""
        from behavior_tree import NodeStatus

        def register(factory):
            factory.register_simple_action("Own", lambda node: NodeStatus.FAILURE)
        """
    )
    package.makeini("[pytest]\ntree_nodes = my_nodes:register\n")
    package.syspathinsert()
    run(package).assertoutcome(passed=1, failed=1)


@pytest.mark.parametrize(
    ("ini", "arguments", "text"),
    [
        ("tree_threshold = much", (), "tree_threshold = much: write a percentage"),
        ("tree_threshold = nan", (), "tree_threshold = nan: write a percentage"),
        ("", ("--tree-html", "no/page.html"), "--tree-html no/page.html: name a file"),
    ],
)
def test_wrong_options_are_told_before_anything_runs(package, capsys, ini, arguments, text):
    package.makeini(f"[pytest]\n{ini}\n")
    assert run(package, *arguments).ret == pytest.ExitCode.USAGE_ERROR
    told = capsys.readouterr()
    assert text in told.err + told.out


def test_a_function_that_cannot_register_nodes_is_told(package, capsys):
    package.makeini("[pytest]\ntree_nodes = no_such_module:register\n")
    run(package)
    told = capsys.readouterr().out
    assert "--register no_such_module:register: ModuleNotFoundError" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_the_threshold_counts_what_processes_of_xdist_ran(package, capsys):
    pytest.importorskip("xdist")
    package.makefile(".test.yaml", go="cases: {goes well: }\n")
    package.makeini("[pytest]\ntree_threshold = 60\n")
    assert run(package, "-n", "1").ret == pytest.ExitCode.TESTS_FAILED
    assert "branches of trees is 50.0 % (1/2), below 60 %" in capsys.readouterr().out


def test_coverage_of_several_processes_counts_together(package):
    parts = []
    for outcome in ("SUCCESS", "FAILURE", "FAILURE"):
        parts.append(Coverage())
        TreeUnderTest(package.path / "go.xml", coverage=parts[-1]).run({"own": outcome})
    whole = Coverage()
    for part in parts:
        whole.add_data(json.loads(json.dumps(part.data())))
    assert str(whole.ratio("branches")) == "100.0 % (2/2)"
    (own,) = [node for node in whole.nodes.values() if node.name == "own"]
    assert own.results == {"SUCCESS": 1, "FAILURE": 4}


def test_coverage_and_its_threshold(package, capsys):
    run(package, "--tree-coverage", "--tree-html", "page.html")
    told = capsys.readouterr().out
    assert "coverage of trees" in told
    assert "100.0 % (2/2)" in told
    assert "own" in (package.path / "page.html").read_text()
    package.makeini("[pytest]\ntree_threshold = 80\n")
    assert run(package).ret == 0
    package.makefile(".test.yaml", go="cases: {goes well: }\n")
    assert run(package).ret == pytest.ExitCode.TESTS_FAILED
    assert "coverage of branches of trees is 50.0 % (1/2), below 80 %" in capsys.readouterr().out
