# SPDX-License-Identifier: Apache-2.0
"""What a conversation with a language model is made of. No ROS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Message:
    """One part of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str
