# SPDX-License-Identifier: Apache-2.0
"""Arguments, output and exit codes: 0 good, 1 problems or FAILURE, 2 wrong use."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from behavior_tree.basic_types import NodeStatus
from behavior_tree.blackboard.blackboard import Blackboard
from behavior_tree.blackboard.conversion import TypeRegistry
from behavior_tree.cli.cases import add_test, test_trees
from behavior_tree.cli.checking import find_problems, report
from behavior_tree.cli.convert import add_export, add_import, export_tree, import_tree
from behavior_tree.cli.drawing import Drawn, drawn_trees, text_lines
from behavior_tree.cli.edit import add_edit, edit_file
from behavior_tree.cli.picture import svg_picture
from behavior_tree.cli.profile import Profile
from behavior_tree.cli.replay import Replay, Step
from behavior_tree.cli.run_prompt import RunPrompt
from behavior_tree.cli.time_limit import TimeIsUpError, time_limit
from behavior_tree.errors import BehaviorTreeError, LoadError
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.loggers.btlog import FileLogger, read_btlog
from behavior_tree.placeholders import register_models
from behavior_tree.run_control import RunControl
from behavior_tree.schedule.durations import MeasuredRuns
from behavior_tree.schedule.outlook import Outlook
from behavior_tree.schedule.timeline import timeline_json, timeline_svg, timeline_text
from behavior_tree.stand_ins import Extend, make_factory
from behavior_tree.xml.document import parse_xml
from behavior_tree.xml.files import read_document, replace_file
from behavior_tree.xml.loader import Loader
from behavior_tree.xml.migrate import migrate
from behavior_tree.xml.schema import write_tree_xsd
from behavior_tree.xml.writer import write_tree_nodes_model_xml

_EPILOG = """\
Node types that no program registers here are taken from the <TreeNodesModel> of the files; a
program's own come in with --register module:function.
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Print it and exit."""
        self.exit(2, f"{self.prog}: {message}: see '{self.prog} --help'\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. Wrong arguments raise ``SystemExit(2)``."""
    parser = _Parser(
        prog="python -m behavior_tree",
        description="Checks, draws, converts, runs and replays behavior trees.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_commands(parser)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def add_commands(parser: argparse.ArgumentParser, extend: Extend | None = None) -> None:
    """Add all verbs to a parser; ``options.run(options)`` runs the chosen one.

    Args:
        parser: gets the verbs as subcommands
        extend: registers further node types with the factory of each command
    """
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, action: Callable[[argparse.Namespace], int], text: str) -> _Add:
        command = commands.add_parser(name, help=text, description=(action.__doc__ or text))
        command.set_defaults(run=functools.partial(_guarded, action), extend=extend)
        return command.add_argument

    _add_check(add("check", _check, "find all problems of files, without running them"))
    _add_show(add("show", _show, "draw the trees of a file"))
    _add_models(add("models", _models, "write the TreeNodesModel of all node types"))
    _add_models(add("xsd", _xsd, "write an XML Schema for tree files"))
    _add_edit(add("edit", _edit, "change a file: set, insert, rename, extract, mirror ..."))
    _add_migrate(add("migrate", _migrate, "convert a file of BehaviorTree.CPP 3 to version 4"))
    add_import(add("import", import_tree, "make a tree file of IHMC's JSON or a Groot2 project"))
    add_export(add("export", export_tree, "write an imported tree as IHMC's JSON again"))
    _add_run(add("run", _run, "run a tree with simulated leaves, log each transition"))
    _add_replay(add("replay", _replay, "show what a .btlog file recorded"))
    _add_test(add("test", test_trees, "run the cases that stand beside trees, with coverage"))
    _add_schedule(add("schedule", _schedule, "draw when each leaf begins and ends, as a timeline"))
    _add_profile(add("profile", _profile, "run a tree, show where its time goes"))


_Add = Callable[..., argparse.Action]


def _add_factory(add: _Add) -> None:
    add(
        "--register",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="function that registers node types, called with the factory",
    )
    add("--compat", choices=["4.8"], help="as BehaviorTree.CPP 4.8 does, with its defects")


def _add_check(add: _Add) -> None:
    add("files", nargs="+", type=Path, metavar="FILE")
    add("--json", action="store_true", help="problems as a JSON list")
    add("--strict", action="store_true", help="exit with 1 for warnings, too")
    _add_factory(add)


