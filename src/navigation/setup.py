# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_navigation."""

from setuptools import find_packages, setup

PACKAGE = "behavior_navigation"

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
    description="Navigation managers for the executor, safety gate, and Nav2 behind their topics.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "nav2_map_loader = behavior_navigation.nav2.map_loader:main",
            "nav2_path_planner = behavior_navigation.nav2.path_planner:main",
            "nav2_route_planner = behavior_navigation.nav2.route_planner:main",
            "safety_gate = behavior_navigation.safety_gate:main",
        ],
        "behavior_executor.managers": [
            "system_health = behavior_navigation.managers.system_health:SystemHealthManager",
            "planner = behavior_navigation.managers.planner:PlannerManager",
            "action = behavior_navigation.managers.action:ActionManager",
            "map = behavior_navigation.managers.map:MapManager",
            "entity = behavior_navigation.managers.entity:EntityManager",
            "feedback_collector = behavior_navigation.managers.feedback:FeedbackCollector",
            "local_action = behavior_navigation.managers.local_action:LocalActionGenerator",
            "loco_manipulation = "
            "behavior_navigation.managers.loco_manipulation:LocoManipulationManager",
            "autonomy_level = behavior_navigation.managers.autonomy_level:AutonomyLevelManager",
        ],
    },
)
