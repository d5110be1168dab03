# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator"
# ruff: noqa: PLR0917 (compiled code takes plain arrays, not objects)
"""Compiled kinematics of a serial chain.

A chain is ``placements`` (n, 4, 4), ``axes`` (n, 3), ``kinds`` (n,), ``columns`` (n,) and ``end``
(4, 4), as in :class:`behavior_motion.kinematics.inverse.Chain`.

The step is Levenberg-Marquardt in the form of Sugihara (IEEE Transactions on Robotics, 2011):
``dq = J^T (J J^T + (E + eps) I)^-1 e`` with the squared error E as damping, so it is careful far
from the target and converges quadratically near it. Joints that would leave their limits are held
at them and left out of the step.
"""

import math

import numpy as np
from numba import njit

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2


@njit(cache=True)
def _forward(
    placements, axes, kinds, columns, end, q, origins, directions, pose
):  # pragma: no cover
    """Fill joint origins, axis directions (n, 3) and the frame's pose (3, 4) in the base."""
    r = np.eye(3)
    p = np.zeros(3)
    rn = np.empty((3, 3))
    for k in range(len(kinds) + 1):
        step = end if k == len(kinds) else placements[k]
        for i in range(3):
            p_i = p[i]
            for j in range(3):
                p_i += r[i, j] * step[j, 3]
                rn[i, j] = r[i, 0] * step[0, j] + r[i, 1] * step[1, j] + r[i, 2] * step[2, j]
            pose[i, 3] = p_i
        for i in range(3):
            p[i] = pose[i, 3]
            for j in range(3):
                r[i, j] = rn[i, j]
        if k == len(kinds):
            break
        ax, ay, az = axes[k, 0], axes[k, 1], axes[k, 2]
        for i in range(3):
            origins[k, i] = p[i]
            directions[k, i] = r[i, 0] * ax + r[i, 1] * ay + r[i, 2] * az
        if kinds[k] == 0:
            angle = q[columns[k]]
            c, s = math.cos(angle), math.sin(angle)
            v = 1.0 - c
            for i in range(3):
                x, y, z = r[i, 0], r[i, 1], r[i, 2]
                r[i, 0] = (
                    x * (c + ax * ax * v) + y * (ay * ax * v + az * s) + z * (az * ax * v - ay * s)
                )
                r[i, 1] = (
                    x * (ax * ay * v - az * s) + y * (c + ay * ay * v) + z * (az * ay * v + ax * s)
                )
                r[i, 2] = (
                    x * (ax * az * v + ay * s) + y * (ay * az * v - ax * s) + z * (c + az * az * v)
                )
        elif kinds[k] == 1:
            for i in range(3):
                p[i] += directions[k, i] * q[columns[k]]
    for i in range(3):
        for j in range(3):
            pose[i, j] = r[i, j]


@njit(cache=True)
def _error(pose, target, e):  # pragma: no cover
    """Translation and rotation vector from ``pose`` to ``target``, in the base, into ``e``."""
    m = np.empty((3, 3))
    for i in range(3):
        e[i] = target[i, 3] - pose[i, 3]
        for j in range(3):
            m[i, j] = (
                target[i, 0] * pose[j, 0] + target[i, 1] * pose[j, 1] + target[i, 2] * pose[j, 2]
            )
    x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = m[0, 0] + m[1, 1] + m[2, 2] - 1.0
    angle = math.atan2(sine, cosine)
    if sine > 1e-8:
        f = angle / sine
    elif cosine > 0:
        f = 0.5
    else:
        # Half a turn: any of the two axes; the largest diagonal element tells it safely.
        k = 0
        for i in range(1, 3):
            if m[i, i] > m[k, k]:
                k = i
        norm = math.sqrt(max((m[k, k] + 1.0) * 0.5, 1e-12))
        for i in range(3):
            e[3 + i] = math.pi * (norm if i == k else m[i, k] / (2.0 * norm))
        return
    e[3], e[4], e[5] = f * x, f * y, f * z


