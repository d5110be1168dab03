# SPDX-License-Identifier: Apache-2.0
"""What pydantic finds wrong, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


def faults(error: ValidationError, whole: str, *above: str) -> list[str]:
    """One `KEY: what is wrong` for each fault.

    Args:
        error: of a model.
        whole: what stands for the key of all of it.
        above: keys that what was validated stands below.
    """
    return [
        f"{'.'.join(map(str, (*above, *each['loc']))) or whole}: "
        + each["msg"].removeprefix("Value error, ")
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ]
