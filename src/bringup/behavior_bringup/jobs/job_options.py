# SPDX-License-Identifier: Apache-2.0
"""Options of a single job on the command line, and parameters of its mission.

`behavior demo` and `behavior evaluate` take what they do not know themselves to the job: it says in
its `options` what it takes, see :class:`behavior_sim.judging.JobOption`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from behavior_bringup.errors import UsageError
from behavior_sim.judging import JobOption, Setting
from behavior_sim.trials import ConfigurableJob, Job


def configured(job: Job, options: argparse.Namespace, *, evaluation: bool) -> Job:
    """The job as the command line wants it.

    Args:
        job: as its package offers it.
        options: with `param`, parameters of its mission, and `extra`, options of its own.
        evaluation: it is to be measured, not shown.

    Raises:
        UsageError: the job does not know an option, or a value cannot be.
    """
    parameters = dict(options.param)
    if not isinstance(job, ConfigurableJob):
        if parameters or options.extra:
            given = [*(f"--param {name}=" for name in parameters), *options.extra]
            raise UsageError(f"'{job.name}' takes no options of its own: leave {given[0]} away")
        return job
    values = _parsed(job.name, job.options, options.extra)
    try:
        return job.configured(values, parameters, evaluation=evaluation)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _parsed(name: str, known: Sequence[JobOption], given: Sequence[str]) -> dict[str, Setting]:
    parser = _JobParser(prog=name, add_help=False, allow_abbrev=False)
    parser.known = [f"--{option.name} ({option.about})" for option in known]
    for option in known:
        flag = f"--{option.name}"
        if isinstance(option.default, bool):
            parser.add_argument(flag, action="store_true", default=option.default)
        else:
            parser.add_argument(flag, type=type(option.default), default=option.default)
    values: dict[str, Any] = vars(parser.parse_args(list(given)))
    return {option.name: values[option.name.replace("-", "_")] for option in known}


class _JobParser(argparse.ArgumentParser):
    known: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        takes = f"it takes {'; '.join(self.known)}" if self.known else "it takes none of its own"
        raise UsageError(f"{self.prog}: {message}: {takes}")
