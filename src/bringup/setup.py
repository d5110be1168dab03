# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_bringup."""

from glob import glob
from os.path import dirname
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "behavior_bringup"
# colcon runs this in the build folder too, where links to files that are gone may lie.
SOURCE = Path(__file__).resolve().parent

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed", "templates/**/*.in"]},
    data_files=[
        ("share/ament_index/resource_index/behavior_packages", [f"resource/{PACKAGE}"]),
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml", "behavior.yaml"]),
        *(
            (f"share/{PACKAGE}/{dirname(file)}", [file])
            for pattern in ("config/**/*.yaml", "config/**/*.[us]rdf", "launch/*.py")
            for file in glob(pattern, root_dir=SOURCE, recursive=True)
        ),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"], "ray": ["ray>=2.60"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Stack descriptions, launch files and the behavior command.",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{PACKAGE} = {PACKAGE}"],
        "console_scripts": ["behavior = behavior_bringup.__main__:main"],
        "ros2cli.command": ["bt = behavior_bringup.commands.ros2cli_command:BtCommand"],
    },
)
