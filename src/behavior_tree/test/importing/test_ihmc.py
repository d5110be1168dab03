# SPDX-License-Identifier: Apache-2.0
"""Behaviours of IHMC become trees, and go back byte for byte."""

import json
import math
from xml.etree import ElementTree

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from behavior_tree import BehaviorTreeError, BehaviorTreeFactory, NodeStatus
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.cli import main
from behavior_tree.editing import TreeFiles, extract
from behavior_tree.importing import export_ihmc, import_groot, import_ihmc
from behavior_tree.placeholders import register_placeholders


def jackson(value, depth=0):
    """IHMC's layout, written apart from the package."""
    pad = "  " * depth
    if isinstance(value, dict) and value:
        lines = [f"{pad}  {jackson(k)} : {jackson(each, depth + 1)}" for k, each in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + pad + "}"
    if isinstance(value, list) and value:
        return "[ " + ", ".join(jackson(each, depth) for each in value) + " ]"
    if isinstance(value, (dict, list)):
        return "{ }" if isinstance(value, dict) else "[ ]"
    return json.dumps(value, ensure_ascii=False)


def node(kind, name, *children, **fields):
    return {"type": kind, "name": name, "notes": "", "children": list(children), **fields}


def leaf(kind, name, after="Previous", **fields):
    return node(kind, name, executeAfterAction=after, **fields)


def wait(name, after="Previous", seconds=1.0):
    return leaf("WaitActionDefinition", name, after, waitDuration=seconds)


def sequence(name, *children):
    return node("ActionSequenceDefinition", name, *children)


def fail(name):
    return leaf("ConditionNodeDefinition", name, conditionType="ALWAYS_FAIL")


class Case:
    """A behaviour in a tmp_path, and the tree that it becomes."""

    def __init__(self, tmp_path, root, name="job.json"):
        self.path = tmp_path / name
        self.path.parent.mkdir(exist_ok=True)
        self.text = jackson(root)
        self.path.write_bytes(self.text.encode())
        self.imported = import_ihmc(self.path)
        self.xml = tmp_path / "tree.xml"
        self.xml.write_text(self.imported.xml)

    def element(self, name):
        return next(e for e in ElementTree.parse(self.xml).iter() if e.get("name") == name)

    def load(self):
        factory = BehaviorTreeFactory()
        register_authoring_nodes(factory)
        register_placeholders(factory, self.imported.xml)
        return factory, factory.create_tree_from_file(self.xml)

    def edited(self, name, /, **attributes):
        tree = ElementTree.parse(self.xml)
        next(e for e in tree.iter() if e.get("name") == name).attrib.update(attributes)
        tree.write(self.xml)
        return json.loads(next(iter(export_ihmc(self.xml).values())))


OLD_ARM = leaf(
    "HandPoseActionDefinition", "arm", side="left", usePredefinedJointAngles=True, j0=-0.5, j6=1e-3
)


def test_what_is_old_has_todays_names_and_units(tmp_path):
    children = [
        OLD_ARM,
        leaf("ArmJointAnglesActionDefinition", "older", j1=math.pi),
        leaf("ChestOrientationActionDefinition", "spine", parentFrame="afterPelvisHeight", j0=30.0),
        leaf("PelvisHeightPitchActionDefinition", "pelvis", parentFrame="walkingFrame"),
        leaf("FootPoseActionDefinition", "leg"),
        leaf("SakeHandCommandActionDefinition", "grip"),
        leaf("SceneActionNodeDefinition", "scene", sceneActionType="CLEAR_SCENE"),
        leaf("FootstepPlanActionDefinition", "walk", plannerPerformAStarSearch=True),
        leaf("CheckPointNodeDefinition", "here"),
        leaf("WaitDurationActionDefinition", "wait", waitDuration=2.5),
    ]
    case = Case(tmp_path, sequence("job.json", *children))
    tags = [each.tag for each in case.element("job.json")]
    assert tags == [
        *("IhmcArm", "IhmcArm", "IhmcSpine", "IhmcPelvis", "IhmcLeg", "IhmcEZGripper"),
        *("IhmcScene", "IhmcWalk", "Checkpoint", "Sleep"),
    ]
    assert case.element("arm").get("definedInJointspace") == "true"
    assert float(case.element("arm").get("j0Degrees")) == pytest.approx(math.degrees(-0.5))
    assert case.element("older").get("j1Degrees") == "180.0"
    assert case.element("spine").get("j0") == "30.0", "those are degrees already"
    assert case.element("spine").get("parentFrame") == "Pelvis"
    assert case.element("pelvis").get("parentFrame") == "Walking"
    assert case.element("walk").get("planner") == "A_STAR"
    assert case.element("wait").get("msec") == "2500"
    assert "2 leaves IhmcArm: no counterpart, register the type, or replace it by MoveArm" in (
        case.imported.notes
    )
    case.load()
    assert export_ihmc(case.xml) == {"job.json": case.text}


def test_an_edited_node_is_written_in_todays_form_and_the_others_as_they_were(tmp_path):
    case = Case(tmp_path, sequence("job.json", OLD_ARM, wait("w")))
    arm, waits = case.edited("arm", j0Degrees="45.0")["children"]
    assert arm["type"] == "ArmActionDefinition"
    assert arm["j0Degrees"] == 45.0
    assert arm["definedInJointspace"] is True
    assert "j0" not in arm
    assert "nominal_duration" not in arm
    assert waits == wait("w")


def test_order_and_concurrency(tmp_path):
    case = Case(
        tmp_path,
        sequence("job.json", wait("a"), wait("b", "Beginning"), wait("c", "a"), wait("d", "b")),
    )
    assert case.imported.notes == ()
    _, tree = case.load()
    tree.tick_exactly_once()
    running = [
        n.name for n in tree.nodes() if n.type().name == "ACTION" and n.status.name == "RUNNING"
    ]
    assert running == ["a", "b"]
    steps = [each.get("execute_after") for each in ElementTree.parse(case.xml).iter("Step")]
    assert steps == ["beginning", "a", "b"]


def test_of_names_the_nearest_before_counts(tmp_path):
    case = Case(
        tmp_path,
        sequence("j.json", wait("a"), wait("a"), wait("b", "a"), wait("a"), wait("c", "b")),
    )
    assert [e.get("execute_after") for e in ElementTree.parse(case.xml).iter("Step")] == [
        "a (2)",
        "b",
    ]
    case.load()
    assert export_ihmc(case.xml) == {"j.json": case.text}


@pytest.mark.parametrize("name", ["{a}", "=", "two\nlines", "del\x7f", "a;b"])
def test_names_that_would_mean_something_else_here_are_adapted_and_come_back(tmp_path, name):
    again = leaf("GotoNodeDefinition", "again", nodeToGoto=name)
    case = Case(
        tmp_path, sequence("j.json", wait(name), wait("b", "Beginning"), wait("c", name), again)
    )
    case.load()
    assert export_ihmc(case.xml) == {"j.json": case.text}


def test_a_file_that_two_lists_of_a_file_use(tmp_path):
    (tmp_path / "f.json").write_text(jackson(sequence("f.json", wait("w"))))
    use = {"file": "f.json"}
    case = Case(tmp_path, sequence("j.json", use, sequence("in", use, wait("a")), use))
    case.load()
    assert export_ihmc(case.xml)["j.json"] == case.text


def test_across_lists_nothing_begins_earlier(tmp_path):
    inner = sequence("inner", wait("x"), wait("y", "a"), wait("z", "Beginning"))
    case = Case(
        tmp_path, sequence("job.json", wait("a"), wait("b", "Beginning"), inner, wait("c", "x"))
    )
    assert case.imported.notes == (
        "job.json: 'y' begins with its list 'inner', which waits for 'a'",
        "job.json: 'z' begins with its list 'inner', not with the whole",
        "job.json: 'c' waits for the whole of 'inner'",
    )
    steps = [e.get("execute_after") for e in ElementTree.parse(case.xml).iter("Step")]
    assert steps == ["beginning", "a;b", "beginning", "beginning", "inner"]
    case.load()
    assert export_ihmc(case.xml) == {"job.json": case.text}


@pytest.mark.parametrize(("old", "caller"), [("a", "y"), ("x", "c"), ("inner", "own")])
def test_a_node_that_has_another_name_is_called_by_it_in_other_lists(tmp_path, old, caller):
    inner = sequence("inner", wait("x"), wait("y", "a"), wait("own", "inner"))
    case = Case(tmp_path, sequence("job.json", wait("a"), inner, wait("c", "x")))
    assert export_ihmc(case.xml) == {"job.json": case.text}
    children = case.edited(old, name="new")["children"]
    nodes = [*children, *children[1]["children"]]
    (after,) = [each["executeAfterAction"] for each in nodes if each["name"] == caller]
    assert after == "new"


def test_a_goto_into_a_list_calls_its_target_by_the_name_that_it_has_now(tmp_path):
    inner = sequence("inner", wait("x"), wait("y"))
    again = leaf("GotoNodeDefinition", "again", nodeToGoto="y")
    case = Case(tmp_path, sequence("job.json", inner, again))
    assert case.element("again").get("to") == "inner"
    assert export_ihmc(case.xml) == {"job.json": case.text}
    assert case.edited("y", name="new")["children"][1]["nodeToGoto"] == "new"


def test_who_comes_after_a_list_around_begins_with_it(tmp_path):
    case = Case(
        tmp_path, sequence("job.json", wait("a"), sequence("in", wait("x"), wait("y", "in")))
    )
    assert [e.get("execute_after") for e in ElementTree.parse(case.xml).iter("Step")] == [
        "beginning"
    ]
    assert case.imported.notes == ()


def test_fallbacks_are_tries_and_gotos_jump(tmp_path):
    fallback = node(
        "FallbackNodeDefinition",
        "grasp",
        fail("hand"),
        wait("beside", "Beginning", 0.0),
        wait("open", seconds=0.0),
        leaf("GotoNodeDefinition", "again", nodeToGoto="grasp"),
    )
    case = Case(tmp_path, sequence("job.json", wait("a", seconds=0.0), fallback, wait("end")))
    attempt = case.element("grasp")
    assert attempt.tag == "Try"
    assert [each.tag for each in attempt] == ["AlwaysFailure", "Step", "Catch"]
    assert [each.get("name") for each in attempt[2][0]] == ["open", "again"]
    assert case.element("again").get("to") == "grasp"
    case.load()
    assert export_ihmc(case.xml) == {"job.json": case.text}


def test_what_means_nothing_here_is_told(tmp_path):
    empty = node("FallbackNodeDefinition", "no catch", wait("x"))
    door = node("DoorTraversalDefinition", "door", wait("y"))
    lost = leaf("GotoNodeDefinition", "jump", nodeToGoto="nowhere")
    case = Case(tmp_path, sequence("job.json", empty, door, wait("late", "gone"), lost))
    assert case.imported.notes == (
        "job.json: 'no catch': nothing is done when it fails, so it is a plain list",
        "job.json: 'late' comes after 'gone', which no node before it in this file is",
        "job.json: 'door' is a DoorTraversal: only its children are here",
        "job.json: 'jump': no list around it has 'nowhere'",
    )
    case.load()
    assert export_ihmc(case.xml) == {"job.json": case.text}


def test_the_older_flag_lets_the_next_begin_with_it(tmp_path):
    def old(name, with_next):
        fields = {"waitDuration": 1.0, "executeWithNextAction": with_next}
        return node("WaitDurationActionDefinition", name, **fields)

    case = Case(
        tmp_path,
        sequence(
            "job.json",
            *(old(*each) for each in zip("abcde", (False, True, True, False, False), strict=True)),
        ),
    )
    steps = {
        e[0].get("name"): e.get("execute_after") for e in ElementTree.parse(case.xml).iter("Step")
    }
    assert steps == {"c": "a", "d": "a", "e": "b;c;d"}
    assert export_ihmc(case.xml) == {"job.json": case.text}


def test_files_within_files_are_trees_once(tmp_path):
    part = jackson(sequence("parts/grasp.json", wait("w")))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/grasp.json").write_text(part)
    used = {"file": "parts/grasp.json"}
    case = Case(
        tmp_path, sequence("job.json", used, wait("a"), used, wait("b", "parts/grasp.json"))
    )
    _, tree = case.load()
    assert len(tree.subtrees) == 3
    assert export_ihmc(case.xml) == {"job.json": case.text, "parts/grasp.json": part}


def test_a_file_in_a_folder_finds_its_siblings_from_the_root(tmp_path):
    (tmp_path / "other.json").write_text(jackson(sequence("other.json", wait("w"))))
    case = Case(tmp_path, sequence("in/job.json", {"file": "other.json"}), "in/job.json")
    assert set(export_ihmc(case.xml)) == {"in/job.json", "other.json"}


@pytest.mark.parametrize("name", ["Sequence", "Try", "root", "IhmcArm"])
def test_a_file_that_is_called_like_a_node_type_loads(tmp_path, name):
    part = jackson(sequence(f"{name}.json", OLD_ARM))
    (tmp_path / f"{name}.json").write_text(part)
    case = Case(tmp_path, sequence("job.json", {"file": f"{name}.json"}))
    assert len(case.load()[1].subtrees) == 2
    assert export_ihmc(case.xml) == {"job.json": case.text, f"{name}.json": part}


def test_a_file_is_written_where_the_others_look_for_it(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/grasp.json").write_text(jackson(sequence("Grasp", wait("w"))))
    case = Case(tmp_path, sequence("job.json", {"file": "parts/grasp.json"}, wait("a")))
    assert set(export_ihmc(case.xml)) == {"job.json", "parts/grasp.json"}
    files = TreeFiles(case.xml, case.load()[0])
    extract(files, "a", "New")
    files.save()
    written = export_ihmc(case.xml)
    names = [child["file"] for child in json.loads(written["job.json"])["children"]]
    assert names == ["parts/grasp.json", "New.json"]
    assert set(written) == {"job.json", *names}


def of_files(folder, project, **bodies):
    """A project of Groot2 with a tree in each file, imported."""
    names = [f"{name}.xml" for name in bodies]
    for name, (tree_id, body) in bodies.items():
        tree = f'<BehaviorTree ID="{tree_id}">{body}</BehaviorTree>'
        (folder / f"{name}.xml").write_text(f'<root BTCPP_format="4">{tree}</root>')
    includes = "".join(f'<include path="{name}"/>' for name in names)
    path = folder / "job.btproj"
    path.write_text(f'<root BTCPP_format="4"{project}>{includes}</root>')
    path.with_suffix(".xml").write_text(import_groot(path, path.with_suffix(".xml")).xml)
    return path.with_suffix(".xml")


WAIT = '<Sleep name="a" msec="500"/>'
LIST = f'<ConcurrentSequence name="list">{WAIT}{{}}</ConcurrentSequence>'


def test_trees_of_included_files_are_exported_too(tmp_path):
    """A project of Groot2 becomes a file that includes all of its files, and has no tree itself."""
    inner = LIST.format('<SubTree ID="Part" name="part.json"/>')
    main = ' main_tree_to_execute="Main"'
    written = export_ihmc(
        of_files(tmp_path, main, one=("Main", inner), two=("Part", LIST.format("")))
    )
    assert list(written) == ["Main.json", "part.json"]
    assert json.loads(written["Main.json"])["children"][1] == {"file": "part.json"}


def test_of_a_file_with_an_include_the_tree_in_it_is_the_main_one(tmp_path):
    case = Case(tmp_path, sequence("job.json", wait("a")))
    (tmp_path / "more.xml").write_text(case.xml.read_text().replace("job", "more"))
    text = case.xml.read_text().replace(' main_tree_to_execute="job"', "")
    case.xml.write_text(text.replace("<BehaviorTree", '<include path="more.xml"/><BehaviorTree'))
    assert export_ihmc(case.xml) == {"job.json": case.text}


def test_which_tree_is_missing_is_told_at_export(tmp_path):
    file = of_files(tmp_path, "", one=("One", WAIT), two=("Two", WAIT))
    with pytest.raises(BehaviorTreeError, match=r"set main_tree_to_execute to one of One, Two"):
        export_ihmc(file)
    gone = of_files(tmp_path, "", one=("One", LIST.format('<SubTree ID="Gone" name="there"/>')))
    with pytest.raises(BehaviorTreeError, match=r"not exported: 'there': there is no tree 'Gone'"):
        export_ihmc(gone)
    (tmp_path / "one.xml").unlink()
    with pytest.raises(BehaviorTreeError, match=r"job.xml:3:.*one\.xml"):
        export_ihmc(gone)
    empty = of_files(tmp_path, "", one=("One", ""))
    with pytest.raises(BehaviorTreeError, match=r"tree 'One' has 0 roots"):
        export_ihmc(empty)


def test_a_text_of_digits_stays_a_text(tmp_path):
    scene = leaf("SceneActionDefinition", "s", objectName="12", count=3)
    case = Case(tmp_path, sequence("job.json", scene))
    (changed,) = case.edited("s", count="4")["children"]
    assert (changed["objectName"], changed["count"]) == ("12", 4)


BAD = {
    "": "no JSON",
    "[1]": "its root has no text 'type'",
    '{"type": "ActionSequenceDefinition", "children": [5]}': "a child is no object",
    '{"type": "ActionSequenceDefinition", "children": [{"file": "gone.json"}]}': "no such file",
    '{"type": "ActionSequenceDefinition", "children": [{"file": "job.json"}]}': "contains itself",
    '{"type": "ActionSequenceDefinition", "children": [{"file": "../x.json"}]}': "is not below",
    '{"type": "WaitActionDefinition", "children": [{"type": "A"}]}': "a Wait has no children",
    '{"type": "A", "x": 1e400}': "1e400 is too large",
    '{"type": "WaitActionDefinition", "waitDuration": 1' + "0" * 400 + "}": "is too large",
    '{"type": "A", "x": NaN}': "NaN",
    '{"type": "A", "type": "B"}': "two values of one name",
    '{"type": "A", "x": ' + "[" * 2000 + "]" * 2000 + "}": "job.json",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_files_are_refused_with_a_sentence(tmp_path, text):
    path = tmp_path / "job.json"
    path.write_text(text)
    with pytest.raises(BehaviorTreeError, match=BAD[text]):
        import_ihmc(path)


def test_what_ihmc_does_not_have_is_not_exported(tmp_path):
    case = Case(tmp_path, sequence("job.json", wait("a")))
    text = case.xml.read_text()
    case.xml.write_text(
        text.replace("<Sleep", '<Inverter name="not"><AlwaysSuccess/></Inverter><Sleep _skipIf="x"')
    )
    with pytest.raises(
        BehaviorTreeError, match=r"'not': IHMC has no Inverter; .*'a': IHMC has no _skipIf"
    ):
        export_ihmc(case.xml)


NAMES = st.sampled_from(["a", "b", "Previous", "x;y", "{k}", "json:1", "true", "é\n", ""])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
    | NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
KINDS = st.sampled_from(["ArmActionDefinition", "HandPoseActionDefinition", "WaitActionDefinition"])
LEAVES = st.builds(
    lambda kind, name, after, fields: leaf(kind, name, after) | fields,
    KINDS,
    NAMES,
    st.sampled_from(["Previous", "Beginning", "a", "b", "gone"]),
    st.dictionaries(
        st.sampled_from(["side", "j0", "_odd", "waitDuration", "ID"]), VALUES, max_size=3
    ),
)
LISTS = st.sampled_from(["ActionSequenceDefinition", "FallbackNodeDefinition"])
NODES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda kind, name, children: node(kind, name, *children),
        LISTS,
        NAMES,
        st.lists(inner, max_size=4),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.lists(NODES, max_size=4))
def test_whatever_is_imported_loads_and_goes_back_byte_for_byte(tmp_path_factory, children):
    case = Case(tmp_path_factory.mktemp("any"), sequence("job.json", *children))
    case.load()
    assert export_ihmc(case.xml) == {"job.json": case.text}


def test_at_the_command_line(tmp_path, capsys):
    case = Case(tmp_path, sequence("job.json", OLD_ARM))
    assert main(["import", str(case.path)]) == 0
    assert "1 leaf IhmcArm: no counterpart" in capsys.readouterr().out
    assert main(["import", str(case.path)]) == 1
    assert "is there already: choose another, or --force" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "job.xml"), "-o", str(tmp_path / "back")]) == 0
    assert (tmp_path / "back/job.json").read_text() == case.text
    assert main(["import", str(tmp_path / "job.txt")]) == 1


def test_another_layout_is_told(tmp_path):
    (tmp_path / "job.json").write_text(json.dumps(sequence("job.json", wait("a"))))
    (note,) = import_ihmc(tmp_path / "job.json").notes
    assert note.startswith("job.json: not in IHMC's layout")


def test_it_runs(tmp_path):
    case = Case(
        tmp_path,
        sequence("job.json", wait("a", seconds=0.0), leaf("CheckpointNodeDefinition", "c")),
    )
    assert case.load()[1].tick_while_running() is NodeStatus.SUCCESS
