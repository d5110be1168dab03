# SPDX-License-Identifier: Apache-2.0
"""Where the viewer leaves its address with the token, and where others find it. Needs no ROS."""

from __future__ import annotations

import os
import re
from pathlib import Path

ADDRESS_FILE = "viewer.url"
"""In the runtime folder."""


def read_address(file: Path) -> str:
    """The address with the right to act; empty while there is none."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def kept_token(file: Path) -> str:
    """The token of an address that only this user could have written and read; empty: none.

    So pages that are open find a viewer again that was restarted.
    """
    try:
        status = file.lstat()
    except OSError:
        return ""
    private = status.st_uid == os.getuid() and not status.st_mode & 0o077
    found = re.search(r"/token=([\w-]{20,})/$", read_address(file)) if private else None
    return found[1] if found else ""
