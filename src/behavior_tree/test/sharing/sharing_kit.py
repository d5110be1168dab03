# SPDX-License-Identifier: Apache-2.0
"""A shared tree, editors with replicas, and a tree that ticks."""

from __future__ import annotations

from behavior_tree import BehaviorTreeFactory, InputPort, NodeStatus, StatefulActionNode, ports_list
from behavior_tree.authoring import register_authoring_nodes
from behavior_tree.editing.description import describe
from behavior_tree.sharing import Running, SharedTree
from behavior_tree.sharing.remote import RemoteEditor

MAIN = """<?xml version="1.0"?>
<root BTCPP_format="4" main_tree_to_execute="Main">
  <include path="lib.xml"/>
  <!-- what the robot does -->
  <BehaviorTree ID="Main">
    <Sequence name="top">
      <Work name="a"  ticks='2'/> <!-- first -->
      <Parallel name="both" failure_count="1">
        <Work name="left b" ticks="3"/>
        <Fallback name="f"><Work name="c"/><Work name="d" ticks="1"/></Fallback>
      </Parallel>
      <SubTree ID="Lib" name="s" n="{count}"/>
      <SubTree ID="Lib" name="t" n="3"/>
    </Sequence>
  </BehaviorTree>
</root>
"""
LIB = """<root BTCPP_format="4">
  <BehaviorTree ID="Lib">
    <Sequence name="l"><Work name="x" ticks="{n}"/><Work name="right y"/></Sequence>
  </BehaviorTree>
</root>
"""


class Work(StatefulActionNode):
    """Runs for some ticks."""

    @classmethod
    def provided_ports(cls):
        return ports_list(InputPort("ticks", int, 0))

    def on_start(self):
        self.left = self.get_input("ticks") or 0
        return self.on_running()

    def on_running(self):
        self.left -= 1
        return NodeStatus.SUCCESS if self.left < 0 else NodeStatus.RUNNING


class Clock:
    """Goes on by itself, so that nobody is held back."""

    def __init__(self, step=1.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def factory():
    made = BehaviorTreeFactory()
    register_authoring_nodes(made)
    made.register_node_type(Work, "Work")
    return made


def files(folder, main=MAIN, lib=LIB):
    (folder / "lib.xml").write_text(lib)
    (folder / "main.xml").write_text(main)
    return folder / "main.xml"


class Shared:
    """An authority, its tree, and editors that see everything at once."""

    def __init__(self, folder, main=MAIN, kept=False, now=None, **more):
        self.path = files(folder, main)
        self.kept = folder / "kept" if kept else None
        self.tree = SharedTree(
            self.path, factory(), kept=self.kept, now=now or Clock(), client=1, **more
        )
        self.factory = factory()
        self.live = self.tree.build(self.factory)
        self.live.root_blackboard().set("count", 2)
        self.editors = {}

    def editor(self, name="ann"):
        editor = self.editors.setdefault(name, RemoteEditor(name))
        tree, state = self.tree, editor.replica.state_vector
        editor.catch_up(tree.document_id, tree.update_for(state), tree.last_number(name))
        return editor

    def id(self, name):
        return self.editor("reader").replica.find(name)

    def do(self, op, who="ann", running=Running.REFUSE, **fields):
        editor = self.editor(who)
        edit = editor.propose({"op": op, **fields}, running)
        answer = self.tree.submit(edit)
        editor.answered(edit, answer)
        return answer

    @property
    def text(self):
        return self.tree.files.data[self.path].decode()

    @property
    def lib(self):
        return self.tree.files.data[self.path.parent / "lib.xml"].decode()

    def node(self, path):
        return self.live.node_by_path(path)


def shape(tree):
    """What a tree is: types, names, attributes and wiring, without numbers."""
    return [
        (each.tree_id, each.instance_name.split("::")[0], plain(describe(each.nodes[0], {})))
        for each in tree.subtrees
    ]


def plain(element):
    return element.tag, sorted(element.attributes.items()), [plain(c) for c in element.children]


def fresh(shared):
    """The tree that the files of a shared one make when they are loaded."""
    made = factory()
    made.adopt(shared.tree.files.documents)
    files = shared.tree.files
    documents, problems = made.check_documents(files.path, files.data)
    assert problems == []
    made.adopt(documents)
    return made.create_tree(documents.main_tree)


def document(replica):
    """Everything that a replica shows."""
    return replica.nodes, replica.files, replica.revision
