# SPDX-License-Identifier: Apache-2.0
"""A start state of a navigation world that was observed elsewhere.

A file of it, JSON, is what `/simulation/reset` takes in place of a layout's name. Lengths in
metres, angles in radians, everything in the frame `map`. People begin as the world's description
has them.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

SUFFIX = ".json"
"""Of a file that a reset takes for a state, not for a layout's name."""


Planar = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
"""x, y [m] and yaw [rad]."""
Edges = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]
"""[m] x from, y from, x to, y to."""


class NavigationStateError(ValueError):
    """A state that a world cannot be put into; the message says why."""


class NavigationState(BaseModel):
    """Where everything is, at rest."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    robot: Planar
    tile: str
    """In force."""
    located: bool = True
    """Whether the localizer has found the robot."""
    obstacles: dict[str, Edges] = {}
    """What stands beside the walls, by name."""
    frames: dict[str, Planar] = {}
    """That stand elsewhere than the world's description says."""

    def save(self, file: str | Path) -> None:
        """Write a file that `load` reads."""
        Path(file).write_text(self.model_dump_json(), encoding="utf-8")

    @classmethod
    def load(cls, file: str | Path) -> NavigationState:
        """Read a file.

        Raises:
            NavigationStateError: there is none, or it holds no state.
        """
        try:
            return cls.model_validate_json(Path(file).read_bytes())
        except (OSError, ValidationError) as error:
            words = " ".join(str(error).split())
            raise NavigationStateError(f"{file} holds no state of the world: {words}") from error
