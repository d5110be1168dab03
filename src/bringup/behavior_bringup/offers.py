# SPDX-License-Identifier: Apache-2.0
"""What packages offer, asked for by a person."""

from __future__ import annotations

from behavior_bringup.errors import UsageError
from behavior_bringup.suggestions import choose
from behavior_bringup.terminal import sentence
from behavior_packages import Offer, PackageError, UnknownOfferError, packages


def chosen(kind: str, name: str, unknown: str) -> Offer:
    """The offer that a person has named.

    Args:
        kind: of the offer.
        name: with its package before it, or without.
        unknown: the sentence for a name that nobody offers.

    Raises:
        UsageError: there is none, or several; the message says what to write instead.
    """
    try:
        return packages().find(kind, name)
    except UnknownOfferError as error:
        raise UsageError(f"{unknown}: {choose(name, packages().names(kind))}") from error
    except PackageError as error:
        raise UsageError(str(error)) from error


def world_or_default(world: str | None) -> str:
    """The world that was named, else the packages' default.

    Raises:
        UsageError: there is no default.
    """
    return world or default_of("stacks", "--world NAME")


def default_of(kind: str, instead: str) -> str:
    """The name of a kind that counts where a person names none.

    Args:
        kind: of the offer.
        instead: what the person can write.

    Raises:
        UsageError: no package says, or several do.
    """
    try:
        return packages().default(kind)
    except PackageError as error:
        raise UsageError(f"{sentence(str(error))}: write {instead}") from error
