# SPDX-License-Identifier: Apache-2.0
"""`behavior create`: a package of one's own, written into the current folder.

Each part is a folder of `templates/`; ``@NAME@`` in the names and texts of its files is filled in.
"""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.offers import default_of
from behavior_bringup.terminal import say, sentence
from behavior_packages import MANIFEST, packages

PARTS = ("tree", "leaf", "skill", "world", "robot", "planner", "detector", "panel")
WORLDLESS = {"tree", "leaf", "panel"}
TEMPLATES = Path(__file__).parents[1] / "templates"

_MARK = re.compile(r"@(\w+)@")
_BRING = """\
      <RetryUntilSuccessful name="thrice" num_attempts="3">
        <SubTree ID="PickAndPlace" name="bring it" object_name="{block}" target="{target}"/>
      </RetryUntilSuccessful>"""
_SEE = """\
      <RetryUntilSuccessful name="look" num_attempts="-1">
        <Delay name="again" delay_msec="100">
          <@Stem@SeesObject name="see it" object_name="{block}"/>
        </Delay>
      </RetryUntilSuccessful>"""
_REST = '      <@Stem@Rest name="rest" duration="0.5"/>'
_ARGUMENTS = {
    "planner": "  planner: {default: @stem@_planner, help: which planner plans motions}\n",
    "detector": "  detector: {default: @stem@_detector, help: which detector perceives}\n",
}
_PERCEPTION = """\
  perception:
    nodes:
      detector:
        parameters: {input: color}
"""
_SKILL = """\
  @package@:
    nodes:
      @package@_skill:
        node: @package@.skill_node:SkillNode
        parameters: {use_sim_time: true}
"""
_READY = """\
ready:
  actions: [/mission/execute, /pick, /place, /move_arm, /screw, /gripper, /@package@/rest]
"""


def add_create(subparsers: Any) -> None:
    """Add `create` to the command's subparsers."""
    text = "write a package of your own into the current folder"
    parser = subparsers.add_parser(
        "create",
        help=text,
        description=f"{sentence(text)}. It builds with colcon as it is, has its tests, and "
        "brings a job that `behavior demo` shows.",
    )
    parser.add_argument("package", metavar="NAME", help="of the package, such as my_jobs")
    parser.add_argument(
        "--with",
        dest="parts",
        default="tree",
        metavar="PART,...",
        help=f"what it shall bring: {', '.join(PARTS)} (tree); all but "
        "tree, leaf and panel bring a world",
    )
    parser.set_defaults(run=_create)


def _create(options: argparse.Namespace) -> int:
    parts = [part.strip() for part in options.parts.split(",") if part.strip()]
    folder = create(Path.cwd(), options.package, parts)
    say(f"Written to {folder}.")
    say("Build it and make it known:  colcon build --symlink-install && . install/local_setup.bash")
    say(f"What it offers:  behavior packages {options.package}")
    if "tree" in parts:
        say(f"Its job:  behavior demo {names_of(options.package)['job']}")
    return 0


def create(where: Path, package: str, parts: Sequence[str]) -> Path:
    """Write a package.

    Args:
        where: folder that gets the package's folder.
        package: its name.
        parts: of `PARTS`.

    Returns:
        The package's folder.

    Raises:
        UsageError: a name that cannot be, or a part that there is not.
        BringupError: the folder is there already, or cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", package):
        raise UsageError(f"'{package}' is no name of a package: small letters, digits, single _")
    if keyword.iskeyword(package) or importlib.util.find_spec(package) is not None:
        raise UsageError(f"'{package}' is taken: Python knows it already; choose another name")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise UsageError(f"'{unknown[0]}' is no part: choose from {', '.join(PARTS)}")
    folder = where / package
    if folder.exists():
        raise BringupError(f"{folder} is there already: choose another name, or move it away")
    chosen = set(parts)
    if chosen - WORLDLESS:
        chosen.add("world")
    names = _filled_names(package, chosen)
    try:
        for part in ("base", *(part for part in PARTS if part in chosen)):
            _write_part(TEMPLATES / part, folder, names)
        if "robot" in chosen:
            _write_robot(folder / "config" / "robots" / f"{names['robot']}.yaml", names["robot"])
        (folder / MANIFEST).write_text(_manifest(chosen, names), encoding="utf-8")
    except OSError as error:
        raise BringupError(f"{folder} cannot be written: {error}") from error
    return folder


def names_of(package: str) -> dict[str, str]:
    """What a package's things are called: of `my_jobs`, the job is `my_job`."""
    stem = package.removesuffix("_jobs")
    camel = "".join(word.capitalize() for word in stem.split("_"))
    return {"package": package, "job": f"{stem}_job", "Stem": camel, "stem": stem}


