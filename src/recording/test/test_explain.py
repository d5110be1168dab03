# SPDX-License-Identifier: Apache-2.0
"""The page on a run: what it tells, and that what is recorded is text in it and nothing more."""

from __future__ import annotations

import argparse
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image
from recorded_jobs import record

from behavior_recording import TreeRecording
from behavior_recording.explain.command import COMMAND
from behavior_recording.explain.postmortem import examine
from behavior_recording.replay.history import open_history
from behavior_tree import NodeStatus

_VOID = {"meta", "img", "path", "rect", "br"}
_EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


class Page(HTMLParser):
    """Elements and texts of a page; every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def explain(*arguments: object) -> tuple[bool, str]:
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    return COMMAND.run(parser.parse_args([str(each) for each in arguments]), None)


def surroundings(recording: TreeRecording, status: NodeStatus | None) -> None:
    """What else a recording of the job holds: commands, pictures, how the mission ended."""
    if status is None:
        recording.command("/mission/action", "TREE fetch (action_id m1)", answer="accepted")
        return
    image = Image.new("RGB", (32, 24), (200, 40, 40))
    png = io.BytesIO()
    image.save(png, "PNG")
    compressed = {"format": "png", "data": png.getvalue()}
    recording.message("/camera/a", "sensor_msgs/msg/CompressedImage", compressed)
    raw = {"height": 24, "width": 32, "encoding": "bgr8", "step": 96, "data": image.tobytes()}
    recording.message("/camera/b", "sensor_msgs/msg/Image", raw)
    torn = {"format": "svg", "data": b"<svg onload='alert(3)'/>"}
    recording.message("/camera/c", "sensor_msgs/msg/CompressedImage", torn)
    short = {"height": 9000, "width": 9000, "encoding": "rgb8", "step": 0, "data": b"12"}
    recording.message("/camera/d", "sensor_msgs/msg/Image", short)
    recording.command("/behavior/run_control", _EVIL, accepted=False, answer=_EVIL)
    failure = {"kind": 7, "sentence": "it slipped", "remedy": f"raise the force {_EVIL}"}
    state = 4 if status is NodeStatus.SUCCESS else 5
    recording.mission(state=state, code=110, text=f"it slipped {_EVIL}", failure=failure)


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("runs") / "fetch.mcap"
    assert record(file, pick_it="RRFRRF", extra=surroundings) is NodeStatus.FAILURE
    return file


def page_of(file: Path) -> tuple[str, Page]:
    done, words = explain(file, "--output", file.with_suffix(".html"))
    assert done, words
    text = file.with_suffix(".html").read_text(encoding="utf-8")
    return text, Page(text)


@pytest.mark.slow
def test_the_page_tells_what_was_asked_what_happened_and_why(failed: Path) -> None:
    _, page = page_of(failed)
    for words in (
        "fetch failed",
        "mission m1",
        "the grip slipped off <script>x</script>: put it back within reach",
        "grasp/pick it at 1.25 s, its failure number 2 in this run",
        "What to do: raise the force",
        "Sequence 'job'",
        "TREE fetch (action_id m1) (/mission/action)",
        "behavior console --record fetch.mcap",
        "behavior replay fetch.mcap --until 'grasp/pick it FAILURE'",
        "grasp/force",
        "The tree at 1.25 s",
        "/camera/a, 0.00 s before",
        "1.2 s, 5 ticks",
    ):
        assert words in page.text, words
    assert page.tags.count("img") == 2
    assert "/camera/c" not in page.text


def test_nothing_of_a_recording_becomes_more_than_text(failed: Path) -> None:
    text, page = page_of(failed)
    assert "script" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert {value[:22] for name, value in page.attributes if name == "src" and value} == {
        "data:image/jpeg;base64"
    }
    assert not [name for name, _ in page.attributes if name == "href"]
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")
    assert _EVIL not in text
    assert _EVIL in page.text


def test_the_same_recording_gives_the_same_page(failed: Path) -> None:
    assert page_of(failed)[0] == page_of(failed)[0]


def test_the_chain_goes_from_the_root_to_what_failed_first(failed: Path) -> None:
    history = open_history(failed)
    found = examine(history, history.runs[-1])
    names = [found.story.tree.nodes[link.uid].name for link in found.chain]
    nodes = ["job", "RetryUntilSuccessful", "attempt", "grasp", "Sequence", "pick it"]
    assert names == nodes
    assert found.cause is not None
    assert found.cause.reason.startswith("the grip slipped off")
    assert found.verdict.word == "failed"
    history.close()


TIDY_UP = """
<root BTCPP_format="4"><BehaviorTree ID="fetch"><Fallback name="or tidy up">
  <Pick name="pick it"/><Sequence name="tidy"><Place name="put away"/></Sequence>
