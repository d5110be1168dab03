# SPDX-License-Identifier: Apache-2.0
"""Texts of message fields that are too long, too deep or no numbers that a field can have."""

import pytest

pytest.importorskip("geometry_msgs.msg")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from sensor_msgs.msg import JointState

from behavior_ros.messages.field_values import message_from_text, messages_from_text

DEEP = "[" * 60_000


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Point, "json:" + DEEP),
        (Point, 'json:{"x": ' + "[" * 900 + "]" * 900 + "}"),
        (Point, 'json:{"x": ' + "9" * 400 + "}"),
        (Point, 'json:{"x": ' + "9" * 5_000 + "}"),
        (Point, 'json:{"' + "y" * 60_000 + '": 1}'),
        (Point, "1;" * 500_000),
        (Point, "1;2;" + "x" * 60_000),
        (Point, "1;2;\x1b[2J"),
        (Time, "1e300"),
        (Time, "-1e300"),
        (JointState, 'json:{"position": [' + "9" * 400 + "]}"),
        (Point, "json:[1]"),
        (JointState, "json:" + '{"header": ' * 900),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else value[:24],
)
def test_text_is_refused_in_a_short_sentence(message, text):
    for read in (message_from_text, messages_from_text):
        with pytest.raises(ValueError, match=r"\w") as caught:
            read(message, text)
        assert 0 < len(str(caught.value)) < 600
        assert str(caught.value).isprintable()
