# SPDX-License-Identifier: Apache-2.0
"""Domains that are used, and those that tests get."""

import os
import subprocess
import sys

from behavior_ros.process.domains import DOMAINS, domains_of_sockets, used_domains
from behavior_ros.testing import own_domain

CLAIM = """
from behavior_ros.testing import own_domain
print(*(own_domain() for _ in range(3)), flush=True)
input()
"""


def test_domains_are_read_from_the_socket_table():
    lines = [
        f"1: 0100007F:{7400 + 250 * 42:04X} 00000000:0000 07",
        f"2: 00000000:{7400 + 250 * 7 + 11:04X} 00000000:0000 07",
        f"3: 00000000:{7400:04X} 00000000:0000 07",
        "4: 00000000:0035 00000000:0000 07",
        "nonsense",
    ]
    assert domains_of_sockets(lines) == {0, 7, 42}


def test_domains_of_this_machine_are_known():
    assert used_domains() is not None


def test_test_runs_side_by_side_never_meet():
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    claimed = [int(word) for run in runs for word in run.stdout.readline().split()]
    own = own_domain()
    for run in runs:
        run.communicate("\n", timeout=240)
    assert len(claimed) == 12
    assert len({*claimed, own}) == 13
    assert {*claimed, own} <= set(DOMAINS)


def test_a_domain_that_somebody_uses_is_not_given(monkeypatch):
    free = own_domain()
    for _ in range(3):  # which ends the claim on it
        own_domain()
    monkeypatch.setattr("behavior_ros.testing.used_domains", lambda: set(DOMAINS) - {free})
    assert own_domain() == free


def test_the_domain_of_one_test_is_not_soon_given_to_another():
    assert len({own_domain() for _ in range(20)}) == 20
    assert os.environ.get("ROS_DOMAIN_ID")
