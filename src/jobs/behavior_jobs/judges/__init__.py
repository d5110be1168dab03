# SPDX-License-Identifier: Apache-2.0
"""How each job is judged, disturbed, and told in one line: a module for each, pure."""
