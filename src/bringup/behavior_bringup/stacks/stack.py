# SPDX-License-Identifier: Apache-2.0
"""Starts and stops supervised stacks. Nothing here needs ROS."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psutil
import yaml

from behavior_bringup.errors import BringupError, UsageError
from behavior_bringup.security.policy import enclave_arguments
from behavior_bringup.stacks.description import (
    Process,
    Readiness,
    Scalar,
    StackDescription,
    load_stack,
    resolve,
    stack_file,
)
from behavior_bringup.stacks.environment import choose_domain, enter_domain, machine_kind
from behavior_bringup.stacks.state import (
    DEFAULT_STACK,
    StackState,
    is_locked,
    known_stacks,
    read_state,
    remove_state,
    stack_dir,
)
from behavior_bringup.stacks.supervisor import INTERRUPT_DEADLINE, TERMINATE_DEADLINE, Plan
from behavior_bringup.suggestions import choose
from behavior_packages.folders import own_missions

KEPT_LOG_FOLDERS = 5
STATE_DEADLINE = 15.0
"""[s] wall time for a supervisor to start its processes and to write down what it has started."""
LET_GO_DEADLINE = 10.0
"""[s] wall time for the system to close the lock of a supervisor that has ended."""
_STOP_DEADLINE = INTERRUPT_DEADLINE + 2 * TERMINATE_DEADLINE + 5.0
"""[s] wall time for a supervisor that was told to stop."""
TREE_NODES = "tree_nodes.xml"
"""File beside the logs into which the executor writes the models of its tree nodes."""
CONSOLE_ADDRESS = "console.url"
"""File beside the logs into which the console writes its addresses."""
_LAST_LINES = 12


@dataclass(frozen=True)
class Stack:
    """A stack by its name; up or not."""

    name: str = DEFAULT_STACK

    @property
    def folder(self) -> Path:
        """Where its state and logs are."""
        return stack_dir(self.name)

    @property
    def is_up(self) -> bool:
        """Whether its supervisor lives."""
        return is_locked(self.folder)

    def state(self) -> StackState | None:
        """Its state while it is up."""
        return read_state(self.folder) if self.is_up else None

    def watch(self) -> ProcessWatch:
        """Watch its processes from now on."""
        return ProcessWatch(self)


class ProcessWatch:
    """Notices that a process of a stack ended, also when it was restarted at once."""

    def __init__(self, stack: Stack) -> None:
        """Begin to watch."""
        self._stack = stack
        state = stack.state()
        self._restarts = (
            {name: process.restarts for name, process in state.processes.items()} if state else {}
        )

    def check(self) -> None:
        """Make sure that no process has ended.

        Raises:
            BringupError: one did; the message holds its last lines of output.
        """
        state = self._stack.state()
        if state is None:
            raise BringupError(f"The stack went down; its logs are in {self._stack.folder}")
        for name, process in state.processes.items():
            if process.running and process.restarts == self._restarts.get(name, 0):
                continue
            log = Path(state.log_dir) / f"{name}.log"
            raise BringupError(
                f"The process '{name}' {how_it_ended(process.last_exit_code)}."
                f" Its last lines ({log}):\n{last_lines(log)}"
            )


def start(
    stack: Stack,
    *,
    world: str,
    arguments: Mapping[str, Scalar],
    namespace: str = "",
    respawn: bool = False,
    attached: bool = False,
    beside: Stack | None = None,
) -> Readiness:
    """Start the stack of a world under a supervisor, and return what must become ready.

    Args:
        stack: the stack to start.
        world: name of the world and of its stack description.
        arguments: values for the description's arguments.
        namespace: of all its nodes, like /left; empty: none.
        respawn: restart processes that end by themselves.
        attached: let the stack end with this process.
        beside: another stack that it ends with; it gets a ROS domain of its own then, whatever
            the environment says.

    Raises:
        BringupError: it is up already, or does not start.
    """
    if stack.is_up:
        named = "" if stack.name == DEFAULT_STACK else f" --name {stack.name}"
        raise BringupError(
            f"The stack '{stack.name}' is already up: 'behavior down{named}' stops it, and"
            " 'behavior up --name NAME' brings up another one beside it"
        )
    description = load_stack(stack_file(world))
    log_dir = new_log_folder(stack.folder)
    arguments = _own_files(description, log_dir) | dict(arguments)
    if folder := arguments.get("missions"):
        arguments["missions"] = str(_existing_folder(str(folder)))
    elif "missions" in description.arguments and "missions" not in arguments:
        arguments["missions"] = _folder_of_own()
    processes = resolve(description, environment=machine_kind(), arguments=arguments)
    states = (Stack(name).state() for name in known_stacks())
    plan = Plan(
        folder=str(stack.folder),
        domain=choose_domain(
            taken=[state.domain for state in states if state], own=beside is not None
        ),
        world=world,
        log_dir=str(log_dir),
        commands={process.name: command(process, log_dir, namespace) for process in processes},
        namespace=namespace,
        arguments=arguments,
        respawn=respawn,
        parent=os.getpid() if attached else None,
        beside=str(beside.folder) if beside else None,
    )
    launch_supervisor(plan)
    return description.ready


def _own_files(description: StackDescription, log_dir: Path) -> dict[str, Scalar]:
    """The files of a run of a stack that it has arguments for: they lie beside its logs."""
    files = {
        # A restarted executor finds its missions there, the next stack does not.
        "journal": "missions.journal",
        # What the executor's nodes are: `behavior mission list` looks there.
        "tree_nodes": TREE_NODES,
        "console_address": CONSOLE_ADDRESS,
    }
    return {key: str(log_dir / name) for key, name in files.items() if key in description.arguments}


def _existing_folder(text: str) -> Path:
    """A folder as all processes can name it, wherever they work.

    Raises:
        UsageError: there is none.
    """
    folder = Path(text).expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} with missions: make it first")
    return folder


def _folder_of_own() -> str:
    """The folder of this user's missions; empty where there is none and none can be made."""
    folder = own_missions().absolute()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder) if folder.is_dir() else ""


