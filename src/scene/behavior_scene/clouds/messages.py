# SPDX-License-Identifier: Apache-2.0
"""Point clouds as they come in ROS messages."""

from __future__ import annotations

from sensor_msgs.msg import PointCloud2

from behavior_ros import seconds
from behavior_scene.clouds.cloud import Cloud, Field, cloud_view


def cloud_from(message: PointCloud2) -> Cloud:
    """The points in a message, where they lie in its buffer.

    Raises:
        MalformedCloudError: they cannot be used.
    """
    return cloud_view(
        message.data,
        {field.name: Field(field.offset, field.datatype) for field in message.fields},
        shape=(message.height, message.width),
        point_step=message.point_step,
        row_step=message.row_step,
        big_endian=message.is_bigendian,
        frame=message.header.frame_id,
        stamp=seconds(message.header.stamp),
    )
