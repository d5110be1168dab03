# SPDX-License-Identifier: Apache-2.0
"""The part of the scene node that answers questions: `/scene/query` and `/scene/check`.

The service answers at once. The action asks until the answer is yes and tells the value meanwhile.
All open checks are looked at together, also after every cloud, and all points that they ask for are
counted in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from behavior_msgs.action import CheckScene
from behavior_msgs.msg import SceneAnswer
from behavior_msgs.srv import QueryScene

from behavior_ros import QOS_REQUESTS, ParameterSpec, declare_all
from behavior_scene.node.cloud_input import CloudInput
from behavior_scene.node.host import SceneHost
from behavior_scene.node.open_goals import LOOK, OpenGoal, OpenGoals
from behavior_scene.node.question_conversion import answer_message, query_from
from behavior_scene.objects.scene import UnknownObjectError
from behavior_scene.questions.questions import (
    Answer,
    BadQuestionError,
    Context,
    NoPointsError,
    PlacedCloud,
    Query,
    answer,
    counts,
    judge_points,
    world_T_shape,
)
from behavior_scene.questions.shown_shapes import ShownShape
from behavior_scene.request_checks import MOST_OPEN, question_problem
from behavior_tree.shown_text import reason_text

SUCCESS, UNKNOWN_OBJECT, BAD_QUESTION, NO_POINTS = 0, 101, 102, 103
PARAMETERS = [
    ParameterSpec(
        "check_timeout", 5.0, "[s] of /scene/check where the goal gives none", range=(0.01, 3600.0)
    )
]
FEEDBACK = 0.1
"""[s] node time between two feedback messages of a check, on average at least."""


@dataclass(slots=True, eq=False, kw_only=True)
class _Check(OpenGoal):
    """An open goal of `/scene/check`."""

    query: Query
    once: bool
    answer: SceneAnswer = field(default_factory=SceneAnswer)
    """The newest one."""
    problem: str = ""
    """Why there is no answer, if there is none."""
    unknown: bool = False
    """Whether there is none because an object or frame is not known."""
    feedback_at: float = float("-inf")
    """When the value is to be told next [s]."""
    looked_at: float = float("-inf")
    """Stamp of the cloud whose points were counted last."""


class QuestionServer:
    """Answers from the scene as it is now."""

    def __init__(self, host: SceneHost) -> None:
        self._host = host
        self.clouds = CloudInput(host)
        self._timeout: float = declare_all(host.node, PARAMETERS)["check_timeout"]
        host.node.create_service(
            QueryScene, "scene/query", self._on_query, qos_profile=QOS_REQUESTS
        )
        self.goals: OpenGoals[_Check] = OpenGoals(
            host, CheckScene, "scene/check", work=self._execute, look=self._look
        )
        self.clouds.on_cloud(self.goals.look)

    # -- the service -----------------------------------------------------------------------------

    def _on_query(
        self, request: QueryScene.Request, response: QueryScene.Response
    ) -> QueryScene.Response:
        response.code, response.message = SUCCESS, "ok"
        # Told with a refusal too: clients wait to see no older scene than this, and not for long.
        self._host.publish_changes()
        response.answer.revision = self._host.scene.revision
        try:
            _check(question_problem(request.question))
            query = query_from(request.question)
            cloud = self.clouds.newest() if query.needs_points else None
            context = self._context(cloud)
            found = answer(context, query)
        except BadQuestionError as error:
            response.code, response.message = BAD_QUESTION, reason_text(str(error))
        except UnknownObjectError as error:
            response.code, response.message = UNKNOWN_OBJECT, context.unknown(error.args[0])
        except NoPointsError:
            response.code, response.message = NO_POINTS, self.clouds.no_points()
        else:
            response.answer = self._message(context, query, found)
        return response

    # -- the action ------------------------------------------------------------------------------

    async def _execute(self, handle: Any) -> CheckScene.Result:
        goal, result = handle.request, CheckScene.Result()
        try:
            _check(question_problem(goal.question, goal.timeout))
            if len(self.goals.waiting) >= MOST_OPEN:
                raise BadQuestionError(f"{MOST_OPEN} checks are open already: try again later")
            query = query_from(goal.question)
        except BadQuestionError as error:
            result.code, result.message = CheckScene.Result.INVALID_REQUEST, reason_text(str(error))
            return result
        check = _Check(
            query=query,
            handle=handle,
            once=goal.once,
            begun=self._host.now(),
            timeout=goal.timeout or self._timeout,
        )
        result.code, result.message = await self.goals.ended(check, lambda: self._begin(check))
        result.answer = check.answer
        return result

    def _begin(self, check: _Check) -> None:
        if check.query.needs_points:
            self.clouds.listen()
        self._look()

    def _look(self) -> None:
        """Look at all open checks."""
        open_checks = self.goals.waiting
        if not open_checks:
            return
        context = self._context(None)
        for check in open_checks:
            if not check.query.needs_points:
                self._ask(check, context)
        self._ask_for_points([c for c in open_checks if c.query.needs_points], context)
        for check in open_checks:
            if not check.done.done():
                self._report(check, context.snapshot.stamp)

    def _ask(self, check: _Check, context: Context) -> None:
        try:
            found = answer(context, check.query)
        except UnknownObjectError as error:
            self._unknown(check, context.unknown(error.args[0]))
        else:
            self._take(check, context, found)

    def _ask_for_points(self, checks: Iterable[_Check], context: Context) -> None:
        """Count for all checks at once that have not looked at the newest cloud yet."""
        waiting: list[_Check] = []
        cloud: PlacedCloud | None = None
        for check in checks:
            found = self.clouds.newest_after(max(check.begun, check.looked_at))
            if found is None:
                if check.looked_at < check.begun:
                    check.problem = self.clouds.no_points()
                continue
            cloud = found
            try:
                world_T_shape(context, check.query)
            except UnknownObjectError as error:
                self._unknown(check, context.unknown(error.args[0]))
            else:
                waiting.append(check)
        if cloud is None or not waiting:
            return
        context = self._context(cloud)
        found_counts = counts(context, [check.query for check in waiting])
        for check, count in zip(waiting, found_counts, strict=True):
            check.looked_at = cloud.cloud.stamp
            self._take(check, context, judge_points(check.query, count))

    def _unknown(self, check: _Check, text: str) -> None:
        check.unknown, check.problem = True, text
        if check.once:
            check.end(CheckScene.Result.UNKNOWN_OBJECT, text)

    def _take(self, check: _Check, context: Context, found: Answer) -> None:
        check.unknown, check.problem = False, ""
        check.answer = self._message(context, check.query, found)
        if found.answer:
            check.end(CheckScene.Result.SUCCESS, found.text)
        elif check.once:
            check.end(CheckScene.Result.ANSWER_IS_NO, found.text)

    def _report(self, check: _Check, now: float) -> None:
        """End a check whose time is over; show the others' values."""
        if now - check.begun >= check.timeout or now < check.begun:
            late, unknown = CheckScene.Result.TIMED_OUT, CheckScene.Result.UNKNOWN_OBJECT
            code = unknown if check.unknown else late
            why = check.problem or check.answer.text
            check.end(code, f"not within {check.timeout:g} s: {why}")
        elif now >= check.feedback_at - 0.5 * LOOK:
            # Looks come when they come: what one message came early, the next one comes later.
            check.feedback_at = max(check.feedback_at, now) + FEEDBACK
            if check.problem:
                check.answer.text = check.problem
            check.handle.publish_feedback(CheckScene.Feedback(answer=check.answer))

    # -- both ------------------------------------------------------------------------------------

    def _context(self, cloud: PlacedCloud | None) -> Context:
        return Context(
            self._host.snapshot(),
            self._host.scene.frame_pose,
            self._host.scene.pose_at,
            stale_after=self._host.scene.parameters.stale_after,
            cloud=cloud,
        )

    def _message(self, context: Context, query: Query, found: Answer) -> SceneAnswer:
        """The answer as a message; its shape is shown for some time."""
        if query.shape is not None:
            at = " ".join(f"{number:.3f}" for number in query.name_T_shape[:3, 3])
            key = f"{query.question.name} {type(query.shape).__name__} {query.name} {at}"
            pose = world_T_shape(context, query)
            self._host.shown_shapes.show(
                ShownShape(key, query.question, query.shape, pose, found), context.snapshot.stamp
            )
        stamp = context.snapshot.stamp if context.cloud is None else context.cloud.cloud.stamp
        return answer_message(found, context.snapshot.revision, stamp)


def _check(problem: str) -> None:
    if problem:
        raise BadQuestionError(problem)
