# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_sim."""

from setuptools import setup

PACKAGE = "behavior_sim"
PROGRAMS = {
    "base_driver_node": "base_driver",
    "camera_node": "camera_node",
    "navigation_node": "navigation.node",
    "simulation_node": "node",
}

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=[PACKAGE, f"{PACKAGE}.navigation"],
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/behavior_packages", [f"resource/{PACKAGE}"]),
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
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
            f"{name} = behavior_packages.programs:{PACKAGE}.{module}.main"
            for name, module in PROGRAMS.items()
        ],
    },
)
