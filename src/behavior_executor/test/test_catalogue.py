# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_executor.missions.mission import Code, MissionError

TREE = """<?xml version="1.0"?>
<!-- Wave at people.
     More words. -->
<root BTCPP_format="4" main_tree_to_execute="wave">
  <!-- not this one -->
  <BehaviorTree ID="wave"><AlwaysSuccess/></BehaviorTree>
  <BehaviorTree ID="other"><AlwaysSuccess/></BehaviorTree>
  <TreeNodesModel>
    <SubTree ID="wave">
      <input_port name="times" type="int" default="3">how often</input_port>
      <input_port name="speed" type="double" default="0.5"/>
      <input_port name="who">whom to greet</input_port>
      <input_port name="loud" type="bool" default="false"/>
      <output_port name="seen"/>
    </SubTree>
    <SubTree ID="other"><input_port name="x"/></SubTree>
  </TreeNodesModel>
</root>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wave_at.xml").write_text(TREE)
    (tmp_path / "plain.xml").write_text(
        '<root BTCPP_format="4"><BehaviorTree ID="P"><AlwaysSuccess/></BehaviorTree></root>'
    )
    (tmp_path / "broken.xml").write_text("<root>\n<oops></root>")
    (tmp_path / "subtrees").mkdir()
    (tmp_path / "subtrees" / "part.xml").write_text("<root/>")
    return tmp_path


def test_lists_what_is_there(folder: Path) -> None:
    catalogue = MissionCatalogue([folder, folder / "absent"])
    assert catalogue.names() == ["broken", "plain", "wave_at"]
    descriptions = {entry.name: entry.description for entry in catalogue.entries()}
    assert descriptions["wave_at"] == "Wave at people."
    assert descriptions["plain"] == ""
    assert "cannot be read" in descriptions["broken"]
    assert "line 2" in descriptions["broken"]


def test_new_file_counts_at_once(folder: Path) -> None:
    catalogue = MissionCatalogue([folder])
    (folder / "later.xml").write_text(TREE)
    assert catalogue.find("later").main_tree == "wave"


def test_unchanged_files_are_not_read_again_and_changed_ones_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue, file = MissionCatalogue([folder]), folder / "wave_at.xml"
    os.utime(file, (1e9, 1e9))
    reads = []
    monkeypatch.setattr(
        Path, "read_text", lambda path, **kw: reads.append(path) or path.read_bytes().decode()
    )
    for _ in range(3):
        assert catalogue.find("wave_at").description == "Wave at people."
    assert reads == [file]
    file.write_text(TREE.replace("Wave", "Bow"))
    assert catalogue.find("wave_at").description == "Bow at people."
    file.write_text(TREE.replace("Wave", "Nod"))
    assert catalogue.find("wave_at").description == "Nod at people.", "at once, same size"


@pytest.mark.parametrize("name", ["subtrees/part", "../wave_at", "x" * 300, "a\0b", "", ".", "*"])
def test_names_are_no_paths(folder: Path, name: str) -> None:
    with pytest.raises(MissionError) as error:
        MissionCatalogue([folder / "subtrees", folder]).find(name)
    assert error.value.code is Code.UNKNOWN_MISSION


def test_what_is_told_of_parameters_is_bounded(folder: Path) -> None:
    entry = MissionCatalogue([folder]).find("wave_at")
    with pytest.raises(MissionError) as error:
        entry.blackboard_values(
            {"who": "x", "times": "9" * 60_000} | {f"no{i}": "1" for i in range(250)}
        )
    assert "'no0'" in str(error.value)
    assert "and 241 more" in str(error.value)
    assert len(str(error.value)) < 2_000


def test_earlier_folder_wins(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "plain.xml").write_text(TREE)
    assert MissionCatalogue([other, folder]).find("plain").path == other / "plain.xml"


def test_unknown_mission_names_the_nearest(folder: Path) -> None:
    with pytest.raises(MissionError, match="did you mean 'wave_at'") as error:
        MissionCatalogue([folder]).find("wave_to")
    assert error.value.code is Code.UNKNOWN_MISSION
    with pytest.raises(MissionError, match="missions: broken, plain, wave_at"):
        MissionCatalogue([folder]).find("qqqq")
    with pytest.raises(MissionError, match="there are no missions"):
        MissionCatalogue([]).find("x")


@pytest.mark.parametrize("name", ["../wave_at", "subtrees/part", "", "wave_at.xml"])
def test_a_name_is_no_path(folder: Path, name: str) -> None:
    with pytest.raises(MissionError):
        MissionCatalogue([folder]).find(name)


def test_parameters_get_defaults_and_types(folder: Path) -> None:
    entry = MissionCatalogue([folder]).find("wave_at")
    assert [p.name for p in entry.parameters] == ["times", "speed", "who", "loud"]
    assert entry.parameters[0].description == "how often"
    values = entry.blackboard_values({"who": "you", "times": "5", "loud": "true"})
    assert values == {"who": "you", "times": 5, "speed": 0.5, "loud": True}


def test_all_wrong_parameters_are_told_at_once(folder: Path) -> None:
    entry = MissionCatalogue([folder]).find("wave_at")
    with pytest.raises(MissionError) as error:
        entry.blackboard_values({"time": "5", "speed": "nan", "times": "2.5", "loud": "maybe"})
    text = str(error.value)
    assert error.value.code is Code.INVALID_REQUEST
    for part in (
        "no parameter 'time'; did you mean 'times'",
        "'who' is missing (whom to greet)",
        "'speed': 'nan' is not of type double",
        "'times': '2.5' is not of type int",
        "'loud': 'maybe' is not of type bool",
    ):
        assert part in text


@pytest.mark.parametrize(("text", "fits"), [(2**63 - 1, True), (-(2**63), True), (2**63, False)])
def test_an_int_has_the_64_bits_of_the_engines(folder: Path, text: int, fits: bool) -> None:
    """More would be on the blackboard what no port, script or message takes."""
    entry = MissionCatalogue([folder]).find("wave_at")
    given = {"who": "you", "times": str(text)}
    if fits:
        assert entry.blackboard_values(given)["times"] == text
    else:
        with pytest.raises(MissionError, match=f"'times': {text} does not fit into 64 bits"):
            entry.blackboard_values(given)


def test_mission_without_declared_parameters_takes_any(folder: Path) -> None:
    assert MissionCatalogue([folder]).find("plain").blackboard_values({"a": "1"}) == {"a": "1"}


def test_single_files_come_before_folders(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "drive.xml").write_text("<root/>")
    (tmp_path / "drive.xml").write_text("<root/>")
    catalogue = MissionCatalogue([tmp_path / "trees"], [tmp_path / "drive.xml"])
    assert catalogue.find("drive").path == tmp_path / "drive.xml"
    assert catalogue.names() == ["drive"]
    with pytest.raises(MissionError, match=r"drive\.xml, .*trees"):
        catalogue.find("fly")


def test_missions_of_packages_are_told_apart_by_their_packages(tmp_path: Path) -> None:
    one, two, own = tmp_path / "one", tmp_path / "two", tmp_path / "own"
    for folder in (one, two, own):
        folder.mkdir()
        (folder / f"only_{folder.name}.xml").write_text(TREE)
    for folder in (one, two):
        (folder / "wave.xml").write_text(TREE)
    packages = [("first_package", one), ("second_package", two)]
    catalogue = MissionCatalogue([own], packages=packages)
    assert catalogue.names() == [
        "first_package/wave",
        "only_one",
        "only_own",
        "only_two",
        "second_package/wave",
    ]
    assert catalogue.find("second_package/wave").path == two / "wave.xml"
    assert catalogue.find("second_package/only_two").path == two / "only_two.xml"
    with pytest.raises(MissionError, match=r"first_package .* and second_package .*say which"):
        catalogue.find("wave")
    with pytest.raises(MissionError, match="no mission 'third_package/wave'"):
        catalogue.find("third_package/wave")
    (own / "wave.xml").write_text(TREE)
    assert catalogue.find("wave").path == own / "wave.xml"  # what somebody gives counts first
    assert "wave" in catalogue.names()


LIMITED = """<root BTCPP_format="4" main_tree_to_execute="dig">
  <BehaviorTree ID="dig"><AlwaysSuccess/></BehaviorTree>
  <TreeNodesModel>
    <SubTree ID="dig">
      <MetadataFields>
        <Metadata world="garden"/>
        <Metadata depth.minimum="0.1" depth.maximum="2"/>
        <Metadata tool.choices="spade;fork" what.of="objects"/>
        <Metadata holes.minimum="few"/>
      </MetadataFields>
      <input_port name="depth" type="double" default="0.5">how deep [m]</input_port>
      <input_port name="tool" type="std::string" default="spade">by what</input_port>
      <input_port name="what" type="std::string" default="">what is dug out</input_port>
      <input_port name="holes" type="int" default="1">how many</input_port>
    </SubTree>
  </TreeNodesModel>
