# SPDX-License-Identifier: Apache-2.0
"""What is different from episode to episode: intervals of factors in a file, drawn in strata.

The file says for each factor (:mod:`behavior_sim.worlds.variation`) one value, or an interval::

    strata: 10
    factors:
      mass: [0.5, 2.0]
      blue_block.size: [0.97, 1.03]
      dropout: [0.0, 0.3]
      latency: 0.2

Of each run of as many seeds as there are strata, each stratum of each interval gets one (a Latin
hypercube). What a seed gets depends on the seed and the file alone, so that shards agree.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from behavior_bringup.errors import UsageError
from behavior_bringup.suggestions import choose
from behavior_packages.bounded_yaml import BoundedLoader, compose_yaml
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.variation import OF_DETECTOR, check_factor

STRATA = 10
_MOST_STRATA = 10_000
_KEYS = ("strata", "factors")


@dataclass(frozen=True, kw_only=True)
class Variation:
    """What a file says."""

    factors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Interval by factor, from the one end to the other; of one value, twice that."""
    strata: int = STRATA
    """Equal parts of an interval."""

    def draw(self, seed: int) -> dict[str, float]:
        """The values of an episode."""
        return {name: self._value(name, seed) for name in self.factors}

    def _value(self, name: str, seed: int) -> float:
        start, end = self.factors[name]
        block, place = divmod(seed, self.strata)
        # Each factor has its own order of the strata in each block of seeds.
        random = np.random.default_rng([zlib.crc32(name.encode()), block])
        stratum = random.permutation(self.strata)[place]
        within = random.random(self.strata)[place]
        return float(start + (end - start) * (stratum + within) / self.strata)

    def document(self) -> dict[str, Any]:
        """By JSON's types."""
        factors = {name: list(interval) for name, interval in self.factors.items()}
        return {"strata": self.strata, "factors": factors}

    @property
    def without_effect_on_cameras(self) -> list[str]:
        """Factors that change nothing where cameras and a real detector perceive."""
        return [
            name
            for name in self.factors
            if name in OF_DETECTOR or name.rpartition(".")[2] == "size"
        ]


def read_variation(file: Path) -> Variation:
    """Read a file.

    Raises:
        UsageError: what is wrong in it, with file and line, all faults at once.
    """
    try:
        root = compose_yaml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{file}:{line}: is not YAML: {error.problem}") from error
    reader = _Reader(file)
    variation = reader.variation(root)
    if reader.problems:
        raise UsageError("\n".join(reader.problems))
    return variation


class _Reader:
    """Reads nodes of YAML, and collects what is wrong with them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.problems: list[str] = []

    def variation(self, root: yaml.Node | None) -> Variation:
        if not isinstance(root, yaml.MappingNode):
            self._complain(root, f"must hold {' and '.join(_KEYS)}")
            return Variation()
        found: dict[str, yaml.Node] = {}
        for key, value in root.value:
            if key.value in _KEYS:
                found[key.value] = value
            else:
                self._complain(key, f"'{key.value}' is no key: {choose(key.value, _KEYS)}")
        if "factors" not in found:
            self._complain(root, "there are no factors to vary")
            return Variation()
        strata = self._strata(found["strata"]) if "strata" in found else STRATA
        return Variation(strata=strata, factors=self._factors(found["factors"]))

    def _strata(self, node: yaml.Node) -> int:
        value = _plain(node)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_STRATA:
            return value
        self._complain(node, f"strata must be a whole number from 1 to {_MOST_STRATA}")
        return STRATA

    def _factors(self, node: yaml.Node) -> dict[str, tuple[float, float]]:
        if not isinstance(node, yaml.MappingNode) or not node.value:
            self._complain(node, "factors must be names with an interval each: mass: [0.5, 2.0]")
            return {}
        factors: dict[str, tuple[float, float]] = {}
        for key, value in node.value:
            name, interval = str(key.value), self._interval(key.value, value)
            if name in factors:
                self._complain(key, f"{name} is there twice")
            if interval is None:
                continue
            try:
                for end in interval:
                    check_factor(name, end)
            except WorldError as error:
                self._complain(key, str(error))
            factors[name] = interval
        return factors

    def _interval(self, name: str, node: yaml.Node) -> tuple[float, float] | None:
        value = _plain(node)
        ends = value if isinstance(value, list) else [value, value]
        numbers = [
            float(end)
            for end in ends
            if isinstance(end, int | float) and not isinstance(end, bool) and np.isfinite(end)
        ]
        if len(ends) == len(numbers) == 2:
            return numbers[0], numbers[1]
        self._complain(node, f"{name} must be a number, or an interval such as [0.5, 2.0]")
        return None

    def _complain(self, node: yaml.Node | None, text: str) -> None:
        line = node.start_mark.line + 1 if node is not None else 1
        self.problems.append(f"{self._file}:{line}: {text}")


def _plain(node: yaml.Node) -> Any:
    """The value of a node, by Python's types."""
    loader = BoundedLoader("")
    try:
        return loader.construct_object(node, deep=True)
    except yaml.YAMLError:
        return None
    finally:
        loader.dispose()
