# SPDX-License-Identifier: Apache-2.0
"""Script text to tokens."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from behavior_tree.errors import ScriptError

_PATTERN = re.compile(
    r"""(?P<space>(?:[ \t\r\n]|\\\r?\n)+)
      | (?P<real>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
      | (?P<hex>0[xX][0-9a-fA-F]+)
      | (?P<int>[0-9]+)
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<name>[^\W\d]\w*|@\w*)
      | (?P<op>:=|\+=|-=|\*=|/=|&&|\|\||==|!=|<=|>=|\.\.|[-+*/&|^~!<>=?:();])
    """,
    re.VERBOSE,
)
_SIGNED = re.compile(
    r"(?P<real>\+[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|\+[0-9]+[eE][+-]?[0-9]+)|(?P<int>\+[0-9]+)"
)
"""The 4.8 grammar reads ``+1`` as a number."""
_NUMBERS = ("real", "hex", "int")
_MAX_INT = 2**63 - 1
_MAX_DIGITS = 40
"""Longer integers cannot fit, and Python refuses to convert very long ones."""
MAX_LENGTH = 20_000
"""Longest script [characters]."""


@dataclass(frozen=True)
class Token:
    """A piece of a script."""

    kind: str
    """``int real text name op end``; for ``op`` the text itself stands here too."""
    value: int | float | str
    position: int


def tokenize(source: str, *, grammar_4_8: bool) -> list[Token]:
    """Split a script into tokens, closed by an ``end`` token; raises ScriptError."""
    if len(source) > MAX_LENGTH:
        raise ScriptError(f"the script is longer than {MAX_LENGTH} characters", position=0)
    tokens: list[Token] = []
    position = 0
    while position < len(source):
        found = _PATTERN.match(source, position)
        if found is None:
            raise _unexpected(source, position)
        if grammar_4_8 and source[position] == "+" and _operand_expected(tokens):
            found = _SIGNED.match(source, position) or found
        kind, text = str(found.lastgroup), found.group()
        end = found.end()
        if kind in _NUMBERS:
            _check_suffix(source, position, end)
        if kind == "name" and grammar_4_8:
            end = position + len(text := _split_keyword(text))
        if kind != "space":
            tokens.append(_token(kind, text, position, grammar_4_8))
        position = end
    tokens.append(Token("end", "", len(source)))
    return tokens


def _token(kind: str, text: str, position: int, grammar_4_8: bool) -> Token:
    if kind in {"int", "hex"}:
        digits = text.lstrip("0") if kind == "int" else text[2:].lstrip("0")
        value = int(digits[:_MAX_DIGITS] or "0", 16 if kind == "hex" else 10)
        if value > _MAX_INT or len(digits) > _MAX_DIGITS:
            raise ScriptError(
                f"integer {text[:_MAX_DIGITS]} does not fit into 64 bits", position=position
            )
        return Token("int", value, position)
    if kind == "real":
        if math.isinf(float(text)):
            raise ScriptError(f"number {text[:_MAX_DIGITS]} is too large", position=position)
        return Token("real", float(text), position)
    if kind == "text":
        if grammar_4_8 and not text.isascii():
            raise ScriptError("texts must be ASCII", position=position)
        return Token("text", text[1:-1], position)
    if kind == "op":
        return Token(text, text, position)
    if text == "@" and not grammar_4_8:
        raise ScriptError("'@' needs a name behind it", position=position)
    if text in ("true", "false"):
        truth = text == "true"
        return Token("int", truth if grammar_4_8 else int(truth), position)
    return Token("name", text, position)


def _split_keyword(name: str) -> str:
    """The 4.8 grammar reads ``trueish`` as ``true`` followed by garbage."""
    return next((word for word in ("true", "false") if name.startswith(word)), name)


def _operand_expected(before: list[Token]) -> bool:
    return not before or before[-1].kind not in {"int", "real", "text", "name", ")"}


def _check_suffix(source: str, start: int, end: int) -> None:
    rest = source[end : end + 1]
    if rest and (rest in {".", "_"} or rest.isalnum()):
        raise ScriptError(
            f"invalid number {source[start : min(end, start + 40) + 1]!r}...", position=start
        )


def _unexpected(source: str, position: int) -> ScriptError:
    if source[position] in "'\"":
        return ScriptError("this text has no closing quote", position=position)
    return ScriptError(f"unexpected character {source[position]!r}", position=position)
