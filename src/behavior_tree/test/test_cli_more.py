# SPDX-License-Identifier: Apache-2.0
"""The command: pictures, replay, conversion, schema, and what several files have in common."""

import json
import re
from xml.etree import ElementTree

import pytest

from behavior_tree.cli import main

MAIN = """<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main"><Sequence name="s">
    <Grasp target="{t}" force="1.5"/><SubTree ID="Other" name="o"/><AlwaysFailure/><Sleep msec="1"/>
  </Sequence></BehaviorTree>
  <TreeNodesModel>
    <Action ID="Grasp"><input_port name="target"/><input_port name="force" type="double"/></Action>
  </TreeNodesModel>
</root>"""
OTHER = """<root BTCPP_format="4"><BehaviorTree ID="Other">
  <Either name="e"><AlwaysFailure/><AlwaysSuccess name="a &amp; b"/></Either></BehaviorTree>
  <TreeNodesModel><Control ID="Either"/></TreeNodesModel></root>"""
OLD = """<root main_tree_to_execute="M"><!-- old -->
<BehaviorTree ID="M"><SequenceStar><AlwaysSuccess/></SequenceStar></BehaviorTree></root>"""


@pytest.fixture
def files(tmp_path):
    for name, text in (("main", MAIN), ("other", OTHER), ("old", OLD)):
        (tmp_path / f"{name}.xml").write_text(text)
    return lambda name: str(tmp_path / name)


def test_check_knows_the_trees_of_the_other_files_and_warns(files, capsys):
    assert main(["check", files("main.xml")]) == 1
    assert "Can't find a tree with name: Other" in capsys.readouterr().out
    assert main(["check", files("main.xml"), files("other.xml")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 warning:")
    assert "main.xml:3:84: [Main/s/Sleep] warning: this node is never ticked" in out
    assert main(["check", "--json", files("main.xml"), files("other.xml")]) == 0
    assert [each["severity"] for each in json.loads(capsys.readouterr().out)] == ["warning"]


def test_check_uses_the_types_that_models_give(files, tmp_path, capsys):
    (tmp_path / "main.xml").write_text(MAIN.replace("1.5", "strong"))
    assert main(["check", files("main.xml"), files("other.xml")]) == 1
    assert 'value "strong" can not be converted to double' in capsys.readouterr().out


def test_includes_give_models_too(files, tmp_path):
    (tmp_path / "main.xml").write_text(
        MAIN.replace("<BehaviorTree", '<include path="other.xml"/><BehaviorTree', 1)
    )
    assert main(["check", files("main.xml")]) == 0


def test_picture(files, tmp_path, capsys):
    assert main(["show", files("main.xml"), "--svg", files("p.svg")]) == 0
    root = ElementTree.parse(tmp_path / "p.svg").getroot()
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Main", "→ s", "Grasp", "target: {t}", "o", "SubTree Other"} <= set(texts)
    boxes = []
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        box = group.find("{http://www.w3.org/2000/svg}rect")
        x, y, w, h = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        assert all(
            x + w <= left or left + u <= x or y + h <= top or top + v <= y
            for left, top, u, v in boxes
        )
        boxes.append((x, y, w, h))
    assert len(boxes) == 5
    (tmp_path / "empty.xml").write_text("<root/>")
    assert main(["show", files("empty.xml")]) == 1
    assert "contains no <BehaviorTree>" in capsys.readouterr().err
    assert main(["show", files("main.xml"), "--svg", "/nowhere/p.svg"]) == 1


def test_a_run_is_recorded_and_replayed(files, tmp_path, capsys):
    (tmp_path / "main.xml").write_text(
        MAIN.replace("<BehaviorTree", '<include path="other.xml"/><BehaviorTree', 1)
    )
    rules = {
        "TestNodeConfigs": {"slow": {"return_status": "SUCCESS", "async_delay": 60}},
        "SubstitutionRules": {"Grasp": "slow"},
    }
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    run = ["run", files("main.xml"), "--rules", files("rules.json"), "--btlog", files("run.btlog")]
    assert main(run) == 1
    ran = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()[:-1]]
    for more in ([], ["--speed", "100"]):
        assert main(["replay", files("run.btlog"), *more]) == 0
        assert [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()] == ran
    assert main(["replay", files("run.btlog"), "--json"]) == 0
    steps = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [f"{s['path']}: {s['previous']} -> {s['status']}" for s in steps] == ran
    moment = next(s["seconds"] for s in steps if s["status"] == "SUCCESS") - 0.001
    arguments = ["replay", files("run.btlog"), "--at", str(moment)]
    assert main([*arguments, "--json"]) == 0
    now = {each["path"]: each["status"] for each in json.loads(capsys.readouterr().out)}
    assert {"s": "RUNNING", "Grasp::2": "RUNNING", "o/a & b": "IDLE"}.items() <= now.items()
    assert main(arguments) == 0
    assert re.search(r"└── Sequence 's' \[RUNNING\]\n", capsys.readouterr().out)
    assert main([*arguments, "--svg", files("m.svg")]) == 0
    assert "[RUNNING]" in (tmp_path / "m.svg").read_text()
    assert main(["replay", files("run.btlog"), "--svg", files("m.svg")]) == 1
    assert "add --at T" in capsys.readouterr().err
    assert main(["replay", files("main.xml")]) == 1
    assert "not a .btlog file" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["replay", files("none.btlog")])
    assert "none.btlog: no such file" in capsys.readouterr().err


