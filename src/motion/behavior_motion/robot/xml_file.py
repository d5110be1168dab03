# SPDX-License-Identifier: Apache-2.0
"""A URDF or SRDF as elements; what is neither, or what xacro has yet to make, is refused."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element


def read_robot_xml(path: Path) -> Element:
    """The element ``robot`` of a file.

    Raises:
        ValueError: it is no such file; the message names it, and says why.
    """
    if not path.is_file():
        raise ValueError(f"{path}: a file wanted, this is a folder")
    try:
        root = ElementTree.parse(path).getroot()
    # Encodings that Python does not know end in LookupError or ValueError.
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        hint = f"; {_RUN_XACRO.format(path=path)}" if "unbound prefix" in str(error) else ""
        raise ValueError(f"{path}: not valid XML: {error}{hint}") from error
    if root.tag != "robot":
        raise ValueError(f"{path}: the element <robot> wanted, got <{root.tag}>")
    for element in root.iter():
        if _is_xacro(element):
            raise ValueError(
                f"{path}: <{element.tag.rpartition('}')[2]}> is for xacro; "
                + _RUN_XACRO.format(path=path)
            )
    return root


_RUN_XACRO = "run `xacro {path} > FILE` and name that file"


def _is_xacro(element: Element) -> bool:
    return isinstance(element.tag, str) and "xacro}" in element.tag
