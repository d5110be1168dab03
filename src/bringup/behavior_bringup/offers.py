# SPDX-License-Identifier: Apache-2.0
"""What packages offer, asked for by a person."""

from __future__ import annotations

from behavior_bringup.errors import UsageError
from behavior_bringup.suggestions import choose
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
