# SPDX-License-Identifier: Apache-2.0
"""Missions on the command line: what there is, how it runs, how it gets on."""
