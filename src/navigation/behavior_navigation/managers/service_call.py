# SPDX-License-Identifier: Apache-2.0
"""A call of a service that never blocks: sent as soon as the server is there, answered later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from behavior_navigation.rules.calls import CallResult


class ServiceCall:
    """One call."""

    def __init__(
        self,
        client: Any,
        request: Any,
        read: Callable[[Any], CallResult],
        wake: Callable[[Any], None],
    ) -> None:
        """Send the request, now or as soon as there is a server.

        Args:
            client: of the service; used in the executor's thread only.
            request: message.
            read: what the response means.
            wake: called when it is answered.
        """
        self._client = client
        self._request = request
        self._read = read
        self._wake = wake
        self._future: Any = None
        self._send()

    def poll(self) -> CallResult | None:
        """How it ended; None: not yet.

        A server that went away took the request along: the next one gets it too.
        """
        if self._future is not None and not self._future.done():
            if self._client.service_is_ready():
                return None
            self.forget()
            self._future = None
        if self._future is None:
            self._send()
        if self._future is None or not self._future.done():
            return None
        return self._read(self._future.result())

    @property
    def waits(self) -> bool:
        """Whether no server has got the request yet."""
        return self._future is None

    def forget(self) -> None:
        """Lose interest in the answer; the server may carry the request out all the same."""
        if self._future is not None:
            self._client.remove_pending_request(self._future)

    def _send(self) -> None:
        if self._client.service_is_ready():
            self._future = self._client.call_async(self._request)
            self._future.add_done_callback(self._wake)


def read_success(response: Any) -> CallResult:
    """What a response with ``success`` and ``message`` means (Trigger, SetBool)."""
    return CallResult(bool(response.success), str(response.message))
