# SPDX-License-Identifier: Apache-2.0
"""The tree nodes that this package brings to the executor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rclpy.node import Node

from behavior_assistant.ask_language_model import AskLanguageModel, Objects
from behavior_assistant.asker import Asker
from behavior_assistant.settings import PREFIX, SCRIPT, URL, Settings, read_key, settings_from
from behavior_executor.node.tree_nodes import NodeContext
from behavior_executor.scene.scene_nodes import Scene
from behavior_ros import declare_all, read_only
from behavior_tree import BehaviorTreeFactory

MISSING = (
    "no language model is configured: set the executor's parameter language_model.url to the"
    " address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1, or"
    f" {URL} before the stack starts"
)


def register(factory: BehaviorTreeFactory, context: NodeContext) -> None:
    """Register `AskLanguageModel`.

    Args:
        factory: gets the node.
        context: has the scene, and the node whose parameters name the model.
    """
    node = context.node
    if node is None:
        unasked = Asker(Settings, missing=MISSING)
        factory.register_node_type(AskLanguageModel, "AskLanguageModel", unasked)
        return
    values = _declared(node)
    asker = Asker(lambda: _settings(values), missing="" if _configured(values) else MISSING)
    factory.register_node_type(
        AskLanguageModel,
        "AskLanguageModel",
        asker,
        objects_of(context.scene),
        node.get_logger().info,
    )


def _declared(node: Node) -> dict[str, Any]:
    """The parameters, whose defaults are in the environment; a key is no parameter: all can read
    those.
    """
    texts = {
        "url": "address of an OpenAI-compatible API; empty: nobody is asked",
        "name": "of the model, as the endpoint calls it",
        "key_file": f"file with the endpoint's key; empty: {PREFIX}_KEY, if that is set",
        "script": "file of answers that stands for a model",
    }
    return declare_all(
        node,
        [read_only(f"language_model.{name}", "", text) for name, text in texts.items()],
    )


def _configured(values: Mapping[str, Any]) -> bool:
    parameters = (values[f"language_model.{name}"] for name in ("url", "script"))
    return any(parameters) or any(os.environ.get(name) for name in (URL, SCRIPT))


def _settings(values: Mapping[str, Any]) -> Settings:
    given = {name: str(values[f"language_model.{name}"]) for name in ("url", "name", "script")}
    environment = settings_from()
    key_file = str(values["language_model.key_file"])
    return Settings(
        url=given["url"] or environment.url,
        name=given["name"] or environment.name,
        key=read_key(Path(key_file)) if key_file else environment.key,
        script=given["script"] or environment.script,
    )


def objects_of(scene: Scene | None) -> Objects:
    """What the node shows of a scene: place [m], and whether it is held or lost."""

    def objects() -> dict[str, dict[str, Any]] | None:
        snapshot = scene.snapshot if scene is not None else None
        if snapshot is None:
            return None
        return {
            name: {
                "position": [round(float(part), 3) for part in body.pose[:3, 3]],
                "held": bool(body.attached_link),
                "lost": body.lost,
            }
            for name, body in snapshot.bodies.items()
        }

    return objects
