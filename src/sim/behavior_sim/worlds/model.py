# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo model of a world, put together at run time from the robot's URDF and the objects.

What makes grasping work, each measured: gravity of the
arm compensated as in the real robot's controller, elliptic friction cones with ``impratio`` 10 and
four contact dimensions (a grasped block neither creeps nor twists out), an implicit integrator that
takes stiff servos at steps of 2 ms.

Geom groups: 0 ground, 1 objects, 2 visual meshes, 3 collision hulls of the robot.
"""

import copy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np

from behavior_motion.errors import known
from behavior_motion.robot.srdf import disabled_pairs
from behavior_motion.robot.urdf import joined_links, link_names, rigid_links, robot_urdf
from behavior_sim.worlds.camera_config import CameraConfig
from behavior_sim.worlds.config import FixtureConfig, ObjectConfig, PartConfig, WorldConfig, volume
from behavior_sim.worlds.door import add_door
from behavior_sim.worlds.reading import WorldError
from behavior_sim.worlds.robot import (
    PLANE,
    SimulatedArm,
    SimulatedBase,
    SimulatedGripper,
    SimulatedRobot,
    SimulatedSuction,
)

GROUP_VISUAL = 2
GROUP_COLLISION = 3
SUCTION = "suction"
"""Name of the weld between a suction cup and what it holds."""

# Contacts stiff enough that a stack of four sinks by less than 0.1 mm.
_SOLREF = [0.005, 1.0]
_SOLIMP = [0.95, 0.99, 0.001, 0.5, 2.0]


def _robot_spec(robot: SimulatedRobot, root: Element) -> Any:
    """The robot's bodies, joints and collision hulls as MuJoCo reads them from its URDF."""
    bare = copy.deepcopy(root)
    for joint in bare.findall("joint"):
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)  # the gripper's drive ties its fingers together
    for link in bare.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    # Under names of their own: meshes of several makers may be called alike.
    assets: dict[str, bytes] = {}
    for mesh in bare.iter("mesh"):
        file = _file(mesh)
        name = f"{len(assets)}_{file.name}"
        assets[name] = file.read_bytes()
        mesh.set("filename", name)
    extension = SubElement(bare, "mujoco")
    SubElement(extension, "compiler", discardvisual="true", fusestatic="false")
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(bare, encoding="unicode"), assets=assets)
    # What is of no group stands as the URDF draws it, as it does for the planner.
    for joint in [j for j in spec.joints if j.name not in robot.joints]:
        spec.delete(joint)
    return spec


def _check_names(robot: SimulatedRobot, root: Element) -> None:
    """All joints and links that drives are on must be in the URDF; raises `WorldError`."""
    moving = (each for each in root.findall("joint") if each.get("type") != "fixed")
    joints, links = [each.get("name", "") for each in moving], link_names(root)
    for group in robot.groups:
        place = f"robot.groups.{group.name}" if group.name else "robot"
        wanted = {"arm.joints": group.arm.joints, "gripper.link": (group.hand_link,)}
        if group.gripper is not None:
            wanted["gripper.joints"] = group.gripper.joints
            wanted["simulation.gripper.fingers"] = group.gripper.fingers
        for key, names in wanted.items():
            for name in filter(None, names):
                try:
                    known(f"{place}.{key}", name, joints if key.endswith("joints") else links)
                except ValueError as error:
                    raise WorldError(str(error)) from error


def _add_base(spec: Any, base: SimulatedBase, root: Element) -> None:
    """A base that drives: it slides and turns on the floor, which its wheels do not touch."""
    body = spec.body(base.frame)
    if body is None:
        raise WorldError(f"base.frame: the robot has no link {base.frame!r}")
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    axes = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    for name, kind, axis in zip(PLANE, (slide, slide, hinge), axes, strict=True):
        body.add_joint(name=name, type=kind, axis=axis)
    for joint, kp, kv, force in zip(PLANE, base.stiffness, base.damping, base.force, strict=True):
        _add_joint_servo(spec, joint, kp, kv, force)
    for link in sorted(rigid_links(root, base.frame)):
        if spec.body(link) is not None:
            spec.add_exclude(bodyname1="world", bodyname2=link)


def _file(mesh: Element) -> Path:
    """The file of a mesh of the URDF.

    Raises:
        FileNotFoundError: it is nowhere.
    """
    address = mesh.get("filename", "")
    if "://" in address and not address.startswith("file://"):
        raise FileNotFoundError(
            f"{address}: not in any of the robot's package_dirs; add its folder"
        )
    return Path(address.removeprefix("file://"))


