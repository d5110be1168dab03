# SPDX-License-Identifier: Apache-2.0
"""`behavior teach`: a recorded motion becomes leaves, in a new file and in an old one."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from behavior_bringup.cli import main
from behavior_bringup.stacks import connection
from behavior_bringup.teaching import source
from behavior_motion import GripperConfig
from behavior_recording.mcap_file import McapFile
from behavior_skills.arm.shown_motion import MotionWatch

JOINTS = [f"panda_joint{number}" for number in range(1, 8)]
FINGERS = ["panda_finger_joint1", "panda_finger_joint2"]
HOME = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]
TREE = """<root BTCPP_format="4"><BehaviorTree ID="job">
  <Sequence name="list"><AlwaysSuccess name="begin"/> <!-- kept --></Sequence>
</BehaviorTree></root>
"""


def state(time: float) -> JointState:
    """Home, from 1 s to 2 s the first joint goes to 0.5 rad, from 3 s the fingers open to 60 mm."""
    message = JointState(name=[*JOINTS, *FINGERS])
    message.header.stamp.sec = int(time)
    message.header.stamp.nanosec = round(1e9 * (time % 1.0))
    joint = float(np.interp(time, [1.0, 2.0], [0.0, 0.5]))
    finger = float(np.interp(time, [3.0, 4.0], [0.0, 0.03]))
    message.position = [joint, *HOME[1:], finger, finger]
    return message


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "shown.mcap"
    file = McapFile(path)
    for time in np.arange(0.0, 5.0, 0.02):
        data = serialize_message(state(time))
        file.add("/joint_states", "sensor_msgs/msg/JointState", data, log_time=int(1e9 * time))
    file.finish()
    return path


def attributes(file: Path) -> list[dict[str, str]]:
    kinds = ("MoveArm", "MoveGripper")
    return [each.attrib for each in ElementTree.parse(file).iter() if each.tag in kinds]


def test_a_recording_becomes_a_tree_that_loads(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wave.xml"
    assert main(["teach", str(recording), "-o", str(file), "--title", "wave"]) == 0
    assert "2 MoveArm, 1 MoveGripper" in capsys.readouterr().out
    begin, end, fingers = attributes(file)
    assert begin["joints"] == ";".join(f"{each:.4f}" for each in HOME)
    assert end["joints"].startswith("0.5000;-0.7850")
    assert fingers == {"name": "wave 3", "mode": "WIDTH", "width": "0.0600"}
    assert main(["tree", "check", "--strict", str(file)]) == 0
    assert main(["teach", str(recording), "-o", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_it_is_inserted_into_a_file(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "job.xml"
    file.write_text(TREE)
    into = ["teach", str(recording), "--into", str(file)]
    assert main([*into, "--parent", "list", "--before", "begin", "--end", "2.5"]) == 0
    assert len(attributes(file)) == 2
    text = file.read_text()
    assert " <!-- kept -->" in text
    assert text.index("taught 2") < text.index("begin")
    assert main([*into, "--parent", "nobody"]) == 1
    assert "there is no node 'nobody'" in capsys.readouterr().err.replace("There", "there")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--end", "0.9"], 1, "Nothing moved"),
        (["--start", "9"], 1, "lasts 5.0 s"),
        (["--parent", "list"], 2, "--parent belongs to"),
        (["--before", "list"], 2, "--before belongs to"),
        (["--duration", "3"], 2, "--duration is for the running stack"),
        (["--robot", "ur10"], 1, "nobody told of shoulder_pan_joint"),
        (["--robot", "pandda"], 2, "panda"),
    ],
)
def test_what_cannot_be_taught_is_a_sentence(
    recording: Path,
    words: list[str],
    code: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["teach", str(recording), *words]) == code
    assert sentence in capsys.readouterr().err


class FakeClient:
    """Of a stack whose arm moves as long as it is watched."""

    def __init__(self, namespace: str) -> None:
        self.times = iter(np.arange(0.0, 60.0, 0.02))

    def __enter__(self) -> "FakeClient":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to let go of."""

    def listen(self, kind: Any, topic: str, callback: Any, qos: Any) -> None:
        assert (kind, topic) == (JointState, "joint_states")
        self.callback = callback

    def wait(self, condition: Any, timeout: float) -> bool:
        self.callback(state(next(self.times)))
        return bool(condition())

    def work(self, duration: float) -> None:
        for time in self.times:
            if time > 4.5:
                raise KeyboardInterrupt  # as the user's Ctrl-C
            self.callback(state(time))


def test_a_running_arm_is_watched_until_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(source, "enter", lambda stack: None)
    monkeypatch.setattr("behavior_bringup.client.StackClient", FakeClient)
    assert main(["teach"]) == 0
    printed = capsys.readouterr()
    assert "Move the arm now" in printed.err
    assert [each.tag for each in ElementTree.fromstring(printed.out)] == [
        "MoveArm",
        "MoveArm",
        "MoveGripper",
    ]
    watch = MotionWatch(["elbow"], GripperConfig((), (), 0, 0, 1, 1, 1, "", (), {}))
    with pytest.raises(connection.BringupError, match="No states of elbow"):
        source.live_motion(watch, "", "", None)
