# SPDX-License-Identifier: Apache-2.0
"""Where robot files lie: plain paths, ``wheel://`` and ``package://`` addresses.

``wheel://a/b`` is the path ``a/b`` inside any folder of ``sys.path``, that is: inside an installed
wheel. ``package://name/b`` is ``share/name/b`` of a ROS prefix (``AMENT_PREFIX_PATH``).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def ros_share_folders() -> list[Path]:
    """``share`` folders of the sourced ROS prefixes that exist."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(p) / "share" for p in prefixes if p and (Path(p) / "share").is_dir()]


def resolve(address: str, relative_to: Path) -> Path:
    """Existing absolute path of ``address``.

    Args:
        address: ``wheel://...``, ``package://...``, ``file://...`` or a path.
        relative_to: Folder against which a relative path counts.

    Raises:
        FileNotFoundError: Nothing there; the message lists where it was looked for.
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        candidates = [relative_to / Path(address).expanduser()]
    elif scheme == "wheel":
        candidates = [Path(folder) / rest for folder in sys.path if folder]
    elif scheme == "package":
        candidates = [folder / rest for folder in ros_share_folders()]
    elif scheme == "file":
        candidates = [Path(rest)]
    else:
        raise FileNotFoundError(
            f"{address}: unknown scheme {scheme!r}; known: wheel, package, file, or a plain path"
        )
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    looked = ", ".join(str(c) for c in candidates) or "no folder (AMENT_PREFIX_PATH is empty)"
    raise FileNotFoundError(
        f"{address}: not found; looked for {looked}. For wheel:// install the Python package that "
        "brings it, for package:// source its workspace"
    )
