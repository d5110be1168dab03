# SPDX-License-Identifier: Apache-2.0
"""The memory: what is kept, for how long, and what happens to damaged or foreign files."""

import os
import signal
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_motion.object_state import ObjectState
from behavior_scene import Scene, checked_detection, library_from_dict
from behavior_scene.memory.sightings import SightingFilter
from behavior_scene.memory.store import (
    SCHEMA_VERSION,
    SceneMemory,
    Sighted,
    StorageError,
    UnknownMemoryError,
)
from behavior_scene.objects.definitions import read_definitions

LIBRARY = library_from_dict(
    {
        "classes": {
            "block": {"shape": "box", "size": [0.05, 0.06, 0.07], "instances": 1},
            "tray": {"shape": "box", "size": [0.2, 0.2, 0.05], "instances": 1},
        }
    }
)


def sighted(name, stamp, x=0.0, class_id="block"):
    return Sighted(name, class_id, "world", stamp, (x, 0.0, 0.0), (0, 0, 0, 1), 0.9)


def scene_with(**places):
    scene = Scene(LIBRARY, lambda link, stamp: np.eye(4) if link == "base" else None)
    see(scene, 1.0, **places)
    return scene


def see(scene, stamp, **places):
    detections = [
        checked_detection(
            class_id=name,
            stamp=stamp,
            confidence=1.0,
            position=at,
            quaternion=(0, 0, 0, 1),
            world_T_frame=np.eye(4),
        )
        for name, at in places.items()
    ]
    scene.update(detections, stamp, stamp)


def set_up(scene, text, now=1.0):
    for name, definition in read_definitions(text).items():
        assert scene.establish(name, definition, now, 1) == ""


def test_scene_saved_and_restored_in_another_process(tmp_path):
    scene = scene_with(block=(0.5, 0, 0.1), tray=(0.2, 0.3, 0))
    set_up(
        scene,
        """
        above: {kind: stack_slot, base: block, slot: 2, height: 0.05}
        room: {kind: interior, container: tray}
        way: {kind: approach, frame_a: base, frame_b: block, distance: 0.2}
        """,
    )
    scene.freeze(["tray"], True, 1.0)
    SceneMemory(tmp_path / "memory").save("kitchen", "world", 1.0, scene.saved(1.0))
    frame, saved = SceneMemory(tmp_path / "memory").restore("kitchen")
    assert frame == "world"
    again = Scene(LIBRARY, lambda link, stamp: np.eye(4) if link == "base" else None)
    again.restore(saved, "from the kitchen")
    before, after = scene.snapshot(1.0).objects, again.snapshot(100.0).objects
    assert list(before) == list(after)
    for name, obj in before.items():
        np.testing.assert_allclose(after[name].world_T_object, obj.world_T_object, atol=1e-12)
        assert after[name].shape == obj.shape
        assert after[name].kind == obj.kind
    assert after["tray"].state is ObjectState.FROZEN
    assert (after["block"].state, after["block"].text) == (ObjectState.STALE, "from the kitchen")
    assert after["way"].state is ObjectState.STALE
    see(again, 100.1, block=(0.4, 0, 0.1))
    found = again.snapshot(100.1).objects
    assert found["block"].state is ObjectState.TRACKED
    assert found["way"].state is ObjectState.TRACKED
    assert found["way"].world_T_object[0, 3] == pytest.approx(0.2)


def test_restored_objects_replace_all_or_only_themselves():
    scene = scene_with(block=(0.5, 0, 0), tray=(0.2, 0.3, 0))
    saved = [entry for entry in scene.saved(1.0) if entry.name == "block"]
    see(scene, 1.1, block=(0.6, 0, 0), tray=(0.2, 0.3, 0))
    scene.restore(saved, "saved", keep_others=True)
    assert set(scene.snapshot(1.1).objects) == {"block", "tray"}
    scene.restore(saved, "saved")
    assert set(scene.snapshot(1.1).objects) == {"block"}


