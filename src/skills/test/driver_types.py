# SPDX-License-Identifier: Apache-2.0
"""The drivers' message types as their definitions say, where the packages are not installed.

Fields, types and constants are those of the packages (`ros-jazzy-*`); a wrong name or a value of a
wrong type is an error, as it is with the generated classes. What is not used is left out.
"""

import importlib
import re
import sys
import types
from array import array

DEFINITIONS = {
    "control_msgs/action/ParallelGripperCommand": """
        sensor_msgs/JointState command
        ---
        sensor_msgs/JointState state
        bool stalled
        bool reached_goal
        ---
        sensor_msgs/JointState state
    """,
    "nav2_msgs/action/NavigateToPose": """
        geometry_msgs/PoseStamped pose
        string behavior_tree
        ---
        uint16 NONE=0
        uint16 error_code
        string error_msg
        ---
        float32 distance_remaining
    """,
    "nav2_msgs/action/FollowPath": """
        nav_msgs/Path path
        string controller_id
        string goal_checker_id
        string progress_checker_id
        ---
        uint16 NONE=0
        uint16 FAILED_TO_MAKE_PROGRESS=105
        uint16 error_code
        string error_msg
        ---
        float32 distance_to_goal
        float32 speed
    """,
    "franka_msgs/msg/GraspEpsilon": "float64 inner\nfloat64 outer",
    "franka_msgs/action/Grasp": """
        float64 width
        GraspEpsilon epsilon
        float64 speed
        float64 force
        ---
        bool success
        string error
        ---
        float64 current_width
    """,
    "franka_msgs/action/Move": """
        float64 width
        float64 speed
        ---
        bool success
        string error
        ---
        float64 current_width
    """,
    "franka_msgs/msg/Errors": """
        bool joint_position_limits_violation
        bool joint_reflex
        bool cartesian_reflex
        bool communication_constraints_violation
    """,
    "franka_msgs/msg/FrankaRobotState": """
        uint8 ROBOT_MODE_OTHER=0
        uint8 ROBOT_MODE_IDLE=1
        uint8 ROBOT_MODE_MOVE=2
        uint8 ROBOT_MODE_GUIDING=3
        uint8 ROBOT_MODE_REFLEX=4
        uint8 ROBOT_MODE_USER_STOPPED=5
        uint8 ROBOT_MODE_AUTOMATIC_ERROR_RECOVERY=6
        uint8 robot_mode
        Errors current_errors
    """,
    "ur_dashboard_msgs/msg/SafetyMode": """
        uint8 NORMAL=1
        uint8 REDUCED=2
        uint8 PROTECTIVE_STOP=3
        uint8 RECOVERY=4
        uint8 SAFEGUARD_STOP=5
        uint8 SYSTEM_EMERGENCY_STOP=6
        uint8 ROBOT_EMERGENCY_STOP=7
        uint8 VIOLATION=8
        uint8 FAULT=9
        uint8 VALIDATE_JOINT_ID=10
        uint8 UNDEFINED_SAFETY_MODE=11
        uint8 AUTOMATIC_MODE_SAFEGUARD_STOP=12
        uint8 SYSTEM_THREE_POSITION_ENABLING_STOP=13
        uint8 mode
    """,
    "ur_dashboard_msgs/msg/RobotMode": """
        int8 NO_CONTROLLER=-1
        int8 DISCONNECTED=0
        int8 CONFIRM_SAFETY=1
        int8 BOOTING=2
        int8 POWER_OFF=3
        int8 POWER_ON=4
        int8 IDLE=5
        int8 BACKDRIVE=6
        int8 RUNNING=7
        int8 UPDATING_FIRMWARE=8
        int8 mode
    """,
    "ur_msgs/srv/SetIO": """
        int8 PIN_DOUT0=0
        int8 PIN_CONF_OUT0=8
        int8 PIN_TOOL_DOUT0=16
        int8 PIN_TOOL_DOUT1=17
        int8 FUN_SET_DIGITAL_OUT=1
        int8 STATE_OFF=0
        int8 STATE_ON=1
        int8 fun
        int8 pin
        float32 state
        ---
        bool success
    """,
    "ur_msgs/msg/Digital": "uint8 pin\nbool state",
    "ur_msgs/msg/IOStates": """
        Digital[] digital_in_states
        Digital[] digital_out_states
        Digital[] flag_states
    """,
    "controller_manager_msgs/msg/NamedLifecycleState": "string name\nlifecycle_msgs/State state",
    "controller_manager_msgs/msg/ControllerManagerActivity": """
        std_msgs/Header header
        NamedLifecycleState[] controllers
        NamedLifecycleState[] hardware_components
    """,
}
PARTS = {"action": ("Goal", "Result", "Feedback"), "srv": ("Request", "Response"), "msg": ("",)}
PLAIN = {"bool": bool, "string": str, "float32": float, "float64": float}
PLAIN |= dict.fromkeys(("int8", "uint8", "uint16", "int32"), int)
LINE = re.compile(r"([\w/]+)(\[\])?\s+(\w+)(?:=(-?\d+))?")


def missing():
    """Names of the types that are not installed."""
    return [name for name in DEFINITIONS if not _installed(name)]


def _installed(name):
    package, kind, type_name = name.split("/")
    try:
        module = importlib.import_module(f"{package}.{kind}")
    except ImportError:
        return False
    return hasattr(module, type_name)


def install(monkeypatch):
    """Make the types that are not installed importable for a test."""
    for name in missing():
        package, kind, type_name = name.split("/")
        path = f"{package}.{kind}"
        if path not in sys.modules:
            for each in (package, path):
                monkeypatch.setitem(sys.modules, each, types.ModuleType(each))
        made = _interface(package, kind, type_name, DEFINITIONS[name])
        monkeypatch.setattr(sys.modules[path], type_name, made, raising=False)


def _interface(package, kind, name, text):
    texts = re.split(r"^\s*---\s*$", text, flags=re.MULTILINE)
    named = dict(zip(PARTS[kind], texts, strict=True))
    parts = {part: _message(package, part or name, each) for part, each in named.items()}
    return parts[""] if kind == "msg" else type(name, (), parts)


def _message(package, name, text):
    fields, constants = {}, {}
    for kind, many, field, value in LINE.findall(text):
        if value:
            constants[field] = int(value)
        else:
            fields[field] = (kind if "/" in kind else f"{package}/{kind}", kind, bool(many))

    def type_of(field):
        path, kind, _ = fields[field]
        if kind in PLAIN:
            return PLAIN[kind]
        package, type_name = path.split("/")
        return getattr(importlib.import_module(f"{package}.msg"), type_name)

    def start(self, **values):
        for field, (_, _, many) in fields.items():
            setattr(self, field, values.pop(field, [] if many else type_of(field)()))
        assert not values, f"{name} has no field {sorted(values)}"

    def put(self, field, value):
        assert field in fields, f"{name} has no field {field}"
        wanted, many = type_of(field), fields[field][2]
        for each in value if many else [value]:
            fits = isinstance(each, wanted) and (wanted is bool or not isinstance(each, bool))
            assert fits, f"{name}.{field} takes {wanted.__name__}, not {each!r}"
        assert not many or isinstance(value, list | array)
        object.__setattr__(self, field, value)

    members = {"__init__": start, "__setattr__": put, **constants}
    described = {field: kind + "[]" * many for field, (_, kind, many) in fields.items()}
    members["get_fields_and_field_types"] = staticmethod(lambda: dict(described))
    return type(name, (), members)