def _exclude_pairs(spec: Any, robot: SimulatedRobot, root: Element) -> None:
    """Leave out the contacts that never happen, and those of links that a joint connects."""
    pairs = disabled_pairs(robot.description) | set(joined_links(root))
    for pair in sorted(tuple(sorted(pair)) for pair in pairs if len(pair) == 2):
        if all(spec.body(link) is not None for link in pair):
            spec.add_exclude(bodyname1=pair[0], bodyname2=pair[1])


def _contact(geom: Any, friction: float) -> None:
    geom.condim = 4
    geom.friction = [friction, 0.01, 0.0001]
    geom.solref = _SOLREF
    geom.solimp = _SOLIMP


def _add_arm_servos(spec: Any, arm: SimulatedArm) -> None:
    """One servo per joint: torque = stiffness * (ctrl - q) - damping * qd."""
    for joint, kp, kv, torque in zip(
        arm.joints, arm.stiffness, arm.damping, arm.torque, strict=True
    ):
        spec.joint(joint).armature = arm.armature
        # The bound belongs to the servo, passive forces are not to be cut.
        spec.joint(joint).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        _add_joint_servo(spec, joint, kp, kv, torque)


def _add_joint_servo(spec: Any, joint: str, kp: float, kv: float, force: float) -> None:
    actuator = spec.add_actuator(name=joint, target=joint)
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    _servo(actuator, kp, kv, force)


def _add_gripper_servo(spec: Any, gripper: SimulatedGripper) -> None:
    """A servo on the gap (a tendon: the sum of the joints' shares), and fingers tied together."""
    tendon = spec.add_tendon(name=gripper.name)
    first_scale, first_zero = gripper.scale[0], gripper.zero[0]
    for joint, share, scale, zero in zip(
        gripper.joints, gripper.share, gripper.scale, gripper.zero, strict=True
    ):
        tendon.wrap_joint(joint, share)
        spec.joint(joint).armature = gripper.armature
        spec.joint(joint).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        if joint != gripper.joints[0]:
            ratio = scale / first_scale
            spec.add_equality(
                type=mujoco.mjtEq.mjEQ_JOINT,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                name1=joint,
                name2=gripper.joints[0],
                data=[zero - ratio * first_zero, ratio] + [0.0] * 10,
                solref=_SOLREF,
            )
    actuator = spec.add_actuator(name=gripper.name, target=gripper.name)
    actuator.trntype = mujoco.mjtTrn.mjTRN_TENDON
    _servo(actuator, gripper.stiffness, gripper.damping, gripper.force)
    for finger in gripper.fingers:
        for geom in spec.body(finger).geoms:
            _contact(geom, gripper.friction)


def _servo(actuator: Any, kp: float, kv: float, force: float) -> None:
    actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gainprm[0] = kp
    actuator.biasprm[1] = -kp
    actuator.biasprm[2] = -kv
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
    actuator.forcerange = [-force, force]


def _add_suction(spec: Any, suction: SimulatedSuction, holdable: str) -> None:
    """A weld that the cup puts to what it holds; in the model it names any object."""
    spec.add_equality(
        name=SUCTION,
        type=mujoco.mjtEq.mjEQ_WELD,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1=suction.link,
        name2=holdable,
        active=False,
        # Soft enough that bellows that close do not tear what they lift off again.
        solref=[0.02, 1.0],
    )


def _add_object(spec: Any, name: str, config: ObjectConfig) -> None:
    body = spec.worldbody.add_body(name=name)
    body.add_freejoint(name=name)
    pieces = {f"{name}_{part}": piece for part, piece in config.parts.items()} or {
        name: PartConfig(size=config.size, shape=config.shape, position=(0.0, 0.0, 0.0))
    }
    whole = sum(volume(piece.shape, piece.size) for piece in pieces.values())
    for label, piece in pieces.items():
        kind, size = _geometry(piece)
        geom = body.add_geom(
            name=label,
            type=kind,
            size=size,
            pos=list(piece.position),
            mass=config.mass * volume(piece.shape, piece.size) / whole,
            rgba=[*(piece.color or config.color), 1.0],
            group=1,
        )
        _contact(geom, config.friction)
        geom.priority = int(config.friction_decides)
        if config.shape != "box":
            # What can roll needs the two further dimensions of contact: rolling is resisted.
            geom.condim = 6
            geom.friction = [config.friction, 0.01, config.rolling_friction]


def _geometry(config: PartConfig) -> tuple[Any, list[float]]:
    """MuJoCo's type and size of a shape."""
    if config.shape == "sphere":
        return mujoco.mjtGeom.mjGEOM_SPHERE, [config.size[0], 0.0, 0.0]
    if config.shape == "cylinder":
        return mujoco.mjtGeom.mjGEOM_CYLINDER, [config.size[1], config.size[0] / 2, 0.0]
    return mujoco.mjtGeom.mjGEOM_BOX, [edge / 2 for edge in config.size]


