# SPDX-License-Identifier: Apache-2.0
"""Questions to a language model whose answers have a form. No ROS.

An answer is a pydantic model; what does not fit its schema is asked for once more, with what was
wrong::

    class Count(Answer):
        blocks: int

    count, _ = Chat(Script.load(file)).ask([Message("user", "How many blocks?")], Count)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from behavior_assistant.endpoint import Endpoint
from behavior_assistant.errors import NotConfiguredError, UnusableAnswerError
from behavior_assistant.messages import Message
from behavior_assistant.script import Script
from behavior_assistant.settings import SCRIPT, URL, Settings
from behavior_packages.validation import faults
from behavior_tree.shown_text import visible

_FENCED = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n?```\s*$", re.DOTALL)


class Answer(BaseModel):
    """Base of all answers: what nobody has asked for is refused."""

    model_config = ConfigDict(extra="forbid")


A = TypeVar("A", bound=Answer)


class Model(Protocol):
    """Whoever continues a conversation."""

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any], timeout: float
    ) -> str:
        """The next message, within `timeout` [s]; raises LanguageModelError."""


def model_of(settings: Settings) -> Model:
    """The language model that is configured.

    Raises:
        NotConfiguredError: there is none.
        LanguageModelError: its script cannot be read.
    """
    if settings.script:
        return Script.load(Path(settings.script))
    if settings.url:
        return Endpoint(settings)
    raise NotConfiguredError(
        f"no language model is configured: set {URL} to the address of an OpenAI-compatible"
        f" endpoint, such as http://127.0.0.1:8000/v1, or {SCRIPT} to a file of answers"
    )


class Chat:
    """Asks a model, and makes sure of the form of what it answers."""

    def __init__(self, model: Model, *, timeout: float = 60.0, retries: int = 1) -> None:
        """Ask nothing yet.

        Args:
            model: is asked.
            timeout: [s] wall time for each answer.
            retries: how often what is wrong with an answer is explained to the model.
        """
        self._model = model
        self._timeout = timeout
        self._retries = retries

    def ask(
        self,
        messages: Sequence[Message],
        form: type[A],
        check: Callable[[A], str] = lambda answer: "",
    ) -> tuple[A, list[Message]]:
        """An answer that has a form.

        Args:
            messages: of the conversation so far; the last one is the user's.
            form: of the answer; its schema goes to the model.
            check: what else is wrong with an answer, in words for the model; empty: nothing.

        Returns:
            The answer, and the conversation with it.

        Raises:
            UnusableAnswerError: no answer fits, not after the retries either.
            LanguageModelError: there is no answer.
        """
        schema = form.model_json_schema()
        asked = f"{messages[-1].content}\n\n{_form_text(schema)}"
        talk = [*messages[:-1], Message("user", asked)]
        for attempt in range(self._retries + 1):
            text = self._model.complete(talk, schema, self._timeout)
            answer, wrong = _read(text, form, check)
            talk.append(Message("assistant", text))
            if answer is not None:
                return answer, talk
            if attempt < self._retries:
                talk.append(Message("user", f"{wrong}\n\nAnswer the same question again.\n{asked}"))
        raise UnusableAnswerError(f"the language model's answer cannot be used: {visible(wrong)}")


def _form_text(schema: Mapping[str, Any]) -> str:
    return f"Answer with one JSON object of this schema and nothing else:\n{json.dumps(schema)}"


def _read(text: str, form: type[A], check: Callable[[A], str]) -> tuple[A | None, str]:
    """The answer, or None and what is wrong with it."""
    fenced = _FENCED.match(text)
    try:
        answer = form.model_validate_json(fenced.group(1) if fenced else text)
    except ValidationError as error:
        problems = "; ".join(faults(error, "the answer")[:10])
        return None, f"Your answer does not have the form that was asked for: {problems}"
    wrong = check(answer)
    return (None, wrong) if wrong else (answer, "")
