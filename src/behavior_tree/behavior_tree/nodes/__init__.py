# SPDX-License-Identifier: Apache-2.0
"""The built-in node types: `control`, `decorators`, `actions`; py_trees behaviours as leaves."""
