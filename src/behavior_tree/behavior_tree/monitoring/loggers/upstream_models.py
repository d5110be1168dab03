# SPDX-License-Identifier: Apache-2.0
"""Ports of the built-in nodes as BehaviorTree.CPP 4.8.2 describes them to its monitors.

Types, texts and order are part of what its publisher and its log files say about a tree, so ours
say the same; files that people edit get our own descriptions and order, see
`behavior_tree.xml.writer`.
"""

from __future__ import annotations

from typing import NamedTuple


class UpstreamPort(NamedTuple):
    """One port of a built-in node."""

    tag: str
    name: str
    type: str
    description: str = ""
    default: str = ""


_STATUS = "BT::NodeStatus"
_TEXT = "std::string"
_UNTYPED = "BT::AnyTypeAllowed"

_QUEUE_EMPTY = "Status to return if queue is empty: SUCCESS, FAILURE, SKIPPED"


def _loop(item: str) -> tuple[UpstreamPort, ...]:
    queue = f"std::shared_ptr<std::deque<{item}, std::allocator<{item}> > >"
    return (
        UpstreamPort("output_port", "value", item),
        UpstreamPort("input_port", "if_empty", _STATUS, _QUEUE_EMPTY, "SUCCESS"),
        UpstreamPort("inout_port", "queue", queue),
    )


def _switch(*cases: int) -> tuple[UpstreamPort, ...]:
    names = [*(f"case_{case}" for case in cases), "variable"]
    return tuple(UpstreamPort("input_port", name, _TEXT) for name in names)


UPSTREAM_MODELS: dict[str, tuple[UpstreamPort, ...]] = {
    "AlwaysFailure": (),
    "AlwaysSuccess": (),
    "AsyncFallback": (),
    "AsyncSequence": (),
    "Delay": (
        UpstreamPort(
            "input_port", "delay_msec", "unsigned int", "Tick the child after a few milliseconds"
        ),
    ),
    "Fallback": (),
    "ForceFailure": (),
    "ForceSuccess": (),
    "IfThenElse": (),
    "Inverter": (),
    "KeepRunningUntilFailure": (),
    "LoopBool": _loop("bool"),
    "LoopDouble": _loop("double"),
    "LoopInt": _loop("int"),
    "LoopString": _loop(_TEXT),
    "Parallel": (
        UpstreamPort(
            "input_port",
            "failure_count",
            "int",
            "number of children that need to fail to trigger a FAILURE",
            "1",
        ),
        UpstreamPort(
            "input_port",
            "success_count",
            "int",
            "number of children that need to succeed to trigger a SUCCESS",
            "-1",
        ),
    ),
    "ParallelAll": (
        UpstreamPort(
            "input_port",
            "max_failures",
            "int",
            "If the number of children returning FAILURE exceeds this value, "
            "ParallelAll returns FAILURE",
            "1",
        ),
    ),
    "Precondition": (
        UpstreamPort(
            "input_port", "else", _STATUS, "Return status if condition is false", "FAILURE"
        ),
        UpstreamPort("input_port", "if", _TEXT),
    ),
    "ReactiveFallback": (),
    "ReactiveSequence": (),
    "Repeat": (
        UpstreamPort(
            "input_port",
            "num_cycles",
            "int",
            "Repeat a successful child up to N times. Use -1 to create an infinite loop.",
        ),
    ),
    "RetryUntilSuccessful": (
        UpstreamPort(
            "input_port",
            "num_attempts",
            "int",
            "Execute again a failing child up to N times. Use -1 to create an infinite loop.",
        ),
    ),
    "RunOnce": (
        UpstreamPort(
            "input_port",
            "then_skip",
            "bool",
            "If true, skip after the first execution, otherwise return the same NodeStatus "
            "returned once by the child.",
            "true",
        ),
    ),
    "Script": (UpstreamPort("input_port", "code", _TEXT, "Piece of code that can be parsed"),),
    "ScriptCondition": (
        UpstreamPort(
            "input_port",
            "code",
            _UNTYPED,
            "Piece of code that can be parsed. Must return false or true",
        ),
    ),
    "Sequence": (),
    "SequenceWithMemory": (),
    "SetBlackboard": (
        UpstreamPort(
            "inout_port",
            "output_key",
            _UNTYPED,
            "Name of the blackboard entry where the value should be written",
        ),
        UpstreamPort("input_port", "value", _UNTYPED, "Value to be written into the output_key"),
    ),
    "SkipUnlessUpdated": (UpstreamPort("input_port", "entry", "BT::Any", "Entry to check"),),
    "Sleep": (UpstreamPort("input_port", "msec", "unsigned int"),),
    "SubTree": (
        UpstreamPort(
            "input_port",
            "_autoremap",
            "bool",
            "If true, all the ports with the same name will be remapped",
            "false",
        ),
    ),
    "Switch2": _switch(2, 1),
    "Switch3": _switch(3, 2, 1),
    "Switch4": _switch(4, 3, 2, 1),
    "Switch5": _switch(5, 4, 3, 2, 1),
    "Switch6": _switch(5, 4, 6, 3, 2, 1),
    "Timeout": (
        UpstreamPort(
            "input_port",
            "msec",
            "unsigned int",
            "After a certain amount of time, halt() the child if it is still running.",
        ),
    ),
    "UnsetBlackboard": (UpstreamPort("input_port", "key", _TEXT, "Key of the entry to remove"),),
    "WaitValueUpdate": (UpstreamPort("input_port", "entry", "BT::Any", "Entry to check"),),
    "WasEntryUpdated": (UpstreamPort("input_port", "entry", "BT::Any", "Entry to check"),),
    "WhileDoElse": (),
}
"""By type ID; a type that is not here is newer than 4.8.2."""
