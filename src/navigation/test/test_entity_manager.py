# SPDX-License-Identifier: Apache-2.0
"""The entity manager with real lifecycle nodes and services."""

from collections.abc import Iterator

import pytest
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from navigation_rig import Rig, rig
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.task import Future
from std_srvs.srv import SetBool

from behavior_navigation.managers.entity import EntityManager, LifecycleDriver
from behavior_navigation.rules.calls import CallResult
from behavior_ros import ParameterError
from behavior_ros.testing import until
from behavior_tree import NodeStatus

Entities = Rig[EntityManager]


class Module(LifecycleNode):
    """A module that counts its activations, and refuses if told so."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.refuses = False
        self.activations = 0

    def on_activate(self, state: object) -> TransitionCallbackReturn:
        if self.refuses:
            return TransitionCallbackReturn.FAILURE
        self.activations += 1
        return super().on_activate(state)


@pytest.fixture
def entities() -> Iterator[Entities]:
    parameters = (
        "managed_entities:=['rpp', 'egm', 'lamp']",
        "egm.managed_entity_name:=evidenceMap",
        "lamp.interface:=none",
        "state_period:=0.1",
    )
    with rig(EntityManager, *parameters) as made:
        yield made


def add(entities: Entities, module: Module, *, configure: bool = True) -> Module:
    def join() -> None:
        entities.spinner.nodes.append(module)
        entities.spinner.executor.add_node(module)
        if configure:
            module.trigger_configure()

    entities.do(join)
    return module


def finish(entities: Entities, node: str, tree: object = None) -> NodeStatus:
    tree = tree or entities.tree(f"<{node} timeout='10.0'/>")

    def done() -> NodeStatus | None:
        status = entities.run(tree)
        return None if status is NodeStatus.RUNNING else status

    entities.last = tree
    return until(done, 90.0, node)


def knows(entities: Entities, name: str, state: bool | None) -> None:
    def told() -> bool:
        entities.tick()
        return entities.state.entities[name] is state

    until(told, 90.0, f"{name} {state}")


def test_a_lifecycle_node_is_switched_on_and_off(entities: Entities) -> None:
    module = add(entities, Module("rpp"))
    knows(entities, "rpp", False)
    assert finish(entities, "rppEnable") is NodeStatus.SUCCESS
    assert entities.state.entities["rpp"] is True
    assert finish(entities, "rppEnable") is NodeStatus.SUCCESS  # twice does no harm
    assert module.activations == 1
    assert finish(entities, "rppDisable") is NodeStatus.SUCCESS
    knows(entities, "rpp", False)
    assert finish(entities, "rppToggle") is NodeStatus.SUCCESS
    knows(entities, "rpp", True)
    entities.do(module.trigger_deactivate)  # by somebody else
    knows(entities, "rpp", False)
    assert "disabled: rpp" in entities.manager.problem()


def test_its_nodes_are_named_by_the_entity(entities: Entities) -> None:
    add(entities, Module("egm"))
    knows(entities, "evidenceMap", False)
    assert finish(entities, "evidenceMapEnable") is NodeStatus.SUCCESS
    assert "egmEnable" not in entities.factory.manifests()


def test_a_module_that_is_not_there(entities: Entities) -> None:
    knows(entities, "rpp", None)
    assert finish(entities, "rppToggle") is NodeStatus.FAILURE
    tree = entities.tree("<rppEnable timeout='2.0'/>")
    assert entities.run(tree) is NodeStatus.RUNNING
    entities.set_time(entities.now + 2.1)
    assert entities.run(tree) is NodeStatus.FAILURE
    assert "no answer within 2 s" in tree.failure_reason().text
    # One that comes late is found.
    module = add(entities, Module("rpp"))
    assert finish(entities, "rppEnable") is NodeStatus.SUCCESS
    assert module.activations == 1


def test_a_module_that_is_not_configured_says_so(entities: Entities) -> None:
    add(entities, Module("rpp"), configure=False)
    assert finish(entities, "rppEnable") is NodeStatus.FAILURE
    assert "configure it first" in entities.last.failure_reason().text


class ScriptedNode:
    """A lifecycle node that tells these states, one after the other; the last one stays."""

    def __init__(self, *states: int) -> None:
        self.states = list(states)
        self.transitions: list[int] = []

    def resolve_service_name(self, name: str) -> str:
        return f"/{name}"

    def create_client(self, kind: type, name: str) -> "ScriptedNode":
        return self

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: object) -> Future:
        answer = Future()
        if isinstance(request, ChangeState.Request):
            self.transitions.append(request.transition.id)
            answer.set_result(ChangeState.Response(success=True))
        else:
            state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
            response = GetState.Response()
            response.current_state.id, response.current_state.label = state, f"state {state}"
            answer.set_result(response)
        return answer


@pytest.mark.parametrize(
    ("states", "transitions", "words"),
    [
        (
            [State.TRANSITION_STATE_ACTIVATING, State.PRIMARY_STATE_ACTIVE],
            [Transition.TRANSITION_DEACTIVATE],
            "",
        ),
        (2 * [State.TRANSITION_STATE_DEACTIVATING] + [State.PRIMARY_STATE_INACTIVE], [], ""),
        (
            [State.TRANSITION_STATE_CLEANINGUP, State.PRIMARY_STATE_UNCONFIGURED],
            [],
            "it is state 1: configure it first",
        ),
        ([State.PRIMARY_STATE_FINALIZED], [], "it is state 4: start it anew"),
    ],
)
def test_a_module_on_its_way_to_a_state_is_waited_for(
    states: list[int], transitions: list[int], words: str
) -> None:
    node = ScriptedNode(*states)
    call = LifecycleDriver(node, "rpp", lambda _: None).set(False)
    answers = [call.poll() for _ in range(len(states) + len(transitions))]
    assert answers[:-1] == [None] * (len(answers) - 1)
    assert answers[-1] == CallResult(not words, words)
    assert node.transitions == transitions


def test_a_module_that_refuses(entities: Entities) -> None:
    module = add(entities, Module("rpp"))
    module.refuses = True
    assert finish(entities, "rppEnable") is NodeStatus.FAILURE
    assert "refused the transition" in entities.last.failure_reason().text
    knows(entities, "rpp", False)


def test_a_module_that_the_robot_does_not_have(entities: Entities) -> None:
    assert finish(entities, "lampDisable") is NodeStatus.SUCCESS
    assert entities.state.entities["lamp"] is False
    assert finish(entities, "lampToggle") is NodeStatus.SUCCESS
    assert entities.state.entities["lamp"] is True


def test_a_plain_service() -> None:
    parameters = (
        "managed_entities:=['fan']",
        "fan.interface:=set_bool",
        "fan.tx_enabler:=/fan/on",
    )
    with rig(EntityManager, *parameters) as entities:
        orders: list[bool] = []

        def serve(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
            orders.append(request.data)
            response.success, response.message = len(orders) != 2, "stuck"
            return response

        entities.do(lambda: entities.world.create_service(SetBool, "/fan/on", serve))
        assert finish(entities, "fanEnable") is NodeStatus.SUCCESS
        assert finish(entities, "fanDisable") is NodeStatus.FAILURE
        assert "stuck" in entities.last.failure_reason().text
        assert entities.state.entities["fan"] is True
        assert finish(entities, "fanDisable") is NodeStatus.SUCCESS
        assert entities.state.entities["fan"] is False
        assert orders == [True, False, False]


@pytest.mark.parametrize(
    "parameter", ["managed_entities:=['path_planner']", "managed_entities:=['rpp', 'rpp']"]
)
def test_names_that_cannot_be_are_refused(parameter: str) -> None:
    with pytest.raises(ParameterError, match="managed_entities"), rig(EntityManager, parameter):
        pass
