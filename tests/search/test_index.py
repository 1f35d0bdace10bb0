"""Queries to an archive whose texts a person wrote: what is found there is known."""

from contextlib import suppress

import pytest
from archives import build_index, put_scan
from edited_folders import approve, put_page
from made_pages import TEXTS

from drethtr.base.errors import ConfigError, DataError
from drethtr.pages.segmentation import segmentation_named
from drethtr.search import open_index
from drethtr.search.build import open_builder
from drethtr.search.scan import scan_pages


def places(hits):
    return [(hit.page.name, hit.line) for hit in hits]


def test_a_word_that_a_person_wrote_is_certain_and_marked(index):
    [hit] = index.search("Recéived")
    assert (hit.page.name, hit.line, hit.text, hit.probability) == ("one.png", "l1", TEXTS[0], 1.0)
    assert hit.snippet == "Dear Sir, I have [received]"
    box = hit.box
    assert 60 < box.top < 110 and box.bottom > box.top and box.right > box.left > 80, "on the right of the first line"


@pytest.mark.parametrize(("format", "confirmed"), [("page", False), ("page", True), ("alto", False)])
def test_a_text_with_confidences_is_certain_only_if_a_person_confirmed_it(recognizer, tmp_path, format, confirmed):
    path = put_page(tmp_path / "scans", "a", format, confidence=0.9)
    if confirmed:
        approve(path)
    build_index(path.parent, recognizer, tmp_path / "a.sqlite")
    with open_index(tmp_path / "a.sqlite", threads=2) as opened:
        assert [hit.text for hit in opened.search("news")] == [TEXTS[2]] * confirmed


def test_phrases_run_over_line_ends_and_words_over_hyphens(index):
    assert places(index.search('"received your letter"')) == [("one.png", "l1")]
    assert places(index.search('"letter received"')) == []
    [hit] = index.search("treasure")
    assert places([hit]) == [("two.png", "l1")] and hit.snippet.endswith("[trea]-")
    assert places(index.search("sure")) == [("two.png", "l2")]


def test_and_or_and_not_hold_for_a_line_or_a_page(index):
    assert places(index.search("thank news")) == [("one.png", "l3")]
    assert places(index.search("thank OR hidden")) == [("one.png", "l3"), ("two.png", "l2")]
    assert places(index.search("thank hidden")) == []
    assert places(index.search("the -hidden -thank")) == [("one.png", "l2"), ("one.png", "l4"), *both()]
    assert places(index.search("news town", whole_pages=True)) == [("one.png", "l3")]
    assert places(index.search("the -town", whole_pages=True))[0][0] == "two.png"


def both():
    return [("two.png", "l1"), ("two.png", "l3"), ("two.png", "l4")]


def test_limits(index):
    assert len(index.search("the", limit=2)) == 2
    assert index.search("the", least=1.0) and not index.search("zebra")
    with pytest.raises(ConfigError, match="between 0 and 1"):
        index.search("the", least=2)
    with pytest.raises(ConfigError, match="limit must be at least 1, not -1"):
        index.search("the", limit=-1)
    with pytest.raises(ConfigError, match=r"limit must be a whole number, not '2'"):
        index.search("the", limit="2")
    with pytest.raises(ConfigError, match=r"least must be a number, not '0\.1'"):
        index.search("the", least="0.1")


@pytest.mark.parametrize("query", ["'; DROP TABLE pages; --", 'x" OR "1"="1', "a%b_c", "the\0", "%", "(the)", "-- -"])
def test_a_query_is_data(index, query):
    before = index.size
    with suppress(ConfigError):  # it names nothing that can be searched for
        index.search(query)
    assert index.size == before and index.search("thank")


def test_verdicts_on_hits_are_kept(index):
    first, second, *_ = index.search("the")
    index.judge(first, stands=False)
    index.judge(second, stands=True)
    again = index.search("the")
    assert places(again)[0] == places([second])[0] and places([first])[0] not in places(again)
    assert places([first])[0] in places(index.search("the letter OR thank OR the")), "another query is another matter"


def test_a_verdict_is_not_for_another_line_that_has_the_id_now(index, archive, build):
    """As after a crop of the scan, or when scans are renumbered."""
    [judged] = (hit for hit in index.search("the") if places([hit]) == [("one.png", "l2")])
    index.judge(judged, stands=False)
    put_scan(archive, "one", [TEXTS[0], *TEXTS[2:4]])
    assert build() == 1
    assert TEXTS[2] in [hit.text for hit in index.search("the") if hit.line == judged.line]


def test_a_verdict_stays_with_its_line_when_the_page_is_read_again(index, archive, build):
    judged, *others = index.search("the")
    index.judge(judged, stands=False)
    page = archive / judged.page.with_suffix(".xml").name
    page.write_text(page.read_text(encoding="utf-8").replace("received", "perceived"), encoding="utf-8")
    assert build() == 1 and build(rebuild=True) == 2
    assert sorted(places(index.search("the"))) == sorted(places(others))


def test_a_strict_query_chooses_pages_by_folded_words_as_well(index, monkeypatch):
    """A database compares them with folded texts."""
    asked, select = [], type(index.store).select
    monkeypatch.setattr(type(index.store), "select", lambda store, words: asked.append(words) or select(store, words))
    index.search('"a Vérity" OR bœuf', strict=True)
    assert asked == [["ueriti", "boeuf"]]


def test_a_page_that_loses_lines_during_a_search_is_told(index, monkeypatch):
    """As by somebody who joins its lines: the page may have the same id then."""
    page = type(index.store).page
    monkeypatch.setattr(type(index.store), "page", lambda store, id: (page(store, id)[0], [], b""))
    with pytest.raises(DataError, match="search again"):
        index.search("thank")


def test_the_same_query_is_not_scanned_again_until_a_page_changes(index, archive, build, monkeypatch):
    scans = []
    monkeypatch.setattr("drethtr.search.scan.scan_pages", lambda *given: scans.append(1) or scan_pages(*given))
    first = index.search("thank")
    index.judge(first[0], stands=True)
    assert places(index.search("thank", limit=1)) == places(first) and len(scans) == 1
    index.search("thank", strict=True)
    assert len(scans) == 2
    page = archive / "two.xml"
    page.write_text(page.read_text(encoding="utf-8").replace("hidden", "thank"), encoding="utf-8")
    build()
    assert places(index.search("thank")) == [*places(first), ("two.png", "l2")] and len(scans) == 3


def test_letters_outside_the_alphabet_are_reported(index):
    assert index.unknown("Bade") == "" and index.unknown("badé", strict=True) == "é"
    assert index.unknown("дом") == "дом" and not index.search("дом")
    assert index.search("thank OR дом")[0].to_json()["unknown"].endswith("дом")


def test_an_empty_index_has_nothing(recognizer, tmp_path):
    with open_builder(tmp_path / "b.sqlite", recognizer, segmentation_named("auto")):
        pass
    with open_index(tmp_path / "b.sqlite") as index:
        assert index.size == (0, 0) and index.search("the") == [] == index.search("the", whole_pages=True)
    with pytest.raises(DataError, match="closed"):
        index.search("the")
