# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_executor."""

from setuptools import find_packages, setup

PACKAGE = "behavior_executor"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Runs missions as behavior trees; managers; client side of missions.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "executor_node = behavior_executor.node:main",
            "nav2_map_loader = behavior_executor.nav2.map_loader:main",
            "nav2_path_planner = behavior_executor.nav2.path_planner:main",
            "nav2_route_planner = behavior_executor.nav2.route_planner:main",
            "safety_gate = behavior_executor.safety_gate:main",
            "vda5050_client = behavior_executor.vda5050.node:main",
        ],
        "behavior_executor.managers": [
            "scene = behavior_executor.scene_manager:SceneManager",
            "system_health = behavior_executor.managers.system_health:SystemHealthManager",
            "planner = behavior_executor.managers.planner:PlannerManager",
            "action = behavior_executor.managers.action:ActionManager",
            "map = behavior_executor.managers.map:MapManager",
            "entity = behavior_executor.managers.entity:EntityManager",
            "feedback_collector = behavior_executor.managers.feedback:FeedbackCollector",
            "local_action = behavior_executor.managers.local_action:LocalActionGenerator",
            "loco_manipulation = "
            "behavior_executor.managers.loco_manipulation:LocoManipulationManager",
            "autonomy_level = behavior_executor.managers.autonomy_level:AutonomyLevelManager",
        ],
    },
)
