# SPDX-License-Identifier: Apache-2.0
"""Pictures and animations of recordings, on machines with and without a screen.

OpenGL is chosen by an environment variable that is read when MuJoCo is imported, and a broken
driver may take its process down: so drawing happens in a process of its own, first with EGL, then
with OSMesa. Whatever fails, nothing is raised: the report says what came of it.

    python -m behavior_sim.recordings.rendering RECORDING --png FILE --gif FILE
"""

import argparse
import bisect
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from behavior_sim.cameras.opengl import BACKENDS, missing_library, with_remedy
from behavior_sim.recordings.recording import Recording, RecordingError

PICTURE_SIZE = (960, 720)
ANIMATION_SIZE = (720, 540)
MAX_DURATION = 12.0
"""[s] an animation lasts at most; longer recordings run faster."""
_FRAME = 0.1
"""[s] per frame; GIF counts in hundredths."""
_LAST_FRAME = 1.5
"""[s] that the end is shown."""
_BEFORE = 0.5
"""[s] that the start is shown before anything moves."""
_STILL = 0.005
"""[m, rad] what moves less does not count."""


@dataclass(frozen=True)
class Caption:
    """What happens from a moment on."""

    time: float
    """[s] simulated."""
    text: str
    """One short line."""


@dataclass(frozen=True, kw_only=True)
class RenderReport:
    """What came of drawing a recording."""

    backend: str
    """``egl``, ``osmesa`` or ``none``."""
    png: str = ""
    """Picture of the final state; empty: none."""
    gif: str = ""
    """Animation; empty: none."""
    frames: int = 0
    """Of the animation."""
    speed: float = 0.0
    """Of the animation: recorded seconds per second."""
    duration: float = 0.0
    """[s] of wall time it took."""
    message: str = ""
    """Why a backend could not be used, what is missing."""


def render_recording(
    recording: str | Path,
    png: str | Path | None = None,
    gif: str | Path | None = None,
    *,
    captions: Sequence[Caption] = (),
    timeout: float = 180.0,
) -> RenderReport:
    """Draw the final state of a recording, and an animation of it.

    Args:
        recording: file written by `Recording.save`.
        png: picture to write; None: none.
        gif: animation to write; None: none.
        captions: what happens, for the animation; ordered by time.
        timeout: for each backend [s].

    Returns:
        what was drawn and how; never raises for want of OpenGL or of a recording.
    """
    start = time.monotonic()
    try:
        Recording.load(recording)
    except RecordingError as error:
        return RenderReport(backend="none", message=str(error))
    problems: list[str] = []
    outputs = [f"--{name}={path}" for name, path in (("png", png), ("gif", gif)) if path]
    for backend in BACKENDS:
        report = _try_backend(backend, [str(recording), *outputs], captions, timeout)
        if isinstance(report, RenderReport):
            return dataclasses.replace(
                report, duration=time.monotonic() - start, message="; ".join(problems)
            )
        problems.append(f"{BACKENDS[backend].title}: {report}")
    return RenderReport(
        backend="none", duration=time.monotonic() - start, message="; ".join(problems)
    )


