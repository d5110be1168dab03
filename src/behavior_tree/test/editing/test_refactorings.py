# SPDX-License-Identifier: Apache-2.0
"""Names with all that refers to them, copies, trees made of nodes and back."""

import contextlib
import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from behavior_tree import BehaviorTreeFactory, LoadError, LogicError, NodeStatus
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.editing import (
    TreeFiles,
    duplicate,
    extract,
    inline,
    rename_entry,
    rename_node,
    rename_tree,
)
from behavior_tree.editing.references import References
from behavior_tree.placeholders import register_placeholders
from behavior_tree.xml.document import parse_xml
from behavior_tree.xml.edit import XmlEditor

MAIN = """<root BTCPP_format="4" main_tree_to_execute="Main">
  <include path="lib.xml"/>
  <BehaviorTree ID="Main">
    <Try name="all">
      <Script name="first" code="goal := 'goal'; n := 1"/>
      <Step execute_after="beginning"><Sleep name="wait" msec="1"/></Step>
      <Step execute_after="first; wait"><SubTree ID="Lib" to="{goal}" n="{=}"/></Step>
      <Step execute_after="Lib"><Goto to="first" _skipIf="n == 1 || true"/></Step>
      <Catch of="wait;act"><AlwaysSuccess _onSuccess="n := n + 1"/></Catch>
    </Try>
  </BehaviorTree>
</root>
"""
LIB = """<root BTCPP_format="4">
  <!-- shared -->
  <BehaviorTree ID="Lib">
    <Sequence>
      <Script name="act" code="mine := to; n = n + 1; said := 'to'"/>
      <SetBlackboard  value='{to}' output_key="@copy"/>
    </Sequence>
  </BehaviorTree>
  <TreeNodesModel>
    <SubTree ID="Lib"><input_port name="to"/><inout_port name="n"/></SubTree>
  </TreeNodesModel>
</root>
"""


def factory():
    made = BehaviorTreeFactory()
    register_authoring_nodes(made)
    return made


def opened(folder, main=MAIN, lib=LIB):
    (folder / "main.xml").write_text(main)
    (folder / "lib.xml").write_text(lib)
    return TreeFiles(folder / "main.xml", factory())


def texts(files):
    data = files.data
    return tuple(data[files.path.parent / name].decode() for name in ("main.xml", "lib.xml"))


def outcome(main, lib=LIB, folder=None):
    """Result and entries of a tree."""
    files = opened(folder, main, lib)
    tree = files.factory.create_tree_from_file(files.path)
    status = tree.tick_while_running()
    board = tree.root_blackboard()
    return status, {key: board.get(key) for key in board.get_keys() if board.entry(key).value}


def becomes(main, *changes):
    for old, new in changes:
        assert old in main
        main = main.replace(old, new)
    return main


@pytest.mark.parametrize(
    ("node", "name", "main", "lib"),
    [
        ("first", "1st", [('"first"', '"1st"'), ("first; wait", "1st;wait")], []),
        (
            "Main/all/Step/wait",
            "nap",
            [('"wait"', '"nap"'), ("first; wait", "first;nap"), ("wait;act", "nap;act")],
            [],
        ),
        ("act", "do", [("wait;act", "wait;do")], [('"act"', '"do"')]),
        ("Step/Lib", "lib", [('n="{=}"', 'n="{=}" name="lib"'), ('"Lib"><Go', '"lib"><Go')], []),
        ("all", "the whole", [('"all"', '"the whole"')], []),
    ],
)
def test_a_node_is_renamed_with_its_references(tmp_path, node, name, main, lib):
    files = opened(tmp_path)
    rename_node(files, node, name)
    assert texts(files) == (becomes(MAIN, *main), becomes(LIB, *lib))
    assert files.undo()
    assert not files.undo(), "it is one step"
    assert texts(files) == (MAIN, LIB)


