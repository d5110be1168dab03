# SPDX-License-Identifier: Apache-2.0
"""Recordings of episodes that failed: what the stack's black box holds when they end."""

from __future__ import annotations

import shutil
from pathlib import Path

from std_srvs.srv import Trigger

from behavior_bringup.client import StackClient
from behavior_bringup.errors import BringupError
from behavior_bringup.evaluation.record import Episode

MINUTES = 10.0
"""[min] of wall time that are kept: longer than nearly all episodes take."""
_MERGED = 60.0
"""[s] for the black box to make one file of what it holds."""


def forget_earlier(client: StackClient, namespace: str, begin: int) -> None:
    """Have the stack's black box hold nothing that was there before the stack.

    Args:
        client: in the domain of the stack.
        namespace: of its nodes; empty: none.
        begin: wall time since 1970 at which it was started [ns].

    Raises:
        BringupError: what is there cannot be deleted.
    """
    from behavior_recording.black_box import forget
    from behavior_recording.folder import black_box_name, default_folder

    folder = default_folder() / black_box_name(client.domain, namespace)
    try:
        forget(folder, begin)
    except OSError as error:
        raise BringupError(
            f"{folder} holds earlier recordings that cannot be deleted: {error.strerror}"
        ) from error


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
