# SPDX-License-Identifier: Apache-2.0
"""An action server that answers only when told to."""

from types import SimpleNamespace

from rclpy.task import Future


class FakeServer:
    """An action server and the connection to it, answering only when told to."""

    def __init__(self):
        self.answer = Future()
        self.result = Future()
        self.cancels = []
        self.feedback = None

    def send_goal_async(self, goal, feedback_callback):
        self.feedback = feedback_callback
        return self.answer

    def accept(self):
        if not self.answer.done():
            self.answer.set_result(
                SimpleNamespace(
                    accepted=True,
                    get_result_async=lambda: self.result,
                    cancel_goal_async=self._cancel,
                )
            )

    def reject(self):
        if not self.answer.done():
            self.answer.set_result(SimpleNamespace(accepted=False))

    def _cancel(self):
        self.cancels.append(Future())
        return self.cancels[-1]

    def answer_cancel(self, code):
        if self.cancels and not self.cancels[-1].done():
            self.cancels[-1].set_result(
                SimpleNamespace(return_code=code, goals_canceling=[] if code else ["goal"])
            )

    def finish(self, status, result=None):
        if self.answer.done() and self.answer.result().accepted and not self.result.done():
            self.result.set_result(
                SimpleNamespace(status=status, result=result or f"result {status}")
            )
