# SPDX-License-Identifier: Apache-2.0
"""Installation of behavior_jobs."""

from setuptools import find_packages, setup

PACKAGE = "behavior_jobs"

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
    description="The suite's own jobs: their tree nodes and their judges.",
    license="Apache-2.0",
    entry_points={
        "behavior_executor.tree_nodes": [
            "behavior_jobs = behavior_jobs.tree_nodes:register",
        ],
        "behavior_bringup.judges": [
            "insert_shelf = behavior_jobs.judges.insert_shelf:MISSION",
            "open_door = behavior_jobs.judges.open_door:MISSION",
            "pick_frozen = behavior_jobs.judges.pick_frozen:MISSION",
            "sort_balls = behavior_jobs.judges.sort_balls:MISSION",
            "stack_blocks = behavior_jobs.judges.stack_blocks:MISSION",
        ],
    },
)