def test_a_name_that_two_nodes_bear_is_kept_for_the_other(tmp_path):
    main = MAIN.replace('name="first"', 'name="act"').replace("first", "act")
    files = opened(tmp_path, main)
    rename_node(files, "Main/all/act", "do")
    assert texts(files)[0] == becomes(
        main,
        ('name="act"', 'name="do"'),
        ("act; wait", "do;wait"),
        ('to="act"', 'to="do"'),
        ("wait;act", "wait;act;do"),
    )


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda f: rename_node(f, "first", "wait"), "would mean other nodes|called so"),
        (lambda f: rename_node(f, "act", "first"), r"\[of\] .* would mean other"),
        (lambda f: rename_node(f, "nobody", "x"), "there is no node 'nobody'"),
        (lambda f: rename_node(f, "Step", "x"), "may be any of 'Main/all/Step', "),
        (lambda f: rename_node(f, "first", "\udcff"), "control characters"),
        (lambda f: rename_node(f, "Main", "x"), "is a tree"),
        (lambda f: rename_tree(f, "Lib", "Main"), "there is a tree 'Main' already"),
        (lambda f: rename_tree(f, "Lob", "x"), "there is no tree 'Lob', but Lib, Main"),
        (lambda f: rename_tree(f, "Lib", "Sleep"), "Sleep"),
        (lambda f: rename_entry(f, "Main", "goal", "n"), "has an entry 'n' already"),
        (lambda f: rename_entry(f, "Main", "gaol", "x"), "has no entry 'gaol', but goal, n"),
        (lambda f: rename_entry(f, "Lib", "to", "a b"), "cannot be the name of an entry"),
        (lambda f: rename_entry(f, "Lib", "to", "ID"), "cannot be the name of an entry"),
        (lambda f: extract(f, "Main/all", "Lib"), "there is a tree 'Lib' already"),
        (lambda f: extract(f, "Catch", "X"), "is a Catch: extract what is in it"),
        (lambda f: extract(f, "Goto", "X"), "names 'first', and they would be in different"),
        (lambda f: inline(f, "wait"), "is no SubTree"),
    ],
)
def test_what_is_refused_changes_nothing(tmp_path, edit, said):
    files = opened(tmp_path)
    with pytest.raises((LogicError, LoadError), match=said):
        edit(files)
    assert texts(files) == (MAIN, LIB)
    assert not files.undo()


def test_a_tree_is_renamed_in_all_files(tmp_path):
    files = opened(tmp_path)
    rename_tree(files, "Lib", "Library")
    assert texts(files) == tuple(re.sub(r'"Lib"', '"Library"', text) for text in (MAIN, LIB))
    rename_tree(files, "Main", "Top")
    assert texts(files)[0] == MAIN.replace('"Lib"', '"Library"').replace('"Main"', '"Top"')


def test_an_entry_is_renamed_in_ports_remappings_and_scripts(tmp_path):
    files = opened(tmp_path)
    rename_entry(files, "Main", "n", "count")
    assert texts(files)[0] == becomes(
        MAIN,
        ("; n := 1", "; count := 1"),
        ('n="{=}"', 'n="{count}"'),
        ("n == 1", "count == 1"),
        ("n := n + 1", "count := count + 1"),
    )
    assert texts(files)[1] == LIB
    assert outcome(*texts(files), tmp_path)[1]["count"] == 2


def test_a_port_of_a_tree_is_renamed_with_those_who_use_it(tmp_path):
    files = opened(tmp_path)
    rename_entry(files, "Lib", "to", "target")
    rename_entry(files, "Lib", "n", "count")
    assert texts(files) == (
        becomes(MAIN, ('to="{goal}" n="{=}"', 'target="{goal}" count="{n}"')),
        becomes(
            LIB,
            ("mine := to; n = n + 1", "mine := target; count = count + 1"),
            ("'{to}'", "'{target}'"),
            ('name="to"', 'name="target"'),
            ('name="n"', 'name="count"'),
        ),
    )
    assert outcome(*texts(files), tmp_path) == outcome(MAIN, LIB, tmp_path)


