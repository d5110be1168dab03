# SPDX-License-Identifier: Apache-2.0
"""What waits for an answer gives up in time although the clock is set back, as by a simulation
that starts anew."""

from collections.abc import Callable

import pytest
from navigation_bench import FakeCall, FakeModule, NavigationBench

from behavior_navigation.rules.behavior_call import BehaviorProgress, register_behavior_nodes
from behavior_navigation.rules.entities import Entity, EntityPool
from behavior_tree import BehaviorTreeFactory, NodeStatus


class _SilentBehavior(FakeCall):
    progress = BehaviorProgress()

    def cancel(self) -> None:
        self.forget()


def _silent() -> _SilentBehavior:
    return _SilentBehavior(lambda: None)


def _behaviors(bench: NavigationBench) -> BehaviorTreeFactory:
    factory = BehaviorTreeFactory()
    register_behavior_nodes(factory, lambda name, parameters: _silent(), lambda: bench.state.now)
    return factory


def _entities(bench: NavigationBench) -> BehaviorTreeFactory:
    factory, module = BehaviorTreeFactory(), FakeModule()
    module.silent = True
    EntityPool(bench.state, [Entity("rpp", module)]).register_nodes(factory)
    return factory


def _planner(bench: NavigationBench) -> BehaviorTreeFactory:
    bench.action.reset_planner = _silent
    return bench.factory


def _localizer(bench: NavigationBench) -> BehaviorTreeFactory:
    bench.world.localized = False
    return bench.factory


@pytest.mark.parametrize(
    ("made", "node"),
    [
        (_behaviors, "<runBehavior behavior='dock' timeout='2.0'/>"),
        (_entities, "<rppEnable timeout='2.0'/>"),
        (_planner, "<resetRoutePlanner timeout='2.0'/>"),
        (_localizer, "<waitMapLocalized timeout='2.0'/>"),
    ],
)
def test_who_waits_gives_up(
    made: Callable[[NavigationBench], BehaviorTreeFactory], node: str
) -> None:
    bench = NavigationBench()
    tree = made(bench).create_tree_from_text(
        f"<root BTCPP_format='4'><BehaviorTree ID='t'>{node}</BehaviorTree></root>"
    )
    statuses = []
    for now in (100.0, 101.0, 0.0, 0.5, 1.5):
        bench.state.now = now
        statuses.append(tree.tick_exactly_once())
    assert statuses == [*4 * [NodeStatus.RUNNING], NodeStatus.FAILURE]
