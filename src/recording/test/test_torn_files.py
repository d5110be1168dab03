# SPDX-License-Identifier: Apache-2.0
"""Whatever is left of a file whose writer was killed can be read, and what was safe is there."""

from __future__ import annotations

import os
import random
import signal
import struct
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from mcap.reader import make_reader
from recorded import record

from behavior_recording import Recording, RecordingError, complete
from behavior_recording.__main__ import main
from behavior_recording.encoding import encode
from behavior_recording.mcap_file import McapFile

STRING = "std_msgs/msg/String"


def write(path: Path, *, messages: int, every: int) -> list[tuple[int, int]]:
    """Write messages, securing some at a time; returns what was safe when."""
    file = McapFile(path)
    safe = []
    for number in range(messages):
        topic = f"/topic_{number % 3}"
        file.add(topic, STRING, encode(STRING, {"data": f"{number} " + "x" * 50}), log_time=number)
        if number % every == every - 1:
            state = file.secure()
            safe.append((state.bytes, state.messages))
    file.abandon()
    return safe


def read_numbers(path: Path) -> list[int]:
    with Recording(path) as read:
        numbers = [int(m.value.data.split()[0]) for m in read.messages()]
        assert sum(topic.messages for topic in read.topics.values()) == len(numbers)
        return numbers


@pytest.mark.slow
def test_torn_anywhere_all_that_was_safe_is_read(tmp_path):
    source, torn = tmp_path / "source.mcap", tmp_path / "torn.mcap"
    safe = write(source, messages=60, every=7)
    data = source.read_bytes()
    first = safe[0][0]
    for size in range(first, len(data) + 1, 89):
        torn.write_bytes(data[:size])
        acknowledged = max(messages for end, messages in safe if end <= size)
        numbers = read_numbers(torn)
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= acknowledged


@pytest.mark.parametrize("end", [b"\0" * 500, b"\xff" * 500, b"\x06\x20" + b"\0" * 40])
def test_what_a_loss_of_power_leaves_behind_the_safe_part_is_dropped(tmp_path, end):
    source = tmp_path / "source.mcap"
    safe = write(source, messages=30, every=10)
    size, messages = safe[1]
    source.write_bytes(source.read_bytes()[:size] + end)
    assert read_numbers(source) == list(range(messages))


def test_a_damaged_last_chunk_is_dropped(tmp_path):
    source = tmp_path / "source.mcap"
    safe = write(source, messages=30, every=10)
    data = bytearray(source.read_bytes()[: safe[2][0]])
    data[safe[1][0] + 60] ^= 0xFF
    source.write_bytes(data)
    assert read_numbers(source) == list(range(safe[1][1]))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_damaged_in_a_whole_file_is_a_sentence(tmp_path, seed):
    path, damaged = tmp_path / "run.mcap", tmp_path / "damaged.mcap"
    record(path, cycles=3)
    data = path.read_bytes()
    draw = random.Random(seed)
    for _ in range(40):
        changed = bytearray(data)
        changed[draw.randrange(8, len(data))] ^= draw.randrange(1, 256)
        damaged.write_bytes(changed)
        with suppress(RecordingError), Recording(damaged) as read:
            assert isinstance(read.about, dict)
            list(read.messages())
            read.moment(read.end)
            read.gaps()


@pytest.mark.parametrize("place", [1 << 62, (1 << 64) - 1])
def test_a_place_that_no_file_has_is_a_sentence(tmp_path, place):
    path = tmp_path / "run.mcap"
    record(path, cycles=1)
    data = path.read_bytes()
    with path.open("rb") as stream:
        (index,) = make_reader(stream).get_summary().metadata_indexes
    at = data.index(struct.pack("<QQ", index.offset, index.length))
    path.write_bytes(data[:at] + struct.pack("<Q", place) + data[at + 8 :])
    with Recording(path) as read, pytest.raises(RecordingError, match="is damaged"):
        _ = read.about