def test_an_entry_that_others_reach_from_the_root(tmp_path):
    main = MAIN.replace("n == 1", "n == 1 || copy == 'goal'")
    files = opened(tmp_path, main)
    rename_entry(files, "Main", "copy", "other")
    assert texts(files) == (main.replace("copy", "other"), LIB.replace("copy", "other"))


@pytest.mark.parametrize(("given", "inlined"), [("{goal}", "{goal}"), ("door", "door")])
def test_a_frame_of_a_pose_is_renamed_and_inlined_as_an_entry(tmp_path, given, inlined):
    models = """<TreeNodesModel><Action ID="Echo"><input_port name="at"/></Action>
      <SubTree ID="Lib"><input_port name="to"/></SubTree></TreeNodesModel>"""
    lib = f"""<root BTCPP_format="4"><BehaviorTree ID="Lib">
      <Sequence><Echo name="act" at="{{to}};1;2;3| {{mine}};4;5;6|odom;7;8;9"/></Sequence>
      </BehaviorTree>{models}</root>"""
    (tmp_path / "main.xml").write_text(MAIN.replace('to="{goal}" n="{=}"', f'to="{given}"'))
    (tmp_path / "lib.xml").write_text(lib)
    made = factory()
    register_placeholders(made, lib)
    files = TreeFiles(tmp_path / "main.xml", made)
    rename_entry(files, "Lib", "mine", "own")
    assert "{to};1;2;3| {own};4;5;6|odom;7;8;9" in texts(files)[1]
    inline(files, "Step/Lib")
    assert inlined + ";1;2;3| {own};4;5;6|odom;7;8;9" in texts(files)[0]


def test_an_entry_that_is_connected_by_its_name_is_not_renamed(tmp_path):
    files = opened(tmp_path, MAIN.replace('n="{=}"', '_autoremap="true"'))
    for tree in ("Main", "Lib"):
        with pytest.raises(LogicError, match=r"'Main/all/Step/Lib' has _autoremap"):
            rename_entry(files, tree, "n", "count")


def test_a_copy_gets_a_name_of_its_own(tmp_path):
    files = opened(tmp_path)
    duplicate(files, "first")
    duplicate(files, "Main/all/first 2")
    assert re.findall(r'"(first[^"]*)"', texts(files)[0])[:3] == ["first", "first 2", "first 2 2"]
    duplicate(files, "Lib", "Lab")
    assert '<BehaviorTree ID="Lab">' in texts(files)[1]
    with pytest.raises(LoadError):
        duplicate(files, "Lib/Sequence")  # a tree has one root
    while files.undo():
        pass
    assert texts(files) == (MAIN, LIB)


def test_a_tree_is_made_of_a_node_and_taken_back(tmp_path):
    files = opened(tmp_path)
    extract(files, "Lib/Sequence/act", "Act")
    main, lib = texts(files)
    assert main == MAIN
    assert lib == LIB.replace(
        """      <Script name="act" code="mine := to; n = n + 1; said := 'to'"/>
""",
        """      <SubTree ID="Act" name="act" mine="{mine}" to="{to}" n="{n}" said="{said}"/>
""",
    ).replace(
        "  <TreeNodesModel>",
        """  <BehaviorTree ID="Act">
    <Script name="act" code="mine := to; n = n + 1; said := 'to'"/>
  </BehaviorTree>
  <TreeNodesModel>""",
    )
    assert outcome(main, lib, tmp_path) == outcome(MAIN, LIB, tmp_path)
    inline(files, "Lib/Sequence/act")
    assert texts(files)[1].startswith(LIB.partition("  </BehaviorTree>")[0])


