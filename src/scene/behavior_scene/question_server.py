# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that answers questions: `/scene/query`."""

from __future__ import annotations

from behavior_msgs.srv import QueryScene

from behavior_ros import seconds, to_time
from behavior_scene.host import SceneHost
from behavior_scene.questions import Context, Question, answer
from behavior_scene.scene import UnknownObjectError

SUCCESS, UNKNOWN_OBJECT, BAD_QUESTION = 0, 101, 102


class QuestionServer:
    """Answers at once, from the scene as it is now."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        host.node.create_service(QueryScene, "/scene/query", self._on_query)

    def _on_query(
        self, request: QueryScene.Request, response: QueryScene.Response
    ) -> QueryScene.Response:
        asked, snapshot = request.question, self._host.snapshot()
        response.answer.revision = snapshot.revision
        response.answer.stamp = to_time(snapshot.stamp)
        try:
            question = Question(asked.question)
        except ValueError:
            response.code = BAD_QUESTION
            response.message = (
                f"Question {asked.question} is not answered here; ask one of "
                f"{[f'{known.name}={known.value}' for known in Question]}."
            )
            return response
        context = Context(
            snapshot, lambda name: self._host.link_pose(name, None), self._host.scene.pose_at
        )
        try:
            result = answer(
                context,
                question,
                asked.object,
                reference=asked.reference,
                minimum=asked.minimum,
                maximum=asked.maximum,
                since=seconds(asked.since),
            )
        except UnknownObjectError as error:
            response.code = UNKNOWN_OBJECT
            response.message = self._host.unknown_object(error.args[0])
            return response
        response.code, response.message = SUCCESS, "ok"
        response.answer.answer, response.answer.value = bool(result.answer), float(result.value)
        return response
