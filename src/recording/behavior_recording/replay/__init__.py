# SPDX-License-Identifier: Apache-2.0
"""Looks at runs that are over: at any moment, beside each other, once more without a robot."""
