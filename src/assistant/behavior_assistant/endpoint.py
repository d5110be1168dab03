# SPDX-License-Identifier: Apache-2.0
"""An OpenAI-compatible chat endpoint: `POST URL/chat/completions`. No ROS."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from behavior_assistant.errors import RefusedError, UnreachableError, UnusableAnswerError
from behavior_assistant.messages import Message
from behavior_assistant.settings import Settings
from behavior_tree.shown_text import visible

MOST_ASKED = 256 * 1024
"""Bytes of a request."""
MOST_ANSWERED = 1024 * 1024
"""Bytes of a response."""
_NO_SCHEMA = (400, 422)
"""Answers of servers that do not know `response_format`."""


class Endpoint:
    """A `chat.Model` behind HTTP. Redirects and proxies of the environment are not followed."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        """Connect to nobody yet.

        Args:
            settings: with an address.
            clock: [s] wall time.
        """
        self._settings = settings
        self._clock = clock
        self._address = f"{settings.url.rstrip('/')}/chat/completions"
        self._takes_schema = True

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any], timeout: float
    ) -> str:
        """The model's next message.

        Args:
            messages: of the conversation so far.
            schema: JSON schema of the answer; given to the server as far as it knows such.
            timeout: [s] for the whole exchange; that of the settings, if that is shorter.

        Raises:
            LanguageModelError: it is too large, or there is no answer.
        """
        deadline = self._clock() + min(timeout, self._settings.timeout)
        status, body = self._post(self._body(messages, schema), deadline)
        if status in _NO_SCHEMA and self._takes_schema:
            self._takes_schema = False
            status, body = self._post(self._body(messages, schema), deadline)
        if status != 200:
            raise RefusedError(
                f"the language model's endpoint answers with HTTP {status}:"
                f" {visible(self._without_key(body.decode(errors='replace')))}"
            )
        return _content(body)

    def _body(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> bytes:
        request: dict[str, Any] = {
            "messages": [{"role": each.role, "content": each.content} for each in messages],
            "temperature": 0,
        }
        if self._settings.name:
            request["model"] = self._settings.name
        if self._takes_schema:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema)},
            }
        body = json.dumps(request).encode()
        if len(body) > MOST_ASKED:
            raise RefusedError(
                f"the question has {len(body)} bytes, more than {MOST_ASKED}: show the model less"
            )
        return body

    def _post(self, body: bytes, deadline: float) -> tuple[int, bytes]:
        import httpx  # a fifth of a second, in the thread of whoever asks

        headers = {"Content-Type": "application/json"}
        if self._settings.key:
            headers["Authorization"] = f"Bearer {self._settings.key}"
        try:
            with (
                httpx.Client(trust_env=False, timeout=self._left(deadline)) as client,
                client.stream("POST", self._address, content=body, headers=headers) as response,
            ):
                data = bytearray()
                for part in response.iter_bytes():
                    data += part
                    if len(data) > MOST_ANSWERED:
                        raise RefusedError(
                            f"the language model's answer is larger than {MOST_ANSWERED} bytes"
                        )
                    self._left(deadline)
                return response.status_code, bytes(data)
        except httpx.TimeoutException as error:
            raise self._too_late() from error
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"the language model at {self._settings.url} cannot be reached"
                f" ({self._without_key(str(error)) or type(error).__name__}): does it run?"
            ) from error

    def _left(self, deadline: float) -> float:
        left = deadline - self._clock()
        if left <= 0.0:
            raise self._too_late()
        return left

    def _too_late(self) -> UnreachableError:
        return UnreachableError(
            f"the language model at {self._settings.url} has not answered in time:"
            " give it more, or ask a smaller one"
        )

    def _without_key(self, text: str) -> str:
        """A text of somebody else, who may repeat the key."""
        return text.replace(self._settings.key, "(key)") if self._settings.key else text


def _content(body: bytes) -> str:
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise UnusableAnswerError(
            "the endpoint's response is not that of a chat completion: is the address that of an"
            " OpenAI-compatible API, with /v1 at its end?"
        ) from error
    if not isinstance(content, str):
        raise UnusableAnswerError("the language model has answered without a text")
    return content
