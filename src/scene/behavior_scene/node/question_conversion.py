# SPDX-License-Identifier: Apache-2.0
"""Between the messages of questions and the scene's own types."""

from __future__ import annotations

import math

import numpy as np
from behavior_msgs.msg import ColorRange, SceneAnswer, SceneQuestion, SceneShape

from behavior_motion.collision.convex import ConvexShape, convex_shape
from behavior_motion.errors import MotionError
from behavior_ros import pose_to_matrix, seconds, to_time
from behavior_scene.clouds.color import HsvRange
from behavior_scene.objects.shapes import SHAPE_KINDS
from behavior_scene.questions.questions import Answer, BadQuestionError, Query, Question


def query_from(message: SceneQuestion) -> Query:
    """The question in a message.

    Raises:
        BadQuestionError: it makes no sense; the text says why and what to give.
    """
    try:
        question = Question(message.question)
    except ValueError:
        known = ", ".join(f"{known.name}={known.value}" for known in Question)
        raise BadQuestionError(f"question {message.question} is none of {known}") from None
    shaped = question in (Question.CONTAINS_FRAME, Question.CONTAINS_POINTS)
    colored = question is Question.CONTAINS_POINTS and message.check_color
    try:
        pose = pose_to_matrix(message.shape_pose) if shaped else np.eye(4)
        if not np.all(np.isfinite(pose)):
            raise BadQuestionError("shape_pose is not finite; give numbers [m]")
        return Query(
            question=question,
            name=message.object,
            reference=message.reference,
            minimum=message.minimum,
            maximum=message.maximum,
            since=seconds(message.since),
            shape=shape_from(message.shape) if shaped else None,
            name_T_shape=pose,
            color=_color_from(message.color) if colored else None,
        )
    except BadQuestionError:
        raise
    except (ValueError, MotionError) as error:
        raise BadQuestionError(f"{question.name}: {error}") from error


def shape_from(message: SceneShape) -> ConvexShape:
    """The shape in a message; raises MotionError where it cannot be."""
    kind = SHAPE_KINDS[message.kind] if message.kind < len(SHAPE_KINDS) else f"{message.kind}"
    vertices = [(point.x, point.y, point.z) for point in message.vertices]
    return convex_shape(kind, message.dimensions, vertices)


def _color_from(message: ColorRange) -> HsvRange:
    return HsvRange(
        message.hue_min,
        message.hue_max,
        message.saturation_min,
        message.saturation_max,
        message.value_min,
        message.value_max,
    )


def answer_message(answer: Answer, revision: int, stamp: float) -> SceneAnswer:
    """An answer as a message.

    Args:
        answer: the answer.
        revision: of the scene that was asked.
        stamp: of the scene, or of the cloud whose points were counted [s].
    """
    mean = answer.mean
    return SceneAnswer(
        answer=bool(answer.answer),
        value=float(answer.value),
        mean_hsv=[math.nan] * 3 if mean is None else [mean.hue, mean.saturation, mean.value],
        revision=revision,
        stamp=to_time(stamp),
        text=answer.text,
    )
