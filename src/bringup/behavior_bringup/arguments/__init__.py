# SPDX-License-Identifier: Apache-2.0
"""What verbs take: options, types of arguments, what a shell completes."""
