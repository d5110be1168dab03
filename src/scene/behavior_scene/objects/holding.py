# SPDX-License-Identifier: Apache-2.0
"""Objects of a scene that links hold: where they are, and when they are let go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from behavior_scene.detections import Array, Detection, frozen
from behavior_scene.objects.attachment import LinkPose
from behavior_scene.objects.records import ObjectRecord

IMAGE_SPREAD = 0.05
"""[s] detections of one message may be stamped this much before it."""


class Holding:
    """Compares held objects with what is seen; see `behavior_scene.objects.attachment`."""

    def __init__(self, link_pose: LinkPose) -> None:
        """`link_pose` tells where links are."""
        self._link_pose = link_pose

    def poses(self, records: Iterable[ObjectRecord], stamp: float) -> dict[str, Array]:
        """Where links carried their objects at a time [s], by the names of their tracks.

        Where the link's pose of that time is not known yet, the newest counts.
        """

        def link_pose(link: str, _: float | None) -> Array | None:
            then = self._link_pose(link, stamp)
            return self._link_pose(link, None) if then is None else then

        return {
            record.track.name: record.pose(link_pose)
            for record in records
            if record.attachment is not None and record.track is not None
        }

    def complete(self, record: ObjectRecord, now: float) -> str:
        """Find how an object sits in its link, if it is in one and that can be told now.

        Returns:
            What to say when the object was let go, else ''.
        """
        if record.attachment is None:
            return ""
        return self._give_up(record, record.attachment.complete(self._link_pose, now))

    def check(
        self, record: ObjectRecord, detections: Sequence[Detection], stamp: float, now: float
    ) -> str:
        """Compare a held object with an image; let go of it when it is elsewhere.

        Args:
            record: any object.
            detections: of the image.
            stamp: of the image [s].
            now: [s].

        Returns:
            What to say when the object was let go, else ''.
        """
        attachment, track = record.attachment, record.track
        if attachment is None:
            return ""
        reason = attachment.complete(self._link_pose, now)
        if not reason and track is not None:
            seen = track.jump or track.newest
            if seen.stamp >= stamp - IMAGE_SPREAD:
                attachment.note(seen.stamp, seen.world_T_object)
            of_class = [d for d in detections if d.class_id == record.class_id]
            attachment.note_image(stamp, [d.world_T_object[:3, 3] for d in of_class])
            known = track.object_class
            reason = attachment.check(self._link_pose, known.gate, known.instances)
        return self._give_up(record, reason)

    def release(self, record: ObjectRecord, text: str) -> None:
        """Leave an object where it is; `text` is what is to be said of it."""
        pose = frozen(record.pose(self._link_pose))
        record.attachment, record.world_T_object, record.text = None, pose, text
        if record.track is not None and record.frozen_pose is None:
            record.track.place(pose)

    def _give_up(self, record: ObjectRecord, reason: str) -> str:
        """Let go of an object if there is a reason; its newest detection tells where it is."""
        if not reason:
            return ""
        track = record.track
        if track is None:
            self.release(record, f"not held: {reason}")
        else:
            record.attachment = None
            track.restart(track.jump or track.newest)
            record.follow(track)
            record.text = f"not held: {reason}"
        return f"'{record.name}' is not held any more: {reason}"
