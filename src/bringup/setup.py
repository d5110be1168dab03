# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from setuptools import setup

package_name = "behavior_bringup"


def shared_files() -> list[tuple[str, list[str]]]:
    """Files of config/, launch/ and trees/, which are links to the folders at the root."""
    by_folder: dict[str, list[str]] = {}
    for name in ("config", "launch", "trees"):
        for file in sorted(Path(name).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                by_folder.setdefault(f"share/{package_name}/{file.parent}", []).append(str(file))
    return sorted(by_folder.items())


setup(
    name=package_name,
    version="0.1.0",
    packages=[
        package_name,
        f"{package_name}.navigation",
        f"{package_name}.security",
    ],
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
        *shared_files(),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Stack descriptions, launch files, the behavior command and the viewer.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["behavior = behavior_bringup.cli:main"],
        "ros2cli.command": ["bt = behavior_bringup.ros2cli_command:BtCommand"],
    },
)
