# SPDX-License-Identifier: Apache-2.0
"""The table of skills: packages add theirs, a broken one does not take the others along."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fakes import context_of

pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")

from behavior_packages import Packages, read_manifest
from behavior_skills.node import arm_servers, skill_server
from behavior_skills.node.skill_server import skill_servers

PAGE = Path(__file__).parents[3] / "docs" / "skills.md"
CODE = """
from behavior_skills.node.arm_servers import PICK
from behavior_skills.node.step_servers import CHECK_GRASPED
"""


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Lets packages offer skills, each by the text of its manifest."""
    (tmp_path / "some_skills.py").write_text(CODE)
    (tmp_path / "broken_skills.py").write_text("import nothing_of_the_kind")
    monkeypatch.syspath_prepend(str(tmp_path))

    def offered(**manifests):
        found = []
        for name, text in manifests.items():
            file = tmp_path / f"{name}.yaml"
            file.write_text(text)
            found.append(read_manifest(name, file))
        monkeypatch.setattr(skill_server, "packages", lambda: Packages(found))

    return offered


def names_and_faults():
    faults = []
    return list(skill_servers(faults.append)), faults


def test_the_suites_own_enter_by_the_door():
    names, faults = names_and_faults()
    assert not faults
    assert {"pick", "place", "move_arm", "reach", "screw", "look", "gripper", "wait"} <= set(names)
    assert {"sample_grasp", "sample_place_pose", "check_grasped", "check_placed"} <= set(names)
    assert "select_reachable" in names


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested without its repository")
def test_the_skill_of_the_page_moves_the_arm(rig):
    (code,) = re.findall(r"```python\n(from behavior_msgs.*?)```", PAGE.read_text(), re.DOTALL)
    module = {}
    exec(code, module)
    rig[0].q = rig[0].q + 0.2
    result = module["STOW"].work(SimpleNamespace(context=context_of(rig)))
    assert result.message == "The arm is stowed."
    assert rig[0].q == pytest.approx(rig[1].planner.robot.named["home"])


def test_packages_add_skills(offer):
    offer(
        a="skills: {pick: 'some_skills:PICK'}",
        b="skills: {wipe: 'some_skills:PICK', count: 'some_skills:CHECK_GRASPED'}",
    )
    assert names_and_faults() == (["pick", "wipe", "count"], [])


def test_a_broken_package_is_named_and_the_others_are_there(offer):
    offer(
        a="skills: {drop: 'broken_skills:DROP'}",
        b="skills: {wipe: 'some_skills:PICK', what: 'some_skills:__name__'}",
    )
    names, faults = names_and_faults()
    assert names == ["wipe"]
    assert "a.yaml:1: broken_skills:DROP of a: " in faults[0]
    assert "No module named 'nothing_of_the_kind'" in faults[0]
    assert faults[1].endswith("b.yaml:1: some_skills:__name__ of b is no SkillServer")


def test_of_two_with_one_name_the_first_is_served_and_both_are_named(offer):
    offer(a="skills: {wipe: 'some_skills:PICK'}", b="skills: {wipe: 'some_skills:CHECK_GRASPED'}")
    faults = []
    assert skill_servers(faults.append) == {"wipe": arm_servers.PICK}
    assert re.fullmatch(
        r"skill 'wipe' is offered by a \(.*a\.yaml:1\) and b \(.*b\.yaml:1\)", faults[0]
    )


def test_actions_and_services_are_told_apart(offer):
    offer(a="skills: {wipe: 'some_skills:PICK', count: 'some_skills:CHECK_GRASPED'}")
    wipe, count = skill_servers(pytest.fail).values()
    assert wipe.is_action
    assert type(wipe.answer()).__name__ == "Pick_Result"
    assert not count.is_action
    assert type(count.answer()).__name__ == "CheckGrasped_Response"
