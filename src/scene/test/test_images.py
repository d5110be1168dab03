# SPDX-License-Identifier: Apache-2.0
"""Images over the wire: what is right is read, whatever else is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from behavior_scene.detector import ImageDefect, ImageError, RawImage, depth_of, labels_of


def raw(pixels, encoding, *, step=None, big_endian=False, **changes):
    height, width = pixels.shape[:2]
    fields = {
        "height": height,
        "width": width,
        "encoding": encoding,
        "step": step or pixels.nbytes // height,
        "big_endian": big_endian,
        "data": pixels.tobytes(),
    }
    return RawImage(**{**fields, **changes})


def test_metres_and_millimetres():
    metres = np.array([[1.5, np.nan], [np.inf, 0.25]], np.float32)
    assert np.array_equal(depth_of(raw(metres, "32FC1")), metres, equal_nan=True)
    millimetres = np.array([[1500, 0], [1, 250]], np.uint16)
    expected = np.array([[1.5, np.nan], [0.001, 0.25]])
    assert depth_of(raw(millimetres, "16UC1")) == pytest.approx(expected, nan_ok=True)


def test_byte_order_and_padded_rows():
    depth = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    padded = np.zeros((2, 20), np.uint8)
    padded[:, :12] = depth.astype(">f4").view(np.uint8).reshape(2, 12)
    image = raw(padded, "32FC1", step=20, big_endian=True, width=3)
    assert np.array_equal(depth_of(image), depth)
    assert depth_of(image).dtype == np.float32


def test_masks():
    labels = np.array([[0, 1], [300, 2]], np.uint16)
    read, probability = labels_of(raw(labels, "mono16"))
    assert np.array_equal(read, labels)
    assert probability is None
    narrow = labels.astype(np.uint8)
    assert np.array_equal(labels_of(raw(narrow, "mono8"))[0], narrow)
    both = np.dstack([labels, np.full((2, 2), 32768, np.uint16)])
    read, probability = labels_of(raw(both, "16UC2"))
    assert np.array_equal(read, labels)
    assert probability == pytest.approx(np.full((2, 2), 0.5), abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "defect"),
    [
        ({"encoding": "rgb8"}, ImageDefect.ENCODING),
        ({"encoding": ""}, ImageDefect.ENCODING),
        ({"step": 3}, ImageDefect.SIZE),
        ({"height": 9}, ImageDefect.SIZE),
        ({"width": 0}, ImageDefect.SIZE),
        ({"data": b""}, ImageDefect.SIZE),
        ({"data": np.full(6, np.nan, np.float32).tobytes()}, ImageDefect.NO_DEPTH),
    ],
)
def test_malformed_depth_is_refused(changes, defect):
    with pytest.raises(ImageError) as caught:
        depth_of(raw(np.ones((2, 3), np.float32), **{"encoding": "32FC1", **changes}))
    assert caught.value.defect is defect


@settings(max_examples=200, deadline=None)
@given(
    st.builds(
        RawImage,
        height=st.integers(0, 5),
        width=st.integers(0, 5),
        encoding=st.sampled_from(["32FC1", "16UC1", "mono16", "mono8", "16UC2", "64FC1", "bgr8"]),
        step=st.integers(0, 50),
        big_endian=st.booleans(),
        data=st.binary(max_size=200),
    )
)
def test_anything_is_read_or_refused(image):
    for read in (depth_of, lambda raw: labels_of(raw)[0]):
        try:
            pixels = read(image)
        except ImageError:
            continue
        assert pixels.shape == (image.height, image.width)
