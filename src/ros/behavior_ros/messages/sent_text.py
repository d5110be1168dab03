# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON texts that somebody has sent, read within limits.

YAML grows when it is read: aliases multiply, nesting costs time and stack, and dates, sets and
tags become values that no specification has. So a text is looked at before anything is made of it,
with libyaml, which takes a tenth of the time of PyYAML's own parser.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from typing import Any

import yaml

from behavior_ros.messages.limits import MOST_TEXT
from behavior_tree.shown_text import has_control_characters, visible

LONGEST_YAML = 8_192
"""[characters] of a YAML text."""
MOST_VALUES = 500
"""Keys, values, lists and mappings of a YAML text together."""
DEEPEST = 20
"""Lists and mappings in each other."""
GREATEST_INTEGER = 2**63
"""Whole numbers are smaller than this, as in messages."""


class SentTextError(ValueError):
    """A text that cannot be read; the message is one sentence without a full stop."""


def read_yaml(text: str, what: str) -> Any:
    """Read a YAML text of mappings, lists, texts, numbers, true, false and null.

    Args:
        text: as it was sent.
        what: it is, for the sentence.

    Raises:
        SentTextError: it is larger or deeper than the limits, or no such YAML.
    """
    if len(text) > LONGEST_YAML:
        raise SentTextError(f"{what} has {len(text)} characters: at most {LONGEST_YAML} are read")
    try:
        _check_events(text, what)
        value = yaml.load(text, Loader=yaml.CSafeLoader)
    except SentTextError:
        raise
    except yaml.YAMLError as error:
        raise SentTextError(f"{what} is no valid YAML: {_problem(error)}") from None
    # The constructors of YAML's types raise whatever their conversions raise.
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        raise SentTextError(
            f"{what} is no valid YAML: a date or number in it cannot be; write texts in quotes"
        ) from None
    _check_value(value, what)
    return value


def read_json(text: str, what: str) -> Any:
    """Read a JSON text; see `read_yaml`."""
    if len(text) > MOST_TEXT:
        raise SentTextError(f"{what} has {len(text)} characters: at most {MOST_TEXT} are read")
    try:
        value = json.loads(text)
    except RecursionError:
        raise SentTextError(_too_deep(what)) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise SentTextError(f"{what} is no valid JSON: {where}: {error.msg}") from None
    except ValueError:
        raise SentTextError(f"{what} holds a whole number of too many digits") from None
    _check_value(value, what)
    return value


def shown(value: Any) -> str:
    """A value as it may stand in a sentence: the beginning of what is long or deep."""
    return visible(_SHORT.repr(value))


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def _check_events(text: str, what: str) -> None:
    """Refuse what grows when it is read."""
    depth = values = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise SentTextError(
                f"{what} has YAML aliases (*{visible(event.anchor or '')}): write it out"
            )
        if isinstance(event, (yaml.CollectionStartEvent, yaml.ScalarEvent)):
            values += 1
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise SentTextError(_too_deep(what))
        if values > MOST_VALUES:
            raise SentTextError(f"{what} has more than {MOST_VALUES} keys and values")


def _too_deep(what: str) -> str:
    return f"{what} is nested more than {DEEPEST} levels deep"


def _problem(error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    text = visible(str(problem or error))
    return text if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: {text}"


def _check_value(value: Any, what: str, depth: int = 0) -> None:
    """Refuse what no field and no key can be."""
    if depth > DEEPEST:
        raise SentTextError(_too_deep(what))
    if isinstance(value, Mapping):
        for key, entry in value.items():
            _check_value(key, what, depth + 1)
            _check_value(entry, what, depth + 1)
    elif isinstance(value, list):
        for entry in value:
            _check_value(entry, what, depth + 1)
    elif isinstance(value, str):
        if has_control_characters(value, lines=True):
            raise SentTextError(f"{what} has control characters: '{visible(value)}'")
    elif isinstance(value, int):
        if abs(value) > GREATEST_INTEGER:
            raise SentTextError(f"{what} holds a whole number of more than 64 bits")
    elif not (value is None or isinstance(value, float)):
        raise SentTextError(f"{what} holds {shown(value)}: write it as a text, in quotes")
