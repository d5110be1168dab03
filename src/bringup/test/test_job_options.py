# SPDX-License-Identifier: Apache-2.0
"""Options that a job brings along, and parameters of its mission, on the command line."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from behavior_bringup.cli import main
from behavior_bringup.errors import UsageError
from behavior_bringup.evaluation import verbs
from behavior_bringup.jobs import job_verbs
from behavior_bringup.jobs.job_options import configured
from behavior_bringup.jobs.judges import job_named
from behavior_bringup.jobs.trial_run import order_of
from behavior_sim.trials import Job


def line(*extra: str, **parameters: str) -> SimpleNamespace:
    return SimpleNamespace(extra=list(extra), param=list(parameters.items()))


def test_a_job_gets_its_options_and_the_parameters_of_its_mission() -> None:
    job = job_named("stack_bins")
    shown = configured(job, line("--bins", "3", patience="9"), evaluation=False)
    assert dict(shown.parameters) == {"bins": "3", "adjust": "true", "patience": "9"}
    assert shown.parts_wanted == 0
    measured = configured(job, line("--bins=100", "--misaligned", "--no-adjust"), evaluation=True)
    assert measured.parameters["bins"] == "8"
    assert measured.parameters["adjust"] == "false"
    assert measured.parts_wanted == 100
    (message,) = {
        p.value for p in order_of(shown.name, shown.parameters).parameters if p.key == "bins"
    }
    assert message == "3"


def test_a_job_without_options_takes_parameters() -> None:
    job = configured(job_named("stack_blocks"), line(max_failures="2"), evaluation=False)
    assert isinstance(job, Job)
    assert dict(job.parameters) == {"max_failures": "2"}


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("stack_bins", line("--bins", "many"), "invalid int value: 'many'"),
        ("stack_bins", line("--bins", "37"), "give 1 to 36"),
        ("stack_bins", line("--boxes", "3"), r"unrecognized arguments: --boxes 3: it takes --bins"),
        ("stack_blocks", line("--bins", "3"), "it takes none of its own"),
        ("navigation", line("--bins", "3"), "leave --bins away"),
        ("navigation", line(x="1"), "leave --param x= away"),
    ],
)
def test_what_a_job_does_not_take_is_told(name: str, options: SimpleNamespace, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        configured(job_named(name), options, evaluation=False)


def test_a_sequence_takes_no_parameters() -> None:
    with pytest.raises(UsageError, match="leave --param away"):
        order_of("warehouse_tour", {"x": "1"})


@pytest.mark.slow
def test_the_command_hands_on_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def take(job: object, options: object, *, evaluation: bool) -> object:
        seen.append((options.extra, options.param, evaluation))
        raise UsageError("seen")

    monkeypatch.setattr(job_verbs, "configured", take)
    monkeypatch.setattr(verbs, "configured", take)
    assert main(["demo", "stack_bins", "--bins", "3", "--seed", "4", "--param", "a=b=c"]) == 2
    assert main(["evaluate", "stack_bins", "--misaligned", "--episodes", "2"]) == 2
    assert seen == [(["--bins", "3"], [("a", "b=c")], False), (["--misaligned"], [], True)]
    capsys.readouterr()
    assert main(["demo", "stack_bins", "--param", "nonsense"]) == 2
    assert "must look like KEY=VALUE" in capsys.readouterr().err
    assert main(["packages", "--misaligned"]) == 2
    assert "nrecognized arguments: --misaligned" in capsys.readouterr().err
