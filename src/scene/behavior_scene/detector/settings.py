# SPDX-License-Identifier: Apache-2.0
"""How a detector treats what it is given, class by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from behavior_ros.messages.sent_text import SentTextError, read_yaml, shown
from behavior_scene.library import SHAPE_SIZES, ObjectLibrary, Shape

DEFAULT = "default"
"""Name under which the settings of all classes stand that are not named."""


class SettingsError(ValueError):
    """Settings that are wrong; one line for each, with the class and the key."""


class ClassSettings(BaseModel):
    """Settings of one class."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ignored: bool = False
    """Not reported at all."""
    confidence: float = Field(default=0.25, ge=0.0, le=1.0)
    """What the image detector is less sure of is not reported."""
    mask_threshold: float = Field(default=0.5, ge=0.0, le=1.0)
    """Pixels that belong to the object with less probability are left out (masks that tell)."""
    nms_threshold: float = Field(default=0.5, ge=0.0, le=1.0)
    """Of two boxes of a class that share more than this part of their union, the surer counts."""
    erosion_radius: int = Field(default=1, ge=0, le=50)
    """Pixels so near to the mask's edge are left out: their depth may be the background's [px]."""
    outlier_threshold: float = Field(default=3.0, gt=0.0)
    """Points further from the middle than this many (robust) standard deviations are left out."""
    minimum_points: int = Field(default=12, ge=3)
    """Objects with fewer points are not reported."""
    minimum_visible: float = Field(default=0.0, ge=0.0, le=1.0)
    """Objects of known shape that show less than this part of what they would show if nothing stood
    before them are not reported: their middle cannot be told."""
    maximum_misfit: float = Field(default=0.0, ge=0.0)
    """Objects whose points are further than this, in the mean, from the box fitted to them are not
    reported: they stand otherwise than they can be told to [m]; 0: all are."""
    center: Literal["fit", "shape", "outline", "surface"] = "fit"
    """Where the object is: fit its known shape to the points (boxes, spheres; others as `shape`);
    the middle of the points, from which that of the known shape follows if nothing hides it; the
    middle of the known box around the points, with its top at their highest, for things that are
    hollow and open; or the middle of the points itself."""
    orientation: Literal["upright", "resting", "none"] = "upright"
    """Tell how a box that stands upright is turned; how one is that lies on any of its faces
    (`fit`); or nothing."""
    heading: float = Field(default=0.0, allow_inf_nan=False)
    """Of the turns about the vertical after which a box looks the same, the one nearest to this is
    told [rad, of the x axis in the frame of the report]."""
    depth_window: float = Field(default=0.1, gt=0.0)
    """Boxes: what lies further before or behind the middle is background, where the shape is
    unknown [m]."""
    ground_clearance: float = Field(default=0.008, ge=0.0)
    """Boxes: what is not higher than this above the lowest point is the ground [m]; 0: keep all."""


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """Settings by class."""

    classes: Mapping[str, ClassSettings] = field(default_factory=dict)
    default: ClassSettings = field(default_factory=ClassSettings)
    """Of all classes that are not named."""
    library: ObjectLibrary = field(default_factory=ObjectLibrary)
    """Where shapes come from."""

    def of(self, class_id: str) -> ClassSettings:
        """The settings of a class."""
        return self.classes.get(class_id, self.default)

    def shape(self, class_id: str) -> Shape | None:
        """The shape of a class; None: not known."""
        known = self.library.get(class_id)
        shape = None if known is None else known.shape
        return shape if shape is not None and shape.kind in SHAPE_SIZES else None


def parse_settings(text: str, library: ObjectLibrary | None = None) -> DetectorSettings:
    """Settings from YAML: a mapping from classes to settings; `default` stands for all others.

    What a class does not set it has from `default`.

    Raises:
        SettingsError: no YAML, unknown keys, values out of bounds.
    """
    try:
        data = read_yaml(text, "classes")
    except SentTextError as error:
        raise SettingsError(str(error)) from error
    data = {} if data is None else data
    if not isinstance(data, Mapping):
        raise SettingsError(f"classes: give a mapping from classes to settings, not {shown(data)}")
    problems: list[str] = []
    common = _checked(DEFAULT, data.get(DEFAULT), {}, problems)
    shared = common.model_dump(exclude_unset=True)
    classes = {
        str(name): _checked(str(name), entry, shared, problems)
        for name, entry in data.items()
        if name != DEFAULT
    }
    if problems:
        raise SettingsError("\n".join(problems))
    return DetectorSettings(classes, common, library or ObjectLibrary())


def _checked(
    name: str, entry: Any, shared: Mapping[str, Any], problems: list[str]
) -> ClassSettings:
    entry = {} if entry is None else entry
    if not isinstance(entry, Mapping):
        problems.append(f"classes.{name}: give a mapping of settings, not {shown(entry)}")
        return ClassSettings()
    try:
        return ClassSettings(**{**shared, **{str(k): v for k, v in entry.items()}})
    except ValidationError as error:
        known = ", ".join(ClassSettings.model_fields)
        for item in error.errors():
            key = ".".join(str(part) for part in item["loc"])
            hint = f"; known are {known}" if item["type"] == "extra_forbidden" else ""
            problems.append(f"classes.{name}.{key}: {item['msg']}{hint}")
        return ClassSettings()


def parse_labels(text: str) -> dict[int, str]:
    """Classes by mask value, from YAML such as ``{1: cup, 2: plate}``.

    Raises:
        SettingsError: anything else.
    """
    try:
        data = read_yaml(text, "labels")
    except SentTextError as error:
        raise SettingsError(str(error)) from error
    data = {} if data is None else data
    if not isinstance(data, Mapping) or not all(
        type(label) is int and 0 < label < 2**16 and isinstance(name, str) and name
        for label, name in data.items()
    ):
        raise SettingsError("labels: give a mapping from mask values (1 to 65535) to class names")
    return dict(data)
