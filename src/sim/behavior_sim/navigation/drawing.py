# SPDX-License-Identifier: Apache-2.0
"""Pictures and animations of recorded runs: map, routes, what was driven, what happened when."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from behavior_motion.planar_pose import Pose2D
from behavior_sim.navigation.config import Box, NavigationConfig
from behavior_sim.navigation.path_planner import Mode
from behavior_sim.navigation.recording import Event, NavigationRecording, value_at

Colour = tuple[int, int, int]
Place = tuple[float, float]

INK: Colour = (38, 45, 56)
FAINT: Colour = (126, 135, 148)
PAPER: Colour = (250, 250, 248)
WALL: Colour = (71, 80, 94)
ROUTE: Colour = (150, 158, 170)
PERSON: Colour = (150, 92, 178)
OBSTACLE: Colour = (200, 62, 56)
GOAL: Colour = (24, 134, 91)
ROBOT: Colour = (22, 78, 158)
MODES: dict[Mode, Colour] = {
    Mode.IDLE: (200, 205, 212),
    Mode.NOMINAL: (45, 112, 205),
    Mode.FALLBACK: (232, 140, 32),
}
TILES: tuple[Colour, ...] = ((238, 243, 250), (248, 243, 234), (240, 247, 240), (247, 240, 246))
_REGIONS: dict[str, Colour] = {
    "speed_zone": (250, 224, 150),
    "dock": (190, 228, 204),
    "stairs": (222, 206, 232),
    "restricted": (245, 205, 200),
}
_OVERSAMPLING = 2
_FRAME = 0.1
"""[s] per frame of an animation."""
_DURATION = 14.0
"""[s] of an animation, at most."""


class Canvas:
    """A picture that is drawn larger than it is shown, which smooths every edge.

    Args:
        size: of the shown picture [px].
        scale: [px/m]
        origin: where (0, 0) of the map is shown [px].
    """

    def __init__(self, size: tuple[int, int], scale: float, origin: Place) -> None:
        self._size, self._scale, self._origin = size, scale, origin
        large = (size[0] * _OVERSAMPLING, size[1] * _OVERSAMPLING)
        self._image = Image.new("RGB", large, PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def copy(self) -> Canvas:
        """The same once more."""
        other = Canvas.__new__(Canvas)
        other._size, other._scale, other._origin = self._size, self._scale, self._origin
        other._image = self._image.copy()
        other._draw = ImageDraw.Draw(other._image)
        return other

    def picture(self) -> Image.Image:
        """What is shown."""
        return self._image.resize(self._size, Image.Resampling.LANCZOS)

    def at(self, x: float, y: float) -> Place:
        """Where a point of the map [m] is shown [px]."""
        return (self._origin[0] + self._scale * x, self._origin[1] - self._scale * y)

    def line(
        self, points: Sequence[Place], colour: Colour, width: float = 1.0, *, dash: float = 0.0
    ) -> None:
        """A line through points [px]; `dash` [px] is the length of its strokes."""
        if len(points) < 2:
            return
        for part in _dashed(points, dash) if dash else [points]:
            large = [(x * _OVERSAMPLING, y * _OVERSAMPLING) for x, y in part]
            self._draw.line(large, colour, round(width * _OVERSAMPLING), joint="curve")

    def box(
        self, corner: Place, other: Place, fill: Colour | None, outline: Colour | None = None
    ) -> None:
        """A rectangle between two corners [px]."""
        (x0, x1), (y0, y1) = sorted((corner[0], other[0])), sorted((corner[1], other[1]))
        large = [value * _OVERSAMPLING for value in (x0, y0, x1, y1)]
        self._draw.rectangle(large, fill, outline, _OVERSAMPLING)

    def polygon(self, points: Iterable[Place], fill: Colour) -> None:
        """A filled polygon [px]."""
        self._draw.polygon([(x * _OVERSAMPLING, y * _OVERSAMPLING) for x, y in points], fill)

    def disc(
        self,
        centre: Place,
        radius: float,
        fill: Colour | None,
        outline: Colour | None = None,
        width: float = 1.0,
    ) -> None:
        """A disc [px]."""
        x, y, r = (value * _OVERSAMPLING for value in (*centre, radius))
        self._draw.ellipse(
            (x - r, y - r, x + r, y + r), fill, outline, round(width * _OVERSAMPLING)
        )

    def text(
        self, place: Place, words: str, size: float, colour: Colour = INK, anchor: str = "ls"
    ) -> None:
        """Words [px]; `anchor` as Pillow's."""
        font = ImageFont.load_default(size * _OVERSAMPLING)
        large = (place[0] * _OVERSAMPLING, place[1] * _OVERSAMPLING)
        self._draw.text(large, words, colour, font, anchor)

    def width(self, words: str, size: float) -> float:
        """Of words [px]."""
        return float(ImageFont.load_default(size * _OVERSAMPLING).getlength(words)) / _OVERSAMPLING