def _try_backend(
    backend: str, arguments: Sequence[str], captions: Sequence[Caption], timeout: float
) -> RenderReport | str:
    """The report of drawing with one backend, or what went wrong."""
    if lack := missing_library(backend):
        return lack
    command = [sys.executable, "-m", "behavior_sim.recordings.rendering", *arguments]
    command += ["--backend", backend, "--captions"]
    environment = {**os.environ, "MUJOCO_GL": backend, "PYOPENGL_PLATFORM": backend}
    try:
        done = subprocess.run(
            command,
            input=json.dumps([dataclasses.astuple(caption) for caption in captions]),
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return RenderReport(**json.loads(done.stdout.splitlines()[-1]))
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    problem = lines[-1] if lines else f"ended with exit code {done.returncode}"
    # A library without a driver looks like this, too.
    return with_remedy(backend, problem)


# -- in the process that draws --------------------------------------------------------------------


class _Painter:
    """Draws states of a recorded world."""

    def __init__(
        self, config: Any, size: tuple[int, int], *, oversampling: float, shadows: int
    ) -> None:
        import mujoco
        import numpy as np

        from behavior_sim.worlds.model import GROUP_COLLISION, build_model

        self._mujoco = mujoco
        self._option = mujoco.MjvOption()
        try:
            self._model = build_model(config, visuals=True)
            self._option.geomgroup[GROUP_COLLISION] = 0
        except (OSError, ValueError):
            # Without its visual meshes the robot is shown by its hulls.
            self._model = build_model(config)
            self._option.geomgroup[GROUP_COLLISION] = 1
        self._data = mujoco.MjData(self._model)
        self._size = size
        # Drawing larger and shrinking smooths all edges, for less than multisampling costs here.
        self._model.vis.quality.offsamples = 0
        self._model.vis.quality.shadowsize = shadows
        self._model.vis.global_.fovy = np.rad2deg(config.view.fov)
        target = np.array(config.view.target)
        sight = target - np.array(config.view.position)
        self._camera = mujoco.MjvCamera()
        self._camera.lookat = target
        self._camera.distance = np.linalg.norm(sight)
        self._camera.azimuth = np.rad2deg(np.arctan2(sight[1], sight[0]))
        self._camera.elevation = np.rad2deg(np.arcsin(sight[2] / self._camera.distance))
        width, height = (round(edge * oversampling) for edge in size)
        self._renderer = mujoco.Renderer(self._model, height=height, width=width)

    def draw(self, qpos: Any) -> Any:
        """Picture of a state."""
        from PIL import Image

        self._data.qpos[:] = qpos
        self._mujoco.mj_forward(self._model, self._data)
        self._renderer.update_scene(self._data, camera=self._camera, scene_option=self._option)
        return Image.fromarray(self._renderer.render()).resize(self._size, Image.Resampling.BOX)

    def close(self) -> None:
        """Give the renderer back."""
        self._renderer.close()


def _draw_picture(recording: Any, path: str) -> None:
    painter = _Painter(recording.config(), PICTURE_SIZE, oversampling=2.0, shadows=4096)
    painter.draw(recording.qpos[-1]).save(path, optimize=True)
    painter.close()


def _draw_animation(
    recording: Recording, path: str, captions: Sequence[Caption]
) -> tuple[int, float]:
    """Write the animation; number of frames and speed."""
    import numpy as np
    from PIL import Image

    times = recording.times
    # Until something moves there is nothing to see.
    moved = np.abs(recording.qpos - recording.qpos[0]).max(axis=1) > _STILL
    start = max(float(times[0]), float(times[int(np.argmax(moved))]) - _BEFORE)
    speed = max(1.0, (float(times[-1]) - start) / (MAX_DURATION - _LAST_FRAME))
    moments = np.append(np.arange(start, times[-1], _FRAME * speed), times[-1])
    painter = _Painter(recording.config(), ANIMATION_SIZE, oversampling=1.5, shadows=1024)
    frames = []
    for moment in moments:
        index = min(int(np.searchsorted(times, moment)), len(times) - 1)
        frame = painter.draw(recording.qpos[index])
        clock = f"{moment - start:5.1f} s" + (f"   {speed:.1f}x" if speed > 1.0 else "")
        _write(frame, clock, caption_at(captions, moment))
        frames.append(frame)
    painter.close()
    # One palette for all and no dithering: what stands still then costs nothing.
    sheet = Image.new("RGB", (ANIMATION_SIZE[0], ANIMATION_SIZE[1] * 3))
    for row, frame in enumerate((frames[0], frames[len(frames) // 2], frames[-1])):
        sheet.paste(frame, (0, row * ANIMATION_SIZE[1]))
    palette = sheet.quantize(128)
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(_FRAME * 1000)] * (len(flat) - 1) + [round(_LAST_FRAME * 1000)]
    flat[0].save(path, save_all=True, append_images=flat[1:], duration=durations, loop=0)
    return len(flat), speed


def caption_at(captions: Sequence[Caption], moment: float) -> str:
    """What happens at a moment [s]; empty before the first caption."""
    known = bisect.bisect_right(captions, moment, key=lambda caption: caption.time)
    return captions[known - 1].text if known else ""


def _write(frame: Any, clock: str, caption: str) -> None:
    """Write the time above, and what happens on a band below."""
    from PIL import ImageDraw

    drawing = ImageDraw.Draw(frame)
    drawing.text((12, 10), clock, fill=(60, 66, 74), font_size=18)
    if caption:
        width, height = frame.size
        drawing.rectangle((0, height - 36, width, height), fill=(44, 50, 58))
        drawing.text((12, height - 30), caption, fill=(240, 242, 245), font_size=18)


def _draw(arguments: argparse.Namespace) -> RenderReport:
    recording = Recording.load(arguments.recording)
    for path in (arguments.png, arguments.gif):
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
    if arguments.png:
        _draw_picture(recording, arguments.png)
    captions = [Caption(*each) for each in json.load(sys.stdin)] if arguments.captions else []
    frames, speed = 0, 0.0
    if arguments.gif:
        frames, speed = _draw_animation(recording, arguments.gif, captions)
    return RenderReport(
        backend=arguments.backend,
        png=arguments.png or "",
        gif=arguments.gif or "",
        frames=frames,
        speed=speed,
    )


def main(args: list[str] | None = None) -> int:
    """Draw a recording; the last line printed is the report as JSON."""
    parser = argparse.ArgumentParser(description="Draw a recording of the simulation.")
    parser.add_argument("recording", help="file written by the simulation")
    parser.add_argument("--png", help="picture of the final state to write")
    parser.add_argument("--gif", help="animation to write")
    parser.add_argument("--backend", choices=tuple(BACKENDS), help="use this one, in this process")
    parser.add_argument(
        "--captions",
        action="store_true",
        help="write what standard input says into the animation: JSON, a list of [seconds, text]",
    )
    arguments = parser.parse_args(args)
    if arguments.backend:
        report = _draw(arguments)
    else:
        report = render_recording(arguments.recording, arguments.png, arguments.gif)
    print(json.dumps(dataclasses.asdict(report)))
    return 0 if report.backend != "none" else 1


if __name__ == "__main__":
    sys.exit(main())
