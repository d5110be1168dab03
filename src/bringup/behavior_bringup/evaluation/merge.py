# SPDX-License-Identifier: Apache-2.0
"""Puts the stores of several shards together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from behavior_bringup.errors import UsageError
from behavior_bringup.evaluation.record import EpisodeRecord
from behavior_bringup.evaluation.store import EpisodeStore, Stored, read
from behavior_bringup.evaluation.versions import check_same


@dataclass(frozen=True)
class Merged:
    """What came together."""

    records: Sequence[EpisodeRecord]
    """By variant and seed."""
    twice: int
    """Records of episodes that an earlier file had already; the first counts."""
    missing: Sequence[int]
    """Seeds that no file has, of those that were planned."""


def merge(files: Sequence[Path], output: Path) -> Merged:
    """Write a store with the episodes of all files.

    Args:
        files: stores, or episode logs of JSON lines.
        output: none of them; one that is there is kept as `FILE.old`.

    Raises:
        UsageError: the files are of different evaluations, or cannot be read.
        VersionsDifferError: of different versions.
        BringupError: it cannot be written.
    """
    if output.resolve() in {file.resolve() for file in files}:
        raise UsageError(f"{output} is one of the files: choose another one with --output")
    parts = [read(file) for file in files]
    first = parts[0]
    for part in parts[1:]:
        _check_alike(first, part)
    planned = max((part.planned for part in parts), key=lambda plan: plan.get("episodes", 0))
    records: dict[tuple[str, int], EpisodeRecord] = {}
    count = 0
    for part in parts:
        for record in part.records:
            count += 1
            records.setdefault(record.key, _moved(record, part.file.parent, output.parent))
    ordered = [records[key] for key in sorted(records)]
    with EpisodeStore(output, first.about, first.versions, resume=False, planned=planned) as store:
        store.extend(ordered)
    return Merged(ordered, count - len(ordered), _missing(planned, records))


def _check_alike(first: Stored, other: Stored) -> None:
    for key in sorted({*first.about, *other.about}):
        ours, theirs = first.about.get(key), other.about.get(key)
        if ours != theirs and (ours or theirs):
            raise UsageError(
                f"{first.file} holds episodes with {key} {ours}, but {other.file} with {theirs}:"
                " only shards of one evaluation can be put together"
            )
    check_same(first.versions, other.versions, str(other.file))


def _moved(record: EpisodeRecord, old: Path, new: Path) -> EpisodeRecord:
    """The record as seen from another folder."""
    if not record.recording or Path(record.recording).is_absolute():
        return record
    file = (old / record.recording).resolve()
    return replace(record, recording=os.path.relpath(file, new.resolve()))


def _missing(
    planned: Mapping[str, int], records: Mapping[tuple[str, int], EpisodeRecord]
) -> list[int]:
    if not planned:
        return []
    seeds = {record.seed for record in records.values()}
    wanted = range(planned["seed"], planned["seed"] + planned["episodes"])
    return [seed for seed in wanted if seed not in seeds]
