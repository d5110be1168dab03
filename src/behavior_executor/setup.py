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
        ("share/ament_index/resource_index/behavior_packages", [f"resource/{PACKAGE}"]),
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml", "behavior.yaml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Runs missions as behavior trees; managers; client side of missions.",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{PACKAGE} = {PACKAGE}"],
        "console_scripts": [
            "executor_node = behavior_packages.programs:behavior_executor.node.executor_node.main",
        ],
    },
)
