# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_motion."""

from setuptools import find_packages, setup

NAME = "behavior_motion"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/behavior_packages", [f"resource/{NAME}"]),
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml", "behavior.yaml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Motion planning, kinematics and collision checks behind one interface",
    license="Apache-2.0",
    entry_points={"behavior_packages": [f"{NAME} = {NAME}"]},
)
