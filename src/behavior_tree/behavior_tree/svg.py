# SPDX-License-Identifier: Apache-2.0
"""SVG documents: white, in one font, with the sizes of text that all pictures share."""

from __future__ import annotations

from collections.abc import Iterable

_STYLE = ".title{font-size:16px;font-weight:bold}.small{font-size:10.5px;fill:#333}"


def svg_document(width: float, height: float, style: str, body: Iterable[str]) -> str:
    """A document of this size [px].

    Args:
        width: of the picture
        height: of the picture
        style: CSS besides the classes ``title`` and ``small``
        body: its elements
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="DejaVu Sans, Verdana, sans-serif" '
        'font-size="12">',
        f"<style>{_STYLE}{style}</style>",
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
        *body,
        "</svg>",
        "",
    ]
    return "\n".join(lines)
