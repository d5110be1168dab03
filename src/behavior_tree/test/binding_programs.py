# SPDX-License-Identifier: Apache-2.0
"""Programs as users of the binding write them; each gets the module and returns what it saw."""

# ruff: noqa: E501

import time

ROOT = '<root BTCPP_format="4" main_tree_to_execute="Main">%s</root>'
TREE = ROOT % '<BehaviorTree ID="Main">%s</BehaviorTree>'


def hello(bt):
    """The first tree of everybody."""
    seen = []

    def say(text):
        def tick(node):
            seen.append((text, node.name()))
            return bt.NodeStatus.SUCCESS

        return tick

    factory = bt.BehaviorTreeFactory()
    factory.register_simple_action("SayHello", say("hello"))
    factory.register_simple_condition(name="BatteryOk", tick_function=say("battery"))
    tree = factory.create_tree_from_text(
        text=TREE % '<Sequence><BatteryOk/><SayHello name="one"/><SayHello name="two"/></Sequence>'
    )
    status = tree.tick_while_running()
    return seen, bt.to_string(status), status == bt.NodeStatus.SUCCESS


def patrol(bt):
    """Stateful actions, interrupted."""
    log = []

    class Move:
        def __init__(self):
            self.left = 0

        def start(self, node):
            self.left = 2
            log.append(f"start {node.full_path()}")
            return bt.NodeStatus.RUNNING

        def running(self, node):
            self.left -= 1
            return bt.NodeStatus.SUCCESS if self.left == 0 else bt.NodeStatus.RUNNING

        def halted(self, node):
            log.append(f"halted {node.name()}")

    move = Move()
    factory = bt.BehaviorTreeFactory()
    factory.register_simple_stateful_action(
        name="Move", on_start=move.start, on_running=move.running, on_halted=move.halted
    )
    factory.register_simple_stateful_action("Wait", move.start, move.running)
    tree = factory.create_tree_from_text(
        TREE
        % '<Repeat num_cycles="2"><Sequence><Move name="a"/><Wait name="b"/></Sequence></Repeat>'
    )
    for _ in range(4):
        log.append(tree.tick_exactly_once().name)
    tree.halt_tree()
    log.append(tree.root_node().status().name)
    log.append(tree.tick_once().name)
    tree.halt_tree()
    return log


def blackboard(bt):
    """Data between nodes, scripts and the program."""
    board = bt.Blackboard.create()
    board.set_int("goal", 3)
    board.set_string("robot", "anna")
    board.set_double("speed", 0.5)
    board.set_bool("go", True)

    def work(node):
        own = node.config().blackboard
        own.set_int("done", own.get_int("goal") * 2)
        return own.get_bool("go")

    factory = bt.BehaviorTreeFactory()
    factory.register_simple_action("Work", work)
    body = "<Sequence><Work/><Script code=\"total := done + 1; speed = 0.25; robot = 'ben'\"/></Sequence>"
    tree = factory.create_tree_from_text(TREE % body, blackboard=board)
    results = [tree.tick_once().name]
    root = tree.root_blackboard()
    results += [root.get_double("total"), root.get_double("speed"), root.get_string("robot")]
    results.append(sorted(board.get_keys()))
    root.unset("total")
    for attempt in (lambda: root.get_int("total"), lambda: root.get_int("robot")):
        try:
            results.append(attempt())
        except RuntimeError as error:
            results.append(isinstance(error, Exception))
    wrong = [("set_int", 2.5), ("set_int", "3"), ("set_double", "2.5"), ("set_double", None)]
    wrong += [("set_bool", "x"), ("set_bool", []), ("set_bool", None), ("set_bool", 5)]
    wrong += [("set_string", 5), ("set_int", True), ("set_double", True)]
    for number, (method, value) in enumerate(wrong):
        try:
            getattr(bt.Blackboard.create(), method)(f"k{number}", value)
            results.append((method, value))
        except TypeError:
            results.append("TypeError")
    return results


def subtrees(bt):
    """Registered trees, remapped ports."""
    factory = bt.BehaviorTreeFactory()
    paths = []
    factory.register_simple_action(
        "Note", lambda node: (paths.append((node.full_path(), node.uid())), "SUCCESS")[1]
    )
    factory.register_behavior_tree_from_text(
        xml_text=ROOT
        % '<BehaviorTree ID="Grasp"><Sequence><Note/><Script code="grip := force + 1"/></Sequence></BehaviorTree>'
    )
    factory.register_behavior_tree_from_text(
        ROOT
        % '<BehaviorTree ID="Main"><Sequence><Script code="f := 4"/><SubTree ID="Grasp" force="{f}" grip="{result}"/><Note name="end"/></Sequence></BehaviorTree>'
    )
    tree = factory.create_tree(tree_name="Main")
    status = tree.tick_once()
    return (
        factory.registered_behavior_trees(), status.name, paths,
        tree.root_blackboard().get_double("result"), sorted(tree.root_blackboard().get_keys()),
    )  # fmt: skip


