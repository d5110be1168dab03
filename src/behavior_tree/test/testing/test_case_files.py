# SPDX-License-Identifier: Apache-2.0
"""Case files, and the command that runs them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from textwrap import dedent

import pytest

from behavior_tree import LoadError
from behavior_tree.cli import main
from behavior_tree.testing import read_case_file

TREE = """<root BTCPP_format="4" main_tree_to_execute="bring">
  <BehaviorTree ID="bring">
    <RetryUntilSuccessful name="twice" num_attempts="2">
      <Sequence name="fetch">
        <Pick name="pick" width="{width}"/>
        <Place name="place" _skipIf="width &lt; 0.01"/>
      </Sequence>
    </RetryUntilSuccessful>
  </BehaviorTree>
  <BehaviorTree ID="part"><Pick name="only" width="{width}"/></BehaviorTree>
  <TreeNodesModel><Action ID="Pick"><output_port name="width" type="double"/></Action>
    <Action ID="Place"/></TreeNodesModel>
</root>"""
CASES = """
    blackboard: {width: 0.05}
    outcomes: {pick: {outputs: {width: 0.05}}}
    cases:
      all goes well:
      a pick is repeated:
        outcomes: {pick: [FAILURE, {outputs: {width: 0.04}}]}
        expect:
          order: [pick, fetch, place]
          begins: {pick: 2}
          blackboard: {width: 0.04}
        explore: {faults: 2}
      nothing between the fingers:
        outcomes: {pick: {outputs: {width: 0.0}}}
        blackboard: {nothing: .nan}
        expect: {never: [place], blackboard: {nothing: .nan}}
      one part:
        tree: part
        outcomes: {only: {reason: no such thing}}
        expect: {status: FAILURE, reason: such}
      one part again:
        tree: part
      somebody halts it:
        outcomes: {place: {after: 2}}
        events: [{at: 1.0, halt: true}]
        expect: {status: HALTED, halted: [place, fetch], within: 1}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bring.xml").write_text(TREE)
    (tmp_path / "bring.test.yaml").write_text(dedent(CASES))
    return tmp_path


def test_cases_beside_a_tree_pass(folder, capsys):
    assert main(["test", "."]) == 0
    told = capsys.readouterr()
    assert "6 passed, 0 failed" in told.out
    assert told.err == ""
    assert main(["test", "bring.xml", "bring.test.yaml", "-k", "repeated"]) == 0
    assert "1 passed" in capsys.readouterr().out


