# SPDX-License-Identifier: Apache-2.0
"""pytest plugin: collects ``NAME.test.yaml`` beside ``NAME.xml``, and gives tests `tree_runner`.

Installed with the package, so ``pytest`` knows it. In ``pytest.ini`` or the like::

    [pytest]
    tree_nodes = my_jobs.nodes:register   # functions that register node types, one a line
    tree_threshold = 90                   # percent of branches, else the run fails

What processes of pytest-xdist have run counts together. Whatever the plugin needs is imported when
there is something to do: it costs other tests nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from behavior_tree.testing.case_file import Case
    from behavior_tree.testing.case_run import FileRun
    from behavior_tree.testing.coverage import Coverage
    from behavior_tree.testing.tree_under_test import MakeFactory, TreeUnderTest

_SUFFIX = ".test.yaml"
_DATA = "behavior_tree.testing.coverage"
"""Under which a process of pytest-xdist hands its coverage on."""
_COVERAGE = pytest.StashKey["Coverage"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("behavior trees")
    group.addoption("--tree-coverage", action="store_true", help="what of the trees was run")
    group.addoption("--tree-html", type=Path, metavar="FILE", help="coverage of trees as a page")
    parser.addini("tree_nodes", "functions that register node types", "linelist", default=[])
    parser.addini("tree_threshold", "least coverage of branches of trees [%]", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Tell of wrong options before anything runs."""
    _threshold(config)
    page = config.getoption("--tree-html")
    if page is not None and (page.is_dir() or not page.parent.is_dir()):
        raise pytest.UsageError(f"--tree-html {page}: name a file in a folder that is there")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a case file."""
    if not file_path.name.endswith(_SUFFIX):
        return None
    collector: pytest.Collector = _CasesOfFile.from_parent(parent, path=file_path)
    return collector


class CaseFailedError(Exception):
    """A case that failed, with what is told of it."""


class _CasesOfFile(pytest.File):
    """The cases of a file."""

    def collect(self) -> Iterator[pytest.Item]:
        from behavior_tree.errors import BehaviorTreeError, LoadError
        from behavior_tree.testing.case_file import read_case_file
        from behavior_tree.testing.case_run import FileRun

        try:
            cases = read_case_file(self.path)
            runs = FileRun(cases, make=_maker(self.config), coverage=_coverage(self.config))
        except LoadError as error:
            raise self.CollectError("\n".join(map(str, error.problems))) from error
        except BehaviorTreeError as error:  # of a function of `tree_nodes`
            raise self.CollectError(str(error)) from error
        for case in cases.cases:
            yield _CaseItem.from_parent(self, name=case.name, case=case, runs=runs)


class _CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, runs: FileRun, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._case = case
        self._runs = runs

    def runtest(self) -> None:
        """Run it."""
        result = self._runs.run(self._case)
        for note in result.notes:
            self.add_report_section("call", "note", note)
        if result.failures:
            story = [] if result.run is None else [str(result.run)]
            raise CaseFailedError("\n".join([*result.failures, *story]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is told of a failure: no Python, since the case has none."""
        if isinstance(excinfo.value, CaseFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """File, line from 0, name."""
        return self.path, max(self._case.part.line - 1, 0), self.name


class TreeRunner:
    """What the fixture `tree_runner` is: called with a tree's file, it gives a `TreeUnderTest`."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def __call__(
        self, file: str | Path, tree: str | None = None, *, make: MakeFactory | None = None
    ) -> TreeUnderTest:
        """Make one; its runs count for the coverage.

        Args:
            file: of the tree; a relative path counts from the folder of pytest's configuration
            tree: ID; None: the main one
            make: makes the factory, for nodes of one's own
        """
        from behavior_tree.testing.tree_under_test import TreeUnderTest

        path = self._config.rootpath / file
        return TreeUnderTest(
            path, tree, make=make or _maker(self._config), coverage=_coverage(self._config)
        )


@pytest.fixture
def tree_runner(request: pytest.FixtureRequest) -> TreeRunner:
    """Runs trees on a simulated clock::

    def test_a_failed_pick_is_repeated(tree_runner):
        run = tree_runner("trees/bring.xml").run({"pick": ["FAILURE", "SUCCESS"]})
        assert run.begun("pick") == 2
    """
    return TreeRunner(request.config)


def _maker(config: pytest.Config) -> MakeFactory:
    from behavior_tree.stand_ins import make_factory

    names = config.getini("tree_nodes")
    return lambda file, clock: make_factory((file,), names, clock=clock)


def _coverage(config: pytest.Config) -> Coverage:
    from behavior_tree.testing.coverage import Coverage

    if _COVERAGE not in config.stash:
        config.stash[_COVERAGE] = Coverage()
    return config.stash[_COVERAGE]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell of the coverage."""
    coverage = config.stash.get(_COVERAGE, None)
    if coverage is None:
        return
    from behavior_tree.testing.report_page import coverage_page
    from behavior_tree.testing.reports import coverage_table

    if config.getoption("--tree-coverage"):
        terminalreporter.section("coverage of trees")
        for line in coverage_table(coverage):
            terminalreporter.line(line)
    page = config.getoption("--tree-html")
    if page is not None:
        page.write_text(coverage_page(coverage), encoding="utf-8")
    if _below(config):
        branches = coverage.ratio("branches")
        threshold = f"{_threshold(config):g} %"
        terminalreporter.line(f"coverage of branches of trees is {branches}, below {threshold}")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take in what a process of pytest-xdist has run."""
    data = getattr(node, "workeroutput", {}).get(_DATA)
    if data is not None:
        _coverage(node.config).add_data(data)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail if too little was run; a process of pytest-xdist only hands on what it ran."""
    config = session.config
    output, coverage = getattr(config, "workeroutput", None), config.stash.get(_COVERAGE, None)
    if output is not None and coverage is not None:
        output[_DATA] = coverage.data()
    elif exitstatus == pytest.ExitCode.OK and _below(config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _below(config: pytest.Config) -> bool:
    coverage, threshold = config.stash.get(_COVERAGE, None), _threshold(config)
    return coverage is not None and coverage.ratio("branches").percent < threshold


def _threshold(config: pytest.Config) -> float:
    """Least coverage [%]; 0: any will do."""
    text = config.getini("tree_threshold")
    try:
        value = float(text or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise pytest.UsageError(f"tree_threshold = {text}: write a percentage from 0 to 100")
    return value
