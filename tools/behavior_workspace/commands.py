# SPDX-License-Identifier: Apache-2.0
"""Running other programs, with their output in a log and their failures told in a sentence."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from behavior_workspace.errors import SetupError

# pip's words, then npm's.
NETWORK_SIGNS = (
    "Temporary failure in name resolution",
    "NewConnectionError",
    "ConnectTimeoutError",
    "Connection refused",
    "Network is unreachable",
    "Failed to establish a new connection",
    "ReadTimeoutError",
    "ProxyError",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
)
DISK_SIGNS = ("No space left on device", "Disk quota exceeded")


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    log: Path,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float = 1800.0,
) -> None:
    """Run `command` to its end with its output in `log`.

    Args:
        command: program and arguments.
        what: what it does, as it stands in "could not ...".
        log: file that receives standard output and error.
        cwd: working directory.
        env: the whole environment of the program.
        timeout: [s] after which the program is killed.

    Raises:
        SetupError: the program is missing, failed or ran too long; names the cause when the
            output shows a known one, else the log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("wb") as output:
            done = subprocess.run(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=dict(env),
                timeout=timeout,
                check=False,
            )
    except FileNotFoundError as error:
        raise SetupError(f"could not {what}: {error.filename} is missing") from error
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"could not {what}: no end after {timeout:.0f} s, see {log}") from error
    if done.returncode != 0:
        raise SetupError(f"could not {what}: {diagnose(log)}")


def diagnose(log: Path) -> str:
    """The cause of a failure as far as the output in `log` shows it, with the remedy."""
    text = log.read_text(encoding="utf-8", errors="replace")
    if any(sign in text for sign in DISK_SIGNS):
        return "the disk is full; free some space and run it again, it continues where it stopped"
    if any(sign in text for sign in NETWORK_SIGNS):
        return (
            "the package index cannot be reached; check the network (or the index settings of pip "
            "or npm) and run it again, it continues where it stopped"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    shown = (errors or lines or ["no output"])[-1]
    return f"{shown[:300]} (whole output: {log})"
