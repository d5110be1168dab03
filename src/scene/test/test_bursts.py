# SPDX-License-Identifier: Apache-2.0
"""Hundreds of requests at once, all of which the scene answers."""

import pytest

rclpy = pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.msg")

from behavior_msgs.action import CheckScene  # noqa: E402
from behavior_msgs.msg import SceneQuestion  # noqa: E402
from behavior_msgs.srv import QueryScene  # noqa: E402
from scene_rig import Rig  # noqa: E402

from behavior_ros import QOS_REQUESTS, BurstActionClient  # noqa: E402

BURST = 200


def test_every_request_of_a_burst_is_answered():
    rig = Rig()
    try:
        question = SceneQuestion(object="world", reference="world", maximum=1.0)
        query = rig.peer.create_client(QueryScene, "/scene/query", qos_profile=QOS_REQUESTS)
        check = BurstActionClient(rig.peer, CheckScene, "/scene/check")
        rig.until(query.service_is_ready)
        rig.until(check.server_is_ready)
        asked = [query.call_async(QueryScene.Request(question=question)) for _ in range(BURST)]
        sent = [check.send_goal_async(CheckScene.Goal(question=question)) for _ in range(BURST)]
        rig.until(lambda: all(future.done() for future in asked))
        rig.until(lambda: all(future.done() for future in sent))
        assert {future.result().code for future in asked} == {0}
        assert all(future.result().accepted for future in sent)
        ended = [future.result().get_result_async() for future in sent]
        rig.until(lambda: all(future.done() for future in ended))
        assert {future.result().result.code for future in ended} == {CheckScene.Result.SUCCESS}
    finally:
        rig.close()
