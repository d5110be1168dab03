# SPDX-License-Identifier: Apache-2.0
"""Shows the previewed path of the tool in the console and in RViz, on `preview/path`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from visualization_msgs.msg import MarkerArray

from behavior_bringup.client import StackClient
from behavior_bringup.conversion import path_marker
from behavior_bringup.stacks.connection import EXECUTOR, enter
from behavior_ros import QOS_LATCHED

if TYPE_CHECKING:
    from behavior_bringup.preview.report import Preview
    from behavior_bringup.stacks.stack import Stack

TOPIC, NAME = "preview/path", "preview"
_HEARD = 0.5
"""[s] in which those who listen are found, and hear the last word."""


@contextmanager
def shown_path(stack: Stack, preview: Preview, namespace: str = "") -> Iterator[None]:
    """The path is shown meanwhile, while a person decides and while the mission runs."""
    enter(stack.name, EXECUTOR)
    with StackClient(namespace, name="behavior_preview", truth=False) as client:
        publish = client.announce(MarkerArray, TOPIC, QOS_LATCHED)

        def show(places: NDArray[np.float64]) -> None:
            publish(path_marker(places, preview.begin.frame, NAME))
            client.work(_HEARD)

        show(preview.motion.tool)
        try:
            yield
        finally:
            show(np.empty((0, 3)))
