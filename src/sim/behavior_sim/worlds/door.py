# SPDX-License-Identifier: Apache-2.0
"""A door as MuJoCo bodies: leaf on a hinge, lever with a spring, latch bolt that the lever draws.

Nothing is switched on or off. The bolt slides in the leaf's edge, a spring pushes it out, and the
strike on the latch post is in its way: that keeps the leaf shut. A tendon with a limit lets the
lever draw the bolt, but not the bolt turn the lever. The bolt's other face is slanted, so that a
leaf that falls shut pushes the bolt in and latches again.
"""

from typing import Any

import mujoco
import numpy as np

from behavior_sim.worlds.config import DoorConfig

BOLT_THROW = 0.014
"""[m] by which the bolt reaches behind the strike."""
BOLT_PLAY = 0.0005
"""[m] between bolt and strike in the direction in which the leaf opens."""
EDGE_GAP = 0.004
"""[m] between the leaf's edge and its frame."""
BOLT_TRAVEL = 1.5 * (BOLT_THROW + EDGE_GAP)
"""[m] by which the bolt can be drawn at most."""
BOLT_HALF = 0.009
"""[m] half the bolt's extent across the leaf."""
BOLT_SPRING, BOLT_PRELOAD = 150.0, 2.0
"""[N/m] and [N]"""
CLOSER_REACH = 10.0
"""[rad] by which a closer's spring is wound when the leaf is shut."""
POST = 0.06
"""[m] edge of a post of the frame."""
KNUCKLE = 0.02
"""[m] diameter of the hinge's knuckle."""
_LATCH_BIT = 2
"""Collision bit of bolt and strike: they touch each other and nothing else."""
_SOLREF = [0.005, 1.0]


def panel_name(door: str) -> str:
    """Body and joint of the leaf; the joint is 0 where it is shut."""
    return f"{door}_panel"


def lever_name(door: str) -> str:
    """Body and joint of the lever; the joint is 0 at rest and grows as the lever goes down."""
    return f"{door}_lever"


def other_lever_name(door: str) -> str:
    """What is seen of the lever on the leaf's other face, where there is one."""
    return f"{door}_other_lever"


def knuckle_name(door: str) -> str:
    """What is seen of the hinge."""
    return f"{door}_hinge"


def bolt_name(door: str) -> str:
    """Body and joint of the bolt; the joint is 0 where it is out, and falls as it is drawn."""
    return f"{door}_bolt"


def latch_name(door: str) -> str:
    """Tendon by which the lever draws the bolt."""
    return f"{door}_latch"


def bars(name: str, config: DoorConfig) -> dict[str, tuple[float, float, float]]:
    """Middle of each of the lever's bars in the lever's body [m], by the name of what is seen."""
    reach = 0.5 * config.lever_size[0] - 0.5 * config.lever_size[2]
    off = config.opens * config.lever_side * (0.5 * config.thickness + config.standoff)
    found = {lever_name(name): (-reach, off, 0.0)}
    if config.other_lever:
        found[other_lever_name(name)] = (-reach, -off, 0.0)
    return found


def drawn_by(config: DoorConfig) -> float:
    """How far the lever draws the bolt [m/rad]."""
    return BOLT_THROW / config.latch_angle


def knuckle(config: DoorConfig) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Size and centre [m], in the door's frame, of the hinge's knuckle: it stands out where the
    leaf opens to, so whoever sees it has to pull.
    """
    aside = 0.5 * config.thickness + 0.5 * KNUCKLE
    height = config.bottom + 0.5 * config.height
    return (KNUCKLE, KNUCKLE, 5.0 * KNUCKLE), (-0.5 * EDGE_GAP, config.opens * aside, height)


def panel_centre(config: DoorConfig) -> tuple[float, float, float]:
    """Middle of the leaf in its body [m]."""
    return (0.5 * config.width, 0.0, config.bottom + 0.5 * config.height)


def posts(config: DoorConfig) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """Size and centre [m] of each post in the door's frame."""
    height = config.bottom + config.height
    return {
        "hinge_post": ((POST, POST, height), (-0.5 * POST - EDGE_GAP, 0.0, 0.5 * height)),
        "latch_post": (
            (POST, POST, height),
            (config.width + EDGE_GAP + 0.5 * POST, 0.0, 0.5 * height),
        ),
    }


def add_door(spec: Any, name: str, config: DoorConfig, contact: Any) -> None:
    """Add a door to the world.

    Args:
        spec: MuJoCo's specification of the world.
        name: of the door.
        config: its measures.
        contact: gives a geom the friction and stiffness of its contacts.
    """
    turn = [np.cos(0.5 * config.yaw), 0.0, 0.0, np.sin(0.5 * config.yaw)]
    frame = spec.worldbody.add_body(name=name, pos=list(config.position), quat=turn)
    _add_frame(frame, name, config, contact)
    panel = _add_panel(frame, name, config, contact)
    _add_lever(panel, name, config, contact)
    _add_bolt(spec, panel, name, config)
    spec.add_exclude(bodyname1=name, bodyname2=panel_name(name))


