# SPDX-License-Identifier: Apache-2.0
"""Bins are stacked whatever fails meanwhile, with the whole stack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from behavior_bringup.cli import main
from behavior_ros.testing import own_domain


@pytest.mark.timeout(300)
def test_bins_are_stacked_though_everything_fails_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain()))
    file = tmp_path / "report.json"
    arguments = ("stack_bins", "--bins", "2", "--disturb", "--speed", "3", "--json", str(file))
    main(["evaluate", *arguments])
    (record,) = json.loads(file.read_text(encoding="utf-8"))["records"]
    assert record["outcome"] == "success", record
    assert record["not_disturbed"] == [], record
    told = "\n".join(record["disturbances"])
    for what in ("conveyor jams", "knocked over", "goes blind", "is silent", "pump stops"):
        assert what in told, record
    assert told.count("works again") == 4, record
