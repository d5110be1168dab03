# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with a language model, in one sentence each."""

from __future__ import annotations


class LanguageModelError(Exception):
    """There is no usable answer; the message says why and what to do."""


class NotConfiguredError(LanguageModelError):
    """Nobody has named a language model."""


class UnreachableError(LanguageModelError):
    """The endpoint is not there, went away, or takes too long."""


class RefusedError(LanguageModelError):
    """The endpoint answers with an error, or the request is beyond a limit."""


class UnusableAnswerError(LanguageModelError):
    """The model has answered, but not what was asked for."""
