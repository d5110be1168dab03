# SPDX-License-Identifier: Apache-2.0
"""Build description of behavior_tree (ament_python; also `pip install .`)."""

from setuptools import find_packages, setup

PACKAGE = "behavior_tree"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=["setuptools", "py_trees>=2.3,<2.7", "pyyaml"],
    extras_require={"groot2": ["pyzmq", "msgpack"], "sharing": ["pycrdt"], "test": ["pytest"]},
    entry_points={"pytest11": ["behavior_tree = behavior_tree.testing.plugin"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Behavior tree engine with BehaviorTree.CPP semantics on py_trees",
    license="Apache-2.0",
)
