# SPDX-License-Identifier: Apache-2.0
"""Mission actions as requests: what is taken, and what is refused with all that is wrong."""

import math

import pytest
from behavior_msgs.msg import MissionAction, MissionStep
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from nav_msgs.msg import Path

from behavior_executor.conversion import request_from
from behavior_executor.missions.mission import Code, Kind, MissionError, MissionRequest, Policy
from behavior_executor.missions.mission_limits import MOST_POSES, MOST_STEPS
from behavior_executor.missions.request_text import request_from_text, request_to_text
from behavior_motion.planar_pose import FramedPose, Pose2D
from behavior_ros import upright_pose


def route(*poses: PoseStamped, frame: str = "map") -> Path:
    path = Path(poses=list(poses))
    path.header.frame_id = frame
    return path


def broken(**fields: float | str) -> PoseStamped:
    """A pose with a mistake."""
    pose = upright_pose(str(fields.pop("frame", "map")), 1.0, 2.0)
    for name, value in fields.items():
        part = pose.pose.orientation if name.startswith("q") else pose.pose.position
        setattr(part, name.removeprefix("q"), value)
    return pose


def test_goal_and_route_become_poses_in_the_plane() -> None:
    goal = upright_pose("hall", 1.0, -2.0, math.pi / 2)
    request = request_from(
        MissionAction(action_id="g", type=MissionAction.NAVIGATE_TO_POSE, goal=goal)
    )
    assert request.goal is not None
    assert request.goal.frame == "hall"
    assert request.goal.pose.distance(Pose2D(1.0, -2.0)) == 0.0
    assert request.goal.pose.yaw == pytest.approx(math.pi / 2)
    message = MissionAction(
        type=MissionAction.FOLLOW_ROUTE,
        route=route(broken(frame=""), upright_pose("map", 3.0, 4.0)),
    )
    request = request_from(message)
    assert [(p.frame, p.pose.x) for p in request.route] == [("map", 1.0), ("map", 3.0)]
    assert request.goal is None
    assert request.action_id


def test_sequence_keeps_its_steps_in_order() -> None:
    message = MissionAction(
        action_id="s",
        type=MissionAction.SEQUENCE,
        priority=7,
        policy=MissionAction.POLICY_QUEUE,
        steps=[
            MissionStep(type=MissionAction.LOAD_MAP, map_id="hall"),
            MissionStep(type=MissionAction.NAVIGATE_TO_POSE, goal=broken()),
            MissionStep(name="wave", parameters=[KeyValue(key="times", value="3")]),
        ],
    )
    request = request_from(message)
    assert (request.priority, request.policy) == (7, Policy.QUEUE)
    assert [step.action_id for step in request.steps] == ["s#1", "s#2", "s#3"]
    kinds = [step.kind for step in request.parts]
    assert kinds == [Kind.LOAD_MAP, Kind.NAVIGATE_TO_POSE, Kind.RUN_BEHAVIOR]
    assert request.steps[2].parameters == {"times": "3"}


NAVIGATE, FOLLOW = MissionAction.NAVIGATE_TO_POSE, MissionAction.FOLLOW_ROUTE


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"type": NAVIGATE, "goal": broken(frame=" ")}, ["goal has no frame"]),
        ({"type": NAVIGATE, "goal": broken(x=math.nan)}, ["position of goal is not finite"]),
        ({"type": NAVIGATE, "goal": broken(z=math.inf)}, ["position of goal is not finite"]),
        ({"type": NAVIGATE, "goal": broken(qw=0.0)}, ["no unit quaternion, its length is 0:"]),
        ({"type": NAVIGATE, "goal": broken(qx=math.nan)}, ["orientation of goal is not finite"]),
        ({"type": NAVIGATE, "goal": broken(qz=0.5)}, ["no unit quaternion"]),
        (
            {"type": NAVIGATE, "goal": broken(frame="", y=math.nan, qw=0.0), "policy": 9},
            ["no frame", "not finite", "unit quaternion", "policy 9"],
        ),
        ({"type": FOLLOW}, ["route has no poses"]),
        (
            {"type": FOLLOW, "route": route(broken(), broken(frame="odom"), broken(qw=0.0))},
            ["pose 2 of route is in frame 'odom'", "orientation of pose 3"],
        ),
        ({"type": FOLLOW, "route": route(broken(frame=""), frame="")}, ["pose 1 of route has no"]),
        ({"type": MissionAction.LOAD_MAP, "map_id": " "}, ["map_id is empty"]),
        ({"type": MissionAction.SEQUENCE}, ["steps is empty"]),
        (
            {
                "type": MissionAction.SEQUENCE,
                "parameters": [KeyValue(key="a", value="1")],
                "steps": [
                    MissionStep(type=MissionAction.SEQUENCE),
                    MissionStep(type=MissionAction.CANCEL),
                    MissionStep(name="ok"),
                    MissionStep(type=NAVIGATE),
                ],
            },
            ["give them to its steps", "step 1: type 4", "step 2: type 7", "step 4: goal has no"],
        ),
    ],
)
def test_everything_malformed_is_told_in_one_message(fields: dict, words: list[str]) -> None:
    with pytest.raises(MissionError) as error:
        request_from(MissionAction(**fields))
    assert error.value.code is Code.INVALID_REQUEST
    for word in words:
        assert word in str(error.value)
    assert "step 3" not in str(error.value)


