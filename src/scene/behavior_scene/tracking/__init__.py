# SPDX-License-Identifier: Apache-2.0
"""From detections to tracks that keep their identity: intake, association, filters, lifetimes."""
