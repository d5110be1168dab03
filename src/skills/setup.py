# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

package_name = "behavior_skills"
PROGRAMS = {
    "base_node": "base.base_node",
    "skills_node": "node.skills_node",
    "robot_state_publisher_node": "node.robot_state_publisher",
    "wait_node": "node.wait_node",
}

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/behavior_packages", ["resource/" + package_name]),
        ("share/ament_index/resource_index/packages", ["resource/" + package_name]),
        ("share/" + package_name, ["package.xml", "behavior.yaml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Skill servers: pick, place, screw, arm, look, gripper and base",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{package_name} = {package_name}"],
        "console_scripts": [
            f"{name} = behavior_packages.programs:{package_name}.{module}.main"
            for name, module in PROGRAMS.items()
        ],
    },
)
