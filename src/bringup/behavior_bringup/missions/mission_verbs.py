# SPDX-License-Identifier: Apache-2.0
"""What the verbs of `behavior mission` do. ROS is imported only when one needs it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.missions.mission_steps import Place, Step, read_steps
from behavior_bringup.stacks.connection import mission_client
from behavior_bringup.stacks.stack import Stack
from behavior_bringup.terminal import print_json, say, sentence, show_table

if TYPE_CHECKING:
    from behavior_bringup.missions.mission_offers import Offer
    from behavior_executor.client import MissionOutcome

WRONG_REQUESTS = ("UNKNOWN_MISSION", "INVALID_REQUEST")
"""Codes of requests that nothing but another request can mend; exit code 2."""
_MODES = ("controlled", "automatic", "concurrent", "stands")
_PATHS = ("held", "failed", "breakpoints", "prepared")
"""What the state of a run's control consists of."""


def mission_run(options: argparse.Namespace) -> int:
    """Run a mission on the stack that is up, and show it until it ends. Ctrl-C cancels it."""
    return _run_steps([Step(run=options.mission, parameters=dict(options.param))], options)


def mission_preflight(options: argparse.Namespace) -> int:
    """Tell whether a mission could start now, and if not what is missing; nothing runs."""
    with mission_client(options.stack, options.namespace) as client:
        from behavior_bringup.conversion import failure_row, mission_code, sequence_action

        step = Step(run=options.mission, parameters=dict(options.param))
        outcome = client.preflight(sequence_action([step]))
        code, why = mission_code(outcome.code), failure_row(outcome.failure)
    if options.json:
        print_json(
            {"mission": options.mission, "can_start": outcome.succeeded, "code": code, **why}
        )
        return 0 if outcome.succeeded else 2 if code in WRONG_REQUESTS else 1
    refuse_wrong(outcome)
    say(f"{options.mission}: {outcome.message}")
    return 0 if outcome.succeeded else 1


def mission_navigate(options: argparse.Namespace) -> int:
    """Drive to a pose, and show it until it ends. Ctrl-C cancels it."""
    place = Place(x=options.x, y=options.y, yaw=options.yaw, frame=options.frame)
    return _run_steps([Step(navigate=place)], options)


def mission_route(options: argparse.Namespace) -> int:
    """Drive along given points, and show it until it ends. Ctrl-C cancels it."""
    return _run_steps([Step(route=tuple(options.points), frame=options.frame)], options)


def mission_load_map(options: argparse.Namespace) -> int:
    """Load a map or a tile of one."""
    return _run_steps([Step(load_map=options.map)], options)


def mission_sequence(options: argparse.Namespace) -> int:
    """Do the steps of a file, one after the other, as one mission. Ctrl-C cancels it."""
    return _run_steps(read_steps(options.file), options)


def _run_steps(steps: list[Step], options: argparse.Namespace) -> int:
    with mission_client(options.stack, options.namespace) as client:
        from behavior_bringup.conversion import mission_code, progress_of, sequence_action
        from behavior_bringup.missions.progress import ProgressDisplay

        begin = time.monotonic()
        mission = sequence_action(steps, policy=options.policy, priority=options.priority)
        with ProgressDisplay(Console()) as display:
            outcome = client.execute(
                mission,
                on_feedback=lambda feedback: display.update(
                    progress_of(feedback, summary="", wall=time.monotonic() - begin)
                ),
                timeout=options.timeout,
            )
    title = mission.name or "mission"
    if outcome.succeeded:
        say(f"{title}: done after {outcome.duration:.1f} s. {outcome.message}")
        return 0
    refuse_wrong(outcome)
    code = mission_code(outcome.code)
    say(f"{title}: failed with {code} after {outcome.duration:.1f} s. {outcome.message}")
    return 1


def mission_control(options: argparse.Namespace) -> int:
    """Pause, resume or cancel a mission; without an identifier the one that runs."""
    with mission_client(options.stack, options.namespace) as client:
        from behavior_bringup.conversion import control_action

        outcome = client.execute(control_action(options.kind, options.action_id))
    if not outcome.succeeded:
        if options.action_id:
            refuse_wrong(outcome)
        raise BringupError(sentence(outcome.message))
    say(sentence(outcome.message))
    return 0