def test_restored_object_takes_its_track_before_an_automatic_one_does():
    scene = scene_with(block=(0.5, 0, 0))
    set_up(scene, "mine: {class: block}")
    again = Scene(LIBRARY, lambda link, stamp: None)
    again.restore(scene.saved(1.0), "saved")
    see(again, 2.0, block=(0.4, 0, 0))
    objects = again.snapshot(2.0).objects
    assert list(objects) == ["mine"]
    assert objects["mine"].state is ObjectState.TRACKED


def test_what_was_held_is_restored_where_it_was_and_held_no_more():
    scene = scene_with(block=(0.1, 0, 0))
    scene.attach("block", "base", 1.0)
    assert scene.snapshot(1.0).objects["block"].state is ObjectState.ATTACHED
    scene.restore(scene.saved(1.0), "saved")
    assert scene.snapshot(1.0).objects["block"].state is ObjectState.STALE


def test_several_scenes_and_saving_again():
    memory = SceneMemory()
    memory.save("a", "world", 1.0, scene_with(block=(0, 0, 0)).saved(1.0))
    memory.save("b", "world", 1.0, [])
    memory.save("a", "world", 2.0, scene_with(tray=(0, 0, 0)).saved(1.0))
    assert memory.names() == ["a", "b"]
    assert [entry.name for entry in memory.restore("a")[1]] == ["tray"]
    assert memory.restore("b") == ("world", [])
    with pytest.raises(UnknownMemoryError):
        memory.restore("c")


def test_saving_that_fails_leaves_what_was_there():
    memory = SceneMemory()
    saved = scene_with(block=(0, 0, 0)).saved(1.0)
    memory.save("a", "world", 1.0, saved)
    memory._database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON objects WHEN NEW.position = 1"
        " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    with pytest.raises(StorageError, match="disk full"):
        memory.save("a", "world", 2.0, [*saved, *saved])
    assert [entry.name for entry in memory.restore("a")[1]] == ["block"]


_WRITER = """
import sys
from pathlib import Path
from test_memory import scene_with, sighted
from behavior_scene.memory.store import SceneMemory
memory = SceneMemory(Path(sys.argv[1]))
for number in range(10**9):
    places = {"block": (number, 0, 0), "tray": (number, 1, 0)}
    memory.save("scene", "world", number, scene_with(**places).saved(1.0))
    memory.note([sighted("block", float(number), float(number))])
    print(number, flush=True)
"""


def test_killed_writer_leaves_one_whole_scene_and_all_that_it_told_of(tmp_path):
    file = tmp_path / "memory"
    here = os.path.dirname(os.path.abspath(__file__))
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(file)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])},
    )
    told = -1
    while told < 20:
        told = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate()
    memory = SceneMemory(file)
    block, tray = memory.restore("scene")[1]
    assert block.world_T_object[0, 3] == tray.world_T_object[0, 3]
    assert block.world_T_object[0, 3] >= told
    assert memory.where_seen(name="block")[0].stamp >= told


def test_where_seen_newest_first():
    memory = SceneMemory()
    memory.note([sighted("a", 1.0), sighted("b", 2.0, class_id="cup"), sighted("a", 3.0, x=5.0)])
    assert [s.stamp for s in memory.where_seen()] == [3.0, 2.0]
    assert [s.stamp for s in memory.where_seen(name="a", limit=10)] == [3.0, 1.0]
    assert [s.name for s in memory.where_seen(class_id="cup")] == ["b"]
    assert [s.stamp for s in memory.where_seen(since=1.5, limit=10)] == [3.0, 2.0]
    assert [s.stamp for s in memory.where_seen(limit=1)] == [3.0]
    assert memory.where_seen(name="c") == []
    assert memory.knows("a")
    assert not memory.knows("c")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=120), st.integers(1, 20))
def test_sightings_are_bounded_and_the_newest_of_each_object_goes_last(names, capacity):
    memory = SceneMemory(capacity=capacity)
    for stamp, name in enumerate(names, start=1):
        memory.note([sighted(name, float(stamp))])
    kept = memory.where_seen(limit=10**6)
    assert len(kept) <= 2 * capacity
    expected = [(float(i), n) for i, n in enumerate(names, start=1)]
    assert [(s.stamp, s.name) for s in kept][:capacity] == expected[::-1][:capacity]
    newest = {name: stamp for stamp, name in expected}
    for name, stamp in newest.items():
        if stamp > len(names) - 2 * capacity:
            assert memory.where_seen(name=name)[0].stamp == stamp


