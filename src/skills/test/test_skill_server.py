# SPDX-License-Identifier: Apache-2.0
"""The table of skills: packages add theirs, a broken one does not take the others along."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fakes import context_of

pytest.importorskip("rclpy")
pytest.importorskip("behavior_msgs.action")

from behavior_skills.node import skill_server
from behavior_skills.node.skill_server import Part, SkillServer, skill_servers

ACTION = SimpleNamespace(Goal=object, Result=lambda: "result")
SERVICE = SimpleNamespace(Request=object, Response=lambda: "response")


def skill(name, interface=ACTION):
    return SkillServer(name=name, interface=interface, work=lambda goal: None)


@pytest.fixture
def offer(monkeypatch):
    """Lets packages offer something under names of entry points."""

    def offered(**packages):
        def point(name, what):
            def load():
                if isinstance(what, Exception):
                    raise what
                return what

            return SimpleNamespace(name=name, value=f"{name}.skills:SKILLS", load=load)

        points = [point(*package) for package in packages.items()]
        monkeypatch.setattr(skill_server, "entry_points", lambda group: points)

    return offered


def names_and_faults():
    faults = []
    return [one.name for one in skill_servers(faults.append)], faults


def test_the_suites_own_enter_by_the_door():
    names, faults = names_and_faults()
    assert not faults
    assert {"pick", "place", "move_arm", "screw", "look", "gripper"} <= set(names)
    assert {"sample_grasp", "sample_place_pose", "check_grasped", "check_placed"} <= set(names)
    assert "select_reachable" in names


PAGE = Path(__file__).parents[3] / "docs" / "skills.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested without its repository")
def test_the_skill_of_the_page_moves_the_arm(rig):
    (code,) = re.findall(r"```python\n(from behavior_msgs.*?)```", PAGE.read_text(), re.DOTALL)
    module = {}
    exec(code, module)
    (stow,) = module["SKILLS"]
    rig[0].q = rig[0].q + 0.2
    result = stow.work(SimpleNamespace(context=context_of(rig)))
    assert result.message == "The arm is stowed."
    assert rig[0].q == pytest.approx(rig[1].planner.robot.named["home"])


def test_packages_add_skills(offer):
    offer(b=[skill("wipe")], a=[skill("pick"), skill("count", SERVICE)])
    assert names_and_faults() == (["pick", "count", "wipe"], [])


def test_a_broken_package_is_named_and_the_others_are_there(offer):
    offer(a=ImportError("no module named a"), b=[skill("wipe")], c=7, d=["wipe"])
    names, faults = names_and_faults()
    assert names == ["wipe"]
    assert faults[0] == "skills of a (a.skills:SKILLS): ImportError: no module named a"
    assert faults[1].startswith("skills of c (c.skills:SKILLS): TypeError")
    assert faults[2].startswith("skills of d (d.skills:SKILLS): AttributeError")


def test_of_two_with_one_name_the_first_is_served_and_both_are_named(offer):
    first, second = skill("pick"), skill("pick")
    offer(a=[first], b=[second])
    faults = []
    assert skill_servers(faults.append) == [first]
    assert faults == ["skill pick of b.skills:SKILLS: a.skills:SKILLS has one of this name"]


def test_actions_and_services_are_told_apart():
    assert skill("pick").is_action
    assert skill("pick").answer() == "result"
    assert not skill("count", SERVICE).is_action
    assert skill("count", SERVICE).answer() == "response"
    assert {part.value for part in Part} == {"arm", "gripper"}
