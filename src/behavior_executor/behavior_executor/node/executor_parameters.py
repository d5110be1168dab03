# SPDX-License-Identifier: Apache-2.0
"""Parameters of the executor node."""

from __future__ import annotations

from behavior_executor.journal.journal import RestartPolicy
from behavior_executor.missions.catalogue import EVERYTHING
from behavior_ros import read_only

EXECUTOR_PARAMETERS = [
    read_only(
        "tick_rate",
        2.0,
        "[Hz] of node time: a tree is ticked so often although nothing happens; results, "
        "messages, changed entries and timers have it ticked at once",
        range=(0.1, 1000.0),
    ),
    read_only(
        "tick_distance",
        0.002,
        "[s] wall time that lies at least between two ticks where events ask for them",
        range=(0.0, 1.0),
    ),
    read_only(
        "tree_directories",
        [EVERYTHING],
        "folders whose tree files are the missions; *: those that packages offer",
    ),
    read_only(
        "nodes_file",
        EVERYTHING,
        "tree nodes made from ROS interfaces; *: those that packages offer; empty: none",
    ),
    read_only("managers", ["scene"], "managers: names that packages offer, or module:Class"),
    read_only(
        "feedback_collector",
        "",
        "manager that tells what becomes of an action, after all others: a name that a "
        "package offers or module:Class; empty: none",
    ),
    read_only(
        "second_mission_policy",
        "reject",
        "what happens to a mission that arrives while another one runs",
        choices=("reject", "queue", "replace"),
    ),
    read_only("queue_capacity", 100, "missions that may wait", range=(0, 10000)),
    read_only(
        "server_lost_grace",
        2.3,
        "[s] wall time for which a server that went away is waited for",
        range=(0.0, 600.0),
    ),
    read_only(
        "preflight_patience",
        20.0,
        "[s] wall time for which a mission's start waits for the actions, services and topics "
        "that its trees need, before it fails",
        range=(0.0, 3600.0),
    ),
    read_only(
        "mission_timeout", 0.0, "[s] node time that a mission may take; 0: any", range=(0.0, 1e6)
    ),
    read_only(
        "navigation_tree",
        "navigation_classic",
        "tree of missions NAVIGATE_TO_POSE and FOLLOW_ROUTE",
    ),
    read_only(
        "behavior_tree_file",
        "",
        "tree file that takes the place of navigation_tree, wherever it lies; empty: none",
    ),
    read_only("map_tree", "load_map", "tree of missions LOAD_MAP"),
    read_only(
        "journal_file", "", "file that holds every mission; empty: in memory, lost with the process"
    ),
    read_only(
        "journal_capacity",
        10_000,
        "missions that the journal keeps after they have ended",
        range=(1, 10**7),
    ),
    read_only(
        "journal_required",
        True,
        "refuse missions that cannot be written to the journal; else they run, and say so",
    ),
    read_only(
        "restart_policy",
        "report",
        "what becomes of missions that a restart finds unfinished",
        choices=tuple(policy.value for policy in RestartPolicy),
    ),
    read_only(
        "use_tile_loader",
        False,
        "serve missions LOAD_MAP; trees find it as use_tile_loader on their blackboard",
    ),
    read_only(
        "edit_trees",
        True,
        "let clients edit the trees of missions, also while they tick; else they only look",
    ),
    read_only(
        "save_tree_nodes",
        False,
        "write the models of all tree nodes to tree_nodes_file, for Groot2",
    ),
    read_only(
        "tree_nodes_file",
        "tree_nodes.xml",
        "where save_tree_nodes writes, from the working directory on; empty: nowhere",
    ),
    read_only(
        "groot2_port",
        0,
        "port where Groot2 finds the running tree, notices at the next one; if they are taken, "
        "the next pair that is free; 0: none",
        range=(0, 65534),
    ),
    read_only(
        "groot2_address",
        "127.0.0.1",
        "interface of groot2_port; * lets the whole network see the tree",
    ),
    read_only(
        "groot2_breakpoints",
        False,
        "let whoever reaches groot2_port hold the tree's nodes and give them results",
    ),
    read_only(
        "py_trees_streams",
        True,
        "offer py_trees_ros' snapshot streams, where that package is installed",
    ),
    read_only(
        "robot", "", "robot's file, which says what is commanded together; empty: nothing is"
    ),
    read_only(
        "autostart",
        True,
        "configure and activate the node when it is made; else a lifecycle manager does",
    ),
]
