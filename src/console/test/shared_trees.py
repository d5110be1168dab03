# SPDX-License-Identifier: Apache-2.0
"""An executor's shared trees without ROS, and a carrier to them that may lose and hold back."""

from collections import deque

from behavior_console.editing.carrier import NoAnswer
from behavior_executor.editing.edited_trees import EditedTrees
from behavior_executor.editing.tree_exchange import ExchangeAnswer
from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_tree import BehaviorTreeFactory
from behavior_tree.sharing import Answer, Code

NAPS = """<!-- Naps -->
<root BTCPP_format="4">
  <BehaviorTree ID="naps">
    <Sequence name="all">
      <Sleep name="long" msec="600000"/>
      <Script name="mark" code="a := 1"/>
      <ScriptCondition name="look" code="a == 2"/>
    </Sequence>
  </BehaviorTree>
</root>
"""


class SharedTrees:
    """The trees of a folder; made anew on it, it is the executor that was started again."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "naps.xml"
        if not self.file.exists():
            self.file.write_text(NAPS)
        self.factory = BehaviorTreeFactory()
        self.news, self.pieces, self.wall = [], deque(), 0.0
        self.trees = EditedTrees(
            find=MissionCatalogue([folder]).find,
            loader=self,
            folder=folder / "kept",
            work=lambda *piece: self.pieces.append(piece),
            wall=self._later,
            tell=self._tell,
            edited=lambda run: None,
            warn=self.news.append,
        )
        self.on_news = None

    def exchange(self, request):
        """The answer to a request, when all has been done aside that it asks for."""
        answers = []
        self.trees.exchange(request, answers.append)
        while self.pieces:
            work, then = self.pieces.popleft()
            try:
                outcome = work()
            except Exception as error:
                outcome = error
            then(outcome)
        (answer,) = answers
        return answer

    def _later(self):
        self.wall += 0.1
        return self.wall

    def _tell(self, news):
        self.news.append(news)
        if self.on_news is not None:
            self.on_news(news)


class FakeCarrier:
    """Asks shared trees of this process.

    `asked` has all requests; `lost` and `held_back` many of the next ones are not answered, or
    answered that they come too soon.
    """

    def __init__(self, shared):
        self.shared, self.asked = shared, []
        self.lost, self.held_back = 0, 0

    async def exchange(self, request):
        self.asked.append(request)
        if self.shared is None or self.lost > 0:
            self.lost -= 1
            raise NoAnswer("no executor answers: start the stack with 'behavior up'")
        if self.held_back > 0 and request.number:
            self.held_back -= 1
            return ExchangeAnswer(Answer(Code.HELD_BACK, "too many at once", retry_after=0.01))
        return self.shared.exchange(request)
