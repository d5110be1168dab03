# SPDX-License-Identifier: Apache-2.0
"""Adapters of robots' drivers, one class each; `driver` says how a robot's file names them."""