def test_what_lies_before_the_damage_is_read(tmp_path):
    path = tmp_path / "run.mcap"
    file = McapFile(path)
    ends = []
    for number in range(30):
        file.add("/a", STRING, encode(STRING, {"data": str(number)}), log_time=number)
        if number % 10 == 9:
            ends.append(file.secure().bytes)
    file.finish()
    changed = bytearray(path.read_bytes())
    changed[ends[0] + 75] ^= 0xFF  # within the messages of the second chunk
    path.write_bytes(changed)
    found = []
    with Recording(path) as read, pytest.raises(RecordingError, match="is damaged"):
        found.extend(int(each.value.data) for each in read.messages())
    assert found == list(range(10))


def test_a_torn_file_is_completed_in_its_place(tmp_path):
    path = tmp_path / "run.mcap"
    safe = write(path, messages=40, every=10)
    path.write_bytes(path.read_bytes()[: safe[2][0] + 5])
    before = read_numbers(path)
    assert complete(path) == 30
    with Recording(path) as read:
        assert read.complete
        assert read.about["format"] == "1"
    assert read_numbers(path) == before
    whole = path.read_bytes()
    assert complete(path) == 30
    assert path.read_bytes() == whole
    assert [each.name for each in tmp_path.iterdir()] == ["run.mcap"]


@pytest.mark.slow
def test_moments_of_a_torn_file(tmp_path):
    path = tmp_path / "run.mcap"
    record(path, cycles=20)
    with Recording(path) as read:
        time, statuses = read.end, read.moment(read.end).statuses
    path.write_bytes(path.read_bytes()[:-2000])  # without index, within what follows the chunk
    with Recording(path) as read:
        assert not read.complete
        assert read.moment(time).statuses == statuses


def test_what_is_no_recording_is_not_completed(tmp_path):
    path = tmp_path / "run.mcap"
    path.write_text("hello")
    with pytest.raises(RecordingError, match="no MCAP"):
        complete(path)
    with pytest.raises(RecordingError, match="No such file"):
        complete(tmp_path / "gone")


def cut_and_flipped(data: bytes) -> list[bytes]:
    """A file cut off at all kinds of places, some of them damaged besides."""
    draw = random.Random(3)
    torn = [data[:size] for size in range(0, len(data), 23)]
    for each in torn[:-60:-1]:
        changed = bytearray(each)
        changed[draw.randrange(len(each))] ^= draw.randrange(1, 256)
        torn.append(bytes(changed))
    return torn


@pytest.mark.slow
def test_whatever_is_left_of_a_file_is_completed_or_stays_as_it_is(tmp_path):
    path = tmp_path / "run.mcap"
    write(path, messages=40, every=5)
    for torn in cut_and_flipped(path.read_bytes()):
        path.write_bytes(torn)
        try:
            count = complete(path)
        except RecordingError as error:
            assert str(path) in str(error)  # noqa: PT017 - either is right
            assert path.read_bytes() == torn
        else:
            assert len(read_numbers(path)) == count > 0
        assert [each.name for each in tmp_path.iterdir()] == ["run.mcap"]


@pytest.mark.parametrize("cut", [9, 60, 200])
def test_a_file_in_which_nothing_was_safe_is_not_completed(tmp_path, cut):
    path = tmp_path / "run.mcap"
    write(path, messages=40, every=10)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RecordingError, match=r"run\.mcap holds no messages"):
        complete(path)


