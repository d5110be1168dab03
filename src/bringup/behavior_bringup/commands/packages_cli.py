# SPDX-License-Identifier: Apache-2.0
"""`behavior packages`: which package offers what, and what is wrong with it."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from rich.console import Console

from behavior_bringup.errors import UsageError
from behavior_bringup.suggestions import choose
from behavior_bringup.terminal import say, sentence
from behavior_packages import (
    CODE_KINDS,
    DEFAULTS,
    FOLDER_KINDS,
    KINDS,
    NAMED_KINDS,
    Package,
    PackageError,
    one_of,
    packages,
)


def add_packages(subparsers: Any) -> None:
    """Add `packages` to the command's subparsers."""
    text = "list the packages, what each offers, and what is wrong with them"
    parser = subparsers.add_parser(
        "packages",
        help=text,
        description=f"{sentence(text)}. Code is imported to see that it can be. "
        "The exit code is 1 if something is wrong.",
    )
    parser.add_argument("names", nargs="*", metavar="PACKAGE", help="only these")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_packages)


def _packages(options: argparse.Namespace) -> int:
    known = [package.name for package in packages().packages]
    for name in options.names:
        if name not in known:
            raise UsageError(f"No package '{name}' offers anything: {choose(name, known)}")
    chosen = [p for p in packages().packages if not options.names or p.name in options.names]
    problems = [text for package in chosen for text in problems_of(package)]
    problems += _doubled({package.name for package in chosen})
    if options.json:
        rows = [
            {"name": p.name, "manifest": str(p.manifest), "offers": _offered(p)} for p in chosen
        ]
        print(json.dumps({"packages": rows, "problems": problems}, indent=2))
    else:
        for package in chosen:
            say(f"{package.name}  ({package.manifest})")
            for kind, names in _offered(package).items():
                say(f"  {kind}: {', '.join(names)}")
        errors = Console(stderr=True)
        for problem in problems:
            say(problem, errors)
    return 1 if problems else 0


def problems_of(package: Package) -> list[str]:
    """What is wrong with a package: its manifest, and code that cannot be imported."""
    problems = list(package.problems)
    for kind in CODE_KINDS:
        for offer in package.offers(kind):
            try:
                offer.load()
            except PackageError as error:
                problems.append(str(error))
    return problems


def _offered(package: Package) -> dict[str, list[str]]:
    named = {kind: sorted(offer.name for offer in package.offers(kind)) for kind in KINDS}
    named[DEFAULTS] = [f"{offer.name}={offer.value}" for offer in package.offers(DEFAULTS)]
    return {kind: names for kind, names in named.items() if names}


def _doubled(names: set[str]) -> list[str]:
    """Names that several packages offer: no fault, but each must be asked for with its package."""
    clashes = []
    for kind in (*FOLDER_KINDS, *NAMED_KINDS):
        offers = packages().offers(kind)
        counts = Counter(offer.name for offer in offers)
        for name in sorted(name for name, count in counts.items() if count > 1):
            owners = [offer for offer in offers if offer.name == name]
            if names & {offer.package for offer in owners}:
                both = " and ".join(f"{each.package} ({each.place})" for each in owners)
                clashes.append(
                    f"{one_of(kind)} '{name}' is offered by {both}: ask for PACKAGE/{name}"
                )
    return clashes
