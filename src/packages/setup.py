# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_packages."""

from setuptools import find_packages, setup

PACKAGE = "behavior_packages"

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
    description="What packages offer to the behavior suite: the door by which all of them enter.",
    license="Apache-2.0",
)
