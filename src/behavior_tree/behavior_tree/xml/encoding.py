# SPDX-License-Identifier: Apache-2.0
"""In which encoding a document is, and what is wrong with it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from behavior_tree.shown_text import shorten

_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*encoding\s*=\s*["']([^"'\r\n]+)""")
_MARKS = (
    (codecs.BOM_UTF8, "UTF-8"),
    (codecs.BOM_UTF32_LE, "UTF-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
    (b"<\0\0\0", "UTF-32"),
    (b"\0\0\0<", "UTF-32"),
    (b"<\0", "UTF-16"),
    (b"\0<", "UTF-16"),
)


@dataclass(frozen=True)
class EncodingMistake:
    """Why the bytes of a document cannot be read as text."""

    message: str
    remedy: str
    offset: int = 0
    """Byte where it shows."""


def encoding_of(data: bytes) -> str:
    """Name of a document's encoding: by its first bytes, else as it declares, else UTF-8."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is not None:
        return marked
    declared = _DECLARED.match(data)
    return shorten(declared.group(1).decode("ascii", "replace")) if declared else "UTF-8"


def encoding_mistake(data: bytes, encoding: str | None = None) -> EncodingMistake | None:
    """What is wrong with the encoding of a document that the parser has refused, if that is.

    Args:
        data: the document
        encoding: in which it is known to be; None: as `encoding_of` says
    """
    name = encoding or encoding_of(data)
    marked = any(data.startswith(mark) for mark, _ in _MARKS)
    try:
        codec = codecs.lookup(name).name
        if codec.startswith(("utf-16", "utf-32")) and not marked:
            return EncodingMistake(
                f"the document says that it is in {name}, but it is not",
                f'mend encoding="{name}" in its first line, or save it as {name}',
            )
        data.decode(name)
    except LookupError:
        return EncodingMistake(f"the encoding '{name}' is unknown", "save the file as UTF-8")
    except UnicodeDecodeError as error:
        undeclared = "" if encoding or marked or _DECLARED.match(data) else ", and none is declared"
        return EncodingMistake(
            f"byte 0x{data[error.start]:02X} is no {name}{undeclared}",
            'save the file as UTF-8, or declare its encoding: <?xml version="1.0" encoding="..."?>',
            error.start,
        )
    except UnicodeError:  # a codec for something else, such as domain names
        return unreadable_encoding(name)
    if codec.startswith("utf-32"):
        return unreadable_encoding(name)
    return None


def unreadable_encoding(name: str) -> EncodingMistake:
    """A good encoding that the parser does not know."""
    return EncodingMistake(f"files in the encoding {name} cannot be read", "save the file as UTF-8")
