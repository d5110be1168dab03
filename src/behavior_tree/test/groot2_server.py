# SPDX-License-Identifier: Apache-2.0
"""A tree under a Groot2Publisher, in a process of its own.

Started as ``groot2_server.py ENGINE PORT HEARTBEAT``. Commands on standard input: ``tick``, ``run``
(tick while running), ``halt``, ``set``, ``serve SHAPE`` (of `groot2_trees`, with a new publisher);
one line of answer each. ENGINE is ``behavior_tree`` or ``behaviortreepy``, which blocks its whole
interpreter at a breakpoint, hence the process.
"""

import importlib
import random
import socket
import sys

from groot2_trees import SHAPES


def free_port() -> int:
    """First of two neighbouring ports that nobody uses.

    Below those that systems give to outgoing connections: a server that is replaced by another one
    frees its port for a moment, in which no connection must be given it.
    """
    for port in random.SystemRandom().sample(range(20_000, 32_000, 2), 1000):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("no two neighbouring ports are free")


def make_tree(module, shape="basic", compat="4.8"):
    """A tree of `groot2_trees.SHAPES`, whose Wait succeeds at every second tick."""
    ours = module.__name__ == "behavior_tree"
    factory = module.BehaviorTreeFactory(compat=compat) if ours else module.BehaviorTreeFactory()
    status = module.NodeStatus
    count = iter(range(10**6))
    factory.register_simple_stateful_action(
        "Wait",
        lambda node: status.RUNNING,
        lambda node: status.SUCCESS if next(count) % 2 else status.RUNNING,
        lambda node: None,
    )
    factory.register_simple_condition("Cond", lambda node: status.SUCCESS)
    factory.register_simple_action("Fail", lambda node: status.FAILURE)
    factory.register_simple_action("ZUnused", lambda node: status.SUCCESS)
    factory.register_simple_condition("Alone", lambda node: status.SUCCESS)
    factory.register_simple_decorator("Same", lambda child, node: child)
    return factory.create_tree_from_text(SHAPES[shape])


def fill(board):
    """Entries of all types that both engines take from Python."""
    board.set_bool("flag", True)
    board.set_bool("no_flag", False)
    for number in (0, 1, -1, -32, -33, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, -(2**31)):
        board.set_int(f"int {number}", number)
    for number in (0.0, -0.0, 3.0, 0.1, 1e300, 3.4e38, 3.5e38, 2.0**-149, 2.0**-150, -1.5):
        board.set_double(f"double {number}", number)
    board.set_double("infinite", float("inf"))
    board.set_double("nan", float("nan"))
    for length in (0, 31, 32, 255, 256, 65535, 65536):
        board.set_string(f"text {length}", "x" * length)
    board.set_string("words", "Grüße 🤖 'a' \"b\" <c>\n")


def main() -> None:
    module = importlib.import_module(sys.argv[1])
    port, heartbeat = int(sys.argv[2]), int(sys.argv[3])
    tree = make_tree(module)
    publisher = module.Groot2Publisher(tree, port)
    publisher.set_max_heartbeat_delay(heartbeat)
    print("ready", flush=True)
    for line in sys.stdin:
        command, _, shape = line.strip().partition(" ")
        result = ""
        if command in ("tick", "run"):
            try:
                run = command == "run"
                status = tree.tick_while_running(1) if run else tree.tick_exactly_once()
                result = status.name
            except RuntimeError:
                result = "raised"
        elif command == "halt":
            tree.halt_tree()
        elif command == "set":
            fill(tree.root_blackboard())
        elif command == "serve":
            if hasattr(publisher, "close"):
                publisher.close()
            publisher = None  # upstream's frees its ports here
            tree = make_tree(module, shape)
            publisher = module.Groot2Publisher(tree, port)
            publisher.set_max_heartbeat_delay(heartbeat)
        print(result, flush=True)


if __name__ == "__main__":
    main()
