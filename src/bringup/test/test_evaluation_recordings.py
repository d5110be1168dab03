# SPDX-License-Identifier: Apache-2.0
"""Failed episodes keep what the stack's black box holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from behavior_msgs.msg import RecordingState
from std_srvs.srv import Trigger

from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation import stack_episodes
from behavior_bringup.evaluation.record import Episode, EpisodeRecord
from behavior_bringup.evaluation.recordings import forget_earlier, keep_recording

EPISODE = Episode(seed=7)


class BlackBox:
    """A client of a stack whose black box is busy at first, and then writes its file later."""

    def __init__(self, file: Path, *, busy: int = 0, writes: bool = True) -> None:
        self._file, self._busy, self._writes = file, busy, writes

    def call(self, kind: Any, name: str, request: Any) -> Trigger.Response:
        assert (kind, name) == (Trigger, "behavior/keep_recording")
        if self._busy:
            self._busy -= 1
            return Trigger.Response(message="it is being kept just now")
        return Trigger.Response(success=True, message=str(self._file))

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        for _ in range(3):
            if condition():
                return True
            if self._writes and not self._busy:
                self._file.write_bytes(b"recorded")
        return False


def test_it_lies_beside_the_evaluations_file(tmp_path: Path) -> None:
    box: Any = BlackBox(tmp_path / "kept.mcap", busy=1)
    folder = tmp_path / "out" / "blocks.episodes.recordings"
    assert keep_recording(box, EPISODE, folder) == "blocks.episodes.recordings/seed-7.mcap"
    assert (folder / "seed-7.mcap").read_bytes() == b"recorded"
    assert not (tmp_path / "kept.mcap").exists()


class Told:
    """A client that hears from recorders where they record."""

    def __init__(self, *files: Path) -> None:
        self._files = files
        self.listens = False

    def listen(
        self, kind: Any, topic: str, callback: Callable[[Any], None], qos: Any
    ) -> Callable[[], None]:
        assert (kind, topic) == (RecordingState, "behavior/recording")
        self.listens = True
        for file in self._files:
            callback(RecordingState(file=str(file)))
        return self._end

    def _end(self) -> None:
        self.listens = False

    def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        return condition()


def test_what_earlier_evaluations_left_is_in_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"segment-{begun:020d}.mcap" for begun in (3, 5, 8)]
    taken, own = (
        tmp_path / "behavior" / "recordings" / f"black_box_7{each}" for each in ("", "-2")
    )
    for ring in (taken, own):
        ring.mkdir(parents=True)
        for name in names:
            (ring / name).touch()
    client: Any = Told(tmp_path / "all.mcap", own)
    forget_earlier(client, 5)
    assert sorted(each.name for each in own.iterdir()) == names[1:]
    assert sorted(each.name for each in taken.iterdir()) == names, "it is another's"

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(BringupError, match="Read-only file system"):
        forget_earlier(client, 9)
    silent: Any = Told()
    forget_earlier(silent, 9)
    assert "No black box tells of itself" in capsys.readouterr().out
    assert not client.listens
    assert not silent.listens


def test_variants_of_one_seed_have_files_of_their_own(tmp_path: Path) -> None:
    box: Any = BlackBox(tmp_path / "kept.mcap")
    episode = Episode(seed=7, variant="mass=0.3")
    assert keep_recording(box, episode, tmp_path / "r") == "r/mass=0.3-seed-7.mcap"


@pytest.mark.parametrize(
    ("box", "sentence"),
    [({"busy": 9}, "is being kept just now"), ({"writes": False}, "was not there after")],
)
def test_what_cannot_be_kept_is_told(box: Any, sentence: str, tmp_path: Path) -> None:
    client: Any = BlackBox(tmp_path / "kept.mcap", **box)
    with pytest.raises(BringupError, match=sentence):
        keep_recording(client, EPISODE, tmp_path / "r")


def test_an_episode_counts_without_its_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = EpisodeRecord(
        seed=7, outcome="failure", reason="it fell", sim_time_s=1.0, wall_time_s=1.0
    )
    client: Any = BlackBox(tmp_path / "kept.mcap", writes=False)
    assert stack_episodes.with_recording(client, EPISODE, record, tmp_path) == record
    assert "was not there after" in " ".join(capsys.readouterr().out.split())
