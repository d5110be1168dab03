# SPDX-License-Identifier: Apache-2.0
"""Recordings as a source: any moment of them is what it was, and no page reaches another file."""

import argparse
import asyncio
import os

import httpx
import pytest
from console_client import PATIENCE, PageClient
from mcap.reader import make_reader
from mcap.writer import Writer
from recorded_runs import TICK, Run, cube_at

from behavior_console.channels import Channels
from behavior_console.console_command import COMMAND
from behavior_console.records import RecordShelf, RecordSource
from behavior_console.records.record_clock import RecordClock
from behavior_console.records.serving import serve_record
from behavior_console.source import SourceError

IDLE, RUNNING, SUCCESS, FAILURE = range(4)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("recordings") / "run.mcap"
    Run(file, cycles=40)
    return file


@pytest.fixture(scope="module")
def source(path):
    opened = RecordSource(path)
    opened.read()
    yield opened
    opened.close()


def at(source, time, moment=None):
    moment = moment or Channels()
    asyncio.run(source.show(moment, time))
    return moment


def uid_of(channels, name):
    return next(row[0] for row in channels.value("tree")["nodes"] if row[3] == name)


def test_the_logs_hold_the_whole_run_with_lanes_and_reasons(source):
    channels = source.channels
    lanes = channels.value("lanes")
    by_name = {}
    for span in channels.value("spans"):
        by_name.setdefault(lanes[span[4]][3], []).append(span)
    naps = by_name["nap"]
    assert len(naps) == 40  # each once: its beginning without an end is left out
    assert all(end - begin == pytest.approx(5 * TICK, abs=TICK / 2) for _, begin, end, *_ in naps)
    assert [span[3] for span in by_name["sorry"]] == [FAILURE]
    assert lanes[naps[0][4]] == [
        "naps",
        *channels.value("tree")["nodes"][-2][5:],
        "Sleep",
        "nap",
        "Action",
    ]
    events = channels.value("events")
    assert [each["mission"]["state"] for each in events if "mission" in each] == [
        "running",
        "failed",
    ]


def test_a_moment_is_what_it_was_wherever_one_comes_from(source):
    channels = source.channels
    nap = uid_of(channels, "nap")
    naps = [span for span in channels.value("spans") if span[0] == nap]
    moment = Channels()
    for index in (20, 3, 39, 0, 21):  # across moments that are kept, forwards and back
        _, begin, end, *_ = naps[index]
        at(source, (begin + end) / 2, moment)
        status, since, count, _ = moment.value("status")[nap]
        assert (status, count) == (RUNNING, index)
        assert since == pytest.approx(begin)
        assert moment.value("blackboard")["turns"][1] == str(index + 1)
        assert moment.value("mission")["state"] == "running"
        cube = moment.value("objects")["cube"]
        assert cube["pose"][0] == pytest.approx(cube_at((begin + end) / 2), abs=TICK / 1000)
        elbow = moment.value("joints")["elbow"]
        assert elbow == pytest.approx((begin + end) / 2, abs=TICK)


def test_a_change_is_seen_at_its_own_time_and_not_before(source):
    nap = uid_of(source.channels, "nap")
    begins = [span[1] for span in source.channels.value("spans") if span[0] == nap]
    assert at(source, begins[17]).value("status")[nap][2] == 17  # times that it has ended
    assert at(source, begins[17] - TICK).value("status")[nap][2] == 16


def test_who_fails_is_seen_to_fail_at_that_very_time(source):
    sorry = uid_of(source.channels, "sorry")
    (end,) = (span[2] for span in source.channels.value("spans") if span[0] == sorry)
    assert at(source, end).value("status")[sorry][0] == FAILURE
    assert at(source, end).value("status")[uid_of(source.channels, "nap")][3] == SUCCESS
    assert at(source, end - TICK).value("status")[sorry][0] == IDLE


def test_beyond_the_ends_are_the_ends(source):
    begin, end = source.span()
    assert begin == pytest.approx(100.0, abs=TICK)
    assert end == source.now()
    assert at(source, 0.0).value("stack")["empty"] is None
    assert at(source, 1e9).value("mission")["state"] == "failed"
    assert at(source, 1e9).value("status") == source.channels.value("status")


def test_what_is_as_before_is_not_sent_again(source):
    moment = at(source, 1010.0)
    before = moment.revision
    at(source, 1010.0, moment)
    assert moment.revision == before
    tree = moment.value("tree")
    at(source, 1500.0, moment)
    assert moment.value("tree") is tree


