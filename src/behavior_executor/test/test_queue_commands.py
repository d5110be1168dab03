# SPDX-License-Identifier: Apache-2.0
import pytest

from behavior_executor.missions.mission import MissionRequest, Policy
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.running.queue_commands import is_queue_command, obey_queue_command
from behavior_tree import BehaviorTreeError


@pytest.fixture
def queue() -> MissionQueue:
    made = MissionQueue(default_policy=Policy.QUEUE)
    for name in ("first", "second", "third"):
        made.submit(MissionRequest(name, name="tour"), 0.0)
    return made


def test_the_order_is_asked_for_and_changed(queue: MissionQueue) -> None:
    assert is_queue_command("queue")
    assert is_queue_command(" queue third 1")
    assert not is_queue_command("queues")
    assert not is_queue_command("")
    assert obey_queue_command("queue", queue) == "first second third"
    assert obey_queue_command("queue third 1", queue) == "third first second"
    assert obey_queue_command("queue", MissionQueue()) == ""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("queue third", "'queue ACTION_ID PLACE'"),
        ("queue third -1", "'queue ACTION_ID PLACE'"),
        ("queue third 1 2", "'queue ACTION_ID PLACE'"),
        ("queue nobody 1", "no mission 'nobody' waits"),
        ("queue third 0", "the first place is 1"),
    ],
)
def test_what_is_wrong_changes_nothing(queue: MissionQueue, line: str, why: str) -> None:
    with pytest.raises(BehaviorTreeError, match=why):
        obey_queue_command(line, queue)
    assert obey_queue_command("queue", queue) == "first second third"
