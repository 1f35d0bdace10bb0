import sys
from types import SimpleNamespace

import numpy as np
import pytest
from made_pages import blank

from drethtr.base.errors import ConfigError
from drethtr.layout.finder import Finder, Kind
from drethtr.layout.finders import FINDERS, Kraken, Whole, finder_named
from drethtr.layout.order import arranged
from drethtr.layout.rapid import RapidDetector


@pytest.mark.parametrize("name", FINDERS)
def test_finders_by_name(name):
    assert isinstance(finder_named(name), Finder)


def test_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'rapid'"):
        finder_named("rapdi")


PLUGGED = """
from drethtr.layout import Finder

class Nothing(Finder):
    def find(self, page):
        return []

class NoFinder:
    def search(self, page):
        return []
"""


@pytest.fixture
def plugged(tmp_path, monkeypatch):
    """A package that offers finders by entry points, installed as pip would."""
    (tmp_path / "plugged_finders.py").write_text(PLUGGED)
    info = tmp_path / "plugged_finders-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged-finders\nVersion: 1.0\n")
    points = "nothing = plugged_finders:Nothing\nno-finder = plugged_finders:NoFinder\ngone = plugged_finders:Gone\n"
    (info / "entry_points.txt").write_text(f"[drethtr.finders]\n{points}")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("plugged_finders", None)


@pytest.mark.usefixtures("plugged")
def test_a_finder_of_another_package():
    assert finder_named("nothing").find(blank().gray) == []
    with pytest.raises(ConfigError, match=r"is not a drethtr\.layout\.Finder"):
        finder_named("no-finder")
    with pytest.raises(ConfigError, match=r"gone \(plugged_finders:Gone\) .* cannot be imported"):
        finder_named("gone")
    with pytest.raises(ConfigError, match="nothing"):
        finder_named("unknown")


def test_kraken_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "kraken", None)
    with pytest.raises(ConfigError, match=r"pip install 'drethtr\[kraken\]'"):
        Kraken().find(blank().gray)


@pytest.mark.parametrize("settings", [{"side": 0}, {"side": 2000, "fine_side": 1000}])
def test_settings_out_of_range(settings):
    with pytest.raises(ConfigError, match="side"):
        RapidDetector(**settings)


def test_whole():
    [line] = Whole().find(np.zeros((40, 300), np.uint8))
    assert line.polygon.max(0).tolist() == [300, 40] and line.baseline[:, 0].tolist() == [0, 300]


def test_a_number_of_threads_that_is_not_chosen_is_given():
    finder = finder_named("rapid").with_threads(1)
    assert finder == RapidDetector(threads=1) and finder.with_threads(2) == finder
    assert finder_named("projection").with_threads(1) == finder_named("projection")


def test_regions_and_order_of_kraken_are_kept(monkeypatch):
    """Its containers, with what its networks would fill in."""

    def baseline(row, region):
        outline = [(0, row - 9), (90, row - 9), (90, row), (0, row)]
        return SimpleNamespace(baseline=[(0, row), (90, row)], boundary=outline, regions=[region] * (region != ""))

    main = SimpleNamespace(id="r1", boundary=[(0, 0), (100, 0), (100, 100)])
    note = SimpleNamespace(id="r2", boundary=[(0, 200), (100, 200), (100, 300)])
    lines = [baseline(20, "r2"), baseline(40, "r1"), baseline(60, ""), baseline(80, "r1")]
    found = SimpleNamespace(lines=lines, regions={"MainZone": [main], "MarginTextZone": [note]})
    blla = SimpleNamespace(segment=lambda image, device: found)
    monkeypatch.setitem(sys.modules, "kraken", SimpleNamespace(blla=blla))
    layout = arranged(Kraken().find(blank().gray))
    assert [(region.kind, region.lines) for region in layout.regions] == [
        ("MarginTextZone", (0,)), ("MainZone", (1, 3)), (Kind.TEXT, (2,)),
    ]  # fmt: skip
    assert layout.regions[1].polygon.tolist() == [[0, 0], [100, 0], [100, 100]]
    found.regions = {}
    assert Kraken().find(blank().gray).regions is None
