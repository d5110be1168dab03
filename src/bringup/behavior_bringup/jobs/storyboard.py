# SPDX-License-Identifier: Apache-2.0
"""The story of a mission in captions, for the animation that is drawn of it."""

from __future__ import annotations

from behavior_msgs.msg import MissionFeedback

from behavior_bringup.conversion import progress_of
from behavior_sim.recordings.rendering import Caption


class Storyboard:
    """Collects what a mission does, from its feedback."""

    def __init__(self) -> None:
        """Begin with an empty story."""
        self.captions: list[Caption] = []
        """Ordered by time; each differs from the one before."""

    def take(self, feedback: MissionFeedback) -> None:
        """Add what the mission does now, if that is new."""
        progress = progress_of(feedback, summary="", wall=0.0)
        text = "   ".join(part for part in (progress.doing, progress.summary) if part)
        stamp = feedback.header.stamp
        if text and (not self.captions or text != self.captions[-1].text):
            self.captions.append(Caption(stamp.sec + stamp.nanosec * 1e-9, text))
