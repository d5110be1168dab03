# SPDX-License-Identifier: Apache-2.0
"""Point clouds come to pages thinned out, and only while one shows them."""

from __future__ import annotations

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import PointCloud2, PointField

from behavior_console.channels import Channels
from behavior_console.cloud_feed import MOST_POINTS, CloudFeed, cloud_row
from behavior_ros.testing import Spinner, until
from behavior_scene.clouds.messages import cloud_from


def cloud(count: int, *, colored: bool = False, stamp: int = 5) -> PointCloud2:
    values = np.zeros((count, 4), np.float32)
    values[:, 0] = np.arange(count)
    values[:, 3] = np.full(count, 0x112233, np.uint32).view(np.float32)
    names = ["x", "y", "z", *(["rgb"] if colored else [])]
    message = PointCloud2(
        height=1,
        width=count,
        fields=[
            PointField(name=name, offset=4 * place, datatype=PointField.FLOAT32, count=1)
            for place, name in enumerate(names)
        ],
        point_step=16,
        row_step=16 * count,
        data=values.tobytes(),
    )
    message.header.frame_id = "camera"
    message.header.stamp.sec = stamp
    return message


def test_a_large_cloud_is_thinned_out_evenly() -> None:
    row = cloud_row(cloud_from(cloud(50_000, colored=True)))
    points = np.frombuffer(row["points"], "<f4").reshape(-1, 3)
    assert row["count"] == 50_000
    assert len(points) <= MOST_POINTS
    assert points[0, 0] == 0.0
    assert points[-1, 0] > 49_990
    assert np.ptp(np.diff(points[:, 0])) == 0.0
    assert row["colors"] == bytes((0x11, 0x22, 0x33)) * len(points)


def test_points_that_are_not_finite_are_left_out() -> None:
    message = cloud(10)
    values = np.frombuffer(bytes(message.data), np.float32).copy()
    values[4 * 3] = np.nan
    message.data = values.tobytes()
    row = cloud_row(cloud_from(message))
    assert row["count"] == 9
    assert row["colors"] == b""
    assert 3.0 not in np.frombuffer(row["points"], "<f4").reshape(-1, 3)[:, 0]


@pytest.mark.timeout(120)
def test_clouds_are_heard_while_a_page_shows_them(spinner: Spinner) -> None:
    robot, node = Node("robot", namespace="/left"), Node("console", namespace="/left")
    channels, wanted = Channels(), [False]
    CloudFeed(node, channels, lambda: wanted[0])
    good = robot.create_publisher(PointCloud2, "camera/points", qos_profile_sensor_data)
    bad = robot.create_publisher(PointCloud2, "lidar/points", qos_profile_sensor_data)
    robot.create_publisher(PointCloud2, "/right/points", qos_profile_sensor_data)

    def publish() -> None:
        good.publish(cloud(100))
        bad.publish(cloud(100, stamp=0))

    robot.create_timer(0.1, publish)
    spinner.start(node, robot)
    until(
        lambda: (
            good.get_subscription_count() == 0 and "camera" in str(node.get_topic_names_and_types())
        )
    )
    assert channels.value("clouds") == {}
    wanted[0] = True
    until(lambda: (channels.value("clouds").get("/left/camera/points") or {}).get("count") == 100)
    until(
        lambda: (
            "stamp" in (channels.value("clouds").get("/left/lidar/points") or {}).get("text", "")
        )
    )
    assert set(channels.value("clouds")) == {"/left/camera/points", "/left/lidar/points"}
    wanted[0] = False
    until(lambda: channels.value("clouds") == {})
    until(lambda: good.get_subscription_count() == 0)
