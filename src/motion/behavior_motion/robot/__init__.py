# SPDX-License-Identifier: Apache-2.0
"""The robot: read from one file, by way of URDF and SRDF."""
