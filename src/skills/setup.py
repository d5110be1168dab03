# SPDX-License-Identifier: Apache-2.0
from setuptools import find_packages, setup

package_name = "behavior_skills"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/" + package_name]),
        ("share/ament_index/resource_index/behavior_packages", ["resource/" + package_name]),
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
            "base_node = behavior_skills.base.base_node:main",
            "skills_node = behavior_skills.node.skills_node:main",
            "robot_state_publisher_node = behavior_skills.node.robot_state_publisher:main",
            "wait_node = behavior_skills.node.wait_node:main",
        ],
    },
)