def mission_control_run(options: argparse.Namespace) -> int:
    """Control the run leaf by leaf: stop, step, go, break, retry, ...; without a command tell what
    waits. All commands: docs/run_control.md.
    """
    with mission_client(options.stack, options.namespace) as client:
        answer = client.control_run(" ".join(options.command))
        row = {name: getattr(answer.state, name) for name in _MODES}
        row |= {name: list(getattr(answer.state, name)) for name in _PATHS}
        text = str(answer.message)
    if options.json:
        print_json({"message": text, **row})
        return 0
    mode = ("automatic" if row["automatic"] else "manual") if row["controlled"] else "left alone"
    say(": ".join(filter(None, (mode, text))))
    for name in _PATHS:
        if row[name]:
            say(f"  {name}: {', '.join(row[name])}")
    return 0


def refuse_wrong(outcome: MissionOutcome) -> None:
    """Raise UsageError if the request itself was wrong."""
    from behavior_bringup.conversion import mission_code

    if mission_code(outcome.code) in WRONG_REQUESTS:
        raise UsageError(sentence(outcome.message))


def mission_history(options: argparse.Namespace) -> int:
    """List what the executor's journal holds, the newest first."""
    with mission_client(options.stack, options.namespace) as client:
        from behavior_bringup.conversion import record_row

        records = client.history(unfinished_only=options.unfinished, limit=options.limit)
        rows = [record_row(record) for record in records]
    if options.json:
        print_json(rows)
    else:
        columns = ("action_id", "mission", "state", "code", "steps", "interruptions", "why")
        texts = ([str(row[column]) for column in columns] for row in rows)
        show_table(columns, texts, whole=("action_id", "code"))
    return 0


def mission_list(options: argparse.Namespace) -> int:
    """List the missions that this stack can run, with their parameters, types and defaults."""
    offers = _offers(options)
    shown = [offer for offer in offers if options.all or not offer.why_not]
    if options.json:
        print_json([offer.row() for offer in shown])
        return 0
    columns = ["mission", "what it does", "parameters"]
    if options.all:
        columns.append("why it cannot run here")
    rows = [
        [offer.name, offer.description, "\n".join(offer.parameter_texts()), offer.why_not]
        for offer in shown
    ]
    show_table(columns, (row[: len(columns)] for row in rows), whole=("mission",))
    left = len(offers) - len(shown)
    if left:
        say(f"{left} more cannot run on this stack: 'behavior mission list --all' says why")
    return 0


def mission_show(options: argparse.Namespace) -> int:
    """Show what a mission does, its parameters, and whether this stack can run it."""
    from behavior_bringup.suggestions import choose

    offers = {offer.name: offer for offer in _offers(options)}
    offer = offers.get(options.mission)
    if offer is None:
        raise UsageError(f"No mission '{options.mission}': {choose(options.mission, offers)}")
    if options.json:
        print_json(offer.row())
        return 0
    say(f"{offer.name}: {offer.about or 'its file says nothing about it'}\n")
    if offer.file:
        say(f"File: {offer.file}")
    say(f"Runs here: {f'no, {offer.why_not}' if offer.why_not else 'yes'}")
    _show_parameters(offer)
    return 0


def _show_parameters(offer: Offer) -> None:
    if not offer.parameters:
        say("It declares no parameters.")
        return
    rows: list[Sequence[str]] = [
        (each["name"], each["type"], _default_text(each["default"]), each["description"])
        for each in offer.parameters
    ]
    show_table(("parameter", "type", "default", "what it is"), rows, whole=("parameter", "type"))


def _default_text(default: str | None) -> str:
    return "must be given" if default is None else default or "(empty)"


def _offers(options: argparse.Namespace) -> list[Offer]:
    """From the files of a stack that `behavior up` started, else as the executor lists them."""
    from behavior_bringup.missions.mission_offers import Offer, offers_of

    state = Stack(options.stack).state()
    if state is not None:
        return offers_of(state)
    with mission_client(options.stack, options.namespace) as client:
        return [Offer(name=each.name, about=each.description) for each in client.list()]
