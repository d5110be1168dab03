# SPDX-License-Identifier: Apache-2.0
"""Every test gets a runtime folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Whole stacks one after the other: two with cameras starve each other."""
    return 1


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runtime"
    monkeypatch.setenv("BEHAVIOR_RUNTIME_DIR", str(folder))
    return folder
