# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_console."""

from setuptools import find_packages, setup

PACKAGE = "behavior_console"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    # The page is built from web/ by `make setup`.
    package_data={PACKAGE: ["py.typed", "page/*", "page/*/*", "page/*/*/*"]},
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
    description="The operator console: a page to see, run, edit and replay what robots do.",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{PACKAGE} = {PACKAGE}"],
        "console_scripts": [
            "console = behavior_packages.programs:behavior_console.node.main",
        ],
    },
)
