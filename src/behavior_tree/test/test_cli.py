# SPDX-License-Identifier: Apache-2.0
"""The command: output and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from behavior_tree.cli import main

GOOD = """<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main"><Sequence name="s"><Grasp target="{t}"/><SubTree ID="Other"/></Sequence>
  </BehaviorTree>
  <BehaviorTree ID="Other"><AlwaysSuccess name="ok"/></BehaviorTree>
  <TreeNodesModel><Action ID="Grasp"><input_port name="target"/></Action></TreeNodesModel>
</root>"""
BAD = """<root BTCPP_format="4"><BehaviorTree ID="Bad">
  <Sequence><Inverter/><Nope/></Sequence></BehaviorTree></root>"""
RULES = {
    "TestNodeConfigs": {"Fail": {"return_status": "FAILURE", "async_delay": 20}},
    "SubstitutionRules": {"Grasp": "Fail"},
}


@pytest.fixture
def files(tmp_path):
    for name, text in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.xml").write_text(text)
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
    return lambda name: str(tmp_path / name)


def test_check_reports_all_problems_at_once(files, capsys):
    assert main(["check", files("good.xml")]) == 0
    assert "no problems" in capsys.readouterr().out
    assert main(["check", files("good.xml"), files("bad.xml"), "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert [problem["line"] for problem in problems] == [2, 2]
    assert main(["check", files("bad.xml"), files("none.xml")]) == 1
    assert capsys.readouterr().out.startswith("3 problems")


def test_show_and_models(files, capsys):
    assert main(["show", files("good.xml")]) == 0
    out = capsys.readouterr().out
    assert '├── Grasp target="{t}"' in out
    assert "└── SubTree Other" in out
    assert main(["models"]) == 0
    assert '<Control ID="Sequence"' in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["show", files("none.xml")])


def test_run_logs_and_gives_the_result(files, capsys):
    assert main(["run", files("good.xml")]) == 0
    out = capsys.readouterr().out
    assert "s: IDLE -> RUNNING" in out
    assert out.endswith("SUCCESS\n")
    assert main(["run", files("good.xml"), "--rules", files("rules.json")]) == 1
    captured = capsys.readouterr()
    assert captured.out.endswith("FAILURE\n")
    assert "test node set to fail" in captured.err
    assert main(["run", files("good.xml"), "--tree", "Other"]) == 0
    assert main(["run", files("bad.xml")]) == 1
    slow = ["run", files("good.xml"), "--rules", files("rules.json"), "--timeout", "0"]
    assert main(slow) == 1
    assert "still RUNNING" in capsys.readouterr().err


def test_profile_shows_the_costly_nodes_first(files, capsys):
    assert main(["profile", files("good.xml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "SUCCESS"
    assert lines[2].split()[0] == "1"
    assert lines[2].endswith(" s")


def test_wrong_use_exits_with_2(files, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["fly"])
    assert caught.value.code == 2
    assert main(["models", "--register", "no_such_module:f"]) == 1
    assert "module:function" in capsys.readouterr().err


def test_python_m(files):
    command = [sys.executable, "-m", "behavior_tree", "check", files("bad.xml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert "Node not recognized: Nope" in done.stdout
