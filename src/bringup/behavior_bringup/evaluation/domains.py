# SPDX-License-Identifier: Apache-2.0
"""A ROS domain for each worker of a machine, whichever evaluation it belongs to."""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

from behavior_bringup.errors import BringupError
from behavior_bringup.stacks.paths import runtime_dir


@contextmanager
def claimed_domain() -> Iterator[int]:
    """A domain that nobody uses, and that nobody else gets from here before the context ends.

    Raises:
        BringupError: all are taken.
    """
    from behavior_ros.process.domains import DOMAINS, used_domains

    folder = runtime_dir() / "domains"
    folder.mkdir(mode=0o700, exist_ok=True)
    used = used_domains() or set()
    free = [domain for domain in DOMAINS if domain not in used]
    for domain in random.sample(free, len(free)):
        # The kernel opens the lock when the process ends, however that happens.
        descriptor = os.open(folder / str(domain), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        try:
            yield domain
        finally:
            os.close(descriptor)
        return
    raise BringupError("All ROS domains of this machine are used: run fewer episodes at once")
