# SPDX-License-Identifier: Apache-2.0
"""Files of start states that were observed elsewhere.

`/simulation/reset` takes one, JSON, in place of a layout's name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from behavior_packages.validation import faults

SUFFIX = ".json"
"""Of a file that a reset takes for a state, not for a layout's name."""


class StateError(ValueError):
    """A state that a world cannot be put into; the message says why."""


class StateFile(BaseModel):
    """Where everything is, at rest."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def save(self, file: str | Path) -> None:
        """Write a file that `load` reads."""
        Path(file).write_text(self.model_dump_json(), encoding="utf-8")

    @classmethod
    def load(cls, file: str | Path) -> Self:
        """Read a file.

        Raises:
            StateError: there is none, or it holds no state; names what is wrong.
        """
        try:
            return cls.model_validate_json(Path(file).read_bytes())
        except OSError as error:
            raise StateError(f"{file} cannot be read: {error.strerror}") from error
        except ValidationError as error:
            words = "; ".join(faults(error, "state"))
            raise StateError(f"{file} holds no state of the world: {words}") from error
