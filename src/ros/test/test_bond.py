# SPDX-License-Identifier: Apache-2.0
"""A lifecycle node's bond with its manager, against bondpy's signatures."""

from __future__ import annotations

import sys

import fake_bondpy
import pytest

from behavior_ros.node.bond import ManagerBond
from behavior_ros.testing import Spinner, until


def endpoints(spinner: Spinner, topic: str) -> tuple[int, int]:
    node = spinner.nodes[-1]
    return node.count_publishers(topic), node.count_subscribers(topic)


def test_it_lasts_from_form_to_end_and_leaves_nothing(
    spinner: Spinner, monkeypatch: pytest.MonkeyPatch
) -> None:
    bonds = fake_bondpy.install(monkeypatch)
    node = spinner.node("helper", namespace="/left")
    bond = ManagerBond(node)
    before = len(list(node.publishers)), len(list(node.subscriptions))
    for count in (1, 2):
        spinner.do(bond.form)
        assert len(bonds) == count
        made = bonds[-1]
        assert (made.topic, made.id, made.started) == ("bond", "helper", True)
        assert made.heartbeat_period < 1.0 < 1e6 < made.heartbeat_timeout
        until(lambda: endpoints(spinner, "/left/bond") == (1, 1))
        spinner.do(bond.end)
        assert made.is_shutdown
        assert (len(list(node.publishers)), len(list(node.subscriptions))) == before
        until(lambda: endpoints(spinner, "/left/bond") == (0, 0))
        spinner.do(bond.end)


def test_without_bondpy_there_is_none(spinner: Spinner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bondpy", None)
    bond = ManagerBond(spinner.node("helper"))
    bond.form()
    bond.end()
    assert endpoints(spinner, "/bond") == (0, 0)
