# SPDX-License-Identifier: Apache-2.0
"""The rules that hold for the whole repository."""

import ast
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from behavior_packages import packages

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = sorted(file.parent for file in REPOSITORY.glob("src/*/setup.py"))
NAMES = [next(folder.glob("behavior_*/__init__.py")).parent.name for folder in PACKAGES]


def tracked(*patterns):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [
        REPOSITORY / name for name in listed.split("\0") if name and (REPOSITORY / name).exists()
    ]


def check(*command):
    """Run a command as a shell would that nobody has activated."""
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=850,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


HOOKS = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]


@pytest.mark.timeout(900)  # mypy reads everything, and in a new checkout for the first time
@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_what_is_checked_before_a_commit_is_good(hook):
    """The hooks are the one list of checks: here they run on everything."""
    assert (hook["language"], hook["pass_filenames"]) == ("system", False)
    check(*shlex.split(hook["entry"]))


@pytest.mark.slow
def test_no_code_names_what_packages_offer():
    """Robots, worlds and jobs are known by configuration alone."""
    kinds = ("robots", "worlds", "navigation_worlds", "judges")
    offered = {offer.name for kind in kinds for offer in packages().offers(kind)}
    assert {"panda", "warehouse", "stack_blocks"} <= offered
    quoted = re.compile(f"""["'](?:{"|".join(offered)})["']""")
    named = [
        f"{file}:{node.lineno}: {node.value}"
        for package, name in zip(PACKAGES, NAMES, strict=True)
        if name not in ("behavior_jobs", "behavior_navigation")
        for file in (package / name).rglob("*.py")
        if quoted.search(file.read_text())
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and node.value in offered
    ]
    assert named == []


def test_the_checks_are_known():
    assert [hook["id"] for hook in HOOKS] == ["ruff", "ruff-format", "mypy", "import-linter"]


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        ("ruff", "import os\n"),
        ("ruff-format", "x = [1,2]\n"),
        ("mypy", "def f(x):\n    return x\n"),
    ],
)
def test_a_fault_is_noticed(hook, text, tmp_path):
    (tmp_path / "fault.py").write_text(text)
    (entry,) = (each["entry"] for each in HOOKS if each["id"] == hook)
    program, *words = shlex.split(entry)
    config = ["--config-file", str(REPOSITORY / "mypy.ini")] if hook == "mypy" else []
    done = subprocess.run(
        [REPOSITORY / program, *words, *config, "fault.py"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1


def test_every_source_file_names_its_licence():
    bare = [
        file
        for file in tracked("*.py", "Makefile", "activate", ".ci/run")
        if "SPDX-License-Identifier: Apache-2.0" not in file.read_text()[:200]
    ]
    assert bare == []


MAYBE_PRIVATE = re.compile(
    r"^\s*from behavior_(?:\S*\._|\S+ import (?:\([^)]*|.*)\b_[a-z])", re.MULTILINE
)


@pytest.mark.slow
def test_nobody_imports_private_modules_of_another_package():
    offences = []
    for folder, name in zip(PACKAGES, NAMES, strict=True):
        for file in folder.rglob("*.py"):
            text = file.read_text()
            if not MAYBE_PRIVATE.search(text):
                continue  # to parse all files takes seconds
            for node in ast.walk(ast.parse(text)):
                module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                parts = module.split(".")
                if parts[0] in NAMES and parts[0] != name:
                    private = [part for part in parts[1:] if part.startswith("_")]
                    private += [a.name for a in node.names if re.match(r"_[a-z]", a.name)]
                    offences += [f"{file}:{node.lineno} {module} {private}"] if private else []
    assert offences == []


def test_no_source_holds_a_path_of_this_machine():
    found = [
        file
        for file in tracked("*.py", "*.yaml", "*.xml", "*.md", "*.rviz", "*.txt")
        if re.search(r"/work/main|/root/|/tmp/(env|contracts|conventions)", file.read_text())
        and file != Path(__file__).resolve()
    ]
    assert found == []


def test_how_property_tests_draw_is_said_once():
    """By `behavior_workspace.pytest_plugin`: `make fuzz` cannot undo what a test says itself."""
    found = [
        str(file.relative_to(REPOSITORY))
        for file in tracked("src/*/test/*.py")
        if re.search(r"derandomize|register_profile|load_profile", file.read_text())
    ]
    assert found == []


UNSEEN_SOURCES = re.compile(
    r"\bspecs/|\bshared/|\bDESIGN\.md|\b(?:facts|specification|scenarios?|card) [A-Z]\d"
    r"|\([A-C]\d+\.\d+\)|\bof the facts\b|\bthe user's card\b"
)


def test_text_cites_only_what_a_reader_can_find():
    """Rules stand where they are kept; a source is a file of the repository or a public one."""
    kinds = ("*.py", "*.yaml", "*.xml", "*.md", "*.rst", "*.msg", "*.srv", "*.action")
    texts = {file: file.read_text() for file in tracked(*kinds) if file != Path(__file__)}
    found = [
        f"{file.relative_to(REPOSITORY)}: {match[0]}"
        for file, text in texts.items()
        for match in UNSEEN_SOURCES.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda folder: folder.name)
def test_package_manifest_is_complete(folder):
    manifest = ElementTree.parse(folder / "package.xml").getroot()
    assert manifest.get("format") == "3"
    assert manifest.findtext("license") == "Apache-2.0"
    name = manifest.findtext("name")
    assert (folder / "resource" / name).exists()
    for file in (f"{name}/py.typed", "CHANGELOG.rst", "QUALITY_DECLARATION.md", "setup.cfg"):
        assert (folder / file).exists(), file
    declared = {element.text for element in manifest if element.tag.endswith("depend")}
    used = {
        other
        for file in (folder / name).rglob("*.py")
        for other in re.findall(r"^\s*(?:from|import) (behavior_\w+)", file.read_text(), re.M)
        if other != name
    }
    assert used <= declared


def test_readme_commands_exist():
    """What the README tells people to type is a make target or a verb of `behavior`."""
    readme = (REPOSITORY / "README.md").read_text()
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.M))
    assert set(re.findall(r"^make ([a-z]+)", readme, re.M)) <= targets
    told = subprocess.run(
        [sys.executable, "-m", "behavior_bringup", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    ).stdout
    for verb in set(re.findall(r"^behavior ([a-z]+)", readme, re.M)):
        assert re.search(rf"\b{verb}\b", told), verb


WEB_SERVERS = re.compile(
    r"^\s*(?:from|import) (?:http\.server|socketserver|wsgiref|aiohttp|tornado|uvicorn|websockets"
    r"|pycrdt_websocket)\b",
    re.MULTILINE,
)


def test_web_servers_ask_who_may_use_them():
    """A page of any other server can reach a server on this machine: see docs/security.md."""
    servers = [
        file
        for file in tracked("src/*/behavior_*/*.py", "src/*/behavior_*/**/*.py")
        if WEB_SERVERS.search(file.read_text())
    ]
    assert servers, "the console's server is not found: this test looks for the wrong thing"
    open_ones = [
        str(file.relative_to(REPOSITORY))
        for file in servers
        if "from behavior_ros.web_access import" not in file.read_text()
    ]
    assert not open_ones, f"ask behavior_ros.web_access there: {open_ones}"
