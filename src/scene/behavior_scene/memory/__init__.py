# SPDX-License-Identifier: Apache-2.0
"""What outlives the process: saved scenes, and where things were seen."""