def _filled_names(package: str, parts: set[str]) -> dict[str, str]:
    names = names_of(package)
    stem = names["stem"]
    names["world"] = f"{stem}_world" if "world" in parts else default_of("stacks", "--with world")
    if "world" in parts:
        base = packages().find("stacks", default_of("stacks", "a package that says so"))
        names["base"] = f"{base.package}/{base.name}"
        names["model"] = _model_robot()
        names["robot"] = f"{stem}_robot" if "robot" in parts else names["model"]
        names["arguments"] = "".join(
            _filled(_ARGUMENTS[part], names) for part in ("planner", "detector") if part in parts
        )
    names["mission"] = names["job"] if "tree" in parts else ""
    steps = [
        _SEE if "leaf" in parts else "",
        _BRING,
        _REST if "skill" in parts else "",
    ]
    names["steps"] = _filled("\n".join(filter(None, steps)), names)
    processes = [
        _filled(text, names)
        for part, text in (("detector", _PERCEPTION), ("skill", _SKILL))
        if part in parts
    ]
    ready = _filled(_READY, names) if "skill" in parts else ""
    names["processes"] = "".join(["processes:\n" if processes else "", *processes, ready])
    return names


def _write_part(template: Path, folder: Path, names: dict[str, str]) -> None:
    for source in sorted(template.rglob("*.in")):
        name = _filled(str(source.relative_to(template)).removesuffix(".in"), names)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = _filled(source.read_text(encoding="utf-8"), names)
        target.write_text(text.rstrip("\n") + "\n" if text else "", encoding="utf-8")


def _model_robot() -> str:
    """The robot of which a new one is a copy, to be changed."""
    return default_of("robots", "a package that says so under `defaults`")


def _write_robot(file: Path, name: str) -> None:
    model = Path(packages().find("robots", _model_robot()).value).read_text(encoding="utf-8")
    text = re.sub(r"^name: .*$", f"name: {name}", model, count=1, flags=re.MULTILINE)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _filled(text: str, names: dict[str, str]) -> str:
    return _MARK.sub(lambda match: names[match.group(1)], text)


def _manifest(parts: set[str], names: dict[str, str]) -> str:
    package, stem = names["package"], names["stem"]
    offers: dict[str, dict[str, Any]] = {
        "tree": {"trees": ["trees"], "judges": {names["job"]: f"{package}.judge:MISSION"}},
        "leaf": {"tree_nodes": [f"{package}.tree_nodes:register"]},
        "skill": {"nodes": ["config/nodes.yaml"]},
        "world": {kind: [f"config/{kind}"] for kind in ("worlds", "scenes", "stacks")},
        "robot": {"robots": ["config/robots"]},
        "planner": {"planners": {f"{stem}_planner": f"{package}.planner:{names['Stem']}Planner"}},
        "panel": {"panels": ["panels"]},
        "detector": {
            "detectors": {f"{stem}_detector": f"{package}.detector:{names['Stem']}Detector"}
        },
    }
    chosen = {key: value for part in PARTS if part in parts for key, value in offers[part].items()}
    head = "# What this package offers to the behavior suite.\n"
    return head + yaml.safe_dump(chosen, sort_keys=False)