def test_foreign_newer_and_damaged_files_are_refused_with_a_remedy(tmp_path):
    foreign = tmp_path / "foreign"
    sqlite3.connect(foreign).executescript("CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
    with pytest.raises(StorageError, match="is no memory of a scene: choose another file"):
        SceneMemory(foreign)
    newer = tmp_path / "newer"
    SceneMemory(newer).close()
    sqlite3.connect(newer).execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}").close()
    with pytest.raises(StorageError, match=f"has version {SCHEMA_VERSION + 1}"):
        SceneMemory(newer)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"no database at all, but long enough to be looked at" * 20)
    with pytest.raises(StorageError, match="cannot be opened"):
        SceneMemory(damaged)
    with pytest.raises(StorageError, match="cannot be opened"):
        SceneMemory(tmp_path)  # a folder


def test_file_of_the_first_version_is_brought_up_to_date(tmp_path):
    """Version 0: made and never filled, as after a crash between opening and the first write."""
    file = tmp_path / "memory"
    sqlite3.connect(file).execute("PRAGMA user_version = 0").close()
    memory = SceneMemory(file)
    memory.note([sighted("a", 1.0)])
    (version,) = memory._database.execute("PRAGMA user_version").fetchone()
    assert version == SCHEMA_VERSION


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-5],
        lambda text: text.replace('"class"', '"klass"'),
        lambda text: text.replace("[[1.0,", "[[2.0,"),
        lambda text: text.replace("[[1.0,", "[[NaN,"),
        lambda text: text.replace('"box", 0.05,', '"box",'),
        lambda text: text.replace('"box"', '"cone"'),
        lambda text: text.replace('"definition": null', '"definition": {"kind": "cone"}'),
    ],
)
def test_damaged_objects_are_told_of(change):
    memory = SceneMemory()
    memory.save("a", "world", 1.0, scene_with(block=(0, 0, 0)).saved(1.0))
    (text,) = memory._database.execute("SELECT data FROM objects").fetchone()
    changed = change(text)
    assert changed != text
    memory._database.execute("UPDATE objects SET data = ?", (changed,))
    with pytest.raises(StorageError, match="a saved object is damaged"):
        memory.restore("a")


@pytest.mark.slow
def test_things_at_rest_are_noted_rarely_and_what_is_gone_where_it_was_last():
    scene = scene_with(block=(0.5, 0, 0))
    chooser = SightingFilter("world", period=10.0)
    noted = chooser.choose(scene.snapshot(1.0))
    for step in range(1, 50):
        stamp = 1.0 + 0.1 * step
        see(scene, stamp, block=(0.5, 0, 0))
        noted += chooser.choose(scene.snapshot(stamp))
    assert [entry.stamp for entry in noted] == [1.0]
    for unseen in (0.5, 1.5, 6.0, 60.0):
        noted += chooser.choose(scene.snapshot(stamp + unseen))
    assert [entry.stamp for entry in noted] == [1.0, stamp]
    see(scene, 70.0, block=(0.5, 0.05, 0))
    noted += chooser.choose(scene.snapshot(70.0))
    assert noted[-1].stamp == 70.0


def test_a_renamed_object_follows_its_track_again_after_it_was_restored(tmp_path):
    scene = scene_with(block=(0.5, 0, 0))
    scene.rename({"block": "mine"})
    SceneMemory(tmp_path / "memory").save("kitchen", "world", 1.0, scene.saved(1.0))
    again = Scene(LIBRARY, lambda link, stamp: None)
    again.restore(SceneMemory(tmp_path / "memory").restore("kitchen")[1], "saved")
    see(again, 2.0, block=(0.4, 0, 0))
    (mine,) = again.snapshot(2.0).objects.values()
    assert (mine.name, mine.state, mine.sources) == ("mine", ObjectState.TRACKED, ("block",))