def failing(folder, capsys, case):
    """What is told of a case that fails."""
    (folder / "bring.test.yaml").write_text(
        f"cases:\n  it:\n{case}outcomes: {{pick: {{outputs: {{width: 0.05}}}}}}\n"
    )
    assert main(["test", "."]) == 1
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (
            "outcomes: {pick: FAILURE}",
            "bring.test.yaml:2: ended FAILURE, expected SUCCESS: pick: test",
        ),
        ("expect: {order: [place, pick]}", "bring.test.yaml:3: 'pick' did not begin after 'place'"),
        ("expect: {never: [pick]}", "bring.test.yaml:3: 'pick' began, which it never should"),
        ("expect: {begins: {pick: 3}}", "bring.test.yaml:3: 'pick' began once, expected 3"),
        ("expect: {halted: [pick]}", "bring.test.yaml:3: 'pick' was never halted while it ran"),
        ("expect: {reason: slip}", "bring.test.yaml:3: the reason is '', not with 'slip'"),
        ("expect: {blackboard: {no: 1}}", "bring.test.yaml:3: there is no entry 'no', expected 1"),
        ("expect: {blackboard: {width: 1}}", "the entry 'width' is 0.05, expected 1"),
        ("outcomes: {place: {after: 9}}\n    expect: {within: 3}", "took 9 s, expected 3 s"),
        ("outcomes: {place: RUNNING}", "still RUNNING after 60 s: place (twice > fetch > place)"),
        ("outcomes: {plaec: RUNNING}", "bring.test.yaml:3:1: [case 'it': outcomes: plaec] no node"),
        ("expect: {order: [pikc]}", "no node 'pikc' in the tree 'bring' (did you mean 'pick'?)"),
        ("explore: {faults: 2, status: SUCCESS}", "ended FAILURE, not SUCCESS: twice"),
        ("explore: {faults: 2, most: 2}", "more than 2 combinations of faults"),
        ("expect: {never: [fetch]}", "bring.test.yaml:3: 'pick' began, which it never should"),
        ("expect: {halted: [fetch]}", "bring.test.yaml:3: 'fetch' was never halted while it ran"),
        ("expect: {order: [place, fetch]}", "3: 'fetch' did not begin after 'place'"),
        ("expect: {begins: {fetch: 0}}", "3:1: [case 'it': expect: begins: fetch] 'fetch' has"),
        ("expect: {begins: {fetch: 0}}", "(name leaves below it: ['pick', 'place'])"),
        ("properties: [{never_both: [pick, pick]}]", "3:1: [case 'it': properties: 0: never_both]"),
        ("outcomes: {only: {outputs: {x: 1}}}", "no node 'only'"),
        ("outcomes: {place: {outputs: {x: 1}}}", "describe it in <TreeNodesModel>"),
        ("expect: {story: no/story.txt}", "bring.test.yaml:3: no/story.txt cannot be read"),
        ("properties: [{never: {pick: SUCCESS}}]", "at 0 s what must never be is"),
    ],
)
def test_what_is_not_as_expected_is_told_with_its_line(folder, capsys, case, text):
    told = failing(folder, capsys, f"    {case}\n")
    assert text in told


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("blackboard: {width: wide}", "entry 'width': "),
        ("events: [{at: 0, set: {width: wide}}]", "event at 0 s, entry 'width': "),
        ("events: [{at: 0, script: nothing = 1}]", "event at 0 s, script: "),
    ],
)
def test_a_value_that_does_not_fit_fails_its_case_and_the_others_run(folder, capsys, case, text):
    cases = f"cases:\n  wrong:\n    {case}\n  right:\n"
    (folder / "bring.test.yaml").write_text("outcomes: {pick: {outputs: {width: 1.0}}}\n" + cases)
    assert main(["test", "bring.test.yaml"]) == 1
    out = capsys.readouterr().out
    assert f"bring.test.yaml:3: {text}" in out
    assert "passed  bring.test.yaml: right" in out


