# SPDX-License-Identifier: Apache-2.0
"""A tree under a Groot2Publisher, in a process of its own: ``groot2_server.py ENGINE PORT``.

Commands on standard input: ``tick``, ``run`` (tick while running), ``halt``, ``set``; one line of
answer each. ENGINE is ``behavior_tree`` or ``behaviortreepy``, which blocks its whole interpreter
at a breakpoint, hence the process.
"""

import importlib
import socket
import sys

XML = """<root BTCPP_format="4" main_tree_to_execute="Main">
<BehaviorTree ID="Main"><Sequence name="top"><Script code="a:=1.5; b:='hi'; c:=3; d:=0.1"/>
<SubTree ID="S" x="{a}" lit="7"/><Wait _skipIf="c == 4"/><AlwaysSuccess name="ok"/></Sequence>
</BehaviorTree>
<BehaviorTree ID="S"><Fallback><AlwaysFailure/><Cond/><Sleep msec="20"/></Fallback></BehaviorTree>
</root>"""


def free_port() -> int:
    """First of two neighbouring ports that nobody uses."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def make_tree(module):
    """The tree, whose Wait succeeds at every second tick."""
    ours = module.__name__ == "behavior_tree"
    factory = module.BehaviorTreeFactory(compat="4.8") if ours else module.BehaviorTreeFactory()
    status = module.NodeStatus
    count = iter(range(10**6))
    factory.register_simple_stateful_action(
        "Wait",
        lambda node: status.RUNNING,
        lambda node: status.SUCCESS if next(count) % 2 else status.RUNNING,
        lambda node: None,
    )
    factory.register_simple_condition("Cond", lambda node: status.SUCCESS)
    return factory.create_tree_from_text(XML)


def main() -> None:
    module = importlib.import_module(sys.argv[1])
    tree = make_tree(module)
    publisher = module.Groot2Publisher(tree, int(sys.argv[2]))
    publisher.set_max_heartbeat_delay(int(sys.argv[3]))
    print("ready", flush=True)
    for line in sys.stdin:
        result = ""
        if line == "tick\n":
            result = tree.tick_exactly_once().name
        elif line == "run\n":
            result = tree.tick_while_running(1).name
        elif line == "halt\n":
            tree.halt_tree()
        elif line == "set\n":
            board = tree.root_blackboard()
            board.set_bool("flag", True)
            board.set_int("negative", -200)
            board.set_double("whole", 3.0)
            board.set_double("huge", 1e300)
            board.set_double("infinite", float("inf"))
            board.set_string("text", "x" * 40)
        print(result, flush=True)


if __name__ == "__main__":
    main()
