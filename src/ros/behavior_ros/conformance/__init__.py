# SPDX-License-Identifier: Apache-2.0
"""Do an action's server and its clients keep their promises with partners that do not?

Rules for servers are tried by a hostile client, rules for clients by a hostile server. Any package
can try its own; each rule that is broken is told in one sentence::

    @pytest.fixture(scope="module")
    def server():
        with ServerUnderTest(Polish, "/polish", lambda: Polish.Goal(seconds=60.0)) as server:
            yield server

    @pytest.mark.parametrize("rule", SERVER_RULES, ids=str)
    def test_my_server(rule, server):
        assert rule.broken(server) == ""

What is tried must spin elsewhere: in another process, or in another thread of this one.
"""

from behavior_ros.conformance.client_rules import CLIENT_RULES, ClientsUnderTest, ClientUnderTest
from behavior_ros.conformance.hostile_server import HostileServer
from behavior_ros.conformance.rule import Rule, broken_rules
from behavior_ros.conformance.server_rules import SERVER_RULES, ServerUnderTest

__all__ = [
    "CLIENT_RULES",
    "SERVER_RULES",
    "ClientUnderTest",
    "ClientsUnderTest",
    "HostileServer",
    "Rule",
    "ServerUnderTest",
    "broken_rules",
]
