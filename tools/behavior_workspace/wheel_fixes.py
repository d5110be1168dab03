# SPDX-License-Identifier: Apache-2.0
"""Mends the two paths of the build machine that are baked into the ROS wheels' CMake files.

The exported targets of the generated Python bindings name Python's and numpy's include folders
where the wheels were built, and CMake refuses targets with include folders that do not exist.
"""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

from behavior_workspace.layout import Layout

BAKED_INCLUDE = re.compile(r"/opt/python/cp\d+-cp\d+t?/include/python3\.\d+")
BAKED_SITE_PACKAGES = re.compile(r"/opt/python/cp\d+-cp\d+t?/lib/python3\.\d+/site-packages")


def mend(text: str, *, include: Path, site_packages: Path) -> str:
    """`text` with the baked folders replaced by this machine's."""
    text = BAKED_INCLUDE.sub(str(include), text)
    return BAKED_SITE_PACKAGES.sub(str(site_packages), text)


def mend_wheels(layout: Layout) -> int:
    """Mend all CMake files of the ROS wheels; returns how many changed. Safe to repeat."""
    include = Path(sysconfig.get_path("include"))
    changed = 0
    for file in (layout.venv / "share").glob("*/cmake/*.cmake"):
        text = file.read_text(encoding="utf-8")
        mended = mend(text, include=include, site_packages=layout.site_packages)
        if mended != text:
            file.write_text(mended, encoding="utf-8")
            changed += 1
    return changed
