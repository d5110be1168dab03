# SPDX-License-Identifier: Apache-2.0
"""What the packages' setup.py install."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUPS = sorted((ROOT / "src").glob("*/setup.py"))


def data_files(monkeypatch, setup):
    """Files that a setup.py installs, as it sees them in the current folder."""
    found = []
    monkeypatch.setattr("setuptools.setup", lambda **given: found.append(given))
    exec(compile(setup.read_text(encoding="utf-8"), setup, "exec"), {"__file__": str(setup)})
    return found[0]["data_files"]


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.parent.name)
def test_links_to_files_that_are_gone_are_not_installed(tmp_path, monkeypatch, setup):
    """colcon runs it in the build folder, which keeps links to files of an older checkout."""
    (tmp_path / "setup.py").symlink_to(setup)
    for folder in ("config/stacks", "trees", "launch"):
        (tmp_path / folder).mkdir(parents=True)
        for suffix in ("yaml", "xml", "py"):
            (tmp_path / folder / f"gone.{suffix}").symlink_to(setup.parent / "gone")
    monkeypatch.chdir(tmp_path)
    files = [file for _, files in data_files(monkeypatch, tmp_path / "setup.py") for file in files]
    assert files
    assert [file for file in files if not (setup.parent / file).is_file()] == []
