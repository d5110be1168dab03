# SPDX-License-Identifier: Apache-2.0
"""Every test gets a runtime folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runtime"
    monkeypatch.setenv("BEHAVIOR_RUNTIME_DIR", str(folder))
    return folder
