# SPDX-License-Identifier: Apache-2.0
"""Projects of Groot2 become one tree file."""

import pytest

from behavior_tree import BehaviorTreeError
from behavior_tree.cli import main
from behavior_tree.importing import import_groot

MODELS = '<TreeNodesModel><Action ID="Own"><input_port name="x"/></Action></TreeNodesModel>'


def tree(tree_id, body, main_tree=""):
    named = f' main_tree_to_execute="{main_tree}"' if main_tree else ""
    return (
        f'<root BTCPP_format="4"{named}><BehaviorTree ID="{tree_id}">{body}</BehaviorTree></root>'
    )


@pytest.fixture
def project(tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees/main.xml").write_text(tree("Main", '<SubTree ID="Part"/>', "Main"))
    (tmp_path / "trees/part.xml").write_text(tree("Part", '<Own x="5"/>'))
    path = tmp_path / "job.btproj"
    includes = '<include path="trees/main.xml"/><include path="trees/part.xml"/>'
    path.write_text(f'<root BTCPP_format="4" project_name="job">{includes}{MODELS}</root>')
    return path


def test_a_project_is_one_file_that_includes_all(project, capsys):
    out = project.parent / "elsewhere"
    out.mkdir()
    assert main(["import", str(project), "-o", str(out / "job.xml")]) == 0
    text = (out / "job.xml").read_text()
    assert '<include path="../trees/main.xml" />' in text
    assert 'main_tree_to_execute="Main"' in text
    capsys.readouterr()
    assert main(["check", str(out / "job.xml")]) == 0
    assert main(["run", str(out / "job.xml")]) == 0


def test_a_missing_file_is_named(project):
    (project.parent / "trees/part.xml").unlink()
    with pytest.raises(BehaviorTreeError, match=r"no such files: .*part\.xml"):
        import_groot(project, project)


def test_a_tree_file_of_the_project_is_not_written_over(project, capsys):
    main_file = project.parent / "trees/main.xml"
    before = main_file.read_text()
    assert main(["import", str(project), "-o", str(main_file), "--force"]) == 1
    assert "is one of the project's tree files" in capsys.readouterr().err
    assert main_file.read_text() == before


def test_without_a_main_tree_that_is_told(project):
    (project.parent / "trees/main.xml").write_text(tree("Main", '<SubTree ID="Part"/>'))
    (note,) = import_groot(project, project).notes
    assert "set main_tree_to_execute" in note


@pytest.mark.parametrize("text", ["<root/>", "<other/>", "no xml"])
def test_what_is_no_project_is_refused(tmp_path, text):
    path = tmp_path / "x.btproj"
    path.write_text(text)
    with pytest.raises(BehaviorTreeError):
        import_groot(path, path)


def test_line_breaks_in_attributes_of_its_own_trees_and_models_are_kept(tmp_path):
    path = tmp_path / "job.btproj"
    model = '<input_port name="x" default="a&#10;b">says\nmore</input_port>'
    path.write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="Main"><Script code="x := \'two\nlines\'"/>'
        f'</BehaviorTree><TreeNodesModel><Action ID="Own">{model}</Action></TreeNodesModel></root>'
    )
    text = import_groot(path, tmp_path / "job.xml").xml
    assert """code="x := 'two&#10;lines'\"""" in text
    assert model in text