def test_an_outcome_that_is_never_used_is_told(folder, capsys):
    (folder / "bring.test.yaml").write_text(
        "cases:\n  it:\n    outcomes:\n      pick: [{outputs: {width: 1}}, FAILURE]\n"
    )
    assert main(["test", "."]) == 0
    assert "bring.test.yaml:4: outcome 2 of 'pick' (FAILURE) was never used" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "cases: {a: {expct: SUCCESS}}",
            1,
            "unknown key 'expct' (did you mean 'expect' or 'explore'?)",
        ),
        ("cases:\n  a:\n  a:\n", 3, "'a' stands twice"),
        ("cases:\n  a: [1\n", 3, "is not YAML"),
        ("cases:\n  a:\n    outcomes: {pick: FAILED}", 3, "write one of SUCCESS, FAILURE"),
        ("cases:\n  a:\n    outcomes:\n      pick: {after: -1}", 4, "write a number from 0 on"),
        ("cases:\n  a:\n    outcomes:\n      pick: []", 4, "has no outcome"),
        ("cases:\n  a:\n    outcomes:\n      pick: {script: 'a :='}", 4, "is no script"),
        ("cases:\n  a:\n    limit: soon", 3, "write a number"),
        ("cases:\n  a:\n    events: [{halt: true}]", 3, "says no time"),
        ("cases:\n  a:\n    explore: {kinds: [BANG]}", 3, "write one of FAILURE, RUNNING"),
        ("cases:\n  a:\n    expect: {begins: {pick: many}}", 3, "write a whole number"),
        ("cases:\n  a:\n    expect: DONE", 3, "write one of SUCCESS"),
        ("cases:\n  a:\n    tree: brnig", 3, "no tree 'brnig' in bring.xml (did you mean 'bring'"),
        ("outcomes: {pikc: FAILURE}\ncases: {a: }", 1, "no node 'pikc' in the tree 'bring'"),
        ("tree: no.xml\ncases: {}", 1, "there is no file"),
        ("blackboard: {}", 1, "has no cases"),
        ("- a", 1, "write keys: tree"),
        ("tree: ''\ncases: {a: }", 1, "there is no file ."),
        ("tree: sub/no.xml\ncases: {a: }", 1, "there is no file sub/no.xml"),
        ("cases:\n\ta:", 2, "indent by spaces"),
        ("cases: {a: }\n---\ncases: {}", 2, "leave out the line '---'"),
        ("cases:\n  a: &x {limit: 1}\n  b: {<<: *x}", 3, "'<<' is not known here"),
        ("cases:\n  a:\n    events: [{at: 1}]", 3, "says nothing that happens"),
        ("cases:\n  a:\n    events: [{at: 1, halt: false}]", 3, "says nothing that happens"),
        ("cases:\n  a:\n    explore: {kinds: []}", 3, "is empty"),
        ("cases:\n  a:\n    explore: {leaves: []}", 3, "is empty"),
        ("cases:\n  a:\n    expect: {story: ''}", 3, "write the name of a file"),
        ("cases:\n  a:\n    outcomes: {pick: {status: SUCCESS, reason: it}}", 3, "it is SUCCESS"),
        ("cases:\n  a:\n    outcomes: {pick: {status: RUNNING, script: 'x:=1'}}", 3, "never ends"),
        ("cases:\n  a:\n    outcomes: {pick: {until: 1, times: 2}}", 3, "does not count beside"),
        ("cases:\n  a:\n    outcomes: {pick: {raises: x, reason: y}}", 3, "does not count beside"),
        ("cases:\n  a:\n    outcomes: {pick: {succeeds_if: 'x = 1'}}", 3, "compare by =="),
        ("cases:\n  a:\n    properties: [{always: 'width = 1'}]", 3, "compare by =="),
        ("cases:\n  a:\n    properties: [{never: '1 > (n += 1)'}]", 3, "compare by =="),
        ("cases:\n  a:\n    properties: [{always: {}}]", 3, "is empty, which always holds"),
        ("cases:\n  a:\n    properties: [{every_start_ends: {}}]", 3, "write true, or {within: "),
        ("cases:\n  a:\n    properties: [{every_start_ends: 3}]", 3, "write keys: within"),
        ("cases:\n  a:\n    properties: [{never_both: [pick]}]", 3, "names 1 nodes"),
    ],
)
def test_a_wrong_case_file_is_refused_with_its_line(folder, capsys, text, line, message):
    (folder / "bring.test.yaml").write_text(text)
    assert main(["test", "."]) == 2
    told = capsys.readouterr().err
    assert f"bring.test.yaml:{line}:" in told
    assert message in told


def test_all_that_is_wrong_is_told_at_once(folder):
    (folder / "bring.test.yaml").write_text("cases:\n  a: {x: 1}\n  b: {y: 1}\n")
    with pytest.raises(LoadError) as error:
        read_case_file(folder / "bring.test.yaml")
    assert [problem.line for problem in error.value.problems] == [2, 3]