def _add_show(add: _Add) -> None:
    add("file", type=_file, metavar="FILE")
    add("--svg", type=Path, metavar="FILE", help="draw a picture instead")
    _add_factory(add)


def _add_models(add: _Add) -> None:
    add("files", nargs="*", type=_file, metavar="FILE", help="also what these files describe")
    add("-o", "--output", type=Path, metavar="FILE", help="instead of standard output")
    _add_factory(add)


def _add_test(add: _Add) -> None:
    add_test(add)
    _add_factory(add)


def _add_edit(add: _Add) -> None:
    add("file", type=_file, metavar="FILE")
    add_edit(add)
    _add_factory(add)


def _add_migrate(add: _Add) -> None:
    add("file", type=_file, metavar="FILE")
    add("-o", "--output", type=Path, metavar="FILE", help="instead of standard output")
    add("--in-place", action="store_true", help="replace FILE, keep the old one as FILE.bak")


def _add_tree(add: _Add) -> None:
    add("file", type=_file, metavar="FILE")
    add("--tree", metavar="ID", help="tree to run, else the main one")
    add(
        "--models",
        action="append",
        default=[],
        type=_file,
        metavar="FILE",
        help="file with a <TreeNodesModel> of further node types; may be given again",
    )
    add("--rules", type=_file, metavar="JSON", help="substitution rules for simulated leaves")
    add(
        "--set",
        action="append",
        default=[],
        type=_entry,
        metavar="KEY=VALUE",
        help="write a text to the tree's blackboard first; may be given again",
    )
    _add_factory(add)


def _add_simulated(add: _Add) -> None:
    _add_tree(add)
    add("--timeout", type=_seconds, default=60.0, metavar="S", help="limit [s] (60)")


def _add_schedule(add: _Add) -> None:
    _add_tree(add)
    add(
        "--history",
        action="append",
        default=[],
        type=_file,
        metavar="FILE.btlog",
        help="log of an earlier run, from which durations are taken; may be given again",
    )
    add(
        "--nominal",
        action="append",
        default=[],
        type=_duration,
        metavar="NAME=S",
        help="nominal duration [s] of leaves of this name, path or type; may be given again",
    )
    add("--svg", type=Path, metavar="FILE", help="draw a picture instead")
    add("--json", action="store_true", help="machine-readable")


def _add_profile(add: _Add) -> None:
    _add_simulated(add)
    add("--json", action="store_true", help="machine-readable")


def _add_run(add: _Add) -> None:
    _add_simulated(add)
    add("--btlog", type=Path, metavar="FILE.btlog", help="also record for `replay` and Groot2")
    add("--manual", action="store_true", help="begin no leaf before a command: step, go, help ...")
    add("--break", action="append", default=[], metavar="NODE", help="stop before this node")
    add("--from", metavar="NODE", help="begin here, as if all before had succeeded")
    add("--to", metavar="NODE", help="stop before this node, once")


def _add_replay(add: _Add) -> None:
    add("file", type=_file, metavar="FILE.btlog")
    add("--speed", type=_positive, metavar="X", help="in time, X times as fast; else at once")
    add("--at", type=_seconds, metavar="T", help="the tree at T [s] after the log's beginning")
    add("--svg", type=Path, metavar="FILE", help="with --at: as a picture")
    add("--json", action="store_true", help="machine-readable")


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        why = "not a file" if path.exists() else "no such file"
        raise argparse.ArgumentTypeError(f"cannot read {text}: {why} (check the path)")
    return path


def _entry(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"must look like KEY=VALUE, not '{text}'")
    return key, value


def _duration(text: str) -> tuple[str, float]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"must look like NAME=SECONDS, not '{text}'")
    return name, _seconds(value)


