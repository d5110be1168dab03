# SPDX-License-Identifier: Apache-2.0
"""What cameras see of a world, and how it is drawn for them."""
