# SPDX-License-Identifier: Apache-2.0
"""Which language model is asked: nobody, until somebody names one. No ROS."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from behavior_assistant.errors import LanguageModelError

PREFIX = "BEHAVIOR_LANGUAGE_MODEL"
URL, NAME, KEY, SCRIPT = f"{PREFIX}_URL", PREFIX, f"{PREFIX}_KEY", f"{PREFIX}_SCRIPT"
KEY_FILE = f"{PREFIX}_KEY_FILE"
"""Names of environment variables."""

LONGEST_KEY = 4096
"""Characters."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """An endpoint, or a script that stands for one."""

    url: str = ""
    """Of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1; empty: none."""
    name: str = ""
    """Of the model, as the endpoint calls it; empty: the endpoint's default."""
    key: str = field(default="", repr=False)
    """Sent as bearer token; never shown or logged. Empty: none."""
    script: str = ""
    """File of answers that stands for a model, see `script`; it counts before the endpoint."""
    timeout: float = 60.0
    """[s] wall time for one answer."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            LanguageModelError: the address is none, or would give the key away; the key is none.
        """
        if not (math.isfinite(self.timeout) and self.timeout > 0.0):
            raise LanguageModelError(f"the timeout must be positive, not {self.timeout:g} s")
        if self.url:
            _check_address(self.url, with_key=bool(self.key))
        if self.key and not _is_key(self.key):  # else errors of whoever sends it would show it
            raise LanguageModelError(
                f"the language model's key holds characters that no key has: check {KEY}"
            )

    @property
    def configured(self) -> bool:
        """Whether there is somebody to ask."""
        return bool(self.url or self.script)


def settings_from(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that environment variables hold.

    Raises:
        LanguageModelError: one of them cannot be.
    """
    key = environment.get(KEY, "").strip()
    if not key and (file := environment.get(KEY_FILE, "")):
        key = read_key(Path(file))
    return Settings(
        url=environment.get(URL, ""),
        name=environment.get(NAME, ""),
        key=key,
        script=environment.get(SCRIPT, ""),
    )


def read_key(file: Path) -> str:
    """The key that a file holds, without spaces around it.

    Raises:
        LanguageModelError: it cannot be read, or holds no key; the message has none of it.
    """
    try:
        with file.expanduser().open(encoding="utf-8") as stream:
            key = stream.read(LONGEST_KEY + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise LanguageModelError(f"the key file {file} cannot be read: {why}") from None
    if not _is_key(key):
        raise LanguageModelError(f"the key file {file} holds no key: one line of text is wanted")
    return key


def _is_key(text: str) -> bool:
    return 0 < len(text) <= LONGEST_KEY and text.isprintable() and text.isascii()


def _check_address(url: str, *, with_key: bool) -> None:
    try:
        parts = urlsplit(url)
        host, user, _ = parts.hostname, parts.username, parts.port
    except ValueError:
        raise LanguageModelError("the language model's address cannot be read") from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise LanguageModelError(
            "the language model's address must look like http://127.0.0.1:8000/v1"
        )
    if user is not None:
        raise LanguageModelError(f"a key does not belong into the address: set {KEY}")
    if with_key and parts.scheme == "http" and host not in _LOOPBACK:
        raise LanguageModelError(
            f"the key would go to {host} unencrypted: use https, or leave the key away"
        )
