# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_recording."""

from setuptools import find_packages, setup

PACKAGE = "behavior_recording"

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
    description="Records runs as MCAP files, and reads them again.",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{PACKAGE} = {PACKAGE}"],
        "console_scripts": [
            "recorder = behavior_packages.programs:behavior_recording.recorder_node.main",
        ],
    },
)
