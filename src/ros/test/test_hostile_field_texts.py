# SPDX-License-Identifier: Apache-2.0
"""Texts of message fields that are too long, too deep or no numbers that a field can have."""

import pytest

pytest.importorskip("geometry_msgs.msg")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Point32
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
        (Point32, "1;2;3.5e38"),
        (Point32, 'json:{"x": -3.5e38}'),
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


def test_the_largest_numbers_that_fit_are_taken():
    largest = 3.4028234663852886e38
    assert message_from_text(Point32, f"{largest!r};-{largest!r};0").y == -largest
    assert message_from_text(Point, "1e300;0;0").x == 1e300
