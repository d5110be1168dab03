# SPDX-License-Identifier: Apache-2.0
"""Behavior trees with the semantics, XML format and Python names of BehaviorTree.CPP 4, on
py_trees.

Quick start::

    from behavior_tree import BehaviorTreeFactory, NodeStatus

    factory = BehaviorTreeFactory()
    factory.register_simple_action("SayHello", lambda node: NodeStatus.SUCCESS)
    tree = factory.create_tree_from_text('''
        <root BTCPP_format="4">
          <BehaviorTree ID="Main"> <Sequence> <SayHello/> <Sleep msec="100"/> </Sequence>
          </BehaviorTree>
        </root>''')
    tree.tick_while_running()

Where to read on: the double nature of nodes in `behavior_tree.kernel.node`, how they are ticked in
`behavior_tree.kernel.node_kernel`, ports in `behavior_tree.blackboard.ports`, scripts in
`behavior_tree.script`, differences to upstream in `behavior_tree.quirks`.
"""

from behavior_tree.basic_types import NodeStatus, NodeType, PortDirection, to_string
from behavior_tree.blackboard.blackboard import Blackboard, Entry
from behavior_tree.blackboard.conversion import TypeRegistry, Unsigned, register_converter
from behavior_tree.blackboard.json_types import register_json_type
from behavior_tree.blackboard.ports import (
    BidirectionalPort,
    InputPort,
    OutputPort,
    PortInfo,
    ports_list,
)
from behavior_tree.cause import Cause, CauseKind
from behavior_tree.editing import TreeEditor
from behavior_tree.errors import (
    BehaviorTreeError,
    BlackboardError,
    ConversionError,
    FailureReason,
    LoadError,
    LogicError,
    NodeExecutionError,
    NodeTypeTakenError,
    PortError,
    ScriptError,
    XmlProblem,
)
from behavior_tree.factory import BehaviorTreeFactory
from behavior_tree.kernel.blackboard_json import (
    export_blackboard_to_json,
    export_tree_to_json,
    import_blackboard_from_json,
    import_tree_from_json,
)
from behavior_tree.kernel.leaf import (
    ActionNodeBase,
    ConditionNode,
    LeafNode,
    StatefulActionNode,
    SyncActionNode,
)
from behavior_tree.kernel.manifest import TreeNodeManifest
from behavior_tree.kernel.node import NodeConfig, TreeNode
from behavior_tree.kernel.runner import TreeRunner
from behavior_tree.kernel.saving import restore_tree, save_tree
from behavior_tree.kernel.structure import StructureChange
from behavior_tree.kernel.tree import Tree
from behavior_tree.monitoring.groot2 import GROOT2_AVAILABLE, Groot2Publisher
from behavior_tree.monitoring.history import BlackboardHistory, BlackboardWrite
from behavior_tree.monitoring.loggers import (
    FileLogger,
    MinitraceLogger,
    SqliteLogger,
    StdCoutLogger,
    TreeObserver,
    read_btlog,
)
from behavior_tree.nodes.actions.queue import PopFromQueue, QueueSize
from behavior_tree.nodes.actions.test_node import TestNode, TestNodeConfig
from behavior_tree.nodes.control import ControlNode, ManualSelector
from behavior_tree.nodes.decorators import ConsumeQueue, DecoratorNode, Loop
from behavior_tree.placeholders import register_placeholders
from behavior_tree.xml.schema import write_tree_xsd
from behavior_tree.xml.writer import write_tree_nodes_model_xml, write_tree_to_xml

__all__ = [
    "GROOT2_AVAILABLE",
    "ActionNodeBase",
    "BehaviorTreeError",
    "BehaviorTreeFactory",
    "BidirectionalPort",
    "Blackboard",
    "BlackboardError",
    "BlackboardHistory",
    "BlackboardWrite",
    "Cause",
    "CauseKind",
    "ConditionNode",
    "ConsumeQueue",
    "ControlNode",
    "ConversionError",
    "DecoratorNode",
    "Entry",
    "FailureReason",
    "FileLogger",
    "Groot2Publisher",
    "InputPort",
    "LeafNode",
    "LoadError",
    "LogicError",
    "Loop",
    "ManualSelector",
    "MinitraceLogger",
    "NodeConfig",
    "NodeExecutionError",
    "NodeStatus",
    "NodeType",
    "NodeTypeTakenError",
    "OutputPort",
    "PopFromQueue",
    "PortDirection",
    "PortError",
    "PortInfo",
    "QueueSize",
    "ScriptError",
    "SqliteLogger",
    "StatefulActionNode",
    "StdCoutLogger",
    "StructureChange",
    "SyncActionNode",
    "TestNode",
    "TestNodeConfig",
    "Tree",
    "TreeEditor",
    "TreeNode",
    "TreeNodeManifest",
    "TreeObserver",
    "TreeRunner",
    "TypeRegistry",
    "Unsigned",
    "XmlProblem",
    "export_blackboard_to_json",
    "export_tree_to_json",
    "import_blackboard_from_json",
    "import_tree_from_json",
    "ports_list",
    "read_btlog",
    "register_converter",
    "register_json_type",
    "register_placeholders",
    "restore_tree",
    "save_tree",
    "to_string",
    "write_tree_nodes_model_xml",
    "write_tree_to_xml",
    "write_tree_xsd",
]
