# SPDX-License-Identifier: Apache-2.0
"""Recordings of episodes that failed: what the stack's black box holds when they end."""

from __future__ import annotations

import shutil
from pathlib import Path

from behavior_msgs.msg import RecordingState
from std_srvs.srv import Trigger

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.record import Episode
from behavior_bringup.terminal import say
from behavior_ros import QOS_LATCHED

MINUTES = 10.0
"""[min] of wall time that are kept: longer than nearly all episodes take."""
_HEARD = 30.0
"""[s] for the black box to come up beside a stack that is ready."""
_MERGED = 60.0
"""[s] for the black box to make one file of what it holds."""


def forget_earlier(client: StackClient, begin: int) -> None:
    """Have the stack's black box hold nothing that was there before the stack.

    Its folder is the one that it tells: where the robot's own was taken it is one beside that.

    Args:
        client: in the domain of the stack.
        begin: wall time since 1970 at which it was started [ns].

    Raises:
        BringupError: what it holds cannot be deleted.
    """
    from behavior_recording.black_box import forget

    folders: list[Path] = []

    def hear(state: RecordingState) -> None:
        if (told := Path(state.file)).is_dir():  # else it is a recorder's that keeps all
            folders.append(told)

    end = client.listen(RecordingState, "behavior/recording", hear, QOS_LATCHED)
    try:
        if not client.wait(lambda: bool(folders), _HEARD):
            say("No black box tells of itself: recordings may hold what was there before")
            return
        forget(folders[0], begin)
    except OSError as error:
        raise BringupError(
            f"{folders[0]} holds earlier recordings that cannot be deleted: {error.strerror}"
        ) from error
    finally:
        end()


def keep_recording(client: StackClient, episode: Episode, folder: Path) -> str:
    """Keep what the stack's black box holds.

    Args:
        client: in the domain of the stack.
        episode: names the file.
        folder: beside the file of the evaluation.

    Returns:
        The file, as seen from the folder of the evaluation's file.

    Raises:
        BringupError: there is no black box, or it cannot be kept.
    """
    answer = Trigger.Response()

    def asked() -> bool:
        # It is kept already if the mission has failed: then once more, up to the episode's end.
        nonlocal answer
        answer = client.call(Trigger, "behavior/keep_recording", Trigger.Request())
        return bool(answer.success)

    if not client.wait(asked, _MERGED):
        raise BringupError(f"The recording is not kept: {answer.message}")
    kept = Path(answer.message)
    if not client.wait(kept.exists, _MERGED):
        raise BringupError(f"The recording is not kept: {kept} was not there after {_MERGED:g} s")
    name = "-".join(filter(None, (episode.variant, f"seed-{episode.seed}")))
    target = folder / f"{name}.mcap"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(kept, target)
    except OSError as error:
        raise BringupError(f"The recording stays in {kept}: {error.strerror}") from error
    return f"{folder.name}/{target.name}"