def _dashed(points: Sequence[Place], dash: float) -> list[list[Place]]:
    """A polyline cut into strokes with gaps as long as they are."""
    line = np.array(points)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    strokes = []
    for begin in np.arange(0.0, along[-1], 2.0 * dash):
        inner = line[(along > begin) & (along < begin + dash)]
        ends = [
            np.array([np.interp(s, along, line[:, 0]), np.interp(s, along, line[:, 1])])
            for s in (begin, min(begin + dash, along[-1]))
        ]
        strokes.append([(float(x), float(y)) for x, y in (ends[0], *inner, ends[1])])
    return strokes


# -- the map ---------------------------------------------------------------------------------------


def _draw_map(canvas: Canvas, config: NavigationConfig, *, small: bool = False) -> None:
    width, height = config.size
    canvas.box(canvas.at(0, 0), canvas.at(width, height), (255, 255, 255))
    _draw_tiles(canvas, config, small)
    for region in config.regions.values():
        if region.type in _REGIONS:
            places = [canvas.at(x, y) for x, y in region.polygon]
            canvas.polygon(places, _REGIONS[region.type])
    if not small:
        _draw_regions(canvas, config)
        for start, end in config.edges:
            ends = [canvas.at(*config.waypoints[name]) for name in (start, end)]
            canvas.line(ends, (216, 221, 228), 1.0)
        for place in config.waypoints.values():
            canvas.disc(canvas.at(*place), 2.2, (205, 211, 219))
    for wall in config.walls.values():
        canvas.box(canvas.at(wall[0], wall[1]), canvas.at(wall[2], wall[3]), WALL)


def _draw_tiles(canvas: Canvas, config: NavigationConfig, small: bool) -> None:
    """Each tile in a tint of its own, where tiles overlap in stripes of both."""
    boxes = list(config.tiles.items())
    for number, (name, (left, low, right, high)) in enumerate(boxes):
        tint = TILES[number % len(TILES)]
        canvas.box(canvas.at(left, low), canvas.at(right, high), tint)
        for other_number, (_, other) in enumerate(boxes[:number]):
            _stripes(canvas, (left, low, min(right, other[2]), high), TILES[other_number])
        if not small:
            at = canvas.at(0.5 * (left + right), high)
            canvas.text((at[0], at[1] - 8), f"tile {name}", 13, FAINT, "ms")
            for x in (left, right):
                if 0.0 < x < config.size[0]:
                    ends = [canvas.at(x, low), canvas.at(x, high)]
                    canvas.line(ends, (190, 197, 207), 1.0, dash=6)


def _stripes(canvas: Canvas, box: Box, colour: Colour) -> None:
    left, low, right, high = box
    for x in np.arange(left, right, 0.5):
        canvas.box(canvas.at(x, low), canvas.at(min(x + 0.25, right), high), colour)


def _draw_regions(canvas: Canvas, config: NavigationConfig) -> None:
    labels = {"dock": "charger", "stairs": "stairs"}
    for region in config.regions.values():
        corners = np.array(region.polygon)
        x = corners[:, 0].mean()
        if region.type == "speed_zone":
            at = canvas.at(float(corners[:, 0].min()), float(corners[:, 1].max()))
            words = f"{region.speed_limit:g} m/s"
            canvas.text((at[0] + 5, at[1] + 14), words, 11, (140, 105, 20), "ls")
        elif region.type in labels:
            at = canvas.at(float(x), float(corners[:, 1].min()))
            canvas.text((at[0], at[1] - 5), labels[region.type], 11, (84, 110, 98), "ms")


