# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_ros."""

from setuptools import find_packages, setup

PACKAGE = "behavior_ros"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "fastdds_loopback.xml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Thin layer on rclpy: entry point, parameters, transforms, actions, tree leaves.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["host = behavior_packages.programs:behavior_ros.process.host.script"]
    },
)
