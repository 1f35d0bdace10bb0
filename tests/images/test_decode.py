"""Frames of TIFFs of all sorts: the pages, and only they, are read; what cannot be decoded is a page that fails."""

import struct
from random import Random

import numpy as np
import pytest
from PIL import Image
from PIL.TiffImagePlugin import AppendingTiffWriter

from drethtr.base.errors import DataError
from drethtr.images.decode import page_frames
from drethtr.images.line import load_line
from drethtr.images.page import open_pages

SIZE = (240, 320)


def picture(seed, size=SIZE):
    """A page of strokes of its own."""
    blocks = np.random.default_rng(seed).integers(0, 2, (16, 12), np.uint8) * 255
    return Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST)


def tiff_of(path, frames):
    """A TIFF of frames, each with its tags."""
    with AppendingTiffWriter(path, new=True) as file:
        for image, tags in frames:
            image.save(file, "TIFF", tiffinfo=tags)
            file.newFrame()


def any_tiff(random):
    """Frames with tags, and the places of those that are pages: each page with copies before or after, or a mask."""
    frames, pages = [], []
    for number in range(random.randint(1, 4)):
        page = picture(random.randrange(1 << 30), random.choice([SIZE, (320, 240), (241, 323)]))
        copies = [page.reduce(factor) for factor in sorted(random.sample([2, 4], random.randint(0, 2)))]
        tag = random.choice([{}, {254: 1}, {255: 2}, {254: 5}])
        before = number == 0 and random.random() < 0.3
        frames += [(copy, tag) for copy in reversed(copies) if before]
        pages.append(len(frames))
        frames.append((page, random.choice([{}, {254: 0}, {254: 2}])))
        frames += [(copy, tag) for copy in copies if not before]
        if random.random() < 0.3:
            frames.append((page.convert("1"), {254: 4}))
    return frames, pages


def test_copies_and_masks_are_no_pages(tmp_path):
    for seed in range(240):
        frames, pages = any_tiff(Random(seed))
        tiff_of(tmp_path / "p.tif", frames)
        with Image.open(tmp_path / "p.tif") as image:
            assert image.n_frames == len(frames), seed
            assert list(page_frames(image, 100)) == pages, seed


def test_a_smaller_page_that_shows_something_else_is_a_page(tmp_path):
    tiff_of(tmp_path / "p.tif", [(picture(1), {}), (picture(2).reduce(2), {}), (picture(3), {})])
    assert len(open_pages(tmp_path / "p.tif")) == 3


def test_a_file_of_copies_only_has_its_first_frame(tmp_path):
    tiff_of(tmp_path / "p.tif", [(picture(1), {254: 1}), (picture(2), {254: 1})])
    assert [page.frame for page in open_pages(tmp_path / "p.tif")] == [0]


def test_a_line_is_read_from_its_page_not_from_the_thumbnail_before(tmp_path):
    tiff_of(tmp_path / "p.tif", [(picture(1).reduce(4), {254: 1}), (picture(1), {})])
    assert load_line(tmp_path / "p.tif").shape == (320, 240)


def with_photometric(data, frame, value):
    """A little-endian TIFF with the tag 262 of one frame changed."""
    [place] = struct.unpack_from("<L", data, 4)
    for _ in range(frame):
        [entries] = struct.unpack_from("<H", data, place)
        [place] = struct.unpack_from("<L", data, place + 2 + 12 * entries)
    [entries] = struct.unpack_from("<H", data, place)
    changed = bytearray(data)
    for entry in range(place + 2, place + 2 + 12 * entries, 12):
        if struct.unpack_from("<H", data, entry)[0] == 262:
            struct.pack_into("<H", changed, entry + 8, value)
    return bytes(changed)


@pytest.mark.parametrize(("photometric", "readable"), [(4, [True, True]), (32803, [True, False, True])])
def test_a_frame_that_cannot_be_decoded_costs_itself(tmp_path, photometric, readable):
    """A mask is no page, also without its bit; a frame of an unknown kind is a page that fails."""
    path = tmp_path / "p.tif"
    tiff_of(path, [(picture(seed), {}) for seed in range(3)])
    path.write_bytes(with_photometric(path.read_bytes(), 1, photometric))
    pages = open_pages(path)
    assert len(pages) == len(readable)
    for page, can_be_read in zip(pages, readable, strict=True):
        if can_be_read:
            assert page.gray().shape == (320, 240)
        else:
            with pytest.raises(DataError, match="page 2"):
                page.gray()


def test_frames_without_end_are_refused(tmp_path):
    tiff_of(tmp_path / "p.tif", [(picture(1), {254: 1})] * 30)
    with pytest.raises(DataError, match="more than 16 frames"):
        open_pages(tmp_path / "p.tif", 2)
