"""Crops of marked pages: their targets lie where the writing is."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from drethtr.base.errors import ConfigError
from drethtr.documents.page import role_of
from drethtr.layout.finder import FoundLine, Layout, MarkedPage, Role
from drethtr.layout.network import COARSE, MAPS, TEXT
from drethtr.training.feed.mixture import Mixture
from drethtr.training.feed.supply import Supply
from drethtr.training.layout import crops
from drethtr.training.layout.crops import END, ON, UNKNOWN, CropBatches, CropConfig, targets, traced
from drethtr.training.layout.sources import MarkedSupply

SIDE = 320


def page(role=Role.BODY):
    """A page with two lines of dark bars on white, with x-heights of 12 pixels, 60 pixels apart."""
    picture = Image.new("L", (SIDE, SIDE), 230)
    pen, lines = ImageDraw.Draw(picture), []
    for row in (100, 160):
        for left in range(60, 260, 8):
            pen.rectangle((left, row - 12, left + 4, row), fill=20)
        outline = np.array(((60, row - 20), (260, row - 20), (260, row + 8), (60, row + 8)), float)
        lines.append(FoundLine(np.array(((60, row), (262, row)), float), outline, role))
    return MarkedPage(np.asarray(picture), Layout(tuple(lines)))


IDENTITY = np.array(((1, 0, 0), (0, 1, 0)), float)


def test_targets_lie_on_the_letters():
    marked = page()
    cores, _ = targets(traced(marked), IDENTITY, SIDE)
    ink = marked.page < 100
    assert (cores[ink] == ON).mean() > 0.6, "bars reach a little above the core"
    assert set(np.unique(np.nonzero(cores == ON)[0] // 30)) == {2, 3, 4, 5}
    columns = np.nonzero(cores == END)[1]
    assert ((columns <= 62) | (columns >= 260)).all() and len(columns)


def test_a_turned_page_has_turned_targets():
    marked = traced(page())
    cores, maps = targets(marked, IDENTITY, SIDE)
    quarter = np.array(((0, -1, SIDE), (1, 0, 0)), float)
    turned, turned_maps = targets(marked, quarter, SIDE)
    assert (np.rot90(turned) != cores).mean() < 0.01
    assert (np.rot90(turned_maps[TEXT]) != maps[TEXT]).mean() < 0.02


def test_what_is_unknown_is_not_learned():
    _, maps = targets(traced(page(role=None)), IDENTITY, SIDE)
    assert (maps[TEXT + 1 :] == UNKNOWN).all()
    assert set(np.unique(maps[TEXT])) == {0, ON, END}


def test_roles_are_learned_where_they_are_known():
    _, maps = targets(traced(page(Role.MARGIN)), IDENTITY, SIDE)
    assert maps.shape == (len(MAPS), SIDE // COARSE, SIDE // COARSE)
    text = maps[TEXT] == ON
    for number, role in enumerate(Role):
        here = maps[TEXT + 1 + number]
        assert (here[text] == (role is Role.MARGIN)).all() and (here[~text] == UNKNOWN).all()


class Same(Supply):
    """The same page again and again."""

    def sample(self, number, seed):
        return page()

    def describe(self):
        return "same"

    def digest(self):
        return "same"


def test_crops_have_other_random_numbers_than_the_pages_they_show(monkeypatch):
    """In a run of synthetic pages with seed 0, each kind of page came at its own scale."""
    made, cropped = [], []

    class Made(Same):
        def sample(self, number, seed):
            made.append(np.random.default_rng((seed, number)).random())
            return page()

    def note(page, config, rng):
        cropped.append(rng.random())
        return (np.zeros(1),) * 3

    monkeypatch.setattr(crops, "crop", note)
    CropBatches(Mixture((Made(),), (1.0,), 0), CropConfig(batch=4, per_page=1))[0]
    assert len(made) == len(cropped) == 4 and not set(made) & set(cropped)


def test_batches_depend_on_seed_and_chunk_alone():
    config = CropConfig(side=64, batch=3, per_page=2)
    one, again, other = (CropBatches(Mixture((Same(),), (1.0,), seed), config) for seed in (1, 1, 2))
    assert len(one[5]) == 2 and one[5][0].grays.shape == (3, 64, 64) and one[5][0].maps.shape[1:] == (7, 16, 16)
    for first, second in zip(one[5], again[5], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(one[5][0].grays, other[5][0].grays)
    assert not np.array_equal(one[5][0].grays, one[6][0].grays)


def test_every_page_of_a_collection_comes_before_any_comes_again(monkeypatch):
    monkeypatch.setattr("drethtr.training.layout.sources.marked", lambda original: original)
    supply = MarkedSupply("letters", ("a", "b", "c", "d"))
    rounds = [[supply.sample(4 * turn + place, 0) for place in range(4)] for turn in range(6)]
    assert all(sorted(seen) == ["a", "b", "c", "d"] for seen in rounds) and len(set(map(tuple, rounds))) > 1


@pytest.mark.parametrize(
    ("kinds", "role"),
    [
        (("InterlinearLine", "MainZone"), Role.INSERTION),
        (("DefaultLine", "MarginTextZone:apparatus"), Role.MARGIN),
        (("", "margin"), Role.MARGIN),
        (("", "NumberingZone:page"), Role.NUMBER),
        (("", "StampZone"), Role.STAMP),
        (("printed", "header"), Role.PRINT),
        (("DefaultLine", "MainZone"), Role.BODY),
    ],
)
def test_words_of_files_say_roles(kinds, role):
    assert Role(role_of(*kinds) or Role.BODY) is role


@pytest.mark.parametrize("wrong", [{"side": 100}, {"batch": 0}, {"largest": 800, "smallest": 900}])
def test_impossible_crops_are_refused(wrong):
    with pytest.raises(ConfigError, match=rf"^{next(iter(wrong))} must be "):
        CropConfig(**wrong)