def _seconds(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not '{text}'")
    return value


def _positive(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not '{text}'")
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    return value if math.isfinite(value) else -1.0


def _guarded(action: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    try:
        return action(options)
    except BehaviorTreeError as error:
        print(error, file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{error.filename or 'file'}: {error.strerror or error}", file=sys.stderr)
    return 1


# -- verbs --------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    """Find all problems of files and what they include: errors, which give exit code 1, and
    warnings, such as nodes that can never be ticked.
    """
    problems = find_problems(options.files, options.register, options.extend, options.compat)
    print(report(problems, len(options.files), as_json=options.json))
    return 1 if any(options.strict or each.severity == "error" for each in problems) else 0


def _show(options: argparse.Namespace) -> int:
    """Draw the trees of a file in the terminal, or as a picture. The file need not be correct."""
    root = parse_xml(_read(options.file), str(options.file))
    factory = make_factory([options.file], options.register, None, options.extend, options.compat)
    return _draw(drawn_trees(root, factory.manifests()), options.svg, str(options.file))


def _draw(trees: list[tuple[str, Drawn]], svg: Path | None, file: str) -> int:
    if not trees:
        raise BehaviorTreeError(f"{file} contains no <BehaviorTree>")
    if svg is not None:
        replace_file(svg, svg_picture(trees).encode())
        return 0
    colour = sys.stdout.isatty()
    for title, tree in trees:
        print("\n".join(text_lines(title, tree, colour=colour)))
    return 0


def _models(options: argparse.Namespace) -> int:
    """Write the TreeNodesModel of all node types, for Groot2."""
    manifests = _described(options).manifests().values()
    return _write(options, write_tree_nodes_model_xml(manifests, include_builtin=True))


def _xsd(options: argparse.Namespace) -> int:
    """Write an XML Schema that editors and validators can check tree files with."""
    return _write(options, write_tree_xsd(_described(options)))


def _described(options: argparse.Namespace) -> BehaviorTreeFactory:
    """Factory with the node types of all files, each of which must be readable."""
    read = [Loader(lambda: "main_tree").load_file(file) for file in options.files]
    problems = [problem for documents in read for problem in documents.problems]
    if problems:
        raise LoadError(problems)
    factory = make_factory((), options.register, None, options.extend, options.compat)
    for documents in read:
        register_models(factory, documents.node_models.values())
    return factory


def _write(options: argparse.Namespace, text: str) -> int:
    if options.output is None:
        print(text, end="")
    else:
        replace_file(options.output, text.encode())
    return 0


def _edit(options: argparse.Namespace) -> int:
    """Make one change of a tree file and the files that it includes, with all that refers to what
    is changed. It is checked like files at load, and refused before anything is written. Every byte
    that is not meant stays.
    """
    factory = make_factory([options.file], options.register, None, options.extend, options.compat)
    print("\n".join(edit_file(options.file, factory, options)))
    return 0


def _migrate(options: argparse.Namespace) -> int:
    """Convert a file of BehaviorTree.CPP 3 to version 4. Comments and formatting stay. What could
    not be converted is told with its line, and gives exit code 1.
    """
    if options.in_place and options.output is not None:
        raise BehaviorTreeError("give either --in-place or --output")
    old = _read(options.file)
    done = migrate(old, str(options.file))
    if done.was_version_4:
        print(f"{options.file} is of version 4 already", file=sys.stderr)
    for note in done.notes:
        print(note, file=sys.stderr)
    if options.output is not None:
        replace_file(options.output, done.data)
    elif not options.in_place:
        sys.stdout.write(done.data.decode())
    elif done.data != old:
        replace_file(options.file.with_name(options.file.name + ".bak"), old)
        replace_file(options.file, done.data)
    return 1 if any(note.severity == "error" for note in done.notes) else 0


def _run(options: argparse.Namespace) -> int:
    """Run a tree and log each change of a status. Leaves are simulated: they succeed, unless
    substitution rules say otherwise. With --manual, --break, --from or --to the run is controlled:
    it waits at a failure, and commands are read from standard input whenever it waits.
    """
    tree = _tree(options)
    start = time.monotonic()
    tree.subscribe_status_change(
        lambda node, before, after: print(
            f"{time.monotonic() - start:9.3f} {node.full_path()}: {before.name} -> {after.name}"
        )
    )
    prompt = _prompt(tree, options)
    logger = None if options.btlog is None else FileLogger(tree, options.btlog)
    try:
        return _finish(tree, options.timeout, prompt.run if prompt is not None else None)
    finally:
        if logger is not None:
            logger.close()


def _prompt(tree: Tree, options: argparse.Namespace) -> RunPrompt | None:
    """What asks an operator, if one wants to control the run."""
    breaks, start, target = (vars(options)[name] for name in ("break", "from", "to"))
    if not (options.manual or breaks or start is not None or target is not None):
        return None
    control = RunControl(tree)
    prompt = RunPrompt(tree, control, options.file, options.timeout)
    prompt.load_breakpoints()
    for node in breaks:
        control.add_breakpoint(node)
    if start is not None:
        control.start_from(start)
    if target is not None:
        control.run_to(target)
    if options.manual:
        control.stop()
    return prompt


def _profile(options: argparse.Namespace) -> int:
    """Run a tree with simulated leaves and show how often and how long each node was ticked."""
    tree = _tree(options)
    profile = Profile(tree)
    code = _finish(tree, options.timeout, quiet=options.json)
    print(json.dumps(profile.rows(), indent=1) if options.json else "\n".join(profile.table()))
    return code


def _schedule(options: argparse.Namespace) -> int:
    """Draw when each leaf of a tree begins and ends if all goes well, and which of them the end
    waits for. Durations are those that leaves tell, or the medians of earlier runs.
    """
    runs = MeasuredRuns()
    for file in options.history:
        for step in Replay(read_btlog(file), str(file)).steps():
            runs.note(step.path, step.seconds, step.previous, step.status)
    outlook = Outlook(_tree(options), runs.durations, dict(options.nominal))
    if options.svg is not None:
        replace_file(options.svg, timeline_svg(outlook, str(options.file)).encode())
    else:
        print(timeline_json(outlook) if options.json else "\n".join(timeline_text(outlook)))
    return 0


def _replay(options: argparse.Namespace) -> int:
    """Show what a .btlog file recorded: all changes, or the tree at one moment."""
    replay = Replay(read_btlog(options.file), str(options.file))
    if options.at is None:
        if options.svg is not None:
            raise BehaviorTreeError("a picture shows one moment: add --at T")
        show: Callable[[Step], str] = Step.json if options.json else str
        replay.play(lambda step: print(show(step), flush=options.speed is not None), options.speed)
        return 0
    if options.json:
        print(replay.statuses_json(options.at))
        return 0
    return _draw(replay.trees(options.at), options.svg, str(options.file))


def _read(file: Path) -> bytes:
    try:
        return read_document(file)
    except OSError as error:
        raise BehaviorTreeError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise BehaviorTreeError(f"cannot read {file}: {error}") from error


def _tree(options: argparse.Namespace) -> Tree:
    factory = make_factory(
        (options.file, *options.models),
        options.register,
        options.rules,
        options.extend,
        options.compat,
    )
    blackboard = Blackboard()
    if options.tree is None:
        tree = factory.create_tree_from_file(options.file, blackboard)
    else:
        factory.register_behavior_tree_from_file(options.file)
        tree = factory.create_tree(options.tree, blackboard)
    ports = factory.subtree_ports(tree.subtrees[0].tree_id)
    defaults = {port.name: port.default for port in ports.values() if port.default is not None}
    for key, text in {**defaults, **dict(options.set)}.items():
        blackboard.set(key, _value(text, ports[key].type if key in ports else ""))
    return tree


def _value(text: str, kind: str) -> Any:
    """A parameter of a tree in the type that its model declares; as text where none is told."""
    types = {"int": int, "double": float, "bool": bool}
    return TypeRegistry().from_text(text, types[kind]) if kind in types else text


def _finish(
    tree: Tree,
    timeout: float,
    run: Callable[[], NodeStatus] | None = None,
    *,
    quiet: bool = False,
) -> int:
    """Run a tree to its end, by ``run`` if that is given; the exit code."""
    try:
        if run is not None:
            status = run()
        else:
            with time_limit(timeout):
                status = tree.tick_while_running()
    except TimeIsUpError:
        print(f"still RUNNING after {timeout} s: {tree.active_path()}", file=sys.stderr)
        with contextlib.suppress(TimeIsUpError), time_limit(timeout):
            tree.halt_tree()
        return 1
    if not quiet:
        print("halted" if status is NodeStatus.IDLE else status.name)
    reason = tree.failure_reason()
    if reason is not None:
        print(reason, file=sys.stderr)
    return 0 if status is NodeStatus.SUCCESS else 1
