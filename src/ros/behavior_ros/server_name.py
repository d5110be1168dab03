# SPDX-License-Identifier: Apache-2.0
"""Leaves whose server is named by a port, `NodeModel.name_port`."""

from __future__ import annotations

from dataclasses import replace

from behavior_ros.node_models import NodeModel
from behavior_tree import InputPort, PortInfo, TreeNode


def name_port(model: NodeModel) -> dict[str, PortInfo]:
    """The port that names the server; none where the model alone does."""
    if not model.name_port:
        return {}
    text = f"{model.kind} that is asked; empty: {model.name}"
    return {model.name_port: InputPort(model.name_port, str, "", text)}


def named(leaf: TreeNode, model: NodeModel) -> NodeModel:
    """The model with the name that the leaf's port gives now."""
    name = leaf.get_input(model.name_port) if model.name_port else ""
    return replace(model, name=name) if name else model


def is_named_in_xml(leaf: TreeNode, model: NodeModel) -> bool:
    """Whether the name is known before the tree is ticked."""
    return not model.name_port or leaf.is_literal(model.name_port)
