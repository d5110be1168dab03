# SPDX-License-Identifier: Apache-2.0
"""Images as they come over the wire, checked before anything is read from them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ImageDefect(enum.Enum):
    """Why an image was not used; the value is the key on the diagnostics."""

    ENCODING = "image_encoding"
    SIZE = "image_size"
    NO_DEPTH = "image_no_depth"
    NO_CAMERA_INFO = "no_camera_info"
    BAD_CAMERA_INFO = "bad_camera_info"
    OTHER_SIZE = "images_of_different_sizes"
    OTHER_FRAME = "images_of_different_frames"
    BAD_STAMP = "image_without_stamp"
    NO_TRANSFORM = "no_transform"
    CLOUD = "malformed_cloud"


class ImageError(ValueError):
    """An image that cannot be used; the text says why and how to mend it."""

    def __init__(self, defect: ImageDefect, text: str) -> None:
        super().__init__(text)
        self.defect = defect


@dataclass(frozen=True, slots=True)
class RawImage:
    """The fields of sensor_msgs/Image."""

    height: int
    width: int
    encoding: str
    step: int
    """Length of a row [bytes]."""
    big_endian: bool
    data: Any
    """Bytes, or anything with a buffer."""


_DEPTH: dict[str, Any] = {
    "32FC1": np.dtype(np.float32),
    "16UC1": np.dtype(np.uint16),
    "mono16": np.dtype(np.uint16),
    "64FC1": np.dtype(np.float64),
}
_COLORS = {
    "rgb8": (0, 1, 2),
    "bgr8": (2, 1, 0),
    "rgba8": (0, 1, 2),
    "bgra8": (2, 1, 0),
    "mono8": (0, 0, 0),
}
"""Channels of red, green and blue."""
_CHANNELS = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}
_LABELS = {"16UC1": 1, "mono16": 1, "16UC2": 2, "8UC1": 1, "mono8": 1}


def depth_of(image: RawImage) -> NDArray[np.floating[Any]]:
    """Depth (h, w) [m]; NaN where there is none.

    Floats are metres, 16 bit integers millimetres of which 0 is no depth (REP 118).

    Raises:
        ImageError: other encoding, wrong size, or no depth in the whole image.
    """
    pixels = _pixels(image, _DEPTH.get(image.encoding), 1, "a depth image", list(_DEPTH))
    depth: NDArray[np.floating[Any]] = pixels[..., 0]
    if pixels.dtype.kind == "u":
        depth = np.where(depth == 0, np.nan, depth * 0.001).astype(np.float32)
    if not np.isfinite(depth).any():
        raise ImageError(
            ImageDefect.NO_DEPTH, "no pixel has a depth; see that the camera sees something"
        )
    return depth


def color_of(image: RawImage) -> NDArray[np.uint8]:
    """Red, green and blue (h, w, 3) of a picture.

    Raises:
        ImageError: other encoding or wrong size.
    """
    channels = _CHANNELS.get(image.encoding, 0)
    dtype = np.dtype(np.uint8) if channels else None
    pixels = _pixels(image, dtype, channels, "a picture", list(_COLORS))
    color: NDArray[np.uint8] = pixels[..., list(_COLORS[image.encoding])]
    return color


def labels_of(image: RawImage) -> tuple[NDArray[np.uint16], NDArray[np.float32] | None]:
    """Labels (h, w) of an instance mask, and how sure they are.

    Mono images hold a label per pixel, 0 for none. 16UC2 holds label and probability, the latter in
    1/65535; None: the mask does not tell.

    Raises:
        ImageError: other encoding or wrong size.
    """
    channels = _LABELS.get(image.encoding, 0)
    narrow = image.encoding in ("8UC1", "mono8")
    dtype = np.dtype(np.uint8 if narrow else np.uint16)
    pixels = _pixels(image, dtype if channels else None, channels, "a mask", list(_LABELS))
    labels = pixels[..., 0].astype(np.uint16, copy=False)
    if channels == 1:
        return labels, None
    return labels, pixels[..., 1].astype(np.float32) / np.float32(65535.0)


def _pixels(
    image: RawImage, dtype: np.dtype[Any] | None, channels: int, what: str, known: list[str]
) -> NDArray[Any]:
    """(h, w, channels) view of the data."""
    if dtype is None:
        raise ImageError(
            ImageDefect.ENCODING,
            f"{what} cannot be encoded as {image.encoding[:40]!r}; publish {', '.join(known)}",
        )
    width, height = image.width, image.height
    row = width * channels * dtype.itemsize
    buffer = np.frombuffer(image.data, np.uint8)
    if width <= 0 or height <= 0 or image.step < row or buffer.size < image.step * height:
        raise ImageError(
            ImageDefect.SIZE,
            f"{what} of {width} x {height} {image.encoding} in rows of {image.step} bytes cannot "
            f"have {buffer.size} bytes; set step to {row} or more and send step * height bytes",
        )
    rows = buffer[: image.step * height].reshape(height, image.step)[:, :row]
    ordered = dtype.newbyteorder(">" if image.big_endian else "<")
    pixels = np.ascontiguousarray(rows).view(ordered).reshape(height, width, channels)
    return pixels.astype(dtype, copy=False)
