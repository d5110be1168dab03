# SPDX-License-Identifier: Apache-2.0
"""One episode of ``benchmarks/scene_occlusion.py``: camera, detector, scene and a real grasp."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from behavior_sim.cameras.camera_process import CameraError

PROGRAM = Path(__file__).resolve().parents[3] / "benchmarks/scene_occlusion.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scene_occlusion", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_hand_drags_the_middle_along_unless_it_is_frozen(program: ModuleType) -> None:
    by_name = {variant.name: variant for variant in program.VARIANTS}
    names = ("middle of shape", "middle of shape, frozen", "fitted shape")
    try:
        results = program.run_all(1, variants=[by_name[name] for name in names])
    except CameraError as error:
        pytest.skip(f"no OpenGL here: {error}")
    live, frozen, fitted = (results[by_name[name]][0] for name in names)
    assert live.drag > program.FAR, "what is seen of the block has another middle"
    assert live.offset > program.FAR, "and the fingers go down beside the block's"
    assert frozen.drag == 0.0, "a frozen block does not move"
    assert frozen.offset < program.NEAR
    assert frozen.held
    assert fitted.offset < program.NEAR, "the faces stay where they are"
    assert fitted.held
