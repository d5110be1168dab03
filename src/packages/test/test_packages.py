# SPDX-License-Identifier: Apache-2.0
"""What packages offer: found in the ament index and under pip, shadowed, ambiguous, broken."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from behavior_packages import PackageError, Packages, packages, read_manifest
from behavior_packages.extended_file import FileError, read_extended


def install(prefix: Path, name: str, manifest: str, *files: str) -> Path:
    """A package in an install prefix."""
    share = prefix / "share" / name
    share.mkdir(parents=True)
    (share / "behavior.yaml").write_text(manifest)
    for file in files:
        (share / file).parent.mkdir(parents=True, exist_ok=True)
        (share / file).write_text("")
    index = prefix / "share/ament_index/resource_index/behavior_packages"
    index.mkdir(parents=True, exist_ok=True)
    (index / name).write_text("")
    return share


@pytest.fixture(autouse=True)
def nothing_by_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite's own packages have entry points too."""
    monkeypatch.setattr("behavior_packages.entry_points", lambda group: [])


def found(monkeypatch: pytest.MonkeyPatch, *prefixes: Path) -> Packages:
    monkeypatch.setenv("AMENT_PREFIX_PATH", ":".join(map(str, prefixes)))
    return packages()


def test_files_and_code_are_offered_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "worlds: [config]\nmanagers: {speaker: 'json.decoder:JSONDecoder'}\n"
    share = install(tmp_path, "a_package", text, "config/kitchen.yaml", "config/read.me")
    offers = found(monkeypatch, tmp_path)
    assert [(o.name, o.package) for o in offers.offers("worlds")] == [("kitchen", "a_package")]
    assert offers.find("worlds", "kitchen").value == str(share / "config/kitchen.yaml")
    assert offers.find("worlds", "a_package/kitchen").place == f"{share}/behavior.yaml:1"
    assert offers.find("managers", "speaker").load().__name__ == "JSONDecoder"
    with pytest.raises(PackageError, match="no world 'kitchn': choose one of kitchen"):
        offers.find("worlds", "kitchn")


def test_files_that_are_added_are_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = install(tmp_path, "a_package", "trees: [trees]", "trees/first.xml")
    offers = found(monkeypatch, tmp_path)
    (share / "trees" / "second.xml").write_text("")
    (share / "trees" / ".#second.xml").symlink_to("ann@desk.4711")  # while it is edited
    assert offers.names("trees") == ["first", "second"]


def test_a_manifest_that_is_edited_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = install(tmp_path, "a_package", "trees: [trees]", "trees/first.xml")
    assert found(monkeypatch, tmp_path).names("worlds") == []
    (share / "behavior.yaml").write_text("trees: [trees]\nworlds: [w]\n")
    assert "there is no folder" in found(monkeypatch, tmp_path).problems[0]
    (share / "w").mkdir()
    (share / "w" / "kitchen.yaml").write_text("")
    offers = found(monkeypatch, tmp_path)
    assert offers.problems == []
    assert offers.names("worlds") == ["kitchen"]


def test_an_overlay_shadows_the_package_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over, under = tmp_path / "over", tmp_path / "under"
    share = install(over, "a_package", "worlds: [w]", "w/kitchen.yaml")
    install(under, "a_package", "worlds: [w]", "w/kitchen.yaml", "w/cellar.yaml")
    offers = found(monkeypatch, over, under)
    assert offers.names("worlds") == ["kitchen"]
    assert offers.find("worlds", "kitchen").value == str(share / "w/kitchen.yaml")


def test_a_name_of_two_packages_is_an_error_that_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        install(tmp_path, name, "worlds: [w]", "w/kitchen.yaml", f"w/{name}.yaml")
    offers = found(monkeypatch, tmp_path)
    with pytest.raises(PackageError, match=r"'kitchen'.* one \(.*:1\) and two \(.*:1\).*one/kitch"):
        offers.find("worlds", "kitchen")
    assert offers.find("worlds", "two/kitchen").package == "two"
    assert offers.names("worlds") == ["one", "one/kitchen", "two", "two/kitchen"]