def test_moments_are_known_while_the_rest_is_read(path):
    source = RecordSource(path)

    async def scrub():
        early, late = Channels(), Channels()
        source._index.read(10.0)  # of wall time: ten times as much of the executor's clock
        assert 150.0 < source.now() < 250.0
        assert "being read" in source._why_empty()["text"]
        await source.show(early, 150.0)
        later = asyncio.create_task(source.show(late, 1010.0))
        await asyncio.sleep(0)
        assert not later.done()
        await asyncio.to_thread(source.read)
        await later
        return early, late

    early, late = asyncio.run(scrub())
    source.channels.set("stack", None)
    assert source._why_empty() is None
    for moment, time in ((early, 150.0), (late, 1010.0)):
        afterwards = at(source, time)
        for name in ("status", "blackboard", "mission", "joints"):
            assert moment.value(name) == afterwards.value(name)
    source.close()


def in_small_chunks(path, copy):
    """The same messages in chunks of a few."""
    with path.open("rb") as stream, copy.open("wb") as target:
        writer, channels = Writer(target, chunk_size=4_000), {}
        writer.start("ros2")
        for schema, channel, message in make_reader(stream).iter_messages():
            if channel.id not in channels:
                known = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = writer.register_channel(channel.topic, "cdr", known)
            writer.add_message(
                channels[channel.id], message.log_time, message.data, message.publish_time
            )
        writer.finish()