@njit(cache=True)
def _jacobian(kinds, columns, origins, directions, pose, jac):  # pragma: no cover
    """Fill the geometric Jacobian (6, dof): linear over angular, in the base."""
    for k in range(len(kinds)):
        c = columns[k]
        if kinds[k] == 2:
            continue
        dx, dy, dz = directions[k, 0], directions[k, 1], directions[k, 2]
        if kinds[k] == 1:
            jac[0, c], jac[1, c], jac[2, c] = dx, dy, dz
            jac[3, c] = jac[4, c] = jac[5, c] = 0.0
            continue
        rx, ry, rz = (
            pose[0, 3] - origins[k, 0],
            pose[1, 3] - origins[k, 1],
            pose[2, 3] - origins[k, 2],
        )
        jac[0, c] = dy * rz - dz * ry
        jac[1, c] = dz * rx - dx * rz
        jac[2, c] = dx * ry - dy * rx
        jac[3, c], jac[4, c], jac[5, c] = dx, dy, dz


@njit(cache=True)
def _solve_spd(a, b):  # pragma: no cover
    """Solve the symmetric positive definite ``a x = b`` in place (Cholesky)."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = math.sqrt(max(s, 1e-18)) if i == j else s / a[j, j]
    for i in range(n):
        for k in range(i):
            b[i] -= a[i, k] * b[k]
        b[i] /= a[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= a[k, i] * b[k]
        b[i] /= a[i, i]


@njit(cache=True)
def solve_ik(
    placements, axes, kinds, columns, end, lower, upper, target, q, iterations, tolerance
):  # pragma: no cover
    """Move ``q`` in place to the target; True where position and rotation error end below it.

    ``tolerance`` holds for metres and radians alike. Gives up early where the error stalls.
    """
    n, dof = len(kinds), len(q)
    origins, directions = np.empty((n, 3)), np.empty((n, 3))
    pose, e, b = np.empty((3, 4)), np.empty(6), np.empty(6)
    jac, a, dq = np.zeros((6, dof)), np.empty((6, 6)), np.empty(dof)
    held = np.zeros(dof, dtype=np.bool_)
    best, stalled = 1e300, 0
    for _ in range(iterations):
        _forward(placements, axes, kinds, columns, end, q, origins, directions, pose)
        _error(pose, target, e)
        error = 0.0
        for i in range(6):
            error += e[i] * e[i]
        if error < tolerance * tolerance:
            return True
        if error > 0.98 * best:
            stalled += 1
            if stalled > 12:
                return False
        else:
            stalled = 0
        best = min(best, error)
        _jacobian(kinds, columns, origins, directions, pose, jac)
        held[:] = False
        for _again in range(3):
            for i in range(6):
                b[i] = e[i]
                for j in range(i + 1):
                    s = 0.0
                    for c in range(dof):
                        if not held[c]:
                            s += jac[i, c] * jac[j, c]
                    a[i, j] = s
                a[i, i] += 0.5 * error + 1e-9
            _solve_spd(a, b)
            largest, newly = 0.0, False
            for c in range(dof):
                s = 0.0
                if not held[c]:
                    for i in range(6):
                        s += jac[i, c] * b[i]
                    if (s > 0 and q[c] >= upper[c]) or (s < 0 and q[c] <= lower[c]):
                        held[c] = newly = True
                        s = 0.0
                dq[c] = s
                largest = max(largest, abs(s))
            if not newly:
                break
        shrink = 0.6 / largest if largest > 0.6 else 1.0
        for c in range(dof):
            q[c] = min(max(q[c] + shrink * dq[c], lower[c]), upper[c])
    return False


@njit(cache=True)
def settle(
    placements, axes, kinds, columns, end, lower, upper, target, posture, q, iterations
):  # pragma: no cover
    """Move ``q``, which reaches the target, within its null space towards ``posture``, in place.

    Gradient projection (Liegeois, IEEE Transactions on Systems, Man and Cybernetics, 1977):
    ``dq = d + J^T (J J^T)^-1 (e - J d)`` with ``d`` a step towards the posture.
    """
    n, dof = len(kinds), len(q)
    origins, directions = np.empty((n, 3)), np.empty((n, 3))
    pose, e, b = np.empty((3, 4)), np.empty(6), np.empty(6)
    jac, a = np.zeros((6, dof)), np.empty((6, 6))
    d, dq = np.empty(dof), np.empty(dof)
    held = np.zeros(dof, dtype=np.bool_)
    for _ in range(iterations):
        _forward(placements, axes, kinds, columns, end, q, origins, directions, pose)
        _error(pose, target, e)
        _jacobian(kinds, columns, origins, directions, pose, jac)
        held[:] = False
        largest = 0.0
        for _again in range(3):
            for c in range(dof):
                d[c] = 0.0 if held[c] else 0.5 * (posture[c] - q[c])
            for i in range(6):
                b[i] = e[i]
                for c in range(dof):
                    b[i] -= jac[i, c] * d[c]
                for j in range(i + 1):
                    s = 0.0
                    for c in range(dof):
                        if not held[c]:
                            s += jac[i, c] * jac[j, c]
                    a[i, j] = s
                a[i, i] += 1e-6
            _solve_spd(a, b)
            largest, newly = 0.0, False
            for c in range(dof):
                s = d[c]
                if not held[c]:
                    for i in range(6):
                        s += jac[i, c] * b[i]
                    if (s > 0 and q[c] >= upper[c]) or (s < 0 and q[c] <= lower[c]):
                        held[c] = newly = True
                        s = 0.0
                dq[c] = s
                largest = max(largest, abs(s))
            if not newly:
                break
        if largest < 1e-4:
            break
        shrink = 0.2 / largest if largest > 0.2 else 1.0
        for c in range(dof):
            q[c] = min(max(q[c] + shrink * dq[c], lower[c]), upper[c])


@njit(cache=True)
def align(
    placements, axes, kinds, columns, end, lower, upper, axis, direction, limit, q, iterations
):  # pragma: no cover
    """Turn the frame's ``axis`` to within ``limit`` [rad] of ``direction``, in place.

    The smallest joint motion that does it, by Gauss-Newton; True on success.
    """
    n, dof = len(kinds), len(q)
    origins, directions = np.empty((n, 3)), np.empty((n, 3))
    pose, jac = np.empty((3, 4)), np.zeros((6, dof))
    rows, a, b = np.empty((3, dof)), np.empty((3, 3)), np.empty(3)
    now, turn = np.empty(3), np.empty(3)
    for _ in range(iterations):
        _forward(placements, axes, kinds, columns, end, q, origins, directions, pose)
        for i in range(3):
            now[i] = pose[i, 0] * axis[0] + pose[i, 1] * axis[1] + pose[i, 2] * axis[2]
        turn[0] = now[1] * direction[2] - now[2] * direction[1]
        turn[1] = now[2] * direction[0] - now[0] * direction[2]
        turn[2] = now[0] * direction[1] - now[1] * direction[0]
        sine = math.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
        cosine = now[0] * direction[0] + now[1] * direction[1] + now[2] * direction[2]
        angle = math.atan2(sine, cosine)
        if angle <= limit:
            return True
        if sine < 1e-6:
            return False
        _jacobian(kinds, columns, origins, directions, pose, jac)
        # A little more than needed, so that it is reached and not only approached.
        step = min(angle - 0.95 * limit, 0.5) / sine
        for i in range(3):
            b[i] = step * turn[i]
        for c in range(dof):
            along = now[0] * jac[3, c] + now[1] * jac[4, c] + now[2] * jac[5, c]
            for i in range(3):
                rows[i, c] = jac[3 + i, c] - along * now[i]
        for i in range(3):
            for j in range(i + 1):
                s = 0.0
                for c in range(dof):
                    s += rows[i, c] * rows[j, c]
                a[i, j] = s
            a[i, i] += 1e-6
        _solve_spd(a, b)
        for c in range(dof):
            s = 0.0
            for i in range(3):
                s += rows[i, c] * b[i]
            q[c] = min(max(q[c] + s, lower[c]), upper[c])
    return False
