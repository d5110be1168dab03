# SPDX-License-Identifier: Apache-2.0
"""The tests of the py_trees interplay, run with every supported release.

The releases lie in the user's cache, where ``make setup`` of the suite puts them: no network here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import behavior_tree

VERSIONS = ("2.3.0", "2.4.0", "2.5.0", "2.6.0")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = CACHE / "behavior_suite" / "py_trees"
CODE = (
    "import sys, pytest, py_trees; print('py_trees from', py_trees.__file__);"
    " sys.exit(pytest.main(sys.argv[1:]))"
)


@pytest.mark.parametrize("version", VERSIONS)
def test_with_py_trees(version):
    release = FOLDER / version
    assert release.is_dir(), (
        f"py_trees {version} is not in {FOLDER}: run 'make setup' once with network, or pip "
        f"install --no-deps --target {release} py_trees=={version}"
    )
    package = Path(behavior_tree.__file__).parents[1]
    test = Path(__file__).with_name("test_py_trees.py")
    path = [str(release), str(package), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", CODE, "-q", "-p", "no:cacheprovider", str(test)],
        cwd=test.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"py_trees from {release}" in done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed.group(1)) >= 12
