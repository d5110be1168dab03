# SPDX-License-Identifier: Apache-2.0
"""The detection scene: detections become tracks, tracks become objects that behaviours act on.

Everything exported here is free of ROS; `behavior_scene.node.scene_node` is the node around it and
`behavior_scene.node.conversion` the only place that knows messages.
"""

from behavior_motion.object_state import ObjectState
from behavior_scene.detections import (
    Defect,
    Detection,
    checked_detection,
    checked_detections,
)
from behavior_scene.library import (
    LibraryError,
    ObjectClass,
    ObjectLibrary,
    Shape,
    library_from_dict,
    load_library,
)
from behavior_scene.objects.scene import (
    Scene,
    SceneParameters,
    UnknownLinkError,
    UnknownObjectError,
)
from behavior_scene.objects.snapshot import SceneObject, Snapshot
from behavior_scene.questions.questions import (
    Answer,
    BadQuestionError,
    Context,
    NoPointsError,
    Query,
    Question,
    answer,
)
from behavior_scene.tracking.intake import Intake, IntakeParameters
from behavior_scene.tracking.parameters import TrackerParameterError, TrackerParameters
from behavior_scene.tracking.tracker import Tracker
from behavior_scene.tracking.tracks import Track

__all__ = [
    "Answer",
    "BadQuestionError",
    "Context",
    "Defect",
    "Detection",
    "Intake",
    "IntakeParameters",
    "LibraryError",
    "NoPointsError",
    "ObjectClass",
    "ObjectLibrary",
    "ObjectState",
    "Query",
    "Question",
    "Scene",
    "SceneObject",
    "SceneParameters",
    "Shape",
    "Snapshot",
    "Track",
    "Tracker",
    "TrackerParameterError",
    "TrackerParameters",
    "UnknownLinkError",
    "UnknownObjectError",
    "answer",
    "checked_detection",
    "checked_detections",
    "library_from_dict",
    "load_library",
]
