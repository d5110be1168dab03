# SPDX-License-Identifier: Apache-2.0
"""Parameters are reachable under the names that users of the original components know."""

from navigation_rig import rig

from behavior_executor.managers.manager import load_manager_class
from behavior_navigation.managers.entity import EntityManager
from behavior_navigation.managers.feedback import FeedbackCollector
from behavior_navigation.managers.local_action import LocalActionGenerator
from behavior_navigation.managers.map import MapManager
from behavior_navigation.managers.system_health import SystemHealthManager


def test_a_manager_with_one_input_takes_rx_message_and_max_timeout() -> None:
    with rig(SystemHealthManager, "rx_message:=/my/pose", "max_timeout:=3.5") as health:
        cache = health.manager.inputs["localization_result"]
        assert health.manager.values["localization_result.rx_message"] == "/my/pose"
        assert health.host.count_subscribers("/my/pose") == 1
        assert cache.max_age == 3.5
    with rig(LocalActionGenerator, "rx_message:=/my/route") as local:
        assert local.manager.values["rx_route.rx_message"] == "/my/route"
        assert local.manager.values["rx_route.max_timeout"] == 5.0
    with rig(LocalActionGenerator, "rx_route.rx_message:=/other/route") as local:
        assert local.host.count_subscribers("/other/route") == 1


def test_the_tile_result_names_the_action_that_gives_it() -> None:
    with rig(MapManager, "load_tile_result.rx_message:=/my/loader") as tiles:
        assert tiles.manager._loader.name == "/my/loader"


def test_one_module_alone_is_named_without_a_key() -> None:
    with rig(EntityManager, "managed_entity_name:=camera", "tx_enabler:=/front/camera") as one:
        assert list(one.manager.pool.entities) == ["camera"]
        names = {manifest.registration_id for manifest in one.factory.manifests().values()}
        assert {"cameraEnable", "cameraDisable", "cameraToggle"} <= names
        (driver,) = one.manager._looks
        assert driver._name == "/front/camera"


def test_the_feedback_collector_has_its_name() -> None:
    assert FeedbackCollector.name == "feedback_collector"
    assert load_manager_class("feedback_collector") is FeedbackCollector
