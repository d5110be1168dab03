# SPDX-License-Identifier: Apache-2.0
"""What cameras see as ROS messages."""

import sys
from array import array

import numpy as np
from geometry_msgs.msg import TransformStamped
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField
from std_msgs.msg import Header
from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

from behavior_ros import matrix_to_transform
from behavior_sim.cameras.camera_process import CameraFrame
from behavior_sim.node.messages import fill_time
from behavior_sim.worlds.camera_config import CameraConfig, optical_frame

_BIG_ENDIAN = sys.byteorder == "big"


def camera_header(frame: CameraFrame) -> Header:
    """Stamp and optical frame of a picture."""
    header = Header(frame_id=optical_frame(frame.camera))
    fill_time(header.stamp, frame.nanoseconds)
    return header


def image_message(header: Header, pixels: NDArray[np.generic], encoding: str) -> Image:
    """An image of pixels (h, w) or (h, w, channels)."""
    height, width = pixels.shape[:2]
    return Image(
        header=header,
        height=height,
        width=width,
        encoding=encoding,
        is_bigendian=_BIG_ENDIAN,
        step=pixels.nbytes // height,
        data=array("B", pixels.tobytes()),
    )


def info_message(header: Header, config: CameraConfig) -> CameraInfo:
    """What the camera is: a pinhole without distortion."""
    f, (cx, cy) = config.focal_length, config.center
    return CameraInfo(
        header=header,
        height=config.height,
        width=config.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def cloud_message(header: Header, frame: CameraFrame, config: CameraConfig) -> PointCloud2:
    """The points of all pixels, row by row, with their colours; NaN where there is no depth."""
    f, (cx, cy) = config.focal_length, config.center
    points = np.empty((config.height, config.width, 4), np.float32)
    depth = np.where(np.isfinite(frame.depth), frame.depth, np.float32(np.nan))
    points[..., 0] = (np.arange(config.width, dtype=np.float32) - cx) / f * depth
    points[..., 1] = ((np.arange(config.height, dtype=np.float32) - cy) / f)[:, None] * depth
    points[..., 2] = depth
    assert frame.rgb is not None, "who draws clouds asks for colours"
    red, green, blue = (frame.rgb[..., channel].astype(np.uint32) for channel in range(3))
    points[..., 3] = ((red << 16) | (green << 8) | blue).view(np.float32)
    return PointCloud2(
        header=header,
        height=config.height,
        width=config.width,
        fields=[
            PointField(name=name, offset=4 * place, datatype=PointField.FLOAT32, count=1)
            for place, name in enumerate(("x", "y", "z", "rgb"))
        ],
        is_bigendian=_BIG_ENDIAN,
        point_step=16,
        row_step=16 * config.width,
        data=array("B", points.tobytes()),
        is_dense=False,
    )


def detections_message(header: Header, frame: CameraFrame) -> Detection2DArray:
    """What was found in the picture; `id` is the value of the object's pixels in the mask."""
    message = Detection2DArray(header=header)
    for instance in frame.instances:
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id = instance.class_id
        result.hypothesis.score = instance.score
        detection = Detection2D(header=header, id=str(instance.label), results=[result])
        left, top, columns, rows = instance.box
        detection.bbox.center.position.x = left + (columns - 1) / 2
        detection.bbox.center.position.y = top + (rows - 1) / 2
        detection.bbox.size_x, detection.bbox.size_y = float(columns), float(rows)
        message.detections.append(detection)
    return message


def mount_transform(name: str, config: CameraConfig) -> TransformStamped:
    """Where the camera's optical frame is in what it is fixed to."""
    message = TransformStamped(
        child_frame_id=optical_frame(name),
        transform=matrix_to_transform(config.parent_T_optical),
    )
    message.header.frame_id = config.parent
    return message