def test_a_subtree_is_inlined_with_its_ports(tmp_path):
    files = opened(tmp_path)
    inline(files, "Step/Lib")
    main, lib = texts(files)
    assert lib == LIB
    assert (
        """<Sequence name="Lib">
        <Script name="act" code="mine := goal; n = n + 1; said := 'to'"/>
        <SetBlackboard  value='{goal}' output_key="@copy"/>
      </Sequence></Step>"""
        in main
    )
    status, entries = outcome(main, lib, tmp_path)
    assert (status, entries["n"]) == (outcome(MAIN, LIB, tmp_path)[0], 2)
    assert files.undo()
    assert texts(files) == (MAIN, LIB)


def test_what_only_a_subtree_can_say_is_not_inlined(tmp_path):
    files = opened(tmp_path, MAIN.replace('to="{goal}"', 'to="x"'))
    with pytest.raises(
        LogicError, match=r"port \[to\] of 'Main/all/Step/Lib' is 'x', which \[code"
    ):
        inline(files, "Step/Lib")
    plain = LIB.replace("mine := to", "mine := 1")
    files = opened(
        tmp_path,
        MAIN.replace('to="{goal}"', 'to="x"').replace("n := 1", "mine := 1; n := 1"),
        plain,
    )
    inline(files, "Step/Lib")
    assert "value='x'" in texts(files)[0]
    assert "mine_2 := 1" in texts(files)[0], "an entry of the tree around is not overwritten"


@pytest.mark.parametrize(
    "condition", ["<Sleep msec='0'/>", "<Inverter><Sleep msec='0'/></Inverter>"]
)
def test_an_action_that_would_start_again_and_again_stays_where_it_is(tmp_path, condition):
    """WhileDoElse is the only parent that asks an action again what it ended with."""
    asked = f"<WhileDoElse>{condition}<AlwaysSuccess/><AlwaysSuccess/></WhileDoElse>"
    used = asked.replace(condition, '<SubTree ID="T" name="t"/>')
    alone = condition.startswith("<Sleep")
    refused = pytest.raises(LogicError, match="condition of a WhileDoElse, which starts")
    with refused if alone else contextlib.nullcontext():
        name = "Main/WhileDoElse/" + ("Sleep" if alone else "Inverter")
        extract(opened(tmp_path, trees(Main=asked)), name, "New")
    with refused if alone else contextlib.nullcontext():
        inline(opened(tmp_path, trees(Main=used, T=condition)), "Main/WhileDoElse/t")