MANY = [KeyValue(key=f"k{i}", value="1") for i in range(10_000)]
LONG = "n" * 1_200_000


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": LONG}, "name has 1200000 characters: at most 256"),
        ({"name": "a", "action_id": LONG}, "action_id has 1200000 characters"),
        ({"name": "red\x1b[2Jalert"}, "control characters: 'red\\x1b[2Jalert'"),
        ({"name": "a", "action_id": "a\nWARN: forged"}, "control characters: 'a\\nWARN: forged'"),
        ({"name": "a", "parameters": MANY}, "10000 parameters: at most 256"),
        ({"name": "a", "parameters": MANY[:1] * 10_000}, "10000 parameters: at most 256"),
        (
            {"name": "a", "parameters": [KeyValue(key="k", value="x" * 10_000_000)]},
            "more than 65536 characters together",
        ),
        ({"name": "a", "parameters": [KeyValue(key=LONG, value="")]}, "key of a parameter has 12"),
        ({"name": "a", "parameters": [KeyValue(key="k", value="\x07")]}, "control characters"),
        ({"type": NAVIGATE, "goal": broken(frame=LONG)}, "frame of goal has 1200000"),
        ({"type": FOLLOW, "route": route(*[PoseStamped()] * 2_000)}, "2000 poses: at most 1000"),
        ({"type": FOLLOW, "route": route(broken(frame=LONG))}, "frame of a pose has 1200000"),
        ({"type": MissionAction.LOAD_MAP, "map_id": LONG}, "map_id has 1200000"),
        (
            {"type": MissionAction.SEQUENCE, "steps": [MissionStep(name="a")] * 300},
            "300 steps: at most 256",
        ),
        (
            {
                "type": MissionAction.SEQUENCE,
                "steps": [MissionStep(name="a", parameters=MANY[:100])] * 3,
            },
            "300 parameters: at most 256",
        ),
        (
            {
                "type": MissionAction.SEQUENCE,
                "steps": [MissionStep(type=NAVIGATE, goal=broken(frame="m\0p"))],
            },
            "frame of goal has control characters",
        ),
    ],
)
def test_what_is_too_large_is_refused_first_and_not_echoed(fields: dict, words: str) -> None:
    with pytest.raises(MissionError) as error:
        request_from(MissionAction(**fields))
    assert error.value.code is Code.INVALID_REQUEST
    assert words in str(error.value)
    assert len(str(error.value)) < 1_000
    assert str(error.value).isprintable()


def test_large_missions_within_the_limits_are_taken() -> None:
    runs = [MissionStep(name="n" * 200, parameters=[pair]) for pair in MANY[: MOST_STEPS - 1]]
    drive = MissionStep(type=FOLLOW, route=route(*[broken()] * MOST_POSES))
    request = request_from(MissionAction(type=MissionAction.SEQUENCE, steps=[*runs, drive]))
    assert len(request.steps) == MOST_STEPS
    text = MissionAction(name="a", parameters=[KeyValue(key="k", value="[\n" * 32_000)])
    assert len(request_from(text).parameters["k"]) == 64_000


def test_of_a_thousand_mistakes_the_first_are_told() -> None:
    with pytest.raises(MissionError, match="and 990 more") as error:
        request_from(MissionAction(type=FOLLOW, route=route(*[broken(qw=0.0)] * 1_000)))
    assert len(str(error.value)) < 3_000


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
POSES = st.builds(FramedPose, st.text(), st.builds(Pose2D, NUMBERS, NUMBERS, NUMBERS))
PARTS = st.builds(
    MissionRequest,
    st.text(),
    kind=st.sampled_from(list(Kind)),
    name=st.text(),
    policy=st.sampled_from(list(Policy)),
    priority=st.integers(0, 255),
    parameters=st.dictionaries(st.text(), st.text()),
    goal=st.none() | POSES,
    route=st.lists(POSES, max_size=3).map(tuple),
    map_id=st.text(),
    steps=st.just(()),
    trees=st.dictionaries(st.text(), st.text()),
)


@pytest.mark.slow
@settings(deadline=None)
@given(PARTS, st.lists(PARTS, max_size=2))
def test_requests_survive_the_journal(request_: MissionRequest, steps: list) -> None:
    whole = MissionRequest(
        **{**vars(request_), "steps": tuple(steps)}  # frozen: no assignment
    )
    assert request_from_text(request_to_text(whole)) == whole


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": "a"}', '{"id": "a", "kind": 99}', "7"])
def test_other_texts_are_no_requests(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        request_from_text(text)
