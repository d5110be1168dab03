# SPDX-License-Identifier: Apache-2.0
"""The underlay speaks the same types on the wire as the packages it stands in for.

DDS endpoints of ROS 2 match by name, and tools compare type hashes (REP-2011), which depend on
field names, field types and order alone. The hashes below were computed from the definitions of
control_msgs 5.8.0, vision_msgs 4.1.1 and tf2_msgs 0.36 of ROS 2 Jazzy; on a full distribution this
same test reads the distribution's own packages.
"""

import json
import os
from pathlib import Path

import pytest

TYPE_HASHES = {
    "control_msgs/action/FollowJointTrajectory": (
        "738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6"
    ),
    "control_msgs/action/GripperCommand": (
        "e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84"
    ),
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "vision_msgs/msg/Detection2DArray": (
        "214274120007f4a683866481336b70310268cfa107aebe9d594a6acf75bda968"
    ),
    "vision_msgs/msg/Detection3DArray": (
        "793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018"
    ),
}


def type_hash(name):
    for prefix in os.environ["AMENT_PREFIX_PATH"].split(":"):
        description = Path(prefix, "share", f"{name}.json")
        if description.exists():
            hashes = json.loads(description.read_text())["type_hashes"]
            return next(entry["hash_string"] for entry in hashes if entry["type_name"] == name)
    raise FileNotFoundError(name)


@pytest.mark.parametrize("name", sorted(TYPE_HASHES))
def test_type_hash_is_the_distributions(name):
    assert type_hash(name) == f"RIHS01_{TYPE_HASHES[name]}"