def _draw_robot(canvas: Canvas, robot: Pose2D, radius: float, colour: Colour) -> None:
    corners = [(1.0, 0.0), (-0.62, 0.62), (-0.35, 0.0), (-0.62, -0.62)]
    tip = robot.points(1.15 * radius * np.array(corners))
    canvas.disc(canvas.at(robot.x, robot.y), radius * canvas._scale, (255, 255, 255), colour, 1.5)
    canvas.polygon([canvas.at(float(x), float(y)) for x, y in tip], colour)


def _draw_obstacles(
    canvas: Canvas, recording: NavigationRecording, time: float | None = None
) -> None:
    """Those that stood at a time; all when none is given."""
    for obstacle in recording.obstacles:
        if time is None or obstacle.time <= time < obstacle.until:
            left, low, right, high = obstacle.box
            canvas.box(canvas.at(left, low), canvas.at(right, high), OBSTACLE)


def _draw_driven(
    canvas: Canvas, recording: NavigationRecording, until: float, width: float
) -> None:
    """The way that was really driven, coloured by the planners' mode."""
    stretch: list[Place] = []
    mode = Mode.IDLE
    for moment in recording.moments:
        if moment.time > until:
            break
        here = canvas.at(moment.robot.x, moment.robot.y)
        now = recording.mode_at(moment.time)
        stretch.append(here)
        if now is not mode:
            canvas.line(stretch, _driven_colour(mode), width)
            stretch, mode = [here], now
    canvas.line(stretch, _driven_colour(mode), width)


def _driven_colour(mode: Mode) -> Colour:
    # What is rolled after the planners stopped belongs to the way.
    return MODES[mode] if mode is not Mode.IDLE else (120, 150, 190)


def _draw_goals(canvas: Canvas, recording: NavigationRecording, size: float) -> None:
    for goal in recording.goals:
        centre = canvas.at(goal.pose.x, goal.pose.y)
        ahead = goal.pose @ Pose2D(0.75, 0.0)
        canvas.line([centre, canvas.at(ahead.x, ahead.y)], GOAL, 2.0)
        canvas.disc(centre, size, GOAL, (255, 255, 255), 1.5)
        canvas.text(centre, goal.name, 1.15 * size, (255, 255, 255), "mm")


def _draw_frames(canvas: Canvas, recording: NavigationRecording) -> None:
    for moved in recording.frames:
        ends = [canvas.at(pose.x, pose.y) for pose in (moved.before, moved.after)]
        canvas.line(ends, GOAL, 1.5, dash=5)
        (x, y), r = ends[0], 5
        canvas.line([(x - r, y - r), (x + r, y + r)], GOAL, 2.0)
        canvas.line([(x - r, y + r), (x + r, y - r)], GOAL, 2.0)
        canvas.text((x, y - 10), f"{moved.name} was here", 10, GOAL, "ms")


def _draw_people(canvas: Canvas, recording: NavigationRecording) -> None:
    """Where people walked, as faint tracks, and where they were last."""
    count = max((len(moment.people) for moment in recording.moments), default=0)
    for number in range(count):
        track = [m.people[number] for m in recording.moments if len(m.people) > number]
        canvas.line([canvas.at(*place) for place in track], (216, 196, 226), 1.2)
        canvas.disc(canvas.at(*track[-1]), 0.25 * canvas._scale, PERSON, (255, 255, 255), 1.0)


# -- the picture -----------------------------------------------------------------------------------

_MARGIN = 40.0
_TOP = 96.0


