# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_vda5050."""

from setuptools import find_packages, setup

PACKAGE = "behavior_vda5050"

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
    description="Puts a robot under a VDA5050 master control: orders become missions.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "vda5050_client = behavior_packages.programs:behavior_vda5050.node.main",
        ],
    },
)
