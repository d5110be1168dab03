# SPDX-License-Identifier: Apache-2.0
"""Recordings as CSV, and what is wrong with others."""

import numpy as np
import pytest

from behavior_skills.arm.recordings import RecordingError, read_recording

JOINTS = ("a", "b")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.csv").write_text(
        "finger, b, time, a\n0, 1.0, 5.0, 0.0\n\n0, 1.5, 5.5, 0.1\n0, 2.0, 6.0, 0.2\n"
    )
    return tmp_path


def test_columns_are_found_by_name_and_times_start_at_zero(folder):
    recording = read_recording(str(folder), "good.csv", JOINTS)
    assert recording.duration == 1.0
    assert np.allclose(recording.positions, [[0.0, 1.0], [0.1, 1.5], [0.2, 2.0]])
    assert np.allclose(recording.velocities, [[0, 0], [0.2, 1.0], [0, 0]])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "columns time, a, b are missing"),
        ("time,a\n0,1\n1,2\n", "columns b are missing"),
        ("time,a,b\n0,1,2\n", "two lines"),
        ("time,a,b\n0,1,2\n1,x,2\n", "line 3"),
        ("time,a,b\n0,1,2\n1,2\n", "line 3"),
        ("time,a,b\n0,1,2\n0,1,2\n", "rise"),
        ("time,a,b\n0,1,2\n1,nan,2\n", "finite"),
    ],
)
def test_what_is_no_recording(folder, text, why):
    (folder / "bad.csv").write_text(text)
    with pytest.raises(RecordingError, match=why):
        read_recording(str(folder), "bad.csv", JOINTS)


def test_names_that_are_no_files(folder):
    for name in ("../good.csv", "", "none.csv"):
        with pytest.raises(RecordingError):
            read_recording(str(folder), name, JOINTS)
    with pytest.raises(RecordingError, match="recording_directory"):
        read_recording("", "good.csv", JOINTS)


def test_bytes_that_are_no_text(folder):
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordingError, match="cannot be read"):
        read_recording(str(folder), "binary.csv", JOINTS)
