# SPDX-License-Identifier: Apache-2.0
"""`Closing`: what is closed at the end of a ``with`` block."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A context manager of whatever has ``close()``."""

    def close(self) -> None:
        """Let go of everything."""
        raise NotImplementedError(f"{type(self).__name__} defines no close()")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