class TestBadFiles:
    @pytest.mark.parametrize("content", [b"", b"not at all"])
    def test_what_is_no_recording_is_refused_in_a_sentence(self, tmp_path, content):
        file = tmp_path / "bad.mcap"
        file.write_bytes(content)
        with pytest.raises(SourceError, match=r"bad\.mcap is no MCAP file"):
            RecordSource(file)

    def test_the_command_says_why(self, tmp_path):
        file = tmp_path / "bad.mcap"
        file.write_bytes(b"not at all")
        done, told = COMMAND.run(argparse.Namespace(record=file, port=0), None)
        assert not done
        assert told.endswith("bad.mcap is no MCAP file")

    def test_one_that_was_cut_off_is_shown_as_far_as_it_goes(self, path, source, tmp_path):
        file = tmp_path / "cut.mcap"
        in_small_chunks(path, file)
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        cut = RecordSource(file)
        cut.read()
        assert 500.0 < cut.now() < source.now()
        assert at(cut, 400.0).value("status") == at(source, 400.0).value("status")
        cut.close()

    def test_damage_within_is_told_and_what_lies_before_is_shown(self, path, source, tmp_path):
        file = tmp_path / "hurt.mcap"
        in_small_chunks(path, file)
        with file.open("r+b") as stream:
            chunks = make_reader(stream).get_summary().chunk_indexes
            stream.seek(chunks[len(chunks) // 2].chunk_start_offset + 60)
            stream.write(bytes(100))
        hurt = RecordSource(file)
        hurt.read()
        empty = hurt.channels.value("stack")["empty"]
        assert "hurt.mcap is damaged" in empty["text"]
        assert at(hurt, 300.0).value("status") == at(source, 300.0).value("status")
        assert hurt.channels.value("spans")
        hurt.close()

    def test_a_later_format_is_refused(self, tmp_path):
        file = tmp_path / "later.mcap"
        with file.open("wb") as stream:
            writer = Writer(stream)
            writer.start()
            writer.add_metadata("behavior_recording", {"format": "2"})
            schema = writer.register_schema("a/msg/B", "ros2msg", b"int32 x")
            channel = writer.register_channel("/x", "cdr", schema)
            writer.add_message(channel, 1, b"\0\1\0\0\1\0\0\0", 1)
            writer.finish()
        with pytest.raises(SourceError, match="format 2, of a later version"):
            RecordSource(file)

    def test_a_topic_of_another_definition_is_left_out_and_told(self, tmp_path):
        file = tmp_path / "other.mcap"
        with file.open("wb") as stream:
            writer = Writer(stream)
            writer.start()
            schema = writer.register_schema("a/msg/B", "ros2msg", b"int32 x")
            for topic in ("/behavior/tree_record", "/joint_states", "/mission/feedback"):
                channel = writer.register_channel(topic, "cdr", schema)
                for time in (1, 2):
                    writer.add_message(channel, time, b"\0\1\0\0\1\0\0\0", time)
            writer.finish()
        other = RecordSource(file)
        other.read()
        told = [event["text"] for event in other.channels.value("events")]
        assert len(told) == 2
        assert all("cannot be shown" in text for text in told)
        assert at(other, 0.0).value("joints") is None
        other.close()


class TestShelf:
    @pytest.fixture
    def folder(self, path, tmp_path):
        folder = tmp_path / "recordings"
        (folder / "kept").mkdir(parents=True)
        for place in ("one.mcap", "kept/two.mcap"):
            os.link(path, folder / place)
        outside = tmp_path / "outside.mcap"
        os.link(path, outside)
        (folder / "link.mcap").symlink_to(outside)
        return folder

    def test_only_what_lies_in_the_folders_is_there(self, folder):
        shelf = RecordShelf([folder, folder / "nowhere"])
        assert sorted(row["id"] for row in shelf.rows()) == ["kept/two.mcap", "one.mcap"]
        assert all(row["size"] > 0 and row["modified"] > 0 for row in shelf.rows())

    @pytest.mark.parametrize(
        "record",
        [
            "../outside.mcap",
            "link.mcap",
            "/etc/passwd",
            "kept/../one.mcap",
            "",
            "one.mcap\0",
            "kept",
        ],
    )
    def test_no_name_reaches_another_file(self, folder, record):
        with pytest.raises(SourceError, match="there is no recording"):
            asyncio.run(RecordShelf([folder]).source(record))

    def test_one_is_opened_once(self, folder):
        async def both():
            shelf = RecordShelf([folder])
            return await asyncio.gather(shelf.source("one.mcap"), shelf.source("one.mcap"))

        first, second = asyncio.run(both())
        assert first is second
        first._reader.join(PATIENCE)
        assert first.channels.value("spans")


def clock_of(*readings, start=0):
    clock = RecordClock(start=start)
    for wall, stamp in readings:
        clock.add(wall, stamp)
    return clock


class TestClock:
    def test_lies_between_readings_and_stands_before_the_next_one(self):
        clock = clock_of((1_000, 10.0), (2_000, 10.0), (3_000, 20.0), start=1_000)
        assert clock.wall_time(10.0) == 2_000
        assert clock.wall_time(15.0) == 2_500
        assert clock.wall_time(19.9999999) == 2_999
        assert clock.wall_time(20.0) == 3_000

    def test_goes_on_at_its_rate_beyond_readings(self):
        second = 10**9
        clock = clock_of((10 * second, 100.0), (11 * second, 102.0), start=9 * second)
        assert (clock.begin, clock.time(13 * second)) == (98.0, 106.0)
        assert clock.wall_time(104.0) == 12 * second
        assert clock.wall_time(99.0) == pytest.approx(9.5 * second, abs=2)
        assert clock.wall_time(0.0) == 9 * second

    def test_of_a_clock_that_was_set_back_the_later_moment_counts(self):
        clock = clock_of((0, 100.0), (10, 110.0), (20, 5.0), (30, 105.0))
        assert clock.wall_time(105.0) == 30
        assert clock.wall_time(5.0) == 20
        assert clock.wall_time(1.0) < 10  # nobody knows; some moment is shown

    def test_without_readings_is_wall_time(self):
        clock = clock_of(start=5 * 10**9)
        assert (clock.begin, clock.time(9 * 10**9)) == (5.0, 9.0)
        assert clock.wall_time(7.0) == 7 * 10**9

    def test_a_spare_reading_gives_way_to_a_better_one(self):
        clock = clock_of((0, 100.0))
        clock.add(20, 102.5, spare=5)
        clock.add(24, 102.4)  # is what counts: a change at 102.4 s is seen at its own time
        assert clock.wall_time(102.4) == 24
        clock.add(40, 104.0, spare=5)
        clock.add(50, 105.0)
        assert clock.wall_time(104.0) == 40


class TestServed:
    @pytest.fixture
    def served(self, path, tmp_path, monkeypatch):
        monkeypatch.setenv("BEHAVIOR_RUNTIME_DIR", str(tmp_path))
        folder = tmp_path / "behavior" / "recordings"
        folder.mkdir(parents=True)
        os.link(path, folder / "other.mcap")
        server = serve_record(path, port=0, page_folder=tmp_path)
        yield server
        server.close()

    def test_a_page_scrubs_a_recording_without_ros_and_without_rights(self, served):
        with PageClient(served.port).hello() as page:
            assert (page.welcome["view"], page.welcome["role"]) == ("record", "view")
            assert page.welcome["history"][0] == pytest.approx(100.0, abs=TICK)
            page.show("spans", "lanes", "status", "mission")
            page.until(lambda: "status" in page.state and len(page.state["spans"]) > 80)
            assert page.state["mission"]["state"] == "failed"
            page.say(at=1010.0)
            page.until(lambda: page.at is not None)
            page.until(lambda: page.state["mission"]["state"] == "running")
            assert len(page.state["spans"]) > 80  # of the whole run

    def test_others_are_listed_and_opened_by_their_ids_alone(self, served):
        listed = httpx.get(f"http://localhost:{served.port}/api/records", timeout=PATIENCE).json()
        assert [each["id"] for each in listed] == ["other.mcap"]
        with PageClient(served.port).hello(record="other.mcap") as page:
            assert page.welcome["view"] == "record"
        with PageClient(served.port) as page:
            page.say(hello={"name": "eve", "role": "view", "view": "record", "record": "../x.mcap"})
            page.until(lambda: page.problems)
            assert "no recording '../x.mcap'" in page.problems[0]["text"]
