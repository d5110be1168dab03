# SPDX-License-Identifier: Apache-2.0
"""Skills of a driving base: its motion in closed form, Nav2, and the node around them."""