def _add_fixture(spec: Any, name: str, config: FixtureConfig) -> None:
    turn = [np.cos(config.yaw / 2), 0.0, 0.0, np.sin(config.yaw / 2)]
    body = spec.worldbody.add_body(name=name, pos=list(config.position), quat=turn)
    for part, box in config.boxes.items():
        geom = body.add_geom(
            name=f"{name}_{part}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[edge / 2 for edge in box.size],
            pos=list(box.position),
            rgba=[*(box.color or config.color), 1.0],
            group=1,
        )
        _contact(geom, config.friction if box.friction is None else box.friction)
        geom.priority = int(box.friction is not None)
        if box.velocity:
            geom.surfacevel = [*box.velocity, 0.0, 0.0, 0.0]


def _add_camera(spec: Any, name: str, config: CameraConfig) -> None:
    parent = spec.worldbody if config.parent == "world" else spec.body(config.parent)
    if parent is None:
        raise WorldError(
            f"cameras.{name}.parent: the robot has no link {config.parent!r}; there are world, "
            + ", ".join(body.name for body in spec.bodies if body.name != "world")
        )
    # MuJoCo's cameras look along -z with y up.
    turn = config.optical_turn @ np.diag([1.0, -1.0, -1.0])
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, turn.ravel())
    parent.add_camera(
        name=name,
        pos=list(config.position),
        quat=quaternion,
        fovy=float(np.rad2deg(config.fov)),
        resolution=[config.width, config.height],
    )


def _add_surroundings(spec: Any, height: float) -> None:
    """Ground at a height [m], lights and sky."""
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.80, 0.85, 0.90],
        rgb2=[0.96, 0.97, 0.98],
        width=256,
        height=256,
    )
    spec.add_texture(
        name="ground",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        mark=mujoco.mjtMark.mjMARK_EDGE,
        rgb1=[0.74, 0.77, 0.80],
        markrgb=[0.65, 0.69, 0.73],
        width=512,
        height=512,
    )
    material = spec.add_material(name="ground", texrepeat=[5, 5], texuniform=True, specular=0.1)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "ground"
    ground = spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 0.05],
        pos=[0.0, 0.0, height],
        material="ground",
    )
    _contact(ground, 1.0)
    key = spec.worldbody.add_light(
        name="key", pos=[1.2, -0.4, 2.4], dir=[-0.40, 0.22, -1.0], castshadow=True
    )
    key.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    key.diffuse = [0.54, 0.53, 0.50]
    key.specular = [0.25, 0.25, 0.25]
    fill = spec.worldbody.add_light(
        name="fill", pos=[1.5, -1.5, 1.5], dir=[-0.7, 0.6, -0.6], castshadow=False
    )
    fill.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    fill.diffuse = [0.22, 0.23, 0.26]
    fill.specular = [0.0, 0.0, 0.0]
    head = spec.visual.headlight
    head.ambient = [0.30, 0.30, 0.32]
    head.diffuse = [0.18, 0.18, 0.18]
    head.specular = [0.0, 0.0, 0.0]


def _origin(element: Element) -> dict[str, Any]:
    """Position and orientation of a URDF element, as arguments of ``add_geom``."""
    origin = element.find("origin")
    attributes = {} if origin is None else origin.attrib
    roll, pitch, yaw = (float(a) for a in attributes.get("rpy", "0 0 0").split())
    quaternion = np.zeros(4)
    mujoco.mju_euler2Quat(quaternion, np.array([roll, pitch, yaw]), "XYZ")
    position = [float(p) for p in attributes.get("xyz", "0 0 0").split()]
    return {"pos": position, "quat": quaternion}


def _add_visuals(spec: Any, root: Element) -> None:
    """The URDF's visual meshes, which touch nothing; the hulls are hidden by their group."""
    names: dict[Path, list[str]] = {}
    for link in root.iter("link"):
        for visual in link.iter("visual"):
            mesh = visual.find("geometry/mesh")
            if mesh is None:
                _add_primitive(spec, link, visual, root)
                continue
            file = _file(mesh)
            if file not in names:
                prefix = f"visual_{len(names)}_{file.stem}"
                if file.suffix.lower() == ".dae":
                    names[file] = _add_parts(spec, file, prefix)
                else:
                    names[file] = _add_mesh(spec, file, prefix, _color(visual, root))
            for part in names[file]:
                spec.body(link.get("name")).add_geom(
                    type=mujoco.mjtGeom.mjGEOM_MESH,
                    meshname=part,
                    material=part,
                    group=GROUP_VISUAL,
                    contype=0,
                    conaffinity=0,
                    mass=0.0,
                    **_origin(visual),
                )


