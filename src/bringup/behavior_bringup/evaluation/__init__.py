# SPDX-License-Identifier: Apache-2.0
"""Evaluation: a job runs many times from seeded start states, each run is judged by the truth.

An *episode* is one such run. Episodes are done by *workers*, processes of their own with a ROS
domain of their own, on this machine or on a cluster. Nothing but the episode goes to a worker and
nothing but its record comes back, so that it does not matter where it is.

==================  ================================================================================
`record`            an episode, and what became of it
`plan`              which seeds are run, here or in which shard
`schedule`          who does which episode next; every one counts once, whatever dies
`worker`            the process that runs episodes, one after the other
`worker_process`    starts such a process, gives it episodes, watches its memory, and ends it
`crew`              several workers at once, with a thread each
`ray_workers`       workers on a Ray cluster
`stack_episodes`    runs episodes on a stack of the job's world
`store`             the records on disk: one SQLite file
`versions`          of what an episode was run with
`merge`             several stores become one
`statistics`        intervals and tests
`report_page`       a store as a page
`comparison`        two stores, seed by seed
`variation`         what is different from episode to episode, drawn in strata
`search`            the smallest disturbance that breaks a job
==================  ================================================================================
"""