</Fallback></BehaviorTree></root>
"""


def test_what_failed_first_is_named_though_tidying_up_failed_later(tmp_path: Path) -> None:
    file = tmp_path / "tidy.mcap"
    assert record(file, TIDY_UP, pick_it="RF", put_away="RRF") is NodeStatus.FAILURE
    _, page = page_of(file)
    assert "pick it at 0.50 s" in page.text
    history = open_history(file)
    found = examine(history, history.runs[-1])
    names = [found.story.tree.nodes[link.uid].name for link in found.chain]
    assert names == ["or tidy up", "pick it", "tidy", "put away"]
    history.close()


def seen(name: str, x: float, kind: int, sizes: list[float], state: int = 0) -> dict[str, object]:
    """An object as the scene publishes it."""
    return {
        "name": name,
        "state": state,
        "pose": {"position": {"x": x, "y": 0.5, "z": 0.1}, "orientation": {"w": 1.0}},
        "shape": {"type": kind, "dimensions": sizes},
        "color": {"r": 1.0, "g": float("nan"), "b": 0.0, "a": 1.0},
    }


def with_a_scene(recording: TreeRecording, status: NodeStatus | None) -> None:
    """Objects, of which some make no sense, and a robot of two links."""
    if status is not None:
        return
    lying = seen("no pose", 0.2, 1, [0.1, 0.1, 0.1])
    lying["pose"] = {"position": {"x": float("nan")}, "orientation": {"w": 1.0}}
    objects = [
        seen("cube", 0.2, 1, [0.1, 0.1, 0.1]),
        seen("ball", 0.6, 2, [0.05], state=4),
        seen("can", 0.4, 3, [0.1, 0.03], state=2),
        seen(_EVIL, 0.5, 9, [float("inf")]),
        seen("far", 900.0, 1, [0.1, 0.1, 0.1]),
        lying,
    ]
    values = {"header": {"frame_id": "world"}, "objects": objects}
    recording.message("/scene/objects", "behavior_msgs/msg/SceneObjectArray", values)
    links = [
        ("world", "base"),
        ("base", "arm"),
        ("arm", "hand"),
        ("loop", "knot"),
        ("knot", "loop"),
    ]
    transforms = [
        {
            "header": {"frame_id": above},
            "child_frame_id": name,
            "transform": {"translation": {"x": 0.3}, "rotation": {"w": 1.0}},
        }
        for above, name in links
    ]
    recording.message("/tf", "tf2_msgs/msg/TFMessage", {"transforms": transforms})


@pytest.mark.slow
def test_the_scene_of_the_moment_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "scene.mcap"
    assert record(file, pick_it="F", extra=with_a_scene) is NodeStatus.FAILURE
    text, page = page_of(file)
    for words in ("From above", "From the side", "cube", "ball (lost)", "can (frozen)", _EVIL[:50]):
        assert words in page.text, words
    assert _EVIL not in text
    assert "far" not in page.texts
    assert "no pose" not in page.texts
    assert page.tags.count("polygon") == 2 * 4
    assert text.count('<line x1="') == 2 * 2
    assert "nan" not in text


def test_a_run_that_succeeded_says_what_went_wrong_on_the_way(tmp_path: Path) -> None:
    file = tmp_path / "good.mcap"
    assert record(file, pick_it="FS", extra=surroundings) is NodeStatus.SUCCESS
    _, page = page_of(file)
    assert "fetch succeeded" in page.text
    assert "On the way one failure with a reason was told" in page.text
    assert "First cause" not in page.text


def test_a_run_that_nobody_ended(tmp_path: Path) -> None:
    file = tmp_path / "long.mcap"
    record(file, pick_it="R", ticks=3)
    _, page = page_of(file)
    assert "fetch was ended" in page.text
    assert "The tree itself did not fail." in page.text


def test_files_that_cannot_be_explained(failed: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(b"no recording at all")
    done, words = explain(torn)
    assert not done
    assert "torn.mcap" in words
    done, words = explain(failed, "--output", tmp_path / "missing" / "page.html")
    assert not done
    assert "page.html cannot be written: No such file or directory" in words
    done, words = explain(failed, "--run", "9")
    assert words.endswith("holds 1 run, there is no run 9")