KEYS = st.sampled_from("abc")
LEAVES = st.one_of(
    st.builds("<Script code='{0} := {1}'/>".format, KEYS, st.integers(0, 3)),
    st.builds("<Script code='{0} += {1}'/>".format, KEYS, KEYS),
    st.builds("<ScriptCondition code='{0} &lt; {1}'/>".format, KEYS, KEYS),
    st.builds("<SetBlackboard value='{{{0}}}' output_key='{1}'/>".format, KEYS, KEYS),
    st.builds("<AlwaysSuccess _skipIf='{0} == 1' _post='{1} := 2'/>".format, KEYS, KEYS),
)
NODES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda tag, children: f"<{tag}>{''.join(children)}</{tag}>",
        st.sampled_from(["Sequence", "Fallback", "ReactiveSequence"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


def trees(head="", **more):
    """A file of trees by their IDs, the first of which is the main one."""
    made = "".join(f'<BehaviorTree ID="{key}">{body}</BehaviorTree>' for key, body in more.items())
    return f'<root BTCPP_format="4" main_tree_to_execute="{next(iter(more))}">{head}{made}</root>'


AUTOREMAPPED = trees(
    Main="""<Sequence><Script code="x := 1"/><SubTree ID="T" name="t"/>
      <Sequence name="inner"><SubTree ID="U" _autoremap="true"/></Sequence></Sequence>""",
    T="""<Sequence><Script code="x := 5"/><SubTree ID="U" _autoremap="true"/></Sequence>""",
    U="""<Script code="y := x + 1"/>""",
)


def test_entries_that_autoremap_connects_are_kept(tmp_path):
    before = outcome(AUTOREMAPPED, folder=tmp_path)
    assert before[1] == {"x": 1, "y": 2}
    files = opened(tmp_path, AUTOREMAPPED)
    extract(files, "inner", "E")
    made = files.data[files.path].decode()
    assert '<SubTree ID="E" name="inner" y="{y}" x="{x}" _autoremap="true"/>' in made
    assert outcome(made, folder=tmp_path) == before
    files = opened(tmp_path, AUTOREMAPPED)
    inline(files, "t")
    made = files.data[files.path].decode()
    assert '<SubTree ID="U" _autoremap="true" y="{y_2}" x="{x_2}"/>' in made
    status, entries = outcome(made, folder=tmp_path)
    assert (status, entries) == (before[0], before[1] | {"x_2": 5, "y_2": 6})


def test_an_autoremapped_subtree_takes_no_default_of_its_model(tmp_path):
    model = '<SubTree ID="T"><input_port name="x" default="3"/></SubTree>'
    main = trees(
        Main="""<Sequence><Script code="x := 1"/>
          <SubTree ID="T" name="t" _autoremap="true"/></Sequence>""",
        T='<SetBlackboard value="{x}" output_key="y"/>',
    ).replace("</root>", f"<TreeNodesModel>{model}</TreeNodesModel></root>")
    before = outcome(main, folder=tmp_path)
    files = opened(tmp_path, main)
    inline(files, "t")
    assert outcome(files.data[files.path].decode(), folder=tmp_path) == before


def test_what_is_inlined_gets_no_name_of_an_entry_further_out(tmp_path):
    main = trees(
        Main='<Sequence><Script code="x := 1"/><SubTree ID="T" _autoremap="true"/></Sequence>',
        T='<SubTree ID="U" name="u"/>',
        U="""<Script code="x := 'mine'"/>""",
    )
    before = outcome(main, folder=tmp_path)
    files = opened(tmp_path, main)
    inline(files, "u")
    made = files.data[files.path].decode()
    assert made.count("""<Script code="x_2 := 'mine'"/>""") == 1
    status, entries = outcome(made, folder=tmp_path)
    assert (status, entries["x"]) == (before[0], before[1]["x"])


@pytest.mark.parametrize("change", [inline, lambda files, node: extract(files, node, "E")])
def test_a_key_that_only_the_run_can_tell_stays_in_its_tree(tmp_path, change):
    node = '<SetBlackboard name="set" value="5" output_key="{x}"/>'
    moved = (
        '<Fallback name="t">%s</Fallback>' if change is not inline else '<SubTree ID="T" name="t"/>'
    )
    main = trees(
        Main=f"""<Sequence><Script code="x := 'y'"/>{moved.replace("%s", node)}</Sequence>""",
        T=node,
    )
    files = opened(tmp_path, main)
    with pytest.raises(LogicError, match=r"\[output_key\] of 'set' .* only the run can tell"):
        change(files, "Sequence/t")
    assert files.modified == []


def test_an_entry_gets_no_name_that_autoremap_would_connect(tmp_path):
    main = trees(
        Main='<Sequence><Script code="x:=1"/><SubTree ID="U" _autoremap="1" x="{x}"/></Sequence>',
        U='<Script code="y := x + 1"/>',
    )
    files = opened(tmp_path, main)
    with pytest.raises(LogicError, match="has an entry 'y' already"):
        rename_entry(files, "Main", "x", "y")


MODEL = """<TreeNodesModel><SubTree ID="T"><input_port name="d" default="dflt"/></SubTree>
  </TreeNodesModel></root>"""


def said(folder, main):
    """What the run tells, and how it ends."""
    try:
        return outcome(main, folder=folder)[1].get("said")
    except RuntimeError as error:
        return type(error)


@pytest.mark.parametrize(
    ("main", "change"),
    [
        # Another tree, or a node of the same, calls an entry of the root by @.
        (
            trees(
                Main="""<Sequence><Script code="x := 1"/><SubTree ID="T"/>
                  <Script code="said := x"/></Sequence>""",
                T='<Script code="@free := 2"/>',
            ),
            lambda files: rename_entry(files, "Main", "x", "free"),
        ),
        (
            trees(
                Main="""<Sequence><SubTree ID="T" name="t"/><Script code="said := @x"/></Sequence>
                  """,
                T='<Script code="x := 2"/>',
            ),
            lambda files: inline(files, "t"),
        ),
        (
            trees(
                Main="""<Sequence><Sequence name="s"><Script code="_x := 2"/></Sequence>
                  <Script code="said := @_x"/></Sequence>"""
            ),
            lambda files: extract(files, "s", "E"),
        ),
        (
            trees(
                Main="""<Sequence><Sequence name="s"><Script code="_x := 2"/>
                  <Script code="@said := @_x"/></Sequence></Sequence>"""
            ),
            lambda files: extract(files, "s", "E"),
        ),
        # A port that its model alone knows has a default.
        (
            trees(
                Main='<SubTree ID="T" said="{=}"/>',
                T='<Sequence><SubTree ID="U" name="u" said="{=}"/></Sequence>',
                U='<Script code="said := d"/>',
            ).replace("</root>", MODEL),
            lambda files: inline(files, "u"),
        ),
        (
            trees(
                Main='<SubTree ID="T" said="{=}"/>',
                T='<Script code="said := x"/>',
            ).replace("</root>", MODEL),
            lambda files: rename_entry(files, "T", "x", "d"),
        ),
        # A literal that means the port's own name where a node has it.
        (
            trees(
                Main='<SubTree ID="T" name="t" x="=" said="{=}"/>',
                T='<SetBlackboard value="{x}" output_key="said"/>',
            ),
            lambda files: inline(files, "t"),
        ),
    ],
)
def test_entries_stay_apart(tmp_path, main, change):
    files = opened(tmp_path, main)
    before = said(tmp_path, main)
    with contextlib.suppress(LogicError):  # refused is as good
        change(files)
    assert said(tmp_path, files.data[files.path].decode()) == before


@pytest.mark.parametrize("name", ["true", "false", "BLUE"])
def test_an_entry_gets_no_name_that_means_something_in_scripts(tmp_path, name):
    main = trees(Main='<Sequence><SetBlackboard value="7" output_key="x"/></Sequence>')
    files = opened(tmp_path, main)
    files.factory.register_scripting_enum("BLUE", 3)
    with pytest.raises(LogicError, match=f"'{name}' has a meaning of its own in scripts"):
        rename_entry(files, "Main", "x", name)


@pytest.mark.parametrize("key", ["a-b", "BLUE"])
def test_an_entry_that_a_script_cannot_name_is_not_inlined(tmp_path, key):
    main = trees(
        Main=f'<SubTree ID="T" name="t" x="{{{key}}}"/>',
        T='<ScriptCondition name="look" code="x == 9 || x == BLUE"/>',
    )
    (tmp_path / "main.xml").write_text(main)
    made = factory()
    made.register_scripting_enum("BLUE", 3)
    files = TreeFiles(tmp_path / "main.xml", made)
    with pytest.raises(LogicError, match=f"'{key}', which cannot be written in .code. of 'look'"):
        inline(files, "t")
    files.change(lambda e: e[files.path].set_attribute((0, 0), "x", "{good}"))
    inline(files, "t")
    assert 'code="good == 9 || good == BLUE"' in files.data[files.path].decode()


@pytest.mark.parametrize(
    ("outer", "inner", "fits"),
    [
        ("_failureIf", "_skipIf", True),
        ("_skipIf", "_failureIf", False),
        ("_successIf", "_onSuccess", False),
        ("_onFailure", "_failureIf", True),
        ("_post", "_onSuccess", True),
        ("_onSuccess", "_post", False),
    ],
)
def test_conditions_are_inlined_if_they_keep_their_order(tmp_path, outer, inner, fits):
    main = trees(
        Main=f'<Sequence><SubTree ID="T" name="t" {outer}="true"/><AlwaysSuccess/></Sequence>',
        T=f'<AlwaysSuccess {inner}="true"/>',
    )
    before = outcome(main, folder=tmp_path)
    files = opened(tmp_path, main)
    if fits:
        inline(files, "t")
        assert outcome(files.data[files.path].decode(), folder=tmp_path) == before
    else:
        with pytest.raises(LogicError, match=f"has {outer} and the root of its tree {inner}"):
            inline(files, "t")


def test_the_main_tree_stays_that_when_it_is_copied(tmp_path):
    main = trees(Main="<AlwaysSuccess/>").replace(' main_tree_to_execute="Main"', "")
    files = opened(tmp_path, main)
    duplicate(files, "Main", "Other")
    made = files.data[files.path].decode()
    assert 'main_tree_to_execute="Main"' in made
    assert outcome(made, folder=tmp_path)[0] is NodeStatus.SUCCESS


@pytest.mark.parametrize("included", ["a.xml", "z.xml"])
def test_models_in_all_files_are_renamed(tmp_path, included):
    model = '<SubTree ID="T"><input_port name="a" default="3"/></SubTree>'
    model = f"<TreeNodesModel>{model}</TreeNodesModel></root>"
    lib = trees(T='<ScriptCondition code="a == 3"/>').replace("</root>", model)
    (tmp_path / included).write_text(lib.replace(' main_tree_to_execute="T"', ""))
    main = trees(head=f'<include path="{included}"/>', Main='<SubTree ID="T" name="t"/>')
    files = opened(tmp_path, main.replace("</root>", model))
    rename_entry(files, "T", "a", "b")
    rename_tree(files, "T", "V")
    for data in files.data.values():
        assert b'<SubTree ID="V"><input_port name="b" default="3"/></SubTree>' in data
    files.save()
    tree = files.factory.create_tree_from_file(files.path)
    assert tree.tick_while_running() is NodeStatus.SUCCESS


def run(folder, data):
    (folder / "main.xml").write_bytes(data)
    tree = factory().create_tree_from_file(folder / "main.xml")
    board = tree.root_blackboard()
    for key in "abcdef":
        board.set(key, 0)
    status = tree.tick_once()
    return status, {key: board.get(key) for key in "abcdef"}


def shape(element):
    kept = {k: v for k, v in element.attributes.items() if k != "name"}
    return element.tag, tuple(sorted(kept.items())), tuple(map(shape, element.children))


@settings(max_examples=20, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(NODES, st.integers(0, 20), KEYS)
def test_a_refactored_tree_does_the_same(tmp_path_factory, body, index, key):
    folder = tmp_path_factory.mktemp("trees")
    number = iter(range(99))
    body = re.sub(r"<(\w+)", lambda m: f'<{m[1]} name="n{next(number)}"', body)
    text = f'<root BTCPP_format="4"><BehaviorTree ID="M">{body}</BehaviorTree></root>'
    path = folder / "main.xml"
    path.write_text(text)
    before = run(folder, text.encode())
    files = TreeFiles(path, factory())
    places = References({path: XmlEditor(text.encode())}, {})
    node = places.find(f"n{index % body.count(' name=')}").path
    extract(files, node, "Part")
    assert run(folder, files.data[path]) == before
    rename_tree(files, "Part", "Piece")
    if f'{key}="{{' in files.data[path].decode():
        rename_entry(files, "Piece", key, "z")
    assert run(folder, files.data[path]) == before
    inline(files, node)
    assert run(folder, files.data[path]) == before
    inlined = parse_xml(files.data[path], "x").children[0]
    assert shape(inlined) == shape(parse_xml(text.encode(), "x").children[0])
    if re.search(rf"\b{key}\b", body):
        rename_entry(files, "M", key, "f")
        status, entries = run(folder, files.data[path])
        assert (status, entries["f"]) == (before[0], before[1][key])
    while files.undo():
        pass
    assert files.data[path] == text.encode()
