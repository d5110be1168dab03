# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.stacks.environment import choose_domain
from behavior_bringup.stacks.paths import journal_file, runtime_dir
from behavior_packages.folders import own_missions
from behavior_ros.process.domains import DOMAINS

ROOT = Path(__file__).parents[3]


def test_a_domain_that_the_user_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "55")
    assert choose_domain() == 55
    monkeypatch.setenv("ROS_DOMAIN_ID", "many")
    with pytest.raises(UsageError, match="ROS_DOMAIN_ID"):
        choose_domain()


def test_other_stacks_domains_are_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    monkeypatch.setattr("behavior_ros.process.domains.used_domains", lambda: set())
    assert choose_domain(taken=set(DOMAINS) - {33}) == 33
    with pytest.raises(BringupError, match="All ROS domains"):
        choose_domain(taken=DOMAINS)


def test_the_share_folder_holds_configuration() -> None:
    assert (ROOT / "config" / "stacks" / "block_stacking.yaml").is_file()


def test_the_runtime_folder_is_private(runtime: Path) -> None:
    assert runtime_dir() == runtime
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700


def test_the_journal_lies_where_state_belongs(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert journal_file("robot", "door") == runtime / "robot" / "door.journal"
    monkeypatch.delenv("BEHAVIOR_RUNTIME_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert journal_file("robot", "door") == tmp_path / "state" / "behavior/robot/door.journal"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert journal_file("robot", "door") == tmp_path / ".local/state/behavior/robot/door.journal"


def test_missions_of_one_s_own_lie_where_data_belongs(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert own_missions() == runtime / "own_missions"
    monkeypatch.delenv("BEHAVIOR_RUNTIME_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert own_missions() == tmp_path / "data/behavior/missions"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert own_missions() == tmp_path / ".local/share/behavior/missions"


def test_an_unusable_runtime_folder_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    monkeypatch.setenv("BEHAVIOR_RUNTIME_DIR", str(blocker / "x"))
    with pytest.raises(BringupError, match="BEHAVIOR_RUNTIME_DIR"):
        runtime_dir()
    if os.getuid() == 0:
        foreign = tmp_path / "foreign"
        foreign.mkdir()
        os.chown(foreign, 12345, 12345)
        monkeypatch.setenv("BEHAVIOR_RUNTIME_DIR", str(foreign))
        with pytest.raises(BringupError, match="belongs to user 12345"):
            runtime_dir()
