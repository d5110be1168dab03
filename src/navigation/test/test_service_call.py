# SPDX-License-Identifier: Apache-2.0
"""A call whose server is late, or goes away with the request."""

from rclpy.task import Future
from std_srvs.srv import SetBool

from behavior_navigation.managers.service_call import ServiceCall, read_success


class Server:
    """A client of a server that a test starts and stops."""

    def __init__(self) -> None:
        self.there = False
        self.requests: list[Future] = []

    def service_is_ready(self) -> bool:
        return self.there

    def call_async(self, request: SetBool.Request) -> Future:
        self.requests.append(Future())
        return self.requests[-1]

    def remove_pending_request(self, future: Future) -> None:
        pass


def test_a_server_that_is_restarted_gets_the_request_again() -> None:
    server, woken = Server(), []
    call = ServiceCall(server, SetBool.Request(data=True), read_success, woken.append)
    assert call.poll() is None
    server.there = True
    assert call.poll() is None
    assert call.poll() is None
    assert len(server.requests) == 1
    server.there = False
    assert call.poll() is None
    server.there = True
    assert call.poll() is None
    assert len(server.requests) == 2
    server.requests[1].set_result(SetBool.Response(success=True))
    server.there = False  # it answered before it went
    result = call.poll()
    assert result is not None
    assert result.success
    assert len(woken) == 1
