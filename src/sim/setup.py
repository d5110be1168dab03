# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_sim."""

from setuptools import setup

PACKAGE = "behavior_sim"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=[PACKAGE, f"{PACKAGE}.navigation"],
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        ("share/ament_index/resource_index/behavior_packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml", "behavior.yaml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Simulated worlds: physics, controllers, detections, recordings.",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{PACKAGE} = {PACKAGE}"],
        "console_scripts": [
            "base_driver_node = behavior_sim.base_driver:main",
            "camera_node = behavior_sim.camera_node:main",
            "navigation_node = behavior_sim.navigation.node:main",
            "simulation_node = behavior_sim.node:main",
        ],
    },
)
