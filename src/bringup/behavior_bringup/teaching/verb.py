# SPDX-License-Identifier: Apache-2.0
"""What `behavior teach` does."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import quoteattr

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.offers import chosen, default_of
from behavior_bringup.teaching.source import live_motion, recorded_motion
from behavior_bringup.terminal import say, sentence


def teach(options: argparse.Namespace) -> int:
    """Make leaves of a motion: one Sequence of MoveArm and MoveGripper that repeats what was shown.

    It is printed, written as a tree (-o), or inserted as one edit, which can be undone: into a file
    (--into) or the tree of a mission, also while it runs (--mission).
    """
    _check(options)
    leaves = _leaves(options)
    counts = Counter(leaf[1 : leaf.index(" ")] for leaf in leaves)
    listed = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    element = sequence(options.title, leaves)
    if options.output:
        _write(options.output, options.title, element)
        say(f"{options.output} written: {listed}")
    elif options.into:
        for line in _insert_into_file(options, element):
            say(line)
        say(f"Inserted: {listed}")
    elif options.mission:
        return _insert_live(options, element)
    else:
        print(element)
    return 0


def sequence(title: str, leaves: list[str]) -> str:
    """XML of a Sequence of leaves."""
    inner = "".join(f"  {leaf}\n" for leaf in leaves)
    return f"<Sequence name={quoteattr(title)}>\n{inner}</Sequence>"


def _check(options: argparse.Namespace) -> None:
    inserts = options.into or options.mission
    if bool(inserts) != bool(options.parent):
        raise UsageError("--parent belongs to --into or --mission: name the node to insert below")
    if options.before and not inserts:
        raise UsageError("--before belongs to --into or --mission")
    if options.recording and options.duration:
        raise UsageError("--duration is for the running stack: of a recording give --end")
    if not options.recording and (options.start or options.end is not None):
        raise UsageError("--start and --end are of a recording: name one")
    if options.output and options.output.exists():
        raise UsageError(f"{options.output} is there already: name another file, or use --into")


def _leaves(options: argparse.Namespace) -> list[str]:
    from behavior_motion import load_robot
    from behavior_motion.robot.model import robot_file_fault
    from behavior_skills.arm.shown_motion import MotionWatch
    from behavior_skills.arm.taught import taught_leaves

    name = options.robot or default_of("robots", "--robot")
    file = chosen("robots", name, f"There is no robot '{name}'").value
    try:
        robot = load_robot(file)
    except (OSError, ValueError, KeyError) as error:
        raise BringupError(sentence(robot_file_fault(file, error))) from error
    watch = MotionWatch(robot.joint_names, robot.gripper)
    try:
        if options.recording:
            recorded_motion(options.recording, watch, options.start, options.end)
        else:
            live_motion(watch, options.stack, options.namespace, options.duration)
        leaves = taught_leaves(watch.shown(), name=options.title, tolerance=options.tolerance)
    except ValueError as error:
        raise BringupError(sentence(str(error))) from error
    if not leaves:
        raise BringupError("Nothing moved: there is nothing to teach")
    return leaves


def _write(path: Path, title: str, element: str) -> None:
    tree = quoteattr(title)
    indented = element.replace("\n", "\n    ")
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<root BTCPP_format="4" main_tree_to_execute={tree}>\n'
        f"  <BehaviorTree ID={tree}>\n    {indented}\n  </BehaviorTree>\n</root>\n"
    )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BringupError(f"{path} cannot be written: {error.strerror}") from error


def _insert_into_file(options: argparse.Namespace, element: str) -> list[str]:
    from behavior_bringup.tree_nodes import register_suite_nodes
    from behavior_tree import BehaviorTreeError
    from behavior_tree.cli.edit import edit_file
    from behavior_tree.stand_ins import make_factory

    edit = argparse.Namespace(
        operation="insert",
        arguments=[options.parent, element],
        before=options.before,
        diff=False,
    )
    try:
        factory = make_factory([options.into], extend=register_suite_nodes)
        return edit_file(options.into, factory, edit)
    except (BehaviorTreeError, OSError) as error:
        raise BringupError(sentence(str(error))) from error


def _insert_live(options: argparse.Namespace, element: str) -> int:
    from behavior_bringup.missions.mission_edit import edit
    from behavior_bringup.stacks.connection import live_editor

    options.operation, options.arguments = "insert", [options.parent, element]
    with live_editor(options.editor, options.stack, options.namespace) as editor:
        editor.join(options.mission)
        return edit(editor, options)
