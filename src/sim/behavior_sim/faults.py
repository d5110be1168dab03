# SPDX-License-Identifier: Apache-2.0
"""What can be made to fail in a simulation, by name: a detector, belts, a suction cup's parts."""

from collections.abc import Callable, Mapping


class Faults:
    """Faults that are switched on and off.

    Args:
        switches: what to do when the fault of a name begins (True) or ends (False).
    """

    def __init__(self, switches: Mapping[str, Callable[[bool], None]]) -> None:
        self._switches = dict(switches)
        self._present: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """Of all faults that there can be."""
        return tuple(self._switches)

    @property
    def present(self) -> tuple[str, ...]:
        """Names of the faults that are there now."""
        return tuple(sorted(self._present))

    def set(self, name: str, present: bool) -> None:
        """Begin or end the fault `name`, which is one of `names`."""
        self._switches[name](present)
        (self._present.add if present else self._present.discard)(name)

    def clear(self) -> None:
        """End all of them."""
        for name in self.present:
            self.set(name, False)
