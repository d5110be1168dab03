# SPDX-License-Identifier: Apache-2.0
"""A world that cannot be used is told in a sentence."""

import pytest
import yaml

from behavior_ros import ParameterError
from behavior_sim.worlds.world_parameter import world_of


@pytest.mark.slow
def test_a_world_without_cameras(tmp_path):
    blind = yaml.safe_load(world_of("door").text)
    del blind["cameras"]
    path = tmp_path / "blind.yaml"
    path.write_text(yaml.safe_dump(blind))
    assert world_of(str(path)).name == "door"
    with pytest.raises(ParameterError, match="world door has no cameras; describe some"):
        world_of(str(path), cameras=True)
    assert world_of("block_stacking", cameras=True).cameras


def test_a_wrong_description_names_file_and_key(tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text("name: odd\n")
    with pytest.raises(ParameterError, match=r"parameter world: .*odd\.yaml: robot: expected"):
        world_of(str(path))


def test_no_such_world():
    with pytest.raises(FileNotFoundError, match="atlantis"):
        world_of("atlantis")
