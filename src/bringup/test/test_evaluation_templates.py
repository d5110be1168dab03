# SPDX-License-Identifier: Apache-2.0
"""The templates for batch systems: their form, and that their shards make up the evaluation."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from behavior_bringup.cli import add_verbs
from behavior_bringup.evaluation.plan import EpisodePlan
from behavior_bringup.evaluation.shard import Shard

TEMPLATES = Path(__file__).resolve().parents[3] / "config" / "evaluation"
SLURM, KUBERNETES = TEMPLATES / "slurm_array.sh", TEMPLATES / "kubernetes_job.yaml"
SBATCH = {
    *("job-name", "array", "ntasks", "cpus-per-task", "mem", "time", "requeue", "signal"),
    "output",
}
"""Of sbatch's options (https://slurm.schedmd.com/sbatch.html), those that the template uses."""


def options_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_verbs(parser)
    return parser.parse_args(words)


def is_complete(shards: list[Shard]) -> bool:
    seeds = [seed for shard in shards for seed in EpisodePlan(0, 100, shard=shard).missing([])]
    return sorted(seeds) == list(range(100))


def directives() -> dict[str, str]:
    found = re.findall(r"^#SBATCH --([\w-]+)(?:=(\S+))?$", SLURM.read_text(), re.MULTILINE)
    return dict(found)


def test_the_array_is_a_script_that_sbatch_takes() -> None:
    subprocess.run(["bash", "-n", SLURM], check=True, timeout=240)
    text = SLURM.read_text()
    assert text.startswith("#!/bin/bash\n")
    assert set(directives()) == SBATCH
    assert text.count("#SBATCH") == len(SBATCH), "each is well formed"
    last = text.rindex("#SBATCH")
    assert not re.search(r"^[^#\n]", text[:last], re.MULTILINE), (
        "sbatch reads none behind a command"
    )


def test_the_tasks_of_the_array_make_up_the_evaluation(tmp_path: Path) -> None:
    """The script as it stands, with a command that writes down how it was called."""
    (tmp_path / "activate").write_text(f'PATH="{tmp_path}:$PATH"\n')
    command = tmp_path / "behavior"
    command.write_text('#!/bin/bash\necho "$BEHAVIOR_RUNTIME_DIR $*"\n')
    command.chmod(0o755)
    first, last = map(int, directives()["array"].split("-"))
    shards, folders = [], set()
    for index in range(first, last + 1):
        environment = {
            "PATH": os.environ["PATH"],
            "SLURM_SUBMIT_DIR": str(tmp_path),
            "SLURM_ARRAY_JOB_ID": "77",
            "SLURM_ARRAY_TASK_ID": str(index),
            "SLURM_ARRAY_TASK_COUNT": str(last - first + 1),
            "JOB": "stack_blocks",
        }
        done = subprocess.run(
            ["bash", SLURM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=240,
        )
        folder, *words = done.stdout.split()
        folders.add(folder)
        options = options_of(words)
        shards.append(options.shard)
        assert options.memory < 3000.0, "less than --mem: we end an episode, not Slurm the shard"
    assert is_complete(shards)
    assert len(folders) == len(shards), "no shard meets the stacks of another"


@pytest.fixture
def job() -> dict[str, Any]:
    return dict(yaml.safe_load(KUBERNETES.read_text()))


def test_the_job_agrees_with_the_schema_of_kubernetes(job: dict[str, Any]) -> None:
    kubernetes_validate = pytest.importorskip(
        "kubernetes_validate", reason="needs 'pip install kubernetes-validate'"
    )
    newest = kubernetes_validate.latest_version()
    kubernetes_validate.validate(job, newest, strict=True)
    job["spec"]["completionMod"] = "Indexed"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, newest, strict=True)


@pytest.mark.slow
def test_the_pods_of_the_job_make_up_the_evaluation(job: dict[str, Any]) -> None:
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec = job["spec"]
    assert spec["completionMode"] == "Indexed"
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Never", "what backoffLimitPerIndex asks for"
    (container,) = pod["containers"]
    assert "JOB_COMPLETION_INDEX" in [each["name"] for each in container["env"]]
    volumes = {each["name"] for each in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    shards = []
    for index in range(spec["completions"]):
        words = [w.replace("$(JOB_COMPLETION_INDEX)", str(index)) for w in container["args"]]
        options = options_of(words)
        shards.append(options.shard)
        assert str(options.json).startswith(container["volumeMounts"][0]["mountPath"])
    assert is_complete(shards)