def test_which_one_counts_where_nobody_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "one", "worlds: [w]\ndefaults: {worlds: kitchen}", "w/kitchen.yaml")
    offers = found(monkeypatch, tmp_path)
    assert offers.problems == []
    assert offers.default("worlds") == "kitchen"
    with pytest.raises(PackageError, match="no package says which robot is the default"):
        offers.default("robots")
    other = tmp_path / "other"
    install(other, "two", "defaults: {worlds: cellar}")
    with pytest.raises(PackageError, match=r"default 'world' .* one \(.*:2\) and two \(.*:1\)"):
        found(monkeypatch, tmp_path, other).default("worlds")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trees: [trees\n", "behavior.yaml:2: is not YAML"),
        ("- trees\n", "behavior.yaml:1: must hold keys"),
        ("defaults: [kitchen]\n", "behavior.yaml:1: defaults must be KIND: NAME"),
        ("defaults: {wrld: kitchen}\n", "behavior.yaml:1: defaults: no kind 'wrld': trees"),
        ("\ntress: [w]\n", "behavior.yaml:2: 'tress' is nothing to offer: trees"),
        ("worlds: w\n", "behavior.yaml:1: worlds must be a list"),
        ("worlds: [{a: b}]\n", "behavior.yaml:1: worlds must be a list"),
        ("worlds:\n- w\n- absent\n", "behavior.yaml:3: worlds: there is no folder"),
        ("nodes: [absent.yaml]\n", "behavior.yaml:1: nodes: there is no file"),
        ("managers: [a]\n", "behavior.yaml:1: managers must be NAME: module:attribute"),
        ("tree_nodes:\n  - my-jobs\n", "behavior.yaml:2: tree_nodes: 'my-jobs' must be written"),
        ("!!python/object/apply:os.getcwd []\n", "behavior.yaml:1: must hold keys"),
        ("worlds: !!python/name:os.sep x\n", "behavior.yaml:1: worlds must be a list"),
        ("worlds:\n- w\n- \x07\n", "behavior.yaml:3: is not YAML: unacceptable character #x0007"),
        ("[" * 5000, "behavior.yaml:1: is not YAML: lists and mappings stand more than 100 deep"),
        (f"worlds: [{'w' * 5000}]\n", "behavior.yaml:1: worlds: there is no folder"),
    ],
)
def test_a_broken_manifest_is_told_with_its_line_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    install(tmp_path, "broken", text, "w/cellar.yaml")
    install(tmp_path, "good", "worlds: [w]", "w/kitchen.yaml")
    offers = found(monkeypatch, tmp_path)
    (problem,) = offers.problems
    assert words in problem
    assert "kitchen" in offers.names("worlds")


def test_a_name_that_one_package_offers_twice_cannot_be_told_apart_by_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "one", "worlds: [w, x]", "w/kitchen.yaml", "x/kitchen.yaml")
    with pytest.raises(
        PackageError, match=r"give .*w/kitchen\.yaml and .*x/kitchen\.yaml different names"
    ):
        found(monkeypatch, tmp_path).find("worlds", "one/kitchen")


def test_a_file_that_extends_what_is_not_there_or_not_clear_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        install(tmp_path, name, "worlds: [w]", "w/kitchen.yaml")
    found(monkeypatch, tmp_path)
    file = tmp_path / "own.yaml"
    file.write_text("extends: kitchen\n")
    with pytest.raises(
        FileError, match=r"own\.yaml: extends: world 'kitchen' .* one .* two .* as in one/kitchen"
    ):
        read_extended(file, "worlds")
    file.write_text("extends: kitchn\n")
    with pytest.raises(
        FileError, match=r"own\.yaml: extends: .*kitchn\.yaml.* no world 'kitchn': .*one/kitchen"
    ):
        read_extended(file, "worlds")


def test_a_manifest_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (install(tmp_path, "gone", "") / "behavior.yaml").unlink()
    (problem,) = found(monkeypatch, tmp_path).problems
    assert "gone" in problem
    assert "No such file" in problem


