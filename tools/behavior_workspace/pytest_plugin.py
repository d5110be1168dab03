# SPDX-License-Identifier: Apache-2.0
"""What every package's tests share: `--fast`, the marker `slow`, and how hypothesis draws.

With `--fast` a test that starts a process or makes a ROS node skips itself at that moment, and
tests marked `slow` are left out; of a property few examples are drawn. So nobody has to keep a
list, and what is left needs nothing but this process.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import logging
import multiprocessing.process
import os
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

from behavior_packages.interpreter import enter

_LEFT_OUT = pytest.StashKey[str]()
"""Why a test was left out by `--fast`."""


class _LeftOut(pytest.skip.Exception, SystemExit):  # type: ignore[name-defined, misc]
    """Skips the test from a task of asyncio too, which else keeps what it raises to itself: a loop
    is ended by this one, and the test does not wait for what will not come.
    """


MOST_EXAMPLES = 10
"""That `--fast` draws for a property; `make test` draws them all."""

settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.register_profile("fast", settings.get_profile("suite"), max_examples=MOST_EXAMPLES)
settings.register_profile("fuzz", derandomize=False, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast`, in the Python that the tests need: `colcon test` takes the distribution's."""
    manifest = Path("package.xml")
    if manifest.is_file() and "behavior_" in manifest.read_text(encoding="utf-8"):
        enter()
    parser.addoption(
        "--fast",
        action="store_true",
        help="leave out tests that start processes, need a ROS graph or are marked slow",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples in every run, unless another profile is asked for.

    The options of this run, which colcon leaves in the environment, are not those of a pytest that
    a test starts.
    """
    if not _distributes(config):
        os.environ.pop("PYTEST_ADDOPTS", None)
    config.addinivalue_line("markers", "slow: computes for a third of a second; left out by --fast")
    fast = config.getoption("--fast")
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile("fast" if fast else "suite")
    if fast:
        _read_no_sources()
        logging.getLogger("asyncio").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a task ended by something else than that its test was left out."""
    return not (record.exc_info and isinstance(record.exc_info[1], _LeftOut))


def _read_no_sources() -> None:
    """Let hypothesis draw without the constants of our code: to find them it parses the source of
    every module that is imported, which takes a package's tests seconds.
    """
    with contextlib.suppress(ImportError):  # hypothesis of Ubuntu 24.04 reads none
        from hypothesis.internal.conjecture import providers

        vars(providers)["_get_local_constants"] = lambda: providers._local_constants


def _distributes(config: pytest.Config) -> bool:
    """Whether the tests run in other processes, which take their options from the environment."""
    return bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run two test files beside each other: most of their time is waiting."""
    return 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow ones out."""
    if not config.getoption("--fast"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
    if not config.getoption("--hypothesis-profile", None):
        for item in items:
            _draw_fewer(item)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let nobody search again for garbage in what was imported and collected."""
    if session.config.getoption("--fast"):
        gc.freeze()


def _draw_fewer(item: pytest.Item) -> None:
    """Let a property that says itself how many examples it draws draw fewer."""
    for owner, name in (
        (getattr(item, "obj", None), "_hypothesis_internal_use_settings"),
        (getattr(item, "cls", None), "settings"),  # of a state machine
    ):
        own = getattr(owner, name, None)
        if isinstance(own, settings) and own.max_examples > MOST_EXAMPLES:
            setattr(owner, name, settings(own, max_examples=MOST_EXAMPLES))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep processes and nodes from a fast test, from its fixtures to its end."""
    if not item.config.getoption("--fast"):
        return (yield)

    def leave_out(reason: str) -> NoReturn:
        item.stash[_LEFT_OUT] = reason
        raise _LeftOut(reason)

    def no_process(*_: object, **__: object) -> NoReturn:
        leave_out("starts a process")

    def no_node(*_: object, **__: object) -> NoReturn:
        leave_out("needs a ROS graph")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", no_process)
        patch.setattr(multiprocessing.process.BaseProcess, "start", no_process)
        patch.setattr(os, "fork", no_process)
        if importlib.util.find_spec("rclpy") is not None:
            import rclpy
            from rclpy.node import Node

            def init(
                *arguments: object, _init: Callable[..., None] = rclpy.init, **named: object
            ) -> None:
                # A test that was left out may have begun what it then could not end.
                if named.get("context") is not None or not rclpy.ok():
                    _init(*arguments, **named)

            patch.setattr(rclpy, "init", init)
            patch.setattr(Node, "__init__", no_node)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that was left out is skipped, whatever its fixtures say about being half made."""
    report = yield
    if report.failed and (reason := item.stash.get(_LEFT_OUT, "")):
        file, line, _ = item.location
        report.outcome = "skipped"
        report.longrepr = (file, line or 0, reason)
    return report
