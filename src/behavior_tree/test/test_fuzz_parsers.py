# SPDX-License-Identifier: Apache-2.0
"""A short run of ``benchmarks/fuzz_tree_parsers.py``; the long ones are started by hand."""

import importlib.util
import signal
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "benchmarks/fuzz_tree_parsers.py"


@pytest.mark.skipif(not PROGRAM.exists(), reason="the package is tested alone")
@pytest.mark.parametrize("target", ["XmlTarget", "ScriptTarget"])
def test_mutated_inputs_do_no_harm(target, tmp_path):
    spec = importlib.util.spec_from_file_location("fuzz_tree_parsers", PROGRAM)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    kept = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGPROF)}
    program.watch()
    try:
        figures = program.fuzz(getattr(program, target)(), 1.5, 3, tmp_path)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    assert figures["bad"] == 0, list(tmp_path.iterdir())
    assert figures["inputs"] > 20
    assert len(figures["outcomes"]) > 1