def test_broken_code_is_told_with_both_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code_with_a_fault.py").write_text("import os\n\nos.no_such_thing\n")
    (tmp_path / "code_that_is_none.py").write_text("x = = 1\n")
    (tmp_path / "code_that_exits.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "behavior.yaml").write_text(
        "tree_nodes: ['code_with_a_fault:f', 'code_that_is_none:f', 'no_such_code:f',"
        " 'code_that_exits:f']\n"
    )
    package = read_manifest("broken", tmp_path / "behavior.yaml")
    fault, syntax, absent, exits = package.offers("tree_nodes")
    with pytest.raises(PackageError, match=r"behavior\.yaml:1: .*code_with_a_fault\.py:3: Attr"):
        fault.load()
    with pytest.raises(PackageError, match=r"code_that_is_none\.py:1: SyntaxError"):
        syntax.load()
    with pytest.raises(PackageError, match="ModuleNotFoundError: No module named 'no_such_code'"):
        absent.load()
    with pytest.raises(PackageError, match=r"code_that_exits\.py:2: SystemExit: 3"):
        exits.load()


def test_code_of_a_kind_is_loaded_and_what_is_broken_or_doubled_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "one", "vda5050_actions: {beep: 'json:loads', honk: 'no_such_code:f'}")
    install(tmp_path, "two", "vda5050_actions: {beep: 'json:dumps', wave: 'json:dumps'}")
    told: list[str] = []
    loaded = found(monkeypatch, tmp_path).load_all("vda5050_actions", told.append)
    assert [(offer.name, code.__name__) for offer, code in loaded] == [
        ("beep", "loads"),
        ("wave", "dumps"),
    ]
    assert "No module named 'no_such_code'" in told[0]
    assert "vda5050 action 'beep' is offered by one (" in told[1]


def by_pip(site: Path, name: str, *, module: str = "", record: str = "") -> None:
    """What pip writes down of a package with an entry point."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[behavior_packages]\n{name} = {module or name}\n")
    (info / "RECORD").write_text(record)


def test_pip_makes_packages_known_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip links a checkout, and as it installs a wheel that holds its manifest."""
    monkeypatch.setattr("behavior_packages.entry_points", importlib.metadata.entry_points)
    for name, manifest in (("linked_jobs", "."), ("held_jobs", "held_jobs")):
        site = tmp_path / name
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text("")
        (site / manifest / "behavior.yaml").write_text("trees: [trees]")
        (site / manifest / "trees").mkdir()
        (site / manifest / "trees" / f"{name}.xml").write_text("")
        by_pip(site, name)
        monkeypatch.syspath_prepend(str(site))
    offers = found(monkeypatch, tmp_path / "no_prefix")
    assert {"linked_jobs", "held_jobs"} <= set(offers.names("trees"))


def test_what_pip_installs_elsewhere_is_found_and_broken_code_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``pip install --user`` and ``--target``; a folder without __init__.py; one that exits."""
    monkeypatch.setattr("behavior_packages.entry_points", importlib.metadata.entry_points)
    site, share = tmp_path / "lib" / "site-packages", tmp_path / "share" / "user_jobs"
    for folder in (site / "user_jobs", site / "bare_jobs", site / "exiting_jobs", share):
        folder.mkdir(parents=True)
        (folder / "trees").mkdir()
    (site / "user_jobs" / "__init__.py").write_text("")
    (site / "exiting_jobs" / "__init__.py").write_text("import sys\nsys.exit(3)\n")
    for folder, name in ((share, "user_jobs"), (site / "bare_jobs", "bare_jobs")):
        (folder / "behavior.yaml").write_text("trees: [trees]")
        (folder / "trees" / f"{name}.xml").write_text("")
    record = "user_jobs/__init__.py,,\n../../share/user_jobs/behavior.yaml,,\n"
    by_pip(site, "user_jobs", record=record)
    by_pip(site, "bare_jobs")
    by_pip(site, "exiting_jobs", module="exiting_jobs.deep")
    monkeypatch.syspath_prepend(str(site))
    offers = found(monkeypatch, tmp_path / "nowhere")
    assert {"user_jobs", "bare_jobs"} <= set(offers.names("trees"))
    assert any("exiting_jobs" in problem for problem in offers.problems)
