# SPDX-License-Identifier: Apache-2.0
"""The suite's version."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """Version of this package, as it was installed."""
    try:
        return metadata.version("behavior_bringup")
    except metadata.PackageNotFoundError:
        return "of a checkout that is not set up"
