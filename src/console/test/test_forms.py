# SPDX-License-Identifier: Apache-2.0
"""Forms of missions, and what the executor refuses at their fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from behavior_console.forms import forms, problems_of
from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_executor.missions.mission import MissionError

DIG = """<!-- Dig holes. -->
<root BTCPP_format="4" main_tree_to_execute="dig">
  <BehaviorTree ID="dig"><AlwaysSuccess/></BehaviorTree>
  <TreeNodesModel><SubTree ID="dig">
    <MetadataFields><Metadata world="garden"/>
      <Metadata depth.minimum="0.1" depth.maximum="2" tool.choices="spade;fork"
                what.of="objects" holes.minimum="few"/></MetadataFields>
    <input_port name="depth" type="double" default="0.5">how deep [m]</input_port>
    <input_port name="tool" type="std::string" default="spade">by what</input_port>
    <input_port name="what" type="std::string">what is dug out: a;b</input_port>
    <input_port name="holes" type="int" default="1">how many</input_port>
  </SubTree></TreeNodesModel>
</root>"""


@pytest.fixture
def catalogue(tmp_path: Path) -> MissionCatalogue:
    (tmp_path / "dig.xml").write_text(DIG)
    return MissionCatalogue([tmp_path])


def test_a_form_has_types_units_defaults_limits_and_choices(catalogue: MissionCatalogue) -> None:
    (row,) = forms({"dig": "Dig holes."}, catalogue.entries(), world="garden")
    assert (row["name"], row["description"], row["why_not"]) == ("dig", "Dig holes.", "")
    depth, tool, what, holes = row["parameters"]
    assert depth == {
        "name": "depth",
        "type": "double",
        "unit": "m",
        "description": "how deep [m]",
        "default": "0.5",
        "minimum": 0.1,
        "maximum": 2.0,
        "choices": [],
        "of": "",
    }
    assert tool["choices"] == ["spade", "fork"]
    assert (what["default"], what["of"]) == (None, "objects")
    assert holes["minimum"] is None  # NaN is no JSON
    json.dumps(row, allow_nan=False)


def test_missions_of_other_machines_and_worlds_are_marked(catalogue: MissionCatalogue) -> None:
    here, elsewhere = forms({"dig": "", "sow": "Sow."}, catalogue.entries(), world="kitchen")
    assert here["why_not"] == "it is made for the world garden"
    assert elsewhere["parameters"] is None
    assert elsewhere["why_not"] == ""


def test_what_the_executor_refuses_goes_to_its_fields(catalogue: MissionCatalogue) -> None:
    with pytest.raises(MissionError) as error:
        catalogue.find("dig").blackboard_values({"depth": "5", "tool": "a; b", "hole": "1"})
    problems = problems_of(str(error.value))
    assert problems["depth"] == "5 is more than 2"
    assert problems["tool"] == "'a; b' is none of spade, fork"
    assert problems["what"].startswith("it must be given (what is dug out")
    assert "hole" not in problems  # it is no field


def test_other_sentences_are_of_no_field() -> None:
    assert problems_of("no mission 'dig'; did you mean 'dug'?") == {}
