# SPDX-License-Identifier: Apache-2.0
"""Priority of a process over all others, for the few that must answer in time."""

from __future__ import annotations

import os


def prefer_this_process(priority: int) -> str:
    """Have the threads of this process run before those of ordinary processes (SCHED_FIFO).

    Threads and processes that they start later are ordinary ones: call it last.

    Args:
        priority: 1..99, see ``man 7 sched``; 0: stay as it is.

    Returns:
        Why it was not done; empty: it was.
    """
    if priority == 0:
        return ""
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        for thread in os.listdir("/proc/self/task"):
            os.sched_setscheduler(int(thread), policy, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        return (
            f"no real-time priority ({error}): give the process CAP_SYS_NICE, or a limit 'rtprio' "
            "in /etc/security/limits.conf"
        )
    return ""