def _add_primitive(spec: Any, link: Element, visual: Element, root: Element) -> None:
    """A visual of the URDF that is a cylinder, box or sphere."""
    shape = visual.find("geometry/*")
    if shape is None or shape.tag not in ("cylinder", "box", "sphere"):
        return
    numbers = {key: [float(n) for n in text.split()] for key, text in shape.attrib.items()}
    if shape.tag == "cylinder":
        lengths = [numbers["length"][0], numbers["radius"][0]]
    else:
        lengths = numbers["size" if shape.tag == "box" else "radius"]
    kind, size = _geometry(PartConfig(shape=shape.tag, size=tuple(lengths), position=()))
    spec.body(link.get("name")).add_geom(
        type=kind,
        size=size,
        rgba=_color(visual, root),
        group=GROUP_VISUAL,
        contype=0,
        conaffinity=0,
        mass=0.0,
        **_origin(visual),
    )


def _color(visual: Element, root: Element) -> list[float]:
    """Of a visual element: its own, or that of the material that it names; else light grey."""
    material = visual.find("material")
    name = None if material is None else material.get("name")
    for place in (material, *(m for m in root.findall("material") if m.get("name") == name)):
        color = None if place is None else place.find("color")
        if color is not None:
            return [float(value) for value in color.get("rgba", "").split()]
    return [0.9, 0.9, 0.9, 1.0]


def _add_mesh(spec: Any, file: Path, name: str, color: list[float]) -> list[str]:
    """A mesh that MuJoCo reads itself, and its material."""
    spec.add_mesh(name=name, file=str(file), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    spec.add_material(name=name, rgba=color, specular=0.35, shininess=0.5)
    return [name]


def _add_parts(spec: Any, file: Path, prefix: str) -> list[str]:
    """One mesh and material for each colour of a COLLADA file; their names."""
    from behavior_sim.worlds.collada import load_collada  # takes long; for pictures alone

    names = []
    for index, part in enumerate(load_collada(file)):
        name = f"{prefix}_{index}"
        spec.add_mesh(
            name=name,
            uservert=part.vertices.ravel(),
            userface=part.faces.ravel(),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
        spec.add_material(name=name, rgba=part.color, specular=0.35, shininess=0.5)
        names.append(name)
    return names


def build_model(config: WorldConfig, *, visuals: bool = False) -> Any:
    """The compiled ``mujoco.MjModel`` of a world.

    Args:
        config: the world.
        visuals: add the robot's visual meshes (pictures only; the physics does not need them).

    Raises:
        FileNotFoundError: the robot's model files are not installed.
        WorldError: the robot has no such joint or link, or no camera can hang there.
        ValueError: MuJoCo refuses the model.
    """
    robot = config.robot
    root = robot_urdf(robot.description)
    spec = _robot_spec(robot, root)
    _check_names(robot, root)
    spec.modelname = config.name
    spec.compiler.degree = False
    # Read from the URDF without its COLLADA files; what is added below is to stay.
    spec.compiler.discardvisual = False
    spec.option.timestep = config.timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    for body in spec.bodies:
        body.gravcomp = 1.0
        for geom in body.geoms:
            geom.group = GROUP_COLLISION
            geom.rgba = [0.92, 0.92, 0.93, 1.0]
    _exclude_pairs(spec, robot, root)
    if robot.base is not None:
        _add_base(spec, robot.base, root)
    for group in robot.groups:
        _add_arm_servos(spec, group.arm)
    for gripper in robot.grippers:
        _add_gripper_servo(spec, gripper)
    _add_surroundings(spec, config.ground)
    for name, placed in config.objects.items():
        _add_object(spec, name, placed)
    if robot.suction is not None and config.objects:
        _add_suction(spec, robot.suction, next(iter(config.objects)))
    if config.sleep:
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    else:
        # Islands are what sleeps; to solve each by itself takes longer than all at once.
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    for name, fixture in config.fixtures.items():
        _add_fixture(spec, name, fixture)
    for name, door in config.doors.items():
        add_door(spec, name, door, _contact)
    for name, camera in config.cameras.items():
        _add_camera(spec, name, camera)
    if visuals:
        _add_visuals(spec, root)
    spec.visual.global_.offwidth = 1920
    spec.visual.global_.offheight = 1440
    return spec.compile()


def coordinate_names(model: Any) -> list[str]:
    """Names of MuJoCo's generalised positions (nq): a joint's, or NAME/x ... NAME/qz."""
    names: list[str] = []
    for index in range(model.njnt):
        joint = model.joint(index)
        if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
            names += [f"{joint.name}/{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        else:
            names.append(joint.name)
    return names
