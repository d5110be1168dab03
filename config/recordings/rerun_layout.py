# SPDX-License-Identifier: Apache-2.0
"""Shows a recording in Rerun with views for scene, mission, ticks and log (pip install rerun-sdk).

python config/recordings/rerun_layout.py run.mcap [--save run.rrd]
"""

import argparse
from pathlib import Path

import rerun as rr
import rerun.blueprint as rrb

parser = argparse.ArgumentParser(description="Shows a recording in Rerun.")
parser.add_argument("recording", type=Path)
parser.add_argument("--save", type=Path, help="write it for Rerun instead of opening a window")
options = parser.parse_args()

layout = rrb.Blueprint(
    rrb.Horizontal(
        rrb.Spatial3DView(origin="/", name="scene"),
        rrb.Vertical(
            rrb.DataframeView(origin="/mission/feedback", name="mission"),
            rrb.DataframeView(origin="/behavior/tree_record", name="ticks"),
            rrb.DataframeView(origin="/behavior/commands", name="commands"),
            rrb.TextLogView(origin="/rosout", name="log"),
        ),
        column_shares=[3, 2],
    )
)
rr.init("behavior_recording", spawn=options.save is None)
if options.save is not None:
    rr.save(options.save)
rr.send_blueprint(layout)
rr.log_file_from_path(options.recording)
