# SPDX-License-Identifier: Apache-2.0
"""Why a run ended as it did: a page that stands alone."""
