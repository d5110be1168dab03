# SPDX-License-Identifier: Apache-2.0
"""The mission `decider_stack_blocks`: the tower of `stack_blocks`, built by a decider network."""

from __future__ import annotations

from dataclasses import replace

from behavior_jobs.judges import stack_blocks

MISSION = replace(stack_blocks.MISSION, name="decider_stack_blocks")
