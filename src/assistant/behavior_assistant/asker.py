# SPDX-License-Identifier: Apache-2.0
"""Questions that are asked in threads of their own, for who must not wait. No ROS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from behavior_assistant.chat import Answer, Chat, Model, model_of
from behavior_assistant.errors import LanguageModelError, NotConfiguredError
from behavior_assistant.messages import Message
from behavior_assistant.settings import Settings

MOST_AT_ONCE = 4
"""Questions under way, those whose asker has gone among them."""

A = TypeVar("A", bound=Answer)


class Question(Generic[A]):
    """One question; its fields are complete once it is `done`."""

    def __init__(self) -> None:
        """Nothing is known."""
        self.answer: A | None = None
        self.error = ""
        """Why there is no answer."""
        self._done = threading.Event()

    @property
    def done(self) -> bool:
        """Whether there is an answer or an error."""
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for it; returns whether it is done."""
        return self._done.wait(seconds)

    def end(self, answer: A | None, error: str) -> None:
        """Complete it."""
        self.answer, self.error = answer, error
        self._done.set()


class Asker:
    """Asks a language model in the background. Without one it says which setting is missing."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        *,
        missing: str = "",
        model: Model | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask nobody yet.

        Args:
            settings: asked once, in the thread of the first question; may raise
                LanguageModelError.
            missing: why there is no model, if there is none; empty: there may be one.
            model: to ask instead of the one that the settings name.
            clock: [s] wall time, for whoever limits how long a question takes.
        """
        self.clock = clock
        self._settings = settings
        self._missing = missing
        self._model = model
        self._making = threading.Lock()
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)

    def ask(
        self,
        messages: Sequence[Message],
        form: type[A],
        timeout: float,
        on_done: Callable[[], None],
    ) -> Question[A]:
        """Begin to ask; returns at once.

        Args:
            messages: of the conversation, the last one the user's.
            form: of the answer.
            timeout: [s] wall time for each of two answers at most.
            on_done: called when the question is done, in another thread.

        Raises:
            LanguageModelError: there is no model, or too many questions are under way.
        """
        if self._missing and self._model is None:
            raise NotConfiguredError(self._missing)
        if not self._free.acquire(blocking=False):
            raise LanguageModelError(
                f"{MOST_AT_ONCE} questions to the language model are under way:"
                " wait until one has ended"
            )
        question: Question[A] = Question()

        def work() -> None:
            try:
                chat = Chat(self._model_once(), timeout=timeout)
                question.end(chat.ask(messages, form)[0], "")
            except LanguageModelError as error:
                question.end(None, str(error))
            except Exception as error:  # a thread that dies would leave its asker waiting
                question.end(None, f"asking the language model broke: {error!r}")
            finally:
                self._free.release()
                on_done()

        threading.Thread(target=work, name="language model", daemon=True).start()
        return question

    def _model_once(self) -> Model:
        with self._making:
            if self._model is None:
                self._model = model_of(self._settings())
            return self._model
