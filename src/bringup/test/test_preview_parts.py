# SPDX-License-Identifier: Apache-2.0
"""The parts of a preview that need no stack: what changed, how a copy is set, what is told."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from behavior_msgs.action import ManageScene
from behavior_msgs.msg import SceneObject, SceneObjectArray
from std_msgs.msg import String
from visualization_msgs.msg import Marker

from behavior_bringup.conversion import believed_objects, path_marker
from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.preview.agreement import agreement, farthest
from behavior_bringup.preview.copy_stack import copy_of
from behavior_bringup.preview.differences import Tolerances, differences
from behavior_bringup.preview.kinds import ObjectsKind
from behavior_bringup.preview.live_state import BelievedObject, LiveState, Sight
from behavior_bringup.preview.motions import Choices, PlannedMotions
from behavior_bringup.preview.rehearsal import Stopwatch
from behavior_bringup.preview.report import Preview
from behavior_bringup.preview.setting import ObjectsSetter, counterparts
from behavior_bringup.preview.start_state import copied_world
from behavior_bringup.stacks.description import load_stack, stack_file
from behavior_bringup.stacks.environment import choose_domain
from behavior_bringup.stacks.stack import Stack
from behavior_bringup.stacks.state import StackState, acquire_lock
from behavior_bringup.stacks.supervisor import Plan
from behavior_sim.recordings.motion_summary import Clearance, MotionSummary, Touch
from behavior_sim.worlds.config import load_world
from behavior_sim.worlds.door import bolt_name, drawn_by, lever_name, panel_name
from behavior_sim.worlds.layouts import pose_of
from behavior_sim.worlds.resources import find_world
from behavior_sim.worlds.world import World
from behavior_sim.worlds.world_state import WorldState

JOINTS = {"panda_joint1": 0.1, "panda_joint2": -0.5, "panda_finger_joint1": 0.02}


def believed(
    name: str,
    x: float = 0.0,
    y: float = 0.0,
    z: float = 0.03,
    *,
    yaw: float = 0.0,
    class_id: str = "",
    sight: Sight = "tracked",
    derived: bool = False,
) -> BelievedObject:
    return BelievedObject(
        name=name,
        class_id=class_id or name,
        pose=pose_of([x, y, z], yaw),
        sight=sight,
        derived=derived,
    )


def live(*objects: BelievedObject, **joints: float) -> LiveState:
    return LiveState(joints={**JOINTS, **joints}, objects={item.name: item for item in objects})


# -- motions --------------------------------------------------------------------------------------


def test_what_was_done_as_previewed_is_counted_and_the_rest_explained() -> None:
    choices = Choices("m1")
    assert list(choices.lines()) == []
    moved = "red is 23 mm from where it was previewed"
    told = [
        ("m1", True, ""),
        ("m1", False, moved),
        ("m2", True, ""),
        ("m1", False, moved),
        ("m2", False, "blue is lost"),
        ("m1", False, "red is lost"),
    ]
    for mission, as_previewed, why in told:
        row = {"mission": mission, "as_previewed": as_previewed, "why": why}
        choices.take(String(data=json.dumps(row)))
    assert list(choices.lines()) == [
        "1 of 4 planned motions were the previewed ones.",
        f"Planned anew 2 times: {moved}.",
        "Planned anew: red is lost.",
    ]


def test_planned_motions_are_kept_in_a_file(tmp_path: Path) -> None:
    class Client:
        def listen(self, kind: type, topic: str, callback: object, qos: object) -> object:
            assert (kind, topic) == (String, "motion/planned")
            self.hear = callback
            return lambda: None

    client = Client()
    planned = PlannedMotions(client)  # type: ignore[arg-type] # all that is asked of it
    file = tmp_path / "motions.json"
    assert planned.save(file) == 0
    assert json.loads(file.read_text(encoding="utf-8")) == []
    for text in ('{"a": 1}', '{"a": 2}'):
        client.hear(String(data=text))  # type: ignore[operator]
    assert planned.save(file) == 2
    assert json.loads(file.read_text(encoding="utf-8")) == [{"a": 1}, {"a": 2}]


# -- differences ----------------------------------------------------------------------------------


def test_what_is_as_it_was_has_no_differences() -> None:
    before = live(believed("red", 0.3), believed("slot", derived=True))
    after = live(believed("red", 0.309, yaw=0.19), believed("slot", 5.0, derived=True))
    assert differences(before, after, Tolerances()) == []


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (live(believed("red", 0.312)), ["red has moved by 12 mm"]),
        (live(believed("red", 0.3, yaw=0.5)), ["red has turned by 29 degrees"]),
        (live(), ["red is no more there"]),
        (live(believed("red", 0.3), believed("blue")), ["blue is new"]),
        (live(believed("red", 0.3, sight="held")), ["red is held now"]),
        (live(believed("red", 0.3, sight="lost")), ["red is lost now"]),
        (
            live(believed("red", 0.3), panda_joint1=0.3, panda_joint2=0.5),
            ["The robot stands elsewhere: panda_joint2 by 1.000, and 1 more joints"],
        ),
    ],
)
def test_each_difference_is_a_sentence(after: LiveState, words: list[str]) -> None:
    assert differences(live(believed("red", 0.3)), after, Tolerances()) == words


def test_differences_are_the_same_both_ways_but_for_their_words() -> None:
    one, other = live(believed("red", 0.3)), live(believed("red", 0.5, sight="held"))
    assert len(differences(one, other, Tolerances())) == len(differences(other, one, Tolerances()))


# -- how a copy is set ----------------------------------------------------------------------------


def test_a_world_is_set_from_what_is_believed() -> None:
    config = load_world(find_world("block_stacking"))
    scene = live(
        believed("red_block", 0.4, 0.1, sight="held"),
        believed("green_block", 0.5, sight="lost"),
        believed("on_red", 0.4, 0.1, derived=True),
        believed("cup", 0.2),
    )
    copied = copied_world(scene, config)
    assert copied.state.held == "red_block"
    assert copied.names == {"red_block": "red_block"}
    assert copied.state.objects["red_block"] == pytest.approx(pose_of([0.4, 0.1, 0.03]))
    assert copied.state.joints == JOINTS
    assert sorted(copied.notes) == [
        "cup is not in the copy: its world has nothing of class cup",
        "green_block is lost: the copy is without it",
    ]
    assert max(World(config).restore(copied.state).values()) < 0.2  # the world takes it


def test_objects_of_a_class_stand_for_each_other() -> None:
    config = load_world(find_world("sorting"))
    alike = [name for name, item in config.objects.items() if item.class_id == "red_ball"]
    assert len(alike) > 1, "the test needs a world with like objects"
    seen = [believed(f"red_ball_{20 + n}", n * 0.1, class_id="red_ball") for n in range(len(alike))]
    seen.append(believed(alike[-1], 1.0, class_id="red_ball"))
    copied = copied_world(live(*seen), config)
    assert copied.names[alike[-1]] == alike[-1], "what has the same name stays itself"
    assert sorted(copied.names.values()) == sorted(alike)
    assert len(copied.notes) == 1
    assert "its world has no more of class red_ball" in copied.notes[0]


def test_of_what_comes_by_itself_that_which_is_seen_has_come() -> None:
    config = load_world(find_world("bin_stacking"))
    seen = [believed(name, float(n), class_id="bin") for n, name in enumerate(("bin_1", "bin_0"))]
    copied = copied_world(live(*seen), config)
    assert copied.names == {"bin_0": "bin_0", "bin_1": "bin_1"}
    assert copied.state.objects["bin_0"][0, 3] == 1.0
    assert copied.notes == ["where and how more of bin come is not known: the copy draws it"]


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2])
def test_the_angle_of_a_door_follows_from_where_its_leaf_is_seen(angle: float) -> None:
    config = load_world(find_world("door"))
    world = World(config)
    joint = world.model.joint("door_panel")
    world.data.qpos[joint.qposadr[0]] = angle
    mujoco.mj_forward(world.model, world.data)
    pose = world.visible_pose("door_panel")
    # A leaf looks the same from behind: its yaw may be told half a turn off.
    pose[:3, :3] = pose[:3, :3] @ np.diag([-1.0, -1.0, 1.0])
    leaf = BelievedObject(name="door_panel", class_id="door_panel", pose=pose)
    copied = copied_world(live(leaf), config)
    assert copied.state.joints["door_panel"] == pytest.approx(angle, abs=1e-6)
    assert copied.notes == []


@pytest.mark.parametrize(
    ("world", "bar"), [("door", "door_lever"), ("two_doors", "first_door_lever")]
)
def test_a_pressed_lever_is_pressed_in_the_copy_and_its_bolt_drawn(world: str, bar: str) -> None:
    config = load_world(find_world(world))
    door = bar.removesuffix("_lever")
    real = World(config)
    for name, angle in ((lever_name(door), 0.6), (panel_name(door), 0.3)):
        real.data.qpos[real.model.joint(name).qposadr[0]] = angle
    mujoco.mj_forward(real.model, real.data)
    seen = BelievedObject(name=bar, class_id=bar, pose=real.visible_pose(bar))
    joints = copied_world(live(seen), config).state.joints
    assert joints[lever_name(door)] == pytest.approx(0.6, abs=1e-6)
    copy = World(config)
    # The limit of the tendon between them is kept from the beginning: nothing is flung.
    assert joints[bolt_name(door)] + drawn_by(config.doors[door]) * 0.6 == pytest.approx(0.0)
    assert {name for name in joints if name not in JOINTS} == {lever_name(door), bolt_name(door)}
    copy.restore(WorldState(joints={n: joints[n] for n in (lever_name(door), bolt_name(door))}))


def test_a_lever_at_rest_that_is_seen_two_millimetres_low_is_at_rest() -> None:
    config = load_world(find_world("door"))
    pose = World(config).visible_pose("door_lever")
    pose[2, 3] -= 0.002
    seen = BelievedObject(name="door_lever", class_id="door_lever", pose=pose)
    assert "door_lever" not in copied_world(live(seen), config).state.joints


def test_counterparts_are_near_and_of_the_class_and_bear_the_name_if_they_can() -> None:
    wanted = {
        "a": believed("a", 0.0, class_id="ball"),
        "b": believed("b", 1.0, class_id="ball"),
        "c": believed("c", 2.0, class_id="cube"),
    }
    seen = {
        "a": believed("a", 0.02, class_id="ball"),
        "x": believed("x", 0.0, class_id="ball"),
        "y": believed("y", 1.01, class_id="ball"),
        "c": believed("c", 2.0, class_id="ball"),
    }
    assert counterparts(wanted, seen) == {"a": "a", "b": "y"}


class CopyOfTwoBalls:
    """A client whose scene sees two balls, and calls each what the other is called."""

    def __init__(self, refusal: str = "") -> None:
        self.refusal = refusal
        self.objects = {
            "red_ball_1": believed("red_ball_1", 0.0, class_id="red_ball"),
            "red_ball_0": believed("red_ball_0", 0.3, class_id="red_ball"),
        }

    def reset(self, **_: object) -> None:
        pass

    def wait_simulated(self, seen: Callable[[], bool], **_: object) -> bool:
        return seen()

    def run_action(
        self, kind: object, name: str, goal: ManageScene.Goal, **_: object
    ) -> ManageScene.Result:
        if goal.operation == ManageScene.Goal.RENAME:
            if self.refusal:
                return ManageScene.Result(code=701, message=self.refusal)
            new = json.loads(goal.definition)
            kept = [self.objects.pop(name) for name in goal.names]
            self.objects.update(zip(new, kept, strict=True))
        return ManageScene.Result()


def test_things_are_called_in_the_copy_what_they_are_called_there() -> None:
    seen = live(
        believed("red_ball_0", 0.0, class_id="red_ball"),
        believed("red_ball_1", 0.3, class_id="red_ball"),
    )
    world = copied_world(seen, load_world(find_world("sorting")))
    copy = CopyOfTwoBalls()
    assert ObjectsSetter(copy, copy).set(seen, world, "state.json") == []  # type: ignore[arg-type]
    for name, item in seen.objects.items():
        assert copy.objects[name].pose == pytest.approx(item.pose)
    stubborn = CopyOfTwoBalls("no")
    notes = ObjectsSetter(stubborn, stubborn).set(seen, world, "")  # type: ignore[arg-type]
    assert notes == [
        "red_ball_0 is called red_ball_1 in the copy: no",
        "red_ball_1 is called red_ball_0 in the copy: no",
    ]


def test_the_scene_is_read_as_it_tells_itself() -> None:
    message = SceneObjectArray()
    held = SceneObject(name="red", class_id="block", state=SceneObject.ATTACHED, kind="detected")
    held.attached_link = "panda_hand"
    held.pose.position.x, held.pose.orientation.w = 0.4, 1.0
    slot = SceneObject(name="slot", state=SceneObject.TRACKED, kind="stack_slot")
    slot.pose.orientation.w = 1.0
    message.objects = [held, slot]
    found = believed_objects(message)
    assert (found["red"].sight, found["red"].link) == ("held", "panda_hand")
    assert found["red"].pose == pytest.approx(pose_of([0.4, 0.0, 0.0]))
    assert (found["red"].derived, found["slot"].derived) == (False, True)


# -- the copy's stack -----------------------------------------------------------------------------


def state(world: str, **arguments: bool | float | str) -> StackState:
    return StackState(supervisor_pid=1, domain=7, world=world, log_dir="logs", arguments=arguments)


def test_a_copy_takes_over_what_makes_the_world_and_shares_no_file() -> None:
    copy = copy_of(
        Stack("left"),
        state(
            "block_stacking",
            seed=3,
            speed=4.0,
            cameras=True,
            console=True,
            missions="/mine",
            journal="/j",
            memory="/m",
            recording="/r",
        ),
    )
    assert copy.stack.name == "left.preview"
    arguments = dict(copy.arguments)
    assert arguments.pop("recording") == str(copy.recording)
    assert copy.recording.parent == copy.stack.folder
    assert arguments == {
        "seed": 3,
        "missions": "/mine",
        "speed": 1.0,
        "cameras": False,
        "console": False,
        "headless": True,
        "groot2_port": 0,
        "record": False,
        "black_box": 0.0,
    }
    assert arguments.keys() <= load_stack(stack_file("block_stacking")).arguments.keys()
    assert copy.busy_speed == 4.0 * ObjectsKind.computed
    assert copy.world_name == "block_stacking"
    assert not copy.is_warm


def test_a_world_that_cannot_be_put_into_a_state_is_refused_before_its_copy_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "unkept.yaml"
    file.write_text(
        "description: x\nprocesses: {a: {nodes: {simulation: {node: 'm:World'}}}}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("behavior_bringup.preview.copy_stack.stack_file", lambda world: file)
    with pytest.raises(UsageError, match="cannot be copied: its stack has no argument 'recording'"):
        copy_of(Stack(), state("unkept"))


def test_the_copy_of_a_robot_that_drives_takes_no_orders_from_elsewhere() -> None:
    copy = copy_of(Stack(), state("navigation", mqtt="broker", record=True, warehouse="warehouse"))
    assert (copy.arguments["mqtt"], copy.arguments["record"]) == ("", False)
    assert copy.world_name == copy.arguments["warehouse"] == "warehouse"
    assert copy.arguments["recording"] == str(copy.recording)


def test_two_previews_of_a_stack_do_not_meet_in_its_copy() -> None:
    copy = copy_of(Stack(), state("block_stacking"))
    again, other = (copy_of(Stack(name), state("block_stacking")) for name in ("default", "left"))
    words = "Another preview of the stack 'default' runs"
    with copy.reserved(), pytest.raises(BringupError, match=words), again.reserved():
        pass
    with copy.reserved(), other.reserved():
        pass


def test_what_has_no_simulated_world_cannot_be_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "real.yaml"
    file.write_text(
        "description: x\nprocesses: {a: {nodes: {driver: {node: 'm:Driver'}}}}\n", encoding="utf-8"
    )
    monkeypatch.setattr("behavior_bringup.preview.copy_stack.stack_file", lambda world: file)
    with pytest.raises(UsageError, match="no simulated world to copy: name one that has, with"):
        copy_of(Stack(), state("real"))


def test_a_copy_never_gets_the_domain_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "5")
    monkeypatch.setattr("behavior_ros.process.domains.DOMAINS", range(4, 7))
    monkeypatch.setattr("behavior_ros.process.domains.used_domains", set)
    assert choose_domain() == 5
    assert choose_domain(taken=[4], own=True) == 6


def test_a_stack_goes_down_with_the_one_that_it_stands_beside(tmp_path: Path) -> None:
    beside, folder = tmp_path / "real", tmp_path / "copy"
    beside.mkdir()
    folder.mkdir()
    lock = acquire_lock(beside)
    plan = Plan(
        folder=str(folder),
        domain=1,
        world="w",
        log_dir=str(folder),
        commands={"sleeper": ["sleep", "1000"]},
        beside=str(beside),
    )
    plan.write(folder / "plan.json")
    supervisor = subprocess.Popen(
        [sys.executable, "-m", "behavior_bringup.stacks.supervisor", str(folder / "plan.json")]
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            supervisor.wait(timeout=2.0)
        os.close(lock)
        assert supervisor.wait(timeout=60.0) == 0
    finally:
        supervisor.kill()
        supervisor.wait()


# -- what is told ---------------------------------------------------------------------------------


def preview(**changes: object) -> Preview:
    motion = MotionSummary(
        times=np.array([10.0, 11.0, 12.0]),
        tool=np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.3, 0.4, 0.0]]),
        touched=(Touch(name="red", time=11.0, links=("left", "right")),),
        clearance=Clearance(distance=0.021, time=11.5, link="hand", name="blue"),
    )
    plain = Preview(
        mission="pick",
        parameters={"object": "red"},
        success=True,
        reason="done",
        duration=20.0,
        begin=live(believed("red", 0.3)),
        end=live(believed("red", 0.5)),
        motion=motion,
        begun=10.0,
        notes=["cup is lost: the copy is without it"],
        wall={"start": 2.0, "run": 4.0, "rest": 4.0},
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_preview_is_told_in_lines() -> None:
    assert list(preview().lines()) == [
        "The tool moves 0.70 m.",
        "Touches red at 1.0 s (left, right).",
        "Keeps 21 mm from everything else: least at 1.5 s, hand from blue.",
        "Note: cup is lost: the copy is without it.",
        "5.0x real time while it ran, 2.0x with all else (start 2.0 s, run 4.0 s, rest 4.0 s).",
    ]


def test_a_preview_is_written_for_programs(tmp_path: Path) -> None:
    file = tmp_path / "new" / "preview.json"
    preview().write(file)
    row = json.loads(file.read_text(encoding="utf-8"))
    assert (row["success"], row["duration_s"]) == (True, 20.0)
    assert row["tool_path"][1] == [1.0, 0.3, 0.0, 0.0]
    assert row["touched"] == [{"name": "red", "time_s": 1.0, "links": ["left", "right"]}]
    assert row["clearance"]["name"] == "blue"
    assert row["end"]["objects"]["red"]["position"] == [0.5, 0.0, 0.03]
    assert row["begin"]["joints"] == JOINTS
    assert row["times_real_time_of_all"] == 2.0


def test_a_preview_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        BringupError, match=r"cannot be written to .*: Is a directory; name another"
    ):
        preview().write(tmp_path)


def test_a_preview_without_contacts_and_neighbours_is_told_too(tmp_path: Path) -> None:
    lonely = replace(preview().motion, touched=(), clearance=None)
    found = preview(motion=lonely, notes=[])
    assert list(found.lines())[1] == "Touches nothing."
    assert found.row()["clearance"] is None


def test_an_execution_is_compared_with_its_preview() -> None:
    same = live(believed("red", 0.505, yaw=math.pi / 2))
    assert list(agreement(preview(), 20.4, same)) == [
        "It took 20.4 s; the preview 20.0 s (+2.0%).",
        "Objects ended 5 mm from their preview at most.",
    ]
    elsewhere = live(believed("red", 0.6), panda_joint1=1.0)
    assert list(agreement(preview(), 30.0, elsewhere))[2:] == [
        "Ended otherwise than previewed: The robot stands elsewhere: panda_joint1 by 0.900.",
        "Ended otherwise than previewed: red has moved by 100 mm.",
    ]
    assert farthest(live(), live()) == 0.0


def test_time_is_told_by_what_it_was_spent_on() -> None:
    now = iter([1.0, 3.0, 7.0])
    watch = Stopwatch(lambda: next(now))
    watch.lap("start")
    watch.lap("run")
    assert watch.laps == {"start": 2.0, "run": 4.0}


def test_the_path_is_a_line_that_the_console_reads_and_that_goes_again() -> None:
    places = preview().motion.tool
    message = path_marker(places, "world", "preview")
    (line,) = message.markers
    assert (line.type, line.action) == (Marker.LINE_STRIP, Marker.ADD)
    assert np.array([[p.x, p.y, p.z] for p in line.points]) == pytest.approx(places)
    assert message.markers[0].header.frame_id == "world"
    gone = path_marker(np.empty((0, 3)), "world", "preview")
    assert gone.markers[0].action == Marker.DELETE
    assert (gone.markers[0].ns, gone.markers[0].id) == (
        message.markers[0].ns,
        message.markers[0].id,
    )
    assert not gone.markers[0].points
