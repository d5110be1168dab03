# SPDX-License-Identifier: Apache-2.0
"""The scene on the command line."""