def launch_supervisor(plan: Plan) -> None:
    """Start a supervisor in the background and wait until it has started its processes.

    Raises:
        BringupError: it ended at once.
    """
    file = Path(plan.log_dir) / "plan.json"
    plan.write(file)
    name = Path(plan.folder).name  # commands that a process runs are about its own stack
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "BEHAVIOR_STACK": name}
    enter_domain(plan.domain, environment)
    log = Path(plan.log_dir) / "supervisor.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "behavior_bringup.stacks.supervisor", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment,
        )
    try:
        _await_state(process, Path(plan.folder), log)
    except BaseException:  # Ctrl-C too: it has a session of its own and would go on
        process.terminate()
        try:
            process.wait(_STOP_DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
        raise


def _await_state(process: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
    """Wait until a supervisor has written down what it has started.

    Raises:
        BringupError: it has ended, or does not in time.
    """
    end = time.monotonic() + STATE_DEADLINE
    while time.monotonic() < end:
        if process.poll() is not None:
            raise BringupError(f"The stack does not start:\n{last_lines(log)}")
        state = read_state(folder)
        if state is not None and state.supervisor_pid == process.pid:
            return
        time.sleep(0.05)
    raise BringupError(f"The supervisor does not come up within {STATE_DEADLINE:g} s: see {log}")


def stop(stack: Stack) -> bool:
    """Bring a stack down and everything that belongs to it; returns whether anything was up.

    Raises:
        BringupError: something could not be ended.
    """
    folder = stack.folder
    was_up = is_locked(folder)
    state = _state_when_written(folder)
    if was_up and state is not None:
        _stop_supervisor(state.supervisor_pid)
    leftovers = list(_living_children(state)) if state else []
    for process in leftovers:  # of a supervisor that was killed
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(leftovers, timeout=5.0)
    if alive:
        raise BringupError(f"Processes could not be ended: {[process.pid for process in alive]}")
    if not _comes_true(lambda: not is_locked(folder), LET_GO_DEADLINE):
        raise BringupError(
            f"The supervisor of the stack '{stack.name}' does not end: a process that has "
            f"{folder / 'lock'} open ('fuser' names it) has to be killed"
        )
    remove_state(folder)
    return was_up or bool(leftovers)


def _state_when_written(folder: Path) -> StackState | None:
    """What a supervisor has written down, also of one that starts or ends just now."""
    _comes_true(lambda: read_state(folder) is not None or not is_locked(folder), STATE_DEADLINE)
    return read_state(folder)


def _comes_true(condition: Callable[[], bool], timeout: float) -> bool:
    """Whether a condition holds now or within a timeout [s] of wall time."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def kill(stack: Stack, process: str) -> int:
    """Kill one process of a running stack, as a fault test; returns its process number.

    Raises:
        BringupError: the stack is not up or has no such running process.
    """
    state = stack.state()
    if state is None:
        raise BringupError(not_up(stack.name))
    entry = state.processes.get(process)
    if entry is None or not entry.running:
        running = [name for name, item in state.processes.items() if item.running]
        raise UsageError(f"No process '{process}' runs: {choose(process, running)}")
    os.kill(entry.pid, signal.SIGKILL)
    return entry.pid


def not_up(name: str) -> str:
    """What to say of a stack that is not up: which ones are, and what to do."""
    running = known_stacks()
    if not running:
        return "No stack is up: start one with 'behavior up'"
    which = f"The stack '{name}' is not up" if name else "No such stack is up"
    return f"{which}, but {', '.join(running)}: choose one with --name or BEHAVIOR_STACK"


def free_stack(name: str) -> Stack:
    """The stack of that name, or of the name with a number when it is up already."""
    number = 1
    while (stack := Stack(name if number == 1 else f"{name}-{number}")).is_up:
        number += 1
    return stack


def how_it_ended(code: int | None) -> str:
    """An exit code in plain words."""
    if code is None:
        return "ended"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def command(process: Process, log_dir: Path, namespace: str = "") -> list[str]:
    """The command line of a process; writes its ROS parameter file beside the logs.

    Args:
        process: of a stack.
        log_dir: for the parameter file.
        namespace: of its nodes, like /left; empty: none.

    Raises:
        BringupError: a ROS package's program is not found.
    """
    parameters = write_parameters(process, log_dir, namespace)
    in_namespace = namespace_arguments(namespace)
    if process.program is None:
        return host_command(process, parameters, in_namespace)
    program = process.program
    return [
        str(find_executable(program.package, program.executable)),
        *program.arguments,
        *("--ros-args", *enclave_arguments(process.name), *in_namespace),
        *("--params-file", str(parameters)),
    ]


def namespace_arguments(namespace: str) -> list[str]:
    """ROS arguments that put all nodes of a process into a namespace; none for an empty one.

    What is global by ROS' convention moves too: transforms, so that two robots may name their
    frames alike, and the clock, as each simulated robot has its own.
    """
    if not namespace:
        return []
    remaps = {"__ns": namespace, "/tf": "tf", "/tf_static": "tf_static", "/clock": "clock"}
    return [word for name, other in remaps.items() for word in ("-r", f"{name}:={other}")]


def host_command(
    process: Process, parameters: Path, ros_arguments: Sequence[str] = ()
) -> list[str]:
    """The command line of a process that hosts nodes of ours.

    Args:
        process: of a stack.
        parameters: its parameter file.
        ros_arguments: for all nodes; the file's parameters count before those given here.
    """
    targets = [f"{node.target}:=__node={node.name}" for node in process.nodes]
    return [
        sys.executable,
        "-m",
        "behavior_packages.node_program",
        "behavior_ros.process.host.script",
        *(word for target in targets for word in ("--node", target)),
        *("--ros-args", *enclave_arguments(process.name), *ros_arguments),
        *("--params-file", str(parameters)),
    ]


def write_parameters(process: Process, folder: Path, namespace: str = "") -> Path:
    """Write the ROS parameter file of a process, whose nodes are in the namespace; return it."""
    file = folder / f"{process.name}.yaml"
    file.write_text(yaml.safe_dump(process.parameter_document(namespace)), encoding="utf-8")
    return file


def find_executable(package: str, executable: str) -> Path:
    """A program of an installed ROS package.

    Raises:
        BringupError: it is not there.
    """
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        file = Path(prefix) / "lib" / package / executable
        if prefix and os.access(file, os.X_OK):
            return file
    raise BringupError(
        f"The program '{executable}' of the ROS package '{package}' is not found:"
        " install it with 'rosdep install', then source the setup file"
    )


def new_log_folder(folder: Path) -> Path:
    """A fresh log folder of a stack; only the newest ones are kept."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    for old in sorted(logs.iterdir())[: -(KEPT_LOG_FOLDERS - 1)]:
        shutil.rmtree(old, ignore_errors=True)
    fresh = logs / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    fresh.mkdir()
    return fresh


def last_lines(file: Path, count: int = _LAST_LINES) -> str:
    """The end of a log file."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    return "\n".join(f"  {line}" for line in lines[-count:]) or "  (no output)"


def _stop_supervisor(pid: int) -> None:
    """Ask the supervisor to stop; kill it when it does not."""
    try:
        supervisor = psutil.Process(pid)
        for number, deadline in ((signal.SIGINT, _STOP_DEADLINE), (signal.SIGKILL, 5.0)):
            supervisor.send_signal(number)
            _, alive = psutil.wait_procs([supervisor], timeout=deadline)
            if not alive:
                return
    except psutil.NoSuchProcess:
        return


def _living_children(state: StackState) -> Iterator[psutil.Process]:
    for entry in state.processes.values():
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(entry.pid)
            if process.create_time() == entry.created and process.status() != psutil.STATUS_ZOMBIE:
                yield process