def test_all_wrong_files_are_told_at_once(folder, capsys):
    for name in ("one", "two"):
        (folder / f"{name}.test.yaml").write_text("tree: bring.xml\ncases: {a: {x: 1}}\n")
    assert main(["test", "."]) == 2
    told = capsys.readouterr().err
    assert "one.test.yaml:2:" in told
    assert "two.test.yaml:2:" in told


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xff\xfe", "(write YAML in UTF-8)"),
        (b"cases: \x00", "unacceptable character #x0000"),
        (b"cases: " + b"[" * 3000, "is nested too deep"),
        (None, "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_line(folder, capsys, content, text):
    file = folder / "bring.test.yaml"
    file.unlink()
    if content is None:
        file.symlink_to(file)
    else:
        file.write_bytes(content)
    assert main(["test", "."]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bring.test.yaml: ")
    assert text in line


@pytest.mark.parametrize("form", ["[{}]", "{{x: {}}}", "!!pairs [x: {}]"])
def test_a_file_that_stands_for_more_than_it_looks_is_refused(folder, capsys, form):
    """Each line names the one before ten times: 10^9 values, of which memory has no room."""
    lines = ["a0: &a0 [x]"]
    for i in range(1, 10):
        many = "[" + ", ".join([f"*a{i - 1}"] * 10) + "]"
        lines.append(f"      a{i}: &a{i} {form.format(many)}")
    text = "tree: bring.xml\ncases:\n  a:\n    blackboard:\n      " + "\n".join(lines) + "\n"
    (folder / "bring.test.yaml").write_text(text)
    assert main(["test", "."]) == 2
    told = capsys.readouterr().err
    assert re.match(r"bring\.test\.yaml:\d+:\d*:? ", told)
    assert len(told) < 500


def test_an_alias_stands_for_what_it_names(folder, capsys):
    text = "tree: bring.xml\ncases:\n  a: &a {tree: part}\n  b: *a\n"
    (folder / "bring.test.yaml").write_text(text)
    assert main(["test", "."]) == 0
    assert "2 passed" in capsys.readouterr().out


def test_a_tree_may_lie_in_another_folder_and_its_cases_run_once(folder, capsys):
    (folder / "cases").mkdir()
    text = "tree: ../bring.xml\ncases: {a: {tree: part}}\n"
    (folder / "cases" / "bring.test.yaml").write_text(text)
    both = ["cases", str(folder / "cases"), "cases/bring.test.yaml"]
    assert main(["test", *both]) == 0
    assert "1 passed" in capsys.readouterr().out


def test_an_event_after_the_end_and_an_exploration_of_nothing_are_told(folder, capsys):
    (folder / "bring.test.yaml").write_text(
        "cases:\n  it:\n    tree: part\n    events:\n      - {at: 9, halt: true}\n"
        "    outcomes: {only: FAILURE}\n    expect: FAILURE\n    explore: {kinds: FAILURE}\n"
    )
    assert main(["test", "."]) == 0
    told = capsys.readouterr().out
    assert "bring.test.yaml:5: this event never happened: the run had ended at 0 s" in told
    assert "bring.test.yaml:8: nothing went wrong" in told


def test_nodes_get_plain_values(folder):
    cases = "cases: {a: {tree: part, blackboard: {l: [1, {k: [2]}], d: 2026-11-25, f: 1e-3}}}\n"
    (folder / "bring.test.yaml").write_text(cases)
    (case,) = read_case_file(folder / "bring.test.yaml").cases
    assert case.blackboard == {"l": [1, {"k": [2]}], "d": "2026-11-25", "f": 0.001}
    values = case.blackboard["l"], case.blackboard["l"][1], case.blackboard["l"][1]["k"]
    assert [type(each) for each in values] == [list, dict, list]


def test_each_case_whose_tree_is_missing_is_told(folder, capsys):
    cases = "cases:\n  a: {tree: brnig}\n  b: {tree: brnig}\n  c: {tree: fetsch}\n"
    (folder / "bring.test.yaml").write_text(cases)
    assert main(["test", "."]) == 2
    told = capsys.readouterr().err
    assert all(f"bring.test.yaml:{line}:" in told for line in (2, 3, 4))


def test_each_outcome_for_all_cases_that_means_no_node_is_told(folder, capsys):
    rules = "outcomes:\n  pikc: FAILURE\n  plaec: FAILURE\ncases: {a: }\n"
    (folder / "bring.test.yaml").write_text(rules)
    assert main(["test", "."]) == 2
    told = capsys.readouterr().err
    assert "no node 'pikc'" in told
    assert "no node 'plaec'" in told


@pytest.mark.parametrize("given", ["nowhere", "alone.xml", "bring.txt"])
def test_what_is_no_case_is_refused(folder, capsys, given):
    (folder / "alone.xml").write_text(TREE)
    (folder / "bring.txt").write_text("")
    assert main(["test", given]) == 2
    assert given in capsys.readouterr().err


def test_a_tree_that_cannot_be_loaded_is_told(folder, capsys):
    (folder / "bring.xml").write_text('<root BTCPP_format="4"><BehaviorTree ID="a"/></root>')
    assert main(["test", "."]) == 2
    assert "bring.xml:1:" in capsys.readouterr().err


def test_no_case_at_all(folder, capsys):
    (folder / "bring.test.yaml").unlink()
    assert main(["test", "."]) == 2
    assert "bring.xml: no cases" in capsys.readouterr().err


def test_coverage_of_a_tree_without_cases_counts_as_nothing(folder, capsys):
    (folder / "other.xml").write_text(TREE.replace("bring", "other"))
    assert main(["test", ".", "--threshold", "60"]) == 1
    told = capsys.readouterr().err
    assert "other.xml: no cases" in told
    assert "coverage of branches is 50.0 % (8/16), below 60 %" in told
    assert main(["test", ".", "--threshold", "50"]) == 0


def test_coverage_says_what_is_missing(folder, capsys):
    assert main(["test", ".", "-k", "well", "--coverage"]) == 0
    told = capsys.readouterr().out
    assert "bring.xml  " in told
    assert "  5: pick: FAILURE\n" in told
    assert "  6: place: FAILURE, _skipIf never true" in told
    assert "  10: only: never ticked" in told
    assert "37.5 % (3/8)" in told


def test_reports_are_well_formed(folder):
    assert main(["test", ".", "--junit", "j.xml", "--cobertura", "c.xml", "--html", "c.html"]) == 0
    (suite,) = ElementTree.parse(folder / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("6", "0")
    assert suite[1].get("name") == "a pick is repeated"
    assert "pick FAILURE" in suite[1].findtext("system-out")
    cobertura = ElementTree.parse(folder / "c.xml").getroot()
    assert cobertura.get("branch-rate") == "1.0000"
    lines = {line.get("number"): line for line in cobertura.iter("line")}
    assert lines["6"].get("condition-coverage") == "100% (4/4)"
    page = (folder / "c.html").read_text()
    assert "http" not in page, "it needs nothing else"
    assert "fetch" in page


def test_a_failed_case_is_a_failure_in_junit(folder):
    (folder / "bring.test.yaml").write_text("cases:\n  it:\n    outcomes: {pick: FAILURE}\n")
    assert main(["test", ".", "--junit", "j.xml"]) == 1
    failure = next(ElementTree.parse(folder / "j.xml").iter("failure"))
    assert "ended FAILURE, expected SUCCESS" in failure.get("message")


def test_stories_are_kept_and_compared(folder, capsys):
    (folder / "bring.test.yaml").write_text(
        "cases:\n  it:\n    blackboard: {width: 1}\n"
        "    outcomes: {pick: {outputs: {width: 1}}}\n    expect: {story: it.story.txt}\n"
    )
    assert main(["test", "."]) == 1
    assert "cannot be read: write it by --update" in capsys.readouterr().out
    assert main(["test", ".", "--update"]) == 0
    kept = (folder / "it.story.txt").read_text()
    assert kept == "    0.00  pick SUCCESS\n    0.00  place SUCCESS\n    0.00  = SUCCESS\n"
    assert main(["test", "."]) == 0
    (folder / "it.story.txt").write_text(kept.replace("place", "plaice"))
    assert main(["test", "."]) == 1
    assert "-    0.00  plaice SUCCESS" in capsys.readouterr().out


def test_a_story_is_printed_where_it_is_wanted(folder, capsys):
    assert main(["test", ".", "-k", "well", "--story"]) == 0
    assert "    0.00  pick SUCCESS" in capsys.readouterr().out


@pytest.mark.parametrize("given", ["900", "nan", "much"])
def test_a_threshold_is_a_percentage(folder, capsys, given):
    with pytest.raises(SystemExit) as ended:
        main(["test", ".", "--threshold", given])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert "percentage" in told.err
    assert told.out == "", "it is told before the cases run"


@pytest.mark.parametrize("given", [["--html", "no/c.html"], ["--junit", "."]])
def test_reports_that_cannot_be_written_are_told_before_the_cases_run(folder, capsys, given):
    assert main(["test", ".", *given]) == 2
    told = capsys.readouterr()
    assert f"{given[1]} cannot be written" in told.err
    assert told.out == ""


def test_a_story_that_cannot_be_written_fails_its_case(folder, capsys):
    text = "cases:\n  it:\n    tree: part\n    expect: {story: no/it.txt}\n"
    (folder / "bring.test.yaml").write_text(text)
    assert main(["test", ".", "--update"]) == 1
    assert "bring.test.yaml:4: no/it.txt cannot be written" in capsys.readouterr().out


def test_a_filter_that_no_case_passes_is_told(folder, capsys):
    assert main(["test", ".", "-k", "nothing like it"]) == 2
    assert "no case has 'nothing like it' in its name" in capsys.readouterr().err