</root>"""


def test_parameters_have_units_limits_choices_and_what_they_name(tmp_path: Path) -> None:
    (tmp_path / "dig.xml").write_text(LIMITED)
    entry = MissionCatalogue([tmp_path]).find("dig")
    depth, tool, what, _ = entry.parameters
    assert (depth.unit, depth.minimum, depth.maximum) == ("m", 0.1, 2.0)
    assert tool.choices == ("spade", "fork")
    assert what.of == "objects"
    assert entry.worlds == ("garden",)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"depth": "0.05"}, "'depth': 0.05 is less than 0.1"),
        ({"depth": "2.5"}, "'depth': 2.5 is more than 2"),
        ({"tool": "spoon"}, "'tool': 'spoon' is none of spade, fork"),
        (
            {},
            "'holes': 1 is less than nan",
        ),  # the file's limit is no number: nothing is let through
    ],
)
def test_values_beyond_their_limits_are_refused(
    tmp_path: Path, given: dict[str, str], why: str
) -> None:
    (tmp_path / "dig.xml").write_text(LIMITED)
    with pytest.raises(MissionError) as error:
        MissionCatalogue([tmp_path]).find("dig").blackboard_values(given)
    assert why in str(error.value)
    assert error.value.code is Code.INVALID_REQUEST


def test_values_at_their_limits_are_taken(tmp_path: Path) -> None:
    text = LIMITED.replace('holes.minimum="few"', 'holes.minimum="1"')
    (tmp_path / "dig.xml").write_text(text)
    values = (
        MissionCatalogue([tmp_path]).find("dig").blackboard_values({"depth": "2", "tool": "fork"})
    )
    assert values == {"depth": 2.0, "tool": "fork", "what": "", "holes": 1}
