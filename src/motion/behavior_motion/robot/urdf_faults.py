# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a URDF, by the names of its links and joints.

The parser behind pinocchio says only that a URDF is not valid, and where in its own code it saw
that. What it does not understand of a collision geometry it leaves out: no plan would keep off it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

SHAPES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "mesh": ()}
"""Geometries that collisions are checked with, and their dimensions."""
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_COUNTS = {
    ("origin", "xyz"): 3,
    ("origin", "rpy"): 3,
    ("axis", "xyz"): 3,
    ("box", "size"): 3,
    ("mesh", "scale"): 3,
    ("sphere", "radius"): 1,
    ("cylinder", "radius"): 1,
    ("cylinder", "length"): 1,
    ("limit", "lower"): 1,
    ("limit", "upper"): 1,
    ("limit", "velocity"): 1,
    ("limit", "effort"): 1,
    ("mass", "value"): 1,
    ("mimic", "multiplier"): 1,
    ("mimic", "offset"): 1,
    **{("inertia", each): 1 for each in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")},
}
"""How many numbers an attribute of an element holds."""


def urdf_faults(root: Element) -> Iterator[str]:
    """Each a sentence; none where a planner can read it.

    Args:
        root: the element ``robot``.
    """
    if not root.get("name"):
        yield "the robot has no name; give it one"
    for kind in ("link", "joint"):
        names = [element.get("name", "") for element in root.findall(kind)]
        if not all(names):
            yield f"a {kind} has no name; give it one"
        if double := sorted(name for name, count in Counter(names).items() if count > 1):
            yield f"{kind} {', '.join(map(repr, double))}: there are several; rename all but one"
    for link in root.findall("link"):
        yield from (f"link {link.get('name')!r}: {fault}" for fault in _faults_of_link(link))
    for joint in root.findall("joint"):
        yield from (f"joint {joint.get('name')!r}: {fault}" for fault in _faults_of_joint(joint))
    yield from _faults_of_tree(root)


def joint_ends(joint: Element) -> tuple[str, str]:
    """Parent and child link of a joint."""
    ends = [joint.find(end) for end in ("parent", "child")]
    parent, child = ("" if end is None else end.get("link", "") for end in ends)
    return parent, child


def _faults_of_link(link: Element) -> Iterator[str]:
    inertial = link.find("inertial")
    if inertial is not None:
        yield from _faults_of_numbers(inertial)
    for collision in link.findall("collision"):
        yield from _faults_of_numbers(collision)
        geometry = collision.find("geometry")
        shapes = [] if geometry is None else list(geometry)
        if len(shapes) != 1 or shapes[0].tag not in SHAPES:
            got = ", ".join(each.tag for each in shapes) or "none"
            yield f"collision: one of {', '.join(SHAPES)} wanted as its geometry, got {got}"
            continue
        yield from _faults_of_shape(shapes[0])


def _faults_of_shape(shape: Element) -> Iterator[str]:
    for key in SHAPES[shape.tag]:
        numbers = _numbers(shape.get(key))
        if shape.get(key) is None or any(number <= 0 for number in numbers):
            yield f"{shape.tag}.{key}: above zero wanted [m], got {shape.get(key)!r}"
    if shape.tag == "mesh":
        if not shape.get("filename"):
            yield "mesh.filename: is missing; name the file"
        if 0.0 in _numbers(shape.get("scale")):
            yield f"mesh.scale: no 0 wanted, got {shape.get('scale')!r}"


def _faults_of_joint(joint: Element) -> Iterator[str]:
    kind, limit = joint.get("type", ""), joint.find("limit")
    yield from _faults_of_numbers(joint)
    if kind not in JOINT_TYPES:
        yield f"type: one of {', '.join(JOINT_TYPES)} wanted, got {kind!r}"
    if kind in ("revolute", "prismatic"):
        missing = [key for key in ("velocity", "effort") if limit is None or limit.get(key) is None]
        if missing:
            also = "; one that turns without end is continuous" if kind == "revolute" else ""
            yield f"limit: a {kind} joint needs {' and '.join(missing)}{also}"
    axis = joint.find("axis")
    if axis is not None and kind != "fixed" and _numbers(axis.get("xyz")) == [0.0] * 3:
        yield "axis: a direction wanted, got 0 0 0"


def _faults_of_numbers(parent: Element) -> Iterator[str]:
    for element in parent.iter():
        for key, text in element.items():
            count = _COUNTS.get((element.tag, key))
            if count is not None and len(_numbers(text)) != count:
                wanted = "a finite number" if count == 1 else f"{count} finite numbers"
                yield f"{element.tag}.{key}: {wanted} wanted, got {text!r}"


def _numbers(text: str | None) -> list[float]:
    """Of an attribute; none where one of them is no finite number."""
    try:
        numbers = [float(word) for word in (text or "").split()]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []


def _faults_of_tree(root: Element) -> Iterator[str]:
    links = {link.get("name", "") for link in root.findall("link")}
    above: dict[str, str] = {}
    for joint in root.findall("joint"):
        parent, child = joint_ends(joint)
        for end, link in (("parent", parent), ("child", child)):
            if link not in links:
                yield f"joint {joint.get('name')!r}: {end}: there is no link {link!r}"
        if child in above:
            both = f"{above[child]!r} and {parent!r}"
            yield f"link {child!r}: hangs on both {both}; leave it one joint"
        above[child] = parent
    tops = sorted(links - above.keys())
    if len(tops) > 1:
        yield f"links {', '.join(map(repr, tops))}: hang on nothing; join all but one"
    elif circle := sorted(link for link in links if _in_circle(link, above)):
        yield f"links {', '.join(map(repr, circle))}: hang in a circle; take a joint out"
    elif not links:
        yield "there is no link"


def _in_circle(link: str, above: Mapping[str, str]) -> bool:
    at = above.get(link)
    for _ in above:
        if at is None or at == link:
            break
        at = above.get(at)
    return at == link


def first_faults(faults: Iterable[str], most: int = 5) -> str:
    """Some of them in one line, and how many more there are; empty: there are none."""
    texts = list(faults)
    more = [f"{len(texts) - most} more faults"] if len(texts) > most else []
    return "; ".join([*texts[:most], *more])
