# SPDX-License-Identifier: Apache-2.0
from setuptools import setup

package_name = "behavior_workspace"

setup(
    name=package_name,
    version="0.1.0",
    packages=[package_name],
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    entry_points={"pytest11": ["behavior_workspace = behavior_workspace.pytest_plugin"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Sets a checkout up on a machine without ROS, and checks the whole repository.",
    license="Apache-2.0",
)
