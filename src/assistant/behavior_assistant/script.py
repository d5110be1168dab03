# SPDX-License-Identifier: Apache-2.0
"""A script that stands for a language model: patterns of questions, and their answers. No ROS.

A YAML or JSON file::

    - when: "is .* red"          # found anywhere in the last question, whatever the case
      answers:                   # the first time the first one, then the next; the last one stays
        - {answer: "yes", reason: it looks red}
    - when: stack
      answers: ["not even JSON"]

A text is answered as it is, anything else as JSON. The first pattern that is found counts.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from behavior_assistant.errors import LanguageModelError, UnusableAnswerError
from behavior_assistant.messages import Message
from behavior_packages.bounded_yaml import read_yaml
from behavior_tree.shown_text import shorten

MOST_BYTES = 2**20
"""Of a file."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    when: str
    answers: list[Any] = Field(min_length=1)


_LINES = TypeAdapter(list[_Line])


class Script:
    """A `chat.Model` that knows its answers; may be asked from several threads."""

    def __init__(self, lines: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Hold pairs of a pattern and its answers.

        Raises:
            LanguageModelError: a pattern is no regular expression.
        """
        try:
            self._lines = [
                (re.compile(pattern, re.IGNORECASE | re.DOTALL), list(answers))
                for pattern, answers in lines
            ]
        except re.error as error:
            raise LanguageModelError(
                f"the script's pattern '{error.pattern!s}' is no regular expression: {error}"
            ) from error
        self._asked = [0] * len(self._lines)
        self._lock = threading.Lock()

    @classmethod
    def load(cls, file: Path) -> Script:
        """The script of a file.

        Raises:
            LanguageModelError: it cannot be read, or is no script.
        """
        try:
            with file.expanduser().open("rb") as stream:
                data = stream.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise LanguageModelError(f"the script {file} is larger than {MOST_BYTES} bytes")
            lines = _LINES.validate_python(read_yaml(data))
        except OSError as error:
            raise LanguageModelError(
                f"the script {file} cannot be read: {error.strerror}"
            ) from error
        except (yaml.YAMLError, UnicodeDecodeError, ValidationError) as error:
            raise LanguageModelError(
                f"{file} is no script, a list of 'when' and 'answers': {error}"
            ) from error
        return cls([(line.when, line.answers) for line in lines])

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any], timeout: float
    ) -> str:
        """The next answer to the last question of the user.

        Raises:
            UnusableAnswerError: no pattern is found in it.
        """
        question = next((m.content for m in reversed(messages) if m.role == "user"), "")
        with self._lock:
            for index, (pattern, answers) in enumerate(self._lines):
                if pattern.search(question):
                    answer = answers[min(self._asked[index], len(answers) - 1)]
                    self._asked[index] += 1
                    return answer if isinstance(answer, str) else json.dumps(answer)
        raise UnusableAnswerError(f"the script has no answer to: {shorten(question)}")