def _add_frame(frame: Any, name: str, config: DoorConfig, contact: Any) -> None:
    for part, (size, centre) in posts(config).items():
        geom = _add_box(frame, f"{name}_{part}", size, centre, config.frame_color)
        contact(geom, 0.6)
    _seen_only(_add_box(frame, knuckle_name(name), *knuckle(config), config.lever_color))
    # The strike hides in the latch post: what can be seen of it is that it holds the bolt.
    depth = 0.5 * (POST - BOLT_HALF)
    strike = _add_box(
        frame,
        f"{name}_strike",
        (BOLT_THROW + 0.006, depth, 0.05),
        (
            config.width + EDGE_GAP + 0.5 * (BOLT_THROW + 0.006),
            config.opens * (BOLT_HALF + BOLT_PLAY + 0.5 * depth),
            config.lever_height,
        ),
        config.lever_color,
    )
    _latch_contact(strike)


def _add_panel(frame: Any, name: str, config: DoorConfig, contact: Any) -> Any:
    panel = frame.add_body(name=panel_name(name))
    panel.add_joint(
        name=panel_name(name),
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=[0, 0, config.opens],
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=[0.0, config.largest_angle],
        solref_limit=_SOLREF,
        damping=config.damping,
        frictionloss=config.friction,
        # So long a spring that its torque grows but little as the leaf opens.
        stiffness=config.closer / CLOSER_REACH,
        springref=-CLOSER_REACH,
    )
    size = (config.width, config.thickness, config.height)
    leaf = _add_box(panel, panel_name(name), size, panel_centre(config), config.color)
    leaf.mass = config.mass
    contact(leaf, 0.6)
    return panel


def _add_lever(panel: Any, name: str, config: DoorConfig, contact: Any) -> None:
    lever = panel.add_body(
        name=lever_name(name), pos=[config.width - config.backset, 0.0, config.lever_height]
    )
    lever.add_joint(
        name=lever_name(name),
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=[0, -1, 0],
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=[0.0, config.lever_range],
        solref_limit=_SOLREF,
        stiffness=config.lever_stiffness,
        springref=-config.lever_preload / config.lever_stiffness,
        damping=config.lever_damping,
        armature=0.001,
    )
    for bar_name, centre in bars(name, config).items():
        bar = _add_box(lever, bar_name, config.lever_size, centre, config.lever_color)
        bar.mass = 0.2
        contact(bar, 1.0)
        side = np.sign(centre[1])
        spindle = lever.add_geom(
            name=f"{bar_name}_spindle",
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[0.5 * config.lever_size[2], 0.5 * config.standoff, 0.0],
            pos=[0.0, side * 0.5 * (config.thickness + config.standoff), 0.0],
            quat=[np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0],
            mass=0.1,
            rgba=[*config.lever_color, 1.0],
            group=1,
        )
        contact(spindle, 1.0)


def _add_bolt(spec: Any, panel: Any, name: str, config: DoorConfig) -> None:
    """The bolt's section is a right-angled wedge; its upright face meets the strike."""
    bolt = panel.add_body(name=bolt_name(name), pos=[config.width, 0.0, config.lever_height])
    bolt.add_joint(
        name=bolt_name(name),
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[1, 0, 0],
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=[-BOLT_TRAVEL, 0.0],
        solref_limit=_SOLREF,
        stiffness=BOLT_SPRING,
        springref=BOLT_PRELOAD / BOLT_SPRING,
        damping=1.0,
        armature=0.02,
    )
    tip, root, h = BOLT_THROW + EDGE_GAP, -0.03, BOLT_HALF
    section = [(root, -h), (0.0, -h), (tip - 0.002, h), (tip, h), (root, h)]
    vertices = [(x, config.opens * y, z) for x, y in section for z in (-0.012, 0.012)]
    mesh = spec.add_mesh(name=bolt_name(name), uservert=np.array(vertices).ravel())
    geom = bolt.add_geom(
        name=bolt_name(name),
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=mesh.name,
        mass=0.05,
        rgba=[0.75, 0.75, 0.78, 1.0],
        group=1,
    )
    _latch_contact(geom)
    # bolt + ratio * lever <= 0: the lever draws the bolt; the bolt may go in by itself.
    tendon = spec.add_tendon(name=latch_name(name))
    tendon.wrap_joint(bolt_name(name), 1.0)
    tendon.wrap_joint(lever_name(name), drawn_by(config))
    tendon.limited = mujoco.mjtLimited.mjLIMITED_TRUE
    tendon.range = [-1.0, 0.0]
    tendon.solref_limit = _SOLREF


def _seen_only(geom: Any) -> None:
    """Nothing touches it."""
    geom.contype = geom.conaffinity = 0


def _latch_contact(geom: Any) -> None:
    geom.contype = geom.conaffinity = _LATCH_BIT
    geom.friction = [0.05, 0.005, 0.0001]
    geom.solref = _SOLREF


def _add_box(body: Any, name: str, size: Any, centre: Any, color: Any) -> Any:
    return body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.5 * edge for edge in size],
        pos=list(centre),
        rgba=[*color, 1.0],
        group=1,
    )
