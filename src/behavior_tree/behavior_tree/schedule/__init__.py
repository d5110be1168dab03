# SPDX-License-Identifier: Apache-2.0
"""When each leaf of a tree begins and ends if all goes well, and which of them the end waits for.

::

    log = DurationLog(tree)  # measures while the tree is ticked
    for line in timeline_text(Outlook(tree, log.durations)):
        print(line)

See ``docs/authoring.md``.
"""

from behavior_tree.schedule.course import Bar, Schedule, make_schedule
from behavior_tree.schedule.durations import Duration, DurationLog, nominal_duration
from behavior_tree.schedule.outlook import Outlook, Row
from behavior_tree.schedule.timeline import timeline_json, timeline_svg, timeline_text

__all__ = [
    "Bar",
    "Duration",
    "DurationLog",
    "Outlook",
    "Row",
    "Schedule",
    "make_schedule",
    "nominal_duration",
    "timeline_json",
    "timeline_svg",
    "timeline_text",
]