def test_migrate(files, tmp_path, capsys):
    new = OLD.replace("SequenceStar", "SequenceWithMemory").replace(
        '"M">', '"M" BTCPP_format="4">', 1
    )
    assert main(["migrate", files("old.xml")]) == 0
    assert capsys.readouterr().out == new
    assert main(["migrate", files("old.xml"), "-o", files("new.xml")]) == 0
    assert (tmp_path / "new.xml").read_text() == new
    assert main(["migrate", files("old.xml"), "--in-place"]) == 0
    assert (tmp_path / "old.xml").read_text() == new
    assert (tmp_path / "old.xml.bak").read_text() == OLD
    assert main(["migrate", files("old.xml"), "--in-place"]) == 0
    assert "is of version 4 already" in capsys.readouterr().err
    assert (tmp_path / "old.xml.bak").read_text() == OLD
    (tmp_path / "old.xml").write_text(
        "<root><BehaviorTree><BlackboardCheckInt/></BehaviorTree></root>"
    )
    assert main(["migrate", files("old.xml"), "-o", files("new.xml")]) == 1
    assert "old.xml:1:21: BlackboardCheckInt cannot be converted" in capsys.readouterr().err


def test_schema_and_models_of_files(files, tmp_path, capsys):
    etree = pytest.importorskip("lxml.etree")
    assert main(["xsd", files("main.xml"), files("other.xml"), "-o", files("t.xsd")]) == 0
    schema = etree.XMLSchema(etree.parse(tmp_path / "t.xsd"))
    schema.assertValid(etree.parse(tmp_path / "main.xml"))
    assert main(["models", files("main.xml")]) == 0
    assert '<Action ID="Grasp">' in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["run", "x", "--set", "key"],
        ["replay", "x", "--speed", "0"],
        ["replay", "x", "--at", "nan"],
        ["run", "x", "--timeout", "-1"],
        ["show"],
    ],
)
def test_wrong_arguments_get_one_sentence(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_no_file_is_refused(tmp_path, capsys):
    for path in ("/dev/zero", str(tmp_path), str(tmp_path / "nothing.xml")):
        assert main(["check", path]) == 1
        assert f"cannot read {path}" in capsys.readouterr().out
        for verb in ("show", "migrate", "run"):
            with pytest.raises(SystemExit) as caught:
                main([verb, path])
            assert caught.value.code == 2
            assert f"cannot read {path}" in capsys.readouterr().err


def test_entries_and_model_defaults_are_set_before_a_run(tmp_path, capsys):
    (tmp_path / "a.xml").write_text(
        '<root BTCPP_format="4" main_tree_to_execute="M"><BehaviorTree ID="M"><Sequence>'
        '<ScriptCondition code="a == 5"/><ScriptCondition code="b == 7"/></Sequence></BehaviorTree>'
        '<TreeNodesModel><SubTree ID="M"><input_port name="a" default="5"/></SubTree>'
        "</TreeNodesModel></root>"
    )
    assert main(["run", str(tmp_path / "a.xml"), "--set", "b=7"]) == 0
    assert main(["run", str(tmp_path / "a.xml"), "--set", "b=7", "--set", "a=6"]) == 1
    assert main(["profile", str(tmp_path / "a.xml"), "--tree", "M", "--set", "b=7"]) == 0


def test_a_dry_run_fills_the_outputs_that_scripts_read(tmp_path, capsys):
    file = tmp_path / "tree.xml"
    file.write_text(
        """<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main"><Sequence>
    <Look name="look" seen="{seen}" count="{count}" words="{words}" pose="{pose}"/>
    <ScriptCondition code="seen &amp;&amp; count + least == 2.5 &amp;&amp; words == ''"/>
  </Sequence></BehaviorTree>
  <TreeNodesModel>
    <SubTree ID="Main"><input_port name="least" type="double" default="2.5"/></SubTree>
    <Action ID="Look">
      <output_port name="seen" type="bool"/>
      <output_port name="count" type="int"/>
      <output_port name="words" type="std::string"/>
      <output_port name="pose" type="Pose"/>
    </Action>
  </TreeNodesModel>
</root>"""
    )
    assert main(["run", str(file)]) == 0, capsys.readouterr()
    assert main(["run", str(file), "--set", "count=3"]) == 1, "what is given stays"
    assert main(["run", str(file), "--set", "least=much"]) == 1
    assert "much" in capsys.readouterr().err