def test_a_disk_that_is_full_leaves_a_torn_file_as_it_is_and_nothing_beside(tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    write(path, messages=40, every=10)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordingError, match="No space left"):
        complete(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.mcap"]


def test_a_file_that_is_still_being_written_is_not_completed(tmp_path):
    path = tmp_path / "run.mcap"
    file = McapFile(path)
    file.add("/topic", STRING, encode(STRING, {"data": "0"}), log_time=1)
    file.secure()
    with pytest.raises(RecordingError, match="still being written"):
        complete(path)
    file.add("/topic", STRING, encode(STRING, {"data": "1"}), log_time=2)
    file.secure()
    file.abandon()
    assert complete(path) == 2
    assert read_numbers(path) == [0, 1]


def test_of_several_files_those_that_can_be_are_completed(tmp_path, capsys, monkeypatch):
    good = tmp_path / "run.mcap"
    write(good, messages=40, every=10)
    monkeypatch.setattr("sys.argv", ["behavior_recording", str(tmp_path / "gone"), str(good)])
    assert main() == 1
    told = capsys.readouterr()
    assert "gone cannot be completed: No such file" in told.err
    assert "40 messages" in told.out


@pytest.mark.parametrize("damaged", [0, 1])
def test_what_lies_before_the_damage_of_a_torn_file_is_read(tmp_path, damaged):
    path = tmp_path / "run.mcap"
    file = McapFile(path)
    ends = [file.size]
    for number in range(40):
        topic = "/late" if number % 5 == 0 and number > 10 else "/early"
        file.add(topic, STRING, encode(STRING, {"data": str(number)}), log_time=number)
        if number % 10 == 9:
            ends.append(file.secure().bytes)
    file.abandon()
    changed = bytearray(path.read_bytes())
    changed[ends[damaged] + 75] ^= 0xFF  # within the definitions or messages of a chunk
    path.write_bytes(changed)
    found = []
    with Recording(path) as read:
        with pytest.raises(RecordingError, match="is damaged"):
            found.extend(int(each.value.data) for each in read.messages())
        with pytest.raises(RecordingError, match="is damaged"):
            list(read.messages("/late" if damaged else "/early"))
    assert found == list(range(10 * damaged))
    with pytest.raises(RecordingError, match=r"is damaged.*stays as it is"):
        complete(path)
    assert path.read_bytes() == changed
    assert [each.name for each in tmp_path.iterdir()] == ["run.mcap"]


class FullDisk:
    """A stream on a disk that is full from some byte on."""

    def __init__(self, stream, room):
        self._stream, self._room = stream, room

    def write(self, data):
        if self._stream.tell() + len(data) > self._room:
            raise OSError(28, "No space left on device")
        return self._stream.write(data)

    def __getattr__(self, name):
        return getattr(self._stream, name)


@pytest.mark.slow
def test_a_full_disk_is_told_and_what_was_safe_stays(tmp_path, monkeypatch):
    path = tmp_path / "run.mcap"
    plain = Path.open
    monkeypatch.setattr(Path, "open", lambda *given: FullDisk(plain(*given), 1500))
    file = McapFile(path)
    monkeypatch.undo()
    data = encode(STRING, {"data": "hello"})
    file.add("/a", STRING, data, log_time=1)
    safe = file.secure()
    told = ""
    for number in range(100):
        file.add("/a", STRING, encode(STRING, {"data": str(number) * 9}), log_time=2)
        try:
            file.secure()
        except RecordingError as error:
            told = str(error)
            break
    assert "No space left" in told
    assert file.safe.messages >= safe.messages
    count = file.safe.messages
    file.abandon()
    with Recording(path) as read:
        assert len(list(read.messages())) >= count


def write_until_killed(path: Path, told: int) -> None:
    """Write messages for ever, and tell how many are safe by a line in a pipe each time."""
    file = McapFile(path)
    for number in count():
        file.add("/a", STRING, encode(STRING, {"data": f"{number} " + "y" * 900}), log_time=number)
        if number % 40 == 39:
            os.write(told, f"{file.secure().messages}\n".encode())


@pytest.mark.slow
def test_fifty_writers_are_killed_and_nothing_is_lost_that_was_told_to_be_safe(tmp_path):
    draw = random.Random(15)
    for kill in range(50):
        path = tmp_path / f"{kill}.mcap"
        reading, telling = os.pipe()
        child = os.fork()
        if not child:
            try:
                write_until_killed(path, telling)
            finally:
                os._exit(1)
        os.close(telling)
        with os.fdopen(reading) as lines:
            safe = [int(line) for line, _ in zip(lines, range(draw.randint(1, 12)), strict=False)]
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        numbers = read_numbers(path)
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= safe[-1] > 0
        path.unlink()
