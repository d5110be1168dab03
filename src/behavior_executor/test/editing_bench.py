# SPDX-License-Identifier: Apache-2.0
"""An executor's core whose trees are edited by peers; its thread and its network do as told."""

import random
from collections import deque
from pathlib import Path

from behavior_executor.core import ExecutorCore, Settings
from behavior_executor.editing.edit_peer import EditPeer
from behavior_executor.editing.edited_trees import EditedTrees
from behavior_executor.editing.tree_exchange import ExchangeAnswer, ExchangeRequest
from behavior_executor.journal.journal import MissionJournal
from behavior_executor.journal.mission_log import MissionLog
from behavior_executor.missions.catalogue import MissionCatalogue
from behavior_executor.missions.mission import MissionRequest
from behavior_executor.missions.mission_queue import MissionQueue
from behavior_executor.running.tree_run import TreeRun
from behavior_tree import BehaviorTreeFactory, Blackboard, InputPort, NodeStatus
from behavior_tree.sharing import Running

PATROL = """<!-- Drives around -->
<root BTCPP_format="4" main_tree_to_execute="patrol">
  <include path="lib.xml"/>
  <BehaviorTree ID="patrol">
    <!-- first to the door -->
    <Sequence name="round">
      <Drive name="door"  seconds='2'/>
      <Sequence name="both">
        <Drive name="window" seconds="1"/><Drive name="desk" seconds="1"/>
      </Sequence>
      <SubTree ID="Park" name="park"/>
    </Sequence>
  </BehaviorTree>
</root>
"""
LIB = """<root BTCPP_format="4">
  <BehaviorTree ID="Park"><Sequence><Drive name="dock" seconds="1"/></Sequence></BehaviorTree>
</root>
"""


def tree_file(tree_id, body):
    """The text of a file with one tree."""
    root = f'<BehaviorTree ID="{tree_id}">{body}</BehaviorTree>'
    return f'<root BTCPP_format="4">{root}</root>'


class Aside:
    """A thread that does one piece whenever it is told to."""

    def __init__(self):
        self.pieces = deque()

    def __call__(self, work, then):
        self.pieces.append((work, then))

    def step(self):
        work, then = self.pieces.popleft()
        try:
            outcome = work()
        except Exception as error:
            outcome = error
        then(outcome)

    def run(self):
        while self.pieces:
            self.step()


class EditingBench:
    """An executor; made anew with the same folder it is that executor, started again."""

    def __init__(self, place: Path, trees=(("patrol", PATROL), ("lib", LIB)), **more):
        for name, text in trees:
            file = place / f"{name}.xml"
            if not file.exists():
                file.write_text(text)
        self.folder, self.time, self.wall = place, 0.0, 0.0
        self.aside, self.problems, self.news, self.shown = Aside(), [], [], []
        self._factory = self._make_factory()
        catalogue = MissionCatalogue([place])
        options = {"folder": place / "kept", **more}
        self.trees = EditedTrees(
            find=catalogue.find,
            loader=self,
            work=self.aside,
            wall=lambda: self.wall,
            tell=self.news.append,
            edited=self.shown.append,
            warn=self.problems.append,
            **options,
        )
        self.core = ExecutorCore(
            catalogue=catalogue,
            queue=MissionQueue(),
            load=self.trees.load,
            digests=self.trees.digests,
            managers=[],
            listener=self,
            now=lambda: self.time,
            wall=lambda: self.wall,
            settings=Settings(),
            log=MissionLog(MissionJournal(), warn=self.problems.append),
        )

    # -- the executor's parts -------------------------------------------------------------------

    @property
    def factory(self):
        return self._factory

    def _make_factory(self):
        factory = BehaviorTreeFactory(clock=lambda: self.time)

        def start(node):
            node.end = self.time + float(node.get_input("seconds"))
            return NodeStatus.RUNNING

        def drive(node):
            return NodeStatus.SUCCESS if self.time >= node.end else NodeStatus.RUNNING

        factory.register_simple_stateful_action(
            "Drive", start, drive, lambda node: None, [InputPort("seconds", float)]
        )
        return factory

    def load(self, entry, values, shared=None):
        self._factory.clear_registered_behavior_trees()
        blackboard = Blackboard.create()
        if shared is None:
            tree = self._factory.create_tree_from_file(entry.path, blackboard)
        else:
            tree = shared.create(self._factory, blackboard)
        return TreeRun(tree, tree_id=entry.main_tree, file=entry.path)

    def mission_changed(self, mission):
        pass

    def tree_loaded(self, mission, run):
        self.run = run
        self.trees.begin(run)

    def tree_ticked(self, mission, run, duration):
        self.trees.after_tick()

    def problem(self, text):
        self.problems.append(text)

    # -- what tests do --------------------------------------------------------------------------

    def start(self, name="patrol"):
        self.mission = self.core.submit(MissionRequest(name, name=name))
        self.tick()
        return self.mission

    def tick(self, seconds=0.05):
        self.time += seconds
        self.wall += seconds
        self.core.tick()

    def node(self, path):
        return self.run.tree.node_by_path(path)

    def ask(self, request):
        """The answer to a request, when the thread has done all that it was given."""
        answers = []
        self.trees.exchange(request, answers.append)
        self.aside.run()
        assert len(answers) == 1
        return answers[0]

    def join(self, name="ann", tree="patrol"):
        return Editor(self, name, tree)


class Editor:
    """A peer over a network that works."""

    def __init__(self, bench, name, tree):
        self.bench, self.peer = bench, EditPeer(name, tree)
        self.catch_up()

    def catch_up(self):
        while True:
            request = self.peer.request()
            self.peer.take(request, self.bench.ask(request))
            if not self.peer.wants:
                return

    def id(self, name):
        return self.peer.replica.find(name)

    def do(self, op, running=Running.REFUSE, **fields):
        edit = self.peer.propose({"op": op, **fields}, running)
        self.catch_up()
        return self.peer.answers[edit.number]

    def set(self, node, running=Running.REFUSE, **attributes):
        return self.do("set", running, node=self.id(node), attributes=attributes)


class Network:
    """Loses, doubles, delays and reorders what peers and executor send."""

    def __init__(self, seed, loss=0.2):
        self.luck, self.loss = random.Random(seed), loss
        self.under_way = []

    def send(self, deliver):
        for _ in range(self.luck.choice((1, 1, 2))):
            if self.luck.random() > self.loss:
                self.under_way.append(deliver)

    def step(self):
        if self.under_way:
            self.under_way.pop(self.luck.randrange(len(self.under_way)))()

    def mend(self):
        """From now on nothing is lost."""
        self.loss = 0.0


class FarEditor:
    """A peer over such a network."""

    def __init__(self, bench, network, name):
        self.bench, self.network, self.peer = bench, network, EditPeer(name, "patrol")
        self.heard = 0

    def ask(self):
        request: ExchangeRequest = self.peer.request()
        self.network.send(lambda: self.bench.trees.exchange(request, self._reply_to(request)))

    def _reply_to(self, request):
        def reply(told: ExchangeAnswer):
            self.network.send(lambda: self.peer.take(request, told))

        return reply

    def listen(self):
        """Have what was published since sent here."""
        for news in self.bench.news[self.heard :]:
            self.network.send(lambda news=news: self.peer.hear(news))
        self.heard = len(self.bench.news)
