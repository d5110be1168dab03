# SPDX-License-Identifier: Apache-2.0
"""A node and all in it for the other side: poses, points and names of sides, about any plane.

A plane with the unit normal n at the distance d is that of each pose's own frame. A point x becomes
x - 2 (n.x - d) n. An orientation q becomes -n q y (quaternions): the x and z axes are reflected,
and y follows, as tools and robots are symmetric about their own xz plane. So a screw axis is
reflected, and a turn about it changes its sign.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from behavior_tree.blackboard.conversion import type_name
from behavior_tree.blackboard.ports import is_pointer
from behavior_tree.editing.references import NodeName, References, Rewrites
from behavior_tree.editing.rename import check_meanings
from behavior_tree.editing.tree_files import Editors, TreeFiles
from behavior_tree.errors import LogicError
from behavior_tree.script.lexer import tokenize
from behavior_tree.xml.document import Element
from behavior_tree.xml.elements import below, resolve_type

_KINDS = {
    "Pose": "pose",
    "PoseStamped": "pose",
    "Path": "pose",
    "Point": "point",
    "PointStamped": "point",
    "Point32": "point",
    "Vector3": "vector",
    "Vector3Stamped": "vector",
    "Quaternion": "quaternion",
    "QuaternionStamped": "quaternion",
}
"""How ports are mirrored, by the last part of their type; also lists of these, ``|`` between."""
_TURNS = frozenset({("Screw", "rotation"), ("RestOfScrew", "angle"), ("MoveBase", "angle")})
"""Ports with an angle, about an axis that another port of the node mirrors or the vertical."""
_SIDE = re.compile(
    r"(?<![A-Za-z])(?:left|right)(?![a-z])|(?:Left|Right)(?![a-z])"
    r"|(?<![A-Za-z])(?:LEFT|RIGHT)(?![A-Za-z])"
)
_OTHER = {"left": "right", "Left": "Right", "LEFT": "RIGHT"}
_OTHER |= {right: left for left, right in _OTHER.items()}
_Y = (0.0, 1.0, 0.0)

Matrix = list[list[float]]


@dataclass(frozen=True)
class MirrorPlane:
    """The points x with normal . x = distance, in the frame of each pose."""

    normal: tuple[float, float, float] = _Y
    """Of any length but 0."""
    distance: float = 0.0
    """[m] from the origin of the frame along the normal."""

    def __post_init__(self) -> None:
        """Make the normal a unit vector."""
        length = math.hypot(*self.normal)
        if not math.isfinite(length + self.distance) or length < 1e-9:
            raise LogicError(f"the normal of a mirror plane is a direction, not {self.normal}")
        x, y, z = (value / length for value in self.normal)
        object.__setattr__(self, "normal", (x, y, z))


XZ_PLANE = MirrorPlane()
"""Left becomes right in a frame whose x axis looks ahead and whose z axis looks up."""


def mirror(files: TreeFiles, node: NodeName, plane: MirrorPlane = XZ_PLANE) -> list[str]:
    """Mirror a node and all in it: ports by their types, and words such as left and Right in names,
    texts and names of frames. Twice is the identity.

    Args:
        files: where it is
        node: its path, as much of its end as is unique, or its place; or the ID of a tree
        plane: in the frame of each pose

    Returns:
        what stays as it is though it may have to change: values from the blackboard, and trees
        that are used, perhaps by others, too

    Raises:
        LogicError: no such node, or a value whose form is not known
        LoadError: the files would not load
    """
    notes: list[str] = []

    def edit(editors: Editors) -> None:
        references = References(editors, files.factory.manifests())
        place = references.find(node)
        rewrites = Rewrites()
        whole = place.parent is None
        for element in below(place.element) if whole else (place.element, *below(place.element)):
            path = references.places[element].path
            if element.tag == "SubTree":
                notes.append(f"'{path}' uses tree '{element.get('ID')}', which is not mirrored")
            uses = {use.attribute: use for use in references.uses(element)}
            for name, text in element.attributes.items():
                kind = _kind(references, element, name)
                if kind and is_pointer(text):
                    notes.append(f"[{name}] of '{path}' comes from the blackboard")
                elif name != "ID" and (name not in uses or uses[name].script or uses[name].framed):
                    where = f"[{name}] of '{path}'"
                    scripted = name in uses and uses[name].script
                    new = _script(text) if scripted else _mirrored(text, kind, plane, where)
                    if new != text:
                        rewrites.set(element, name, new)
        rewrites.apply(editors)
        check_meanings(references, References(editors, files.factory.manifests()))

    files.change(edit)
    return notes


def _mirrored(text: str, kind: str, plane: MirrorPlane, where: str) -> str:
    if not kind:
        return _other_side(text)
    if kind == "turn":
        return _negative(text)
    if text.startswith("json:"):
        raise LogicError(
            f"{where} is JSON, which is not mirrored: write its numbers with ; between"
        )
    return "|".join(_value(item, kind, plane, where) for item in text.split("|"))


def _script(text: str) -> str:
    """A script with the texts in it for the other side; entries keep their names."""
    for token in reversed(tokenize(text, grammar_4_8=False)):
        if token.kind == "text":
            start, end = token.position + 1, token.position + 1 + len(str(token.value))
            text = text[:start] + _other_side(str(token.value)) + text[end:]
    return text


def _other_side(text: str) -> str:
    return _SIDE.sub(lambda found: _OTHER[found[0]], text)


def _kind(references: References, element: Element, port: str, depth: int = 0) -> str:
    """How a port is mirrored; empty: it is not. Ports of a SubTree: as what reads them there."""
    type_id = resolve_type(element) or ""
    if (type_id, port) in _TURNS:
        return "turn"
    if element.tag == "SubTree":
        tree = references.trees.get(type_id)
        inside: Iterable[Element] = () if tree is None or depth > 50 else below(tree)
        for each in inside:
            for use in references.uses(each):
                if use.keys == (port,) and not (use.script or use.framed):
                    kind = _kind(references, each, use.attribute, depth + 1)
                    if kind:
                        return kind
        return ""
    manifest = references.manifests.get(type_id)
    if manifest is None or port not in manifest.ports:
        return ""
    last = re.split(r"[.:/]", type_name(manifest.ports[port].type).strip("]> "))[-1]
    return _KINDS.get(last, "")


def _value(text: str, kind: str, plane: MirrorPlane, where: str) -> str:
    parts = [part.strip() for part in text.split(";")]
    frame = [] if not parts[0] or _number(parts[0]) else [_frame(parts.pop(0))]
    sizes = {"pose": (3, 7), "quaternion": (4,)}.get(kind, (3,))
    if len(parts) not in sizes or not all(map(_number, parts)):
        forms = " or ".join(map(str, sizes))
        raise LogicError(f"{where} is '{text}', which is not {forms} numbers with ; between")
    if kind == "quaternion":
        return ";".join([*frame, *_times(_turn(plane), parts)])
    shift = [0.0 if kind == "vector" else 2 * plane.distance * n for n in plane.normal]
    new = _times(_reflection(plane), parts[:3], shift)
    if kind == "pose":
        turned = _times(_turn(plane), parts[3:] or ["0", "0", "0", "1"])
        if len(parts) == 7 or [float(each) for each in turned] != [0, 0, 0, 1]:
            new += turned
        if turned == ["0", "0", "0", "1"] and abs(plane.normal[1]) != 1:
            new = new[:3]
    return ";".join([*frame, *new])


def _frame(text: str) -> str:
    return text if is_pointer(text) else _other_side(text)


def _reflection(plane: MirrorPlane) -> Matrix:
    n = plane.normal
    return [[float(i == j) - 2 * n[i] * n[j] for j in range(3)] for i in range(3)]


def _turn(plane: MirrorPlane) -> Matrix:
    """The map of q to -n q y, as a matrix for (x, y, z, w)."""
    units = [[float(i == j) for j in range(4)] for i in range(4)]
    columns = [_product(_product((*plane.normal, 0.0), unit), (*_Y, 0.0)) for unit in units]
    return [[-column[i] for column in columns] for i in range(4)]


def _product(a: Sequence[float], b: Sequence[float]) -> list[float]:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def _times(matrix: Matrix, texts: Sequence[str], shift: Sequence[float] | None = None) -> list[str]:
    """Product of a matrix with numbers as they are written: what only moves keeps its digits."""
    found = []
    for row, more in zip(matrix, shift or [0.0] * len(matrix), strict=True):
        factors = [(factor, text) for factor, text in zip(row, texts, strict=True) if factor]
        if len(factors) == 1 and abs(factors[0][0]) == 1 and not more:
            found.append(factors[0][1] if factors[0][0] > 0 else _negative(factors[0][1]))
        else:
            value = more + sum(factor * float(text) for factor, text in factors)
            if not math.isfinite(value):
                raise LogicError(f"{value} is no coordinate: mirror about a plane that is nearer")
            found.append(f"{round(value, 12) + 0.0:.12g}")
    return found


def _negative(text: str) -> str:
    number = text.strip()
    if not _number(number) or float(number) == 0:
        return text
    new = number.removeprefix("-") if number.startswith("-") else f"-{number.removeprefix('+')}"
    return text.replace(number, new)


def _number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
