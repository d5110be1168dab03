# SPDX-License-Identifier: Apache-2.0
"""Previews a mission of a stack that is up::

    preview = preview_mission(Stack(), "stack_blocks", {"order": "blue_block;red_block"})
    if preview.success:
        print(preview.duration, [touch.name for touch in preview.motion.touched])

The real stack is only listened to. The mission runs in a copy of its simulated world, with the same
executor, skills and scene, in a ROS domain of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from behavior_msgs.msg import MissionAction
from rich.console import Console

from behavior_bringup.client import StackClient
from behavior_bringup.conversion import progress_of
from behavior_bringup.errors import UsageError
from behavior_bringup.jobs.trial_run import NOTHING
from behavior_bringup.missions.progress import ProgressDisplay
from behavior_bringup.preview.copy_stack import copy_of
from behavior_bringup.preview.kinds import ObjectsKind, kind_of
from behavior_bringup.preview.live_state import LiveState
from behavior_bringup.preview.order import previewed_order
from behavior_bringup.preview.rehearsal import Rehearsal, Stopwatch, rehearse
from behavior_bringup.preview.report import Preview
from behavior_bringup.preview.trees import MissionTrees, trees_of
from behavior_bringup.stacks.connection import EXECUTOR, enter, mission_client
from behavior_bringup.stacks.stack import Stack
from behavior_executor.client import MissionOutcome

LIMIT = 300.0
"""[s simulated] after which a mission counts as one without an end."""
STANDS = 0.02
"""[rad/s or m/s] A robot that is faster is not where it was copied when the copy begins."""


@dataclass(frozen=True, kw_only=True)
class PreviewOptions:
    """What may be chosen about a preview."""

    limit: float = LIMIT
    """[s simulated] that the mission may take."""
    world: str = ""
    """Of the simulated stack that stands for the real one; empty: its own."""
    fresh: bool = False
    """Start the copy's processes anew."""
    namespace: str = ""
    """Of the robot; empty: none."""


def preview_mission(
    stack: Stack,
    mission: str,
    parameters: Mapping[str, str] = NOTHING,
    options: PreviewOptions | None = None,
    *,
    display: ProgressDisplay | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Preview:
    """Run a mission in a copy of a stack's world, while the real one stays as it is.

    Args:
        stack: which is up.
        mission: name of a tree or of a sequence of missions.
        parameters: of the mission.
        options: None: the defaults.
        display: where to show the mission meanwhile.
        say: given a line about what takes long.

    Raises:
        UsageError: there is no such mission, its tree has edits that are not saved, or there is
            nothing to copy.
        BringupError: the stack is not up, or the copy breaks.
    """
    options = options or PreviewOptions()
    order = previewed_order(mission, parameters)
    watch = Stopwatch()
    state = enter(stack.name, EXECUTOR)
    if state is None:
        raise UsageError("Only a stack that 'behavior up' has started can be previewed on")
    copy = copy_of(stack, state, options.world)
    kind = kind_of(copy.world)
    with ExitStack() as reserved:
        with StackClient(options.namespace, name="behavior_preview", truth=False) as client:
            observer = kind.observer(client)  # which the stack finds while the request is looked at
            _refuse_wrong(stack, order, options.namespace)
            trees = trees_of(stack, order, options.namespace)
            trees.refuse_unsaved()
            if options.fresh or not copy.is_warm:
                say(f"Bringing up a copy of '{stack.name}', which stays until that goes down ...")
            reserved.enter_context(copy.reserved())
            copy.bring_up(fresh=options.fresh)
            watch.lap("start")
            live = observer.state()
        world = kind.world(live, copy.world_name)
        world.state.save(copy.start_state)
        rehearsal = Rehearsal(
            copy=copy, kind=kind, live=live, world=world, order=order, limit=options.limit
        )
        run = rehearse(rehearsal, watch, display)
        motions = copy.motions.read_text(encoding="utf-8")
        motion = kind.summary(copy.recording, run.begun)
    watch.lap("analysis")
    moving = live.speed > STANDS
    return Preview(
        mission=mission,
        parameters=dict(parameters),
        success=run.ending.succeeded,
        reason=run.ending.text,
        duration=run.ending.simulated,
        begin=live,
        end=run.end,
        motion=motion,
        trees=trees,
        begun=run.begun,
        motions=copy.motions,
        motions_text=motions,
        planned=run.motions,
        notes=[
            *(["the robot was moving when it was copied"] if moving else []),
            *trees.unknown,
            *world.notes,
            *run.notes,
        ],
        wall=watch.laps,
    )


def observed(stack: Stack, namespace: str = "") -> LiveState:
    """What a stack that is up believes now.

    Raises:
        BringupError: it is not up, or tells nothing.
    """
    state = enter(stack.name, EXECUTOR)
    kind = kind_of(state.world) if state is not None else ObjectsKind()
    with StackClient(namespace, truth=False) as client:
        return kind.observer(client).state()


def trees_now(stack: Stack, preview: Preview, namespace: str = "") -> MissionTrees:
    """The trees of what was previewed, as they would run now.

    Raises:
        BringupError: the stack is not up.
    """
    return trees_of(stack, previewed_order(preview.mission, preview.parameters), namespace)


def run_for_real(
    stack: Stack, preview: Preview, mission: str, namespace: str, console: Console
) -> MissionOutcome:
    """Run on the stack itself what was previewed, shown meanwhile. Ctrl-C cancels it.

    `mission` is the identifier that it is to have.

    Raises:
        BringupError: the stack is not up, or the executor falls silent.
    """
    with mission_client(stack.name, namespace) as client, ProgressDisplay(console) as display:
        begin = time.monotonic()
        order = previewed_order(preview.mission, preview.parameters)
        order.action_id = mission
        return client.execute(
            order,
            on_feedback=lambda feedback: display.update(
                progress_of(feedback, summary="", wall=time.monotonic() - begin)
            ),
        )


def _refuse_wrong(stack: Stack, order: MissionAction, namespace: str) -> None:
    """Refuse what the real executor would refuse, before anything starts.

    Raises:
        UsageError: the request is wrong.
    """
    from behavior_bringup.missions.mission_verbs import refuse_wrong

    with mission_client(stack.name, namespace) as client:
        refuse_wrong(client.preflight(order))
