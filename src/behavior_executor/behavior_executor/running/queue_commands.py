# SPDX-License-Identifier: Apache-2.0
"""Lines by which an operator orders the missions that wait. No ROS.

========================  =====================================================
``queue``                 the identifiers of those that wait, the next one first
``queue ACTION_ID PLACE`` this one waits at that place, 1 being the next
========================  =====================================================
"""

from __future__ import annotations

from behavior_executor.missions.mission import MissionError
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_tree import BehaviorTreeError
from behavior_tree.shown_text import visible

VERB = "queue"


def is_queue_command(line: str) -> bool:
    """Whether a line is for the queue."""
    return line.split(None, 1)[:1] == [VERB]


def obey_queue_command(line: str, queue: MissionQueue) -> str:
    """Do what a line says.

    Args:
        line: one of the above.
        queue: is ordered.

    Returns:
        The identifiers in their order now, with spaces between them.

    Raises:
        BehaviorTreeError: that is no such line, or no such mission waits; nothing has changed.
    """
    _, *words = line.split()
    if words:
        if len(words) != 2 or not words[1].isdecimal():
            raise BehaviorTreeError(
                f"'{visible(line)}' is not 'queue ACTION_ID PLACE', such as 'queue 3f2a 1'"
            )
        try:
            queue.move(words[0], int(words[1]))
        except MissionError as error:
            raise BehaviorTreeError(str(error)) from error
    return " ".join(mission.action_id for mission in queue.waiting)
