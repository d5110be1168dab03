# SPDX-License-Identifier: Apache-2.0
"""Reports of cases and coverage: for the terminal, JUnit and Cobertura XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from behavior_tree.shown_text import visible
from behavior_tree.testing.case_run import CaseResult
from behavior_tree.testing.coverage import METRICS, Coverage, NodeCoverage

Results = Mapping[Path, Sequence[CaseResult]]
"""By case file."""


def coverage_table(coverage: Coverage) -> list[str]:
    """A line for each file and one for all; below each what is missing."""
    files = coverage.files
    width = max([len(file) for file in files] + [5])
    lines = [f"{'':{width}}" + "".join(f"{metric:>22}" for metric in METRICS)]
    for file in files:
        lines.append(_row(coverage, file, file, width))
        lines += [
            f"  {node.place[1]}: {node.name}: {', '.join(node.missing())}"
            for node in coverage.in_file(file)
            if node.missing() and (node.is_leaf or node.conditions or not node.results)
        ]
    return [*lines, _row(coverage, None, "all", width)]


def _row(coverage: Coverage, file: str | None, title: str, width: int) -> str:
    cells = [str(coverage.ratio(metric, file)) for metric in METRICS]
    return f"{title:{width}}" + "".join(f"{cell:>22}" for cell in cells)


def junit_xml(results: Results) -> str:
    """What continuous integration reads: a suite for each case file."""
    root = ElementTree.Element("testsuites")
    for file, cases in results.items():
        failed = sum(bool(each.failures) for each in cases)
        seconds = sum(each.seconds for each in cases)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=str(file),
            tests=str(len(cases)),
            failures=str(failed),
            errors="0",
            skipped="0",
            time=f"{seconds:.3f}",
        )
        for each in cases:
            _junit_case(suite, file, each)
    return _document(root)


def _junit_case(suite: ElementTree.Element, file: Path, result: CaseResult) -> None:
    element = ElementTree.SubElement(
        suite,
        "testcase",
        classname=str(file),
        name=visible(result.case.name),
        file=str(file),
        line=str(result.case.part.line),
        time=f"{result.seconds:.3f}",
    )
    if result.failures:
        said = visible("\n".join(result.failures), 100_000, lines=True)
        failure = ElementTree.SubElement(element, "failure", message=said.partition("\n")[0])
        failure.text = said
    if result.run is not None:
        told = [*result.notes, str(result.run)]
        out = ElementTree.SubElement(element, "system-out")
        out.text = visible("\n".join(told), 1_000_000, lines=True)


def cobertura_xml(coverage: Coverage) -> str:
    """What viewers of coverage read: the lines of elements, with their branches."""
    nodes, branches = coverage.ratio("nodes"), coverage.ratio("branches")
    root = ElementTree.Element(
        "coverage",
        {
            "line-rate": f"{nodes.percent / 100:.4f}",
            "branch-rate": f"{branches.percent / 100:.4f}",
            "lines-covered": str(nodes.reached),
            "lines-valid": str(nodes.total),
            "branches-covered": str(branches.reached),
            "branches-valid": str(branches.total),
            "complexity": "0",
            "version": "behavior_tree",
            "timestamp": "0",
        },
    )
    ElementTree.SubElement(ElementTree.SubElement(root, "sources"), "source").text = "."
    packages = ElementTree.SubElement(root, "packages")
    package = ElementTree.SubElement(
        packages, "package", {**_rates(coverage, None), "name": "trees", "complexity": "0"}
    )
    classes = ElementTree.SubElement(package, "classes")
    for file in coverage.files:
        attributes = {"name": Path(file).stem, "filename": file, "complexity": "0"}
        made = ElementTree.SubElement(classes, "class", {**attributes, **_rates(coverage, file)})
        ElementTree.SubElement(made, "methods")
        lines = ElementTree.SubElement(made, "lines")
        for number, on_line in _by_line(coverage.in_file(file)).items():
            _cobertura_line(lines, number, on_line)
    return _document(root)


def _rates(coverage: Coverage, file: str | None) -> dict[str, str]:
    return {
        "line-rate": f"{coverage.ratio('nodes', file).percent / 100:.4f}",
        "branch-rate": f"{coverage.ratio('branches', file).percent / 100:.4f}",
    }


def _by_line(nodes: Sequence[NodeCoverage]) -> dict[int, list[NodeCoverage]]:
    lines: dict[int, list[NodeCoverage]] = {}
    for node in nodes:
        lines.setdefault(node.place[1], []).append(node)
    return lines


def _cobertura_line(lines: ElementTree.Element, number: int, nodes: Sequence[NodeCoverage]) -> None:
    hits = min(sum(node.results.values()) for node in nodes)
    ratios = [node.ratios()["branches"] for node in nodes]
    reached = sum(ratio.reached for ratio in ratios)
    total = sum(ratio.total for ratio in ratios)
    line = ElementTree.SubElement(
        lines, "line", number=str(number), hits=str(hits), branch=str(total > 0).lower()
    )
    if total:
        line.set("condition-coverage", f"{100 * reached // total}% ({reached}/{total})")


def _document(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"
