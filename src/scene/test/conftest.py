# SPDX-License-Identifier: Apache-2.0
"""No deadline for single examples: a loaded machine is slow, and that is no defect."""

from hypothesis import settings

settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
