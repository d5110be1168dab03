# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_navigation."""

from glob import glob
from os.path import dirname
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "behavior_navigation"
PROGRAMS = {
    "nav2_map_loader": "nav2.map_loader",
    "nav2_path_planner": "nav2.path_planner",
    "nav2_route_planner": "nav2.route_planner",
    "safety_gate": "safety_gate",
}
# colcon runs this in the build folder too, where links to files that are gone may lie.
SOURCE = Path(__file__).resolve().parent

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/behavior_packages", [f"resource/{PACKAGE}"]),
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml", "behavior.yaml"]),
        *(
            (f"share/{PACKAGE}/{dirname(file)}", [file])
            for pattern in ("config/**/*.*", "trees/**/*.xml")
            for file in glob(pattern, root_dir=SOURCE, recursive=True)
        ),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Behavior suite maintainers",
    maintainer_email="maintainers@behavior-suite.invalid",
    description="Navigation managers for the executor, safety gate, and Nav2 behind their topics.",
    license="Apache-2.0",
    entry_points={
        "behavior_packages": [f"{PACKAGE} = {PACKAGE}"],
        "console_scripts": [
            f"{name} = behavior_packages.programs:{PACKAGE}.{module}.main"
            for name, module in PROGRAMS.items()
        ],
    },
)
