# SPDX-License-Identifier: Apache-2.0
"""Sets up a machine that has Python, a compiler and nothing of ROS.

Runs on the standard library alone, since it makes the environment that everything else lives in.
Each step is one module with one function that does nothing when its result is already there:

1. `checks`: is this machine able to build the suite?
2. `python_environment`: the virtual environment with the pinned wheels.
3. `wheel_fixes`: the two paths baked into the ROS wheels' CMake files.
4. `interfaces`: the interface packages, built once per definition and kept in a user cache.
5. `page`: the console's page, built from TypeScript.
6. `workspace`: `colcon build` of the Python packages.
7. `environment`: the shell file that `activate` reads.
"""
