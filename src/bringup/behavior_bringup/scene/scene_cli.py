# SPDX-License-Identifier: Apache-2.0
"""The verbs of `behavior scene`: what they take."""

from __future__ import annotations

import argparse
from typing import Any

from behavior_bringup.arguments import argument_types
from behavior_bringup.arguments.options import add_connection, add_json, add_verb
from behavior_bringup.scene import scene_verbs

QUESTIONS = (
    "distance",
    "distance-xy",
    "distance-z",
    "distance-z-abs",
    "visible",
    "stale",
    "held",
    "on-top-of",
    "inside",
    "reachable",
    "moved",
    "contains-frame",
    "contains-points",
)
"""As in behavior_msgs/SceneQuestion; importing the message would cost every command its time."""

_EXAMPLES = """\
examples:
  behavior scene ask distance blue_block gripper --max 0.2
  behavior scene ask on-top-of red_block blue_block --wait 10
  behavior scene ask contains-points blue_block --sphere 0.1 --min 50 --hue 200 280
"""


def add_scene(subparsers: Any) -> None:
    """Add `scene` with its commands to the command's subparsers."""
    scene = subparsers.add_parser("scene", help="look at the detection scene, and change it")
    commands = scene.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_looks(commands)
    _add_changes(commands)
    _add_ask(commands)


def _command(commands: Any, name: str, text: str, run: Any) -> Any:
    parser = add_verb(commands, name, text, run)
    add_json(parser)
    add_connection(parser)
    return parser


def _add_looks(commands: Any) -> None:
    listing = _command(commands, "list", "list objects", scene_verbs.list_objects)
    listing.add_argument("--tracks", action="store_true", help="what is followed, object or not")
    info = _command(
        commands, "info", "tell size, height and where to place on it", scene_verbs.info
    )
    info.add_argument("names", nargs="+", metavar="NAME", help="objects")
    watch = _command(commands, "watch", "show objects as they change", scene_verbs.watch)
    watch.add_argument("names", nargs="*", metavar="NAME", help="objects; none: all")
    watch.add_argument(
        "--for", dest="duration", type=argument_types.positive, metavar="S", help="[s]; else Ctrl-C"
    )
    where = _command(commands, "where", "tell where something was last seen", scene_verbs.where)
    where.add_argument("name", nargs="?", default="", help="object; none: any")
    where.add_argument("--class", dest="class_id", default="", metavar="CLASS", help="of any class")
    where.add_argument(
        "--limit", type=argument_types.count, metavar="N", help="sightings; else each newest"
    )


def _add_changes(commands: Any) -> None:
    for name, names, text in (
        ("setup", "+", "bind or derive objects, and wait until they are known"),
        ("freeze", "*", "hold the poses of objects; none: of all"),
        ("unfreeze", "*", "let objects follow their detections again; none: all"),
        ("delete", "+", "forget objects; absent ones are no error"),
        ("clear", None, "forget all objects"),
        ("rename", None, "call an object otherwise"),
        ("attach", None, "let an object move with a link"),
        ("detach", "*", "let objects stay where they are; none: all that are held"),
        ("save", None, "save the scene under a name"),
        ("restore", None, "bring a saved scene back"),
    ):
        parser = _command(commands, name, text, scene_verbs.change)
        parser.description = f"{text[0].upper()}{text[1:]}."
        parser.set_defaults(operation=name)
        parser.add_argument(
            "--timeout", type=argument_types.positive, metavar="S", help="[s] node time"
        )
        if name in ("attach", "rename"):
            parser.add_argument("names", nargs=1, metavar="NAME", help="object of the scene")
        if name == "attach":
            parser.add_argument("link", help="frame of the link")
        if name == "rename":
            parser.add_argument("new", metavar="NEW", help="what it is called from now on")
        if name in ("save", "restore"):
            parser.add_argument("memory", metavar="MEMORY", help="name of what is saved")
        if names is not None:
            parser.add_argument("names", nargs=names, metavar="NAME", help="objects")
        if name == "setup":
            _add_setup(parser)


def _add_setup(parser: Any) -> None:
    parser.add_argument(
        "--definition", default="", metavar="YAML", help="of the objects, or @FILE that holds it"
    )
    parser.add_argument(
        "--history",
        type=argument_types.count,
        metavar="N",
        help="detections that a track must have",
    )
    parser.add_argument(
        "--preview",
        nargs=3,
        type=argument_types.coordinate,
        metavar=("X", "Y", "Z"),
        help="no perception: put the object there [m]",
    )


def _add_ask(commands: Any) -> None:
    ask = _command(commands, "ask", "ask a question about objects and frames", scene_verbs.ask)
    ask.formatter_class = argparse.RawDescriptionHelpFormatter
    ask.epilog = _EXAMPLES
    ask.add_argument("question", choices=QUESTIONS, metavar="QUESTION", help=", ".join(QUESTIONS))
    ask.add_argument("object", help="object or frame")
    ask.add_argument("reference", nargs="?", default="", help="second object or frame, or link")
    number = argument_types.length
    ask.add_argument("--min", type=number, metavar="V", help="least value for yes (0)")
    ask.add_argument("--max", type=number, metavar="V", help="greatest value for yes (any)")
    ask.add_argument(
        "--ago", type=argument_types.positive, metavar="S", help="moved: since so many seconds ago"
    )
    ask.add_argument(
        "--wait", type=argument_types.positive, metavar="S", help="[s] until the answer is yes"
    )
    shape = ask.add_argument_group("the shape of contains-frame and contains-points [m]")
    kind = shape.add_mutually_exclusive_group()
    metres = argument_types.positive
    kind.add_argument("--sphere", nargs=1, type=metres, metavar="R", help="radius")
    kind.add_argument("--box", nargs=3, type=metres, metavar=("X", "Y", "Z"), help="edges")
    kind.add_argument("--cylinder", nargs=2, type=metres, metavar=("H", "R"), help="height, radius")
    kind.add_argument("--capsule", nargs=2, type=metres, metavar=("L", "R"), help="length, radius")
    shape.add_argument(
        "--at",
        nargs=3,
        type=argument_types.coordinate,
        metavar=("X", "Y", "Z"),
        default=(0.0, 0.0, 0.0),
        help="its centre in the frame of the object",
    )
    color = ask.add_argument_group("the mean colour of contains-points")
    for name, unit in (("hue", "[deg]; 340 20 runs through 0"), ("saturation", ""), ("value", "")):
        color.add_argument(
            f"--{name}", nargs=2, type=number, metavar=("MIN", "MAX"), help=unit or "0..1"
        )
