# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that tells on `/diagnostics` how it is, and what it could not use."""

from __future__ import annotations

from behavior_ros import OK, WARN, DiagnosticsPublisher
from behavior_scene.node.host import SceneHost


class Health:
    """Reports once a second."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        self._diagnostics = DiagnosticsPublisher(host.node, "scene")
        host.node.create_timer(1.0, self._report)

    def _report(self) -> None:
        scene = self._host.scene
        refused = {defect.value: count for defect, count in scene.defects.most_common()}
        states = {obj.name: obj.state.name for obj in self._host.snapshot().objects.values()}
        level = WARN if refused else OK
        message = (
            f"{sum(refused.values())} detections could not be used: {', '.join(refused)}"
            if refused
            else f"{len(states)} objects"
        )
        explained = {}
        for defect in scene.defects:
            example = scene.intake.examples.get(defect)
            newest = f" Newest case: {example}." if example else ""
            explained[f"{defect.value}: what it means"] = defect.explanation + newest
        self._diagnostics.set(
            level, message, accepted=scene.accepted, **refused, **explained, **states
        )
