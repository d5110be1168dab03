# SPDX-License-Identifier: Apache-2.0
"""Snapshots that nobody asks for are not read."""

from behavior_msgs.msg import SceneObject, SceneObjectArray
from rclpy.serialization import serialize_message

from behavior_bringup import newest_snapshot
from behavior_bringup.newest_snapshot import NewestSnapshot


def snapshot(second: int, *names: str) -> bytes:
    message = SceneObjectArray(objects=[SceneObject(name=name) for name in names])
    message.header.stamp.sec, message.header.stamp.nanosec = second, 500_000_000
    return bytes(serialize_message(message))


def test_before_the_first_one_there_is_nothing() -> None:
    newest = NewestSnapshot()
    assert (newest.time, newest.message, newest.objects) == (-1.0, None, {})


def test_what_was_asked_for_is_of_the_newest() -> None:
    newest = NewestSnapshot()
    for second, names in ((7, ("cup",)), (8, ("cup", "box"))):
        newest.take(snapshot(second, *names))
        assert newest.time == second + 0.5
        assert tuple(newest.objects) == names
        assert newest.message is not None
        assert len(newest.message.objects) == len(names)


def test_the_time_alone_costs_no_reading(monkeypatch) -> None:
    read = []
    monkeypatch.setattr(
        newest_snapshot, "deserialize_message", lambda data, kind: read.append(data) or kind()
    )
    newest = NewestSnapshot()
    for second in range(100):
        newest.take(snapshot(second, "cup"))
        assert newest.time == second + 0.5
    assert read == []
    assert newest.objects == newest.objects == {}
    assert len(read) == 1