def draw_picture(recording: NavigationRecording, file: Path, *, title: str, result: str) -> None:
    """Draw a whole run.

    Args:
        recording: with at least one moment.
        file: PNG to write.
        title: what it is.
        result: what came of it, in a few words.
    """
    width, height = recording.config.size
    scale = (1440.0 - 2 * _MARGIN) / width
    map_bottom = _TOP + 26 + scale * height
    rows = math.ceil(len(recording.events) / 2)
    size = (1440, round(map_bottom + 168 + 26 * rows + 30))
    canvas = Canvas(size, scale, (_MARGIN, map_bottom))
    canvas.text((_MARGIN, 48), title, 27)
    canvas.text((_MARGIN, 76), result, 15, FAINT)
    _draw_legend(canvas, size[0] - _MARGIN, 46)
    _draw_map(canvas, recording.config)
    _draw_people(canvas, recording)
    for route in recording.routes:
        canvas.line([canvas.at(*map(float, p)) for p in route.points], ROUTE, 1.6, dash=6)
    _draw_obstacles(canvas, recording)
    _draw_driven(canvas, recording, math.inf, 3.2)
    _draw_frames(canvas, recording)
    _draw_goals(canvas, recording, 11)
    first = recording.moments[0].robot
    canvas.disc(canvas.at(first.x, first.y), 6, (255, 255, 255), ROBOT, 2.0)
    below = canvas.at(first.x, first.y - 0.75)
    canvas.text(below, "start", 11, ROBOT, "ms")
    _draw_robot(canvas, recording.moments[-1].robot, recording.config.robot.radius, ROBOT)
    _draw_pins(canvas, recording.events)
    _draw_timeline(canvas, recording, map_bottom + 34, size[0] - _MARGIN)
    _draw_list(canvas, recording, map_bottom + 176)
    file.parent.mkdir(parents=True, exist_ok=True)
    canvas.picture().save(file, optimize=True)


def _draw_legend(canvas: Canvas, right: float, y: float) -> None:
    x = right
    for words, colour in (
        ("people", PERSON),
        ("obstacle", OBSTACLE),
        ("planned", ROUTE),
        ("driven in fallback", MODES[Mode.FALLBACK]),
        ("driven", MODES[Mode.NOMINAL]),
    ):
        x -= canvas.width(words, 13)
        canvas.text((x, y), words, 13)
        canvas.line([(x - 30, y - 4), (x - 8, y - 4)], colour, 4.0, dash=5 * (words == "planned"))
        x -= 48


def _draw_pins(canvas: Canvas, events: list[Event]) -> None:
    """A lettered mark for each event; marks at one place stand beside each other."""
    taken: list[Place] = []
    for number, event in enumerate(events):
        x, y = canvas.at(event.x, event.y)
        tip = (x, y)
        x, y = x + 14, y - 18
        while any(math.dist((x, y), other) < 21 for other in taken):
            x += 22
        taken.append((x, y))
        canvas.line([tip, (x, y)], INK, 1.0)
        canvas.disc((x, y), 9.5, (255, 255, 255), INK, 1.4)
        canvas.text((x, y), letter(number), 12, INK, "mm")


def letter(number: int) -> str:
    """A, B, C ... for 0, 1, 2 ..."""
    return chr(ord("A") + number % 26)


def _draw_timeline(
    canvas: Canvas, recording: NavigationRecording, top: float, right: float
) -> None:
    left = _MARGIN + 92
    begin, duration = recording.start, max(recording.end - recording.start, 1.0)

    def at(time: float) -> float:
        return left + (right - left) * (time - begin) / duration

    good, bad, grey = (168, 208, 184), OBSTACLE, (226, 229, 234)
    rows: list[tuple[str, list[tuple[float, Colour]]]] = [
        ("planners", [(t, MODES[mode]) for t, mode in recording.modes]),
        ("localization", [(t, good if fine else bad) for t, fine in recording.localization]),
        ("paused", [(t, INK if held else grey) for t, held in recording.paused]),
    ]
    names = list(recording.config.tiles)
    strong = ((170, 192, 224), (226, 206, 166), (176, 208, 176), (212, 180, 208))
    rows.append(("tile", [(t, strong[names.index(n) % 4]) for t, n in recording.tiles]))
    for number, (name, changes) in enumerate(rows):
        y = top + 20 * number
        canvas.text((left - 10, y + 11), name, 12, FAINT, "rs")
        canvas.box((left, y), (right, y + 13), grey)
        for (time, colour), (until, _) in pairwise([*changes, (recording.end, grey)]):
            canvas.box((at(max(time, begin)), y), (at(max(until, begin)), y + 13), colour)
    bottom = top + 20 * len(rows)
    for number, event in enumerate(recording.events):
        x = at(event.time)
        canvas.line([(x, top - 4), (x, bottom)], INK, 1.0)
        canvas.text((x, top - 7), letter(number), 11, INK, "ms")
    for time in np.arange(0.0, duration, 20.0):
        canvas.text((at(begin + time), bottom + 16), f"{time:.0f} s", 11, FAINT, "ms")


