# SPDX-License-Identifier: Apache-2.0
"""The suite's own jobs, as a package like anybody's: their tree nodes and their judges."""
