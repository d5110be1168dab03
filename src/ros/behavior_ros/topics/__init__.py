# SPDX-License-Identifier: Apache-2.0
"""Topics: profiles, newest messages, subscriptions that cost little."""
