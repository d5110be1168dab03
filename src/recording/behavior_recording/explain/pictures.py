# SPDX-License-Identifier: Apache-2.0
"""Pictures that cameras took at a moment, small enough for a page."""

from __future__ import annotations

import base64
import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from behavior_recording.recording import RecordedMessage, Recording

_RAW, _COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
_MODES = {
    "rgb8": ("RGB", "RGB", 3),
    "bgr8": ("RGB", "BGR", 3),
    "rgba8": ("RGBA", "RGBA", 4),
    "bgra8": ("RGBA", "BGRA", 4),
    "mono8": ("L", "L", 1),
    "8UC1": ("L", "L", 1),
}
"""Mode of a picture, how its bytes lie, and how many a pixel has, by encoding."""
_OLDEST = 10_000_000_000
"""[ns] before the moment."""
_MOST, _LARGEST, _MOST_PIXELS = 4, 900, 50_000_000


@dataclass(frozen=True)
class Picture:
    """One picture."""

    topic: str
    age: float
    """Before the moment [s]."""
    jpeg: str
    """Base64."""


def pictures(history: object, time: int) -> list[Picture]:
    """The newest picture of each camera at a time.

    Args:
        history: where they are; nothing but a `Recording` has any
        time: [ns]
    """
    if not isinstance(history, Recording):
        return []
    return list(_pictures(history, time))[:_MOST]


def _pictures(recording: Recording, time: int) -> Iterator[Picture]:
    for topic in sorted(recording.topics.values(), key=lambda each: each.name):
        if topic.type not in (_RAW, _COMPRESSED):
            continue
        message = next(
            recording.messages(topic.name, start=time - _OLDEST, end=time, reverse=True), None
        )
        jpeg = None if message is None else _jpeg(message)
        if message is not None and jpeg is not None:
            yield Picture(topic.name, (time - message.time) / 1e9, jpeg)


def _jpeg(message: RecordedMessage) -> str | None:
    """A picture drawn anew, so that nothing else of the message comes along; None where it is
    damaged, or of a kind that is not known here.
    """
    from PIL import Image

    image: Any = None
    with contextlib.suppress(Exception):  # whatever a damaged picture makes the reader raise
        image = _image(message, Image)
        if image is not None and image.width * image.height <= _MOST_PIXELS:
            image = image.convert("RGB")
            image.thumbnail((_LARGEST, _LARGEST))
            stream = io.BytesIO()
            image.save(stream, "JPEG", quality=85)
            return base64.b64encode(stream.getvalue()).decode()
    return None


def _image(message: RecordedMessage, pillow: Any) -> Any:
    value = message.value
    if message.type == _COMPRESSED:
        return pillow.open(io.BytesIO(bytes(value.data)), formats=("JPEG", "PNG"))
    if value.encoding not in _MODES or value.width * value.height > _MOST_PIXELS:
        return None
    mode, layout, size = _MODES[value.encoding]
    step = value.step or value.width * size
    return pillow.frombytes(
        mode, (value.width, value.height), bytes(value.data), "raw", layout, step
    )
