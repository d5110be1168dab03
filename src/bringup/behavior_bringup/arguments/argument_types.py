# SPDX-License-Identifier: Apache-2.0
"""What the arguments of the command may be; what is not is refused in words."""

from __future__ import annotations

import argparse
import re

from behavior_packages.argument_types import count, length, number, positive

__all__ = [
    "assignment",
    "coordinate",
    "count",
    "length",
    "namespace",
    "parameter",
    "point",
    "port",
    "positive",
    "priority",
    "seed",
    "speed",
    "stack_name",
]


def speed(text: str) -> float:
    """A speed, times real time."""
    return number(text, float, lambda value: 0.0 <= value < 1e6, "a number of 0 or more")


def coordinate(text: str) -> float:
    """A coordinate [m]."""
    return number(text, float, lambda value: abs(value) <= 100.0, "a number, at most 100")


def point(text: str) -> tuple[float, ...]:
    """A point or pose: X,Y or X,Y,YAW."""
    numbers = tuple(length(part) for part in text.split(","))
    if len(numbers) not in (2, 3):
        raise argparse.ArgumentTypeError(f"must look like X,Y or X,Y,YAW, not '{text}'")
    return numbers


def assignment(text: str) -> tuple[str, str]:
    """An argument of a stack, as `ros2 launch` takes it: NAME:=VALUE."""
    name, assigned, value = text.partition(":=")
    if not (name and assigned):
        raise argparse.ArgumentTypeError(f"must look like NAME:=VALUE, not '{text}'")
    return name, value


def namespace(text: str) -> str:
    """A namespace of ROS, with the slash in front; empty: none."""
    name = text.strip("/")
    if name and not re.fullmatch(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*", name, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"must be names of letters, digits and _, like left or fleet/left, not '{text}'"
        )
    return name and f"/{name}"


def seed(text: str) -> int:
    """A seed of random numbers."""
    return number(text, int, lambda value: 0 <= value < 2**31, "a whole number of 0 or more")


def priority(text: str) -> int:
    """A priority among waiting missions."""
    return number(text, int, lambda value: 0 <= value <= 255, "a whole number of 0 to 255")


def stack_name(text: str) -> str:
    """A name of a stack, which is also that of its folder."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", text):
        raise argparse.ArgumentTypeError(
            f"must be letters, digits and .-_ (64 at most), not '{text}'"
        )
    return text


def port(text: str) -> int:
    """A port that needs no rights."""
    return number(text, int, lambda value: 1024 <= value < 2**16, "a port, 1024 to 65535")


def parameter(text: str) -> tuple[str, str]:
    """KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"must look like KEY=VALUE, not '{text}'")
    return key, value