def decorators(bt):
    """Decorators made of functions, results of several kinds."""
    invert = {
        bt.NodeStatus.SUCCESS: bt.NodeStatus.FAILURE,
        bt.NodeStatus.FAILURE: bt.NodeStatus.SUCCESS,
    }
    calls = []
    factory = bt.BehaviorTreeFactory()
    factory.register_simple_decorator("Not", lambda child, node: invert.get(child, child))

    def flaky(node):
        calls.append(node.type().name)
        return len(calls) >= 3

    factory.register_simple_condition("Flaky", flaky)
    tree = factory.create_tree_from_text(
        TREE
        % '<RetryUntilSuccessful num_attempts="5"><Not><Not><Flaky/></Not></Not></RetryUntilSuccessful>'
    )
    return tree.tick_while_running(1).name, calls


def timing(bt):
    """Sleep, Timeout and the tree's own sleep."""
    # Upstream's timer thread needs the interpreter for a callback, which tick_while_running holds:
    # a leaf of the user under a Timeout would be a deadlock there.
    factory = bt.BehaviorTreeFactory()
    tree = factory.create_tree_from_text(
        TREE
        % '<Fallback><Timeout msec="30"><Sleep msec="99999"/></Timeout><Sequence><Sleep msec="20"/><Delay delay_msec="5"><AlwaysSuccess/></Delay></Sequence></Fallback>'
    )
    start = time.monotonic()
    status = tree.tick_while_running(sleep_ms=2)
    took = time.monotonic() - start
    return status.name, 0.045 < took < 50.0, tree.sleep(milliseconds=1)


def enumerations(bt):
    """Enumerations as Python programs use them."""
    table = ["idle", "running", "success", "failure", "skipped"]
    found = [
        (str(s), repr(s), s.name, s.value, int(s), table[s])
        for s in bt.NodeStatus.__members__.values()
    ]
    found += [(str(t), t.name, int(t)) for t in bt.NodeType.__members__.values()]
    found += [(str(d), d.name, d.value) for d in bt.PortDirection.__members__.values()]
    return (
        found,
        bt.NodeStatus(2) == bt.NodeStatus.SUCCESS,
        bt.NodeStatus.SUCCESS != bt.NodeType.CONDITION,
    )


def mistakes(bt):
    """Errors that programs catch."""
    factory = bt.BehaviorTreeFactory()
    factory.register_simple_action("Act", lambda node: bt.NodeStatus.SUCCESS)
    attempts = [
        lambda: factory.register_simple_action("Act", lambda node: bt.NodeStatus.SUCCESS),
        lambda: factory.create_tree_from_text("<root><nonsense"),
        lambda: factory.create_tree_from_text(TREE % "<Unknown/>"),
        lambda: factory.create_tree_from_text(TREE % "<Inverter/>"),
        lambda: factory.create_tree_from_file(file_path="/nowhere/tree.xml"),
        lambda: factory.create_tree("Nobody") if factory.registered_behavior_trees() else 1 / 0,
        lambda: factory.create_tree_from_text(TREE % '<Script code="missing = 1"/>').tick_once(),
        lambda: bt.Blackboard.create().get_int("nothing"),
    ]
    kinds = []
    for attempt in attempts:
        try:
            attempt()
            kinds.append("no error")
        except RuntimeError:
            kinds.append("RuntimeError")
        except ArithmeticError:
            kinds.append("ArithmeticError")
    for attempt in (lambda: factory.register_simple_action("B", 3), lambda: bt.to_string(2)):
        try:
            attempt()
            kinds.append("no error")
        except TypeError:
            kinds.append("TypeError")
    return kinds


def nodes(bt):
    """What the accessors of a node tell."""
    factory = bt.BehaviorTreeFactory()
    found = []

    def look(node):
        found.append(
            (node.name(), node.full_path(), node.uid(), str(node.type()), node.status().name)
        )
        found.append((node.is_halted(), node.get_input_int("x"), node.get_input_string("x")))
        return bt.NodeStatus.SUCCESS

    factory.register_simple_action("Look", look)
    tree = factory.create_tree_from_text(
        TREE % '<Sequence name="all"><Look name="eye"/><Look/></Sequence>'
    )
    root = tree.root_node()
    found.append((isinstance(root, bt.TreeNode), root.name(), root.type().name, root.status().name))
    found.append(root.execute_tick().name)
    found.append((root.status().name, root.is_halted()))
    root.halt_node()
    found.append(root.status().name)
    other = factory.create_tree_from_text(TREE % '<Repeat num_cycles="3"><AlwaysSuccess/></Repeat>')
    script = other.root_node()
    found.append((script.get_input_int("num_cycles"), script.get_input_double("num_cycles")))
    return found


PROGRAMS = (
    hello, patrol, blackboard, subtrees, decorators, timing, enumerations, mistakes, nodes,
)  # fmt: skip