def _draw_list(canvas: Canvas, recording: NavigationRecording, top: float) -> None:
    rows = math.ceil(len(recording.events) / 2)
    for number, event in enumerate(recording.events):
        x = _MARGIN + (690 if number >= rows else 0)
        y = top + 26 * (number % rows)
        canvas.disc((x + 9, y - 4), 9.5, (255, 255, 255), INK, 1.4)
        canvas.text((x + 9, y - 4), letter(number), 12, INK, "mm")
        canvas.text((x + 74, y), f"{event.time - recording.start:.1f} s", 13, FAINT, "rs")
        canvas.text((x + 86, y), event.text, 14)


# -- the animation ---------------------------------------------------------------------------------


def draw_animation(recording: NavigationRecording, file: Path) -> float:
    """Draw a run as a GIF; returns how many recorded seconds each second of it shows."""
    width, height = recording.config.size
    scale = (720.0 - 24.0) / width
    size = (720, round(scale * height + 24 + 34))
    blank = Canvas(size, scale, (12.0, size[1] - 12.0))
    _draw_map(blank, recording.config, small=True)
    speed = max(1.0, (recording.end - recording.start) / _DURATION)
    moments = [*np.arange(recording.start, recording.end, _FRAME * speed), recording.end]
    frames = [_draw_frame(blank.copy(), recording, float(time), speed) for time in moments]
    palette = _sheet(frames).quantize(96)
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(_FRAME * 1000)] * (len(flat) - 1) + [1500]
    file.parent.mkdir(parents=True, exist_ok=True)
    flat[0].save(file, save_all=True, append_images=flat[1:], duration=durations, loop=0)
    return speed


def _draw_frame(
    canvas: Canvas, recording: NavigationRecording, time: float, speed: float
) -> Image.Image:
    moment, mode = recording.moment_at(time), recording.mode_at(time)
    current = [route for route in recording.routes if route.time <= time][-1:]
    for route in current:
        canvas.line([canvas.at(*map(float, p)) for p in route.points], ROUTE, 1.4, dash=4)
    _draw_obstacles(canvas, recording, time)
    _draw_driven(canvas, recording, time, 2.0)
    _draw_goals(canvas, recording, 7)
    for place in moment.people:
        canvas.disc(canvas.at(*place), 0.25 * canvas._scale, PERSON)
    located = value_at(recording.localization, time, True)
    colour = ROBOT if located else OBSTACLE
    _draw_robot(canvas, moment.robot, recording.config.robot.radius, colour)
    canvas.text((12, 24), f"{time - recording.start:5.1f} s   {speed:.0f}x", 13, FAINT)
    canvas.disc((116, 20), 5, MODES[mode])
    canvas.text((128, 24), mode.name.lower(), 13)
    past = [event for event in recording.events if 0.0 <= time - event.time <= 4.0 * speed / 2.0]
    if past:
        canvas.text((708, 24), past[-1].text, 13, INK, "rs")
    return canvas.picture()


def _sheet(frames: list[Image.Image]) -> Image.Image:
    """Some frames in one picture, for a palette that suits all.

    Colours of small things are there in swatches too: by their area alone they would be lost.
    """
    chosen = [frames[round(k * (len(frames) - 1) / 4)] for k in range(5)]
    width, height = chosen[0].size
    colours = (PERSON, OBSTACLE, GOAL, ROBOT, *MODES.values())
    sheet = Image.new("RGB", (width, height * len(chosen) + 40 * len(colours)))
    for row, frame in enumerate(chosen):
        sheet.paste(frame, (0, row * height))
    for row, colour in enumerate(colours):
        top = height * len(chosen) + 40 * row
        sheet.paste(colour, (0, top, width, top + 40))
    return sheet
