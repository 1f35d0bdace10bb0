"""`drethtr index` and `drethtr search` as they are typed."""

import csv
import json
import os
import re
from dataclasses import replace

import pytest
from archives import make_archive
from bulk_runs import write_shard
from edited_folders import put_page
from made_pages import TEXTS
from PIL import Image

from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import Review, Transcription


@pytest.fixture
def index(drethtr, tiny_path, tmp_path):
    """`drethtr index` of an archive with a small model."""
    archive = make_archive(tmp_path / "archive")
    options = ("--model", tiny_path, "--decoder", "ctc", "--output", tmp_path / "a.sqlite")
    return lambda *arguments: drethtr("index", archive, *options, *arguments)


@pytest.fixture
def search(drethtr, index, tmp_path):
    """`drethtr search` in it."""
    assert index().code == 0
    return lambda *arguments: drethtr("search", tmp_path / "a.sqlite", *arguments)


def test_an_index_is_made_and_kept_up(index, tmp_path):
    path = tmp_path / "a.sqlite"
    made = index()
    assert (made.code, made.out) == (0, f"{path}: 2 pages with 8 lines; 2 read now\n")
    assert made.err.count("outlines that are slivers or bands are redrawn") == made.err.count("\n") == 1
    assert index() == (0, f"{path}: 2 pages with 8 lines; 0 read now\n", "")
    assert index("--force").out == f"{path}: 2 pages with 8 lines; 2 read now\n"
    outcome = index("--lines", "given")
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and "built with lines 'auto', not 'given'" in outcome.err
    (tmp_path / "archive" / "one.png").write_bytes(b"no image")
    outcome = index()
    assert outcome.code == 1 and "one.png" in outcome.err and "1 could not be read" in outcome.out


def test_pages_on_a_drive_that_is_not_connected_are_counted(drethtr, index, tiny_path, tmp_path):
    index()
    (tmp_path / "archive").rename(tmp_path / "drive")
    options = ("--model", tiny_path, "--decoder", "ctc", "--output", tmp_path / "a.sqlite")
    outcome = drethtr("index", tmp_path / "drive" / "one.xml", *options)
    moved = "2 pages with 8 lines; 1 read now; 1 removed, because their scans are gone; 1 kept from folders that are"
    assert outcome.code == 0 and moved in outcome.out
    assert drethtr("index", tmp_path / "drive", *options, "--force").out.endswith("2 pages with 8 lines; 2 read now\n")


def test_no_index_is_made_of_nothing(drethtr, tmp_path):
    (tmp_path / "scans").mkdir()
    assert drethtr("index", tmp_path / "scans", "--output", tmp_path / "a.sqlite").code == 2
    assert not (tmp_path / "a.sqlite").exists()


@pytest.mark.parametrize(
    ("place", "message"), [("archive", "is a folder; give a file"), ("gone/a.sqlite", "no folder")]
)
def test_a_place_where_no_index_can_be_is_told_before_the_model_is_loaded(drethtr, tmp_path, place, message):
    archive = make_archive(tmp_path / "archive")
    outcome = drethtr("index", archive, "--model", "no-model", "--output", tmp_path / place)
    assert outcome.code == 2 and message in outcome.err and "no-model" not in outcome.err


def test_an_index_in_a_folder_that_is_not_writable_is_refused_at_once(drethtr, tmp_path, monkeypatch):
    archive = make_archive(tmp_path / "archive")
    monkeypatch.setattr(os, "access", lambda *_: False)
    outcome = drethtr("index", archive, "--model", "no-model", "--output", archive / "a.sqlite")
    assert outcome.code == 2 and f"{archive}: the folder is not writable; change the permissions" in outcome.err


def test_an_index_is_kept_elsewhere_too(index, tmp_path):
    outcome = index("--to", "parquet")
    assert outcome.out.endswith(f"2 read now\n{tmp_path / 'a.parquet'}: 8 lines\n") and outcome.code == 0
    outcome = index("--to", "mysql://here")
    assert outcome.code == 2 and "give parquet, or the URL of a database" in outcome.err


def test_an_index_of_the_results_of_a_batch(drethtr, tiny_path, tmp_path):
    shard = write_shard(tmp_path / "lines.parquet", range(3))
    options = ("--model", tiny_path, "--decoder", "ctc", "--workers", 1, "--posteriors")
    assert drethtr("batch", shard, "--output", tmp_path / "readings", *options).code == 0
    made = drethtr("index", tmp_path / "readings", "--output", tmp_path / "b.sqlite")
    assert made == (0, f"{tmp_path / 'b.sqlite'}: 3 lines; 3 added now\n", "")
    mixed = drethtr("index", tmp_path / "readings", shard, "--output", tmp_path / "b.sqlite")
    assert mixed.code == 2 and "give the results of one batch and nothing else" in mixed.err


def test_hits_for_people_and_programs(search, tmp_path):
    outcome = search("thank", "news")
    assert outcome.out == f"1.00  {tmp_path}/archive/one.png l3  and [thank] you for the news\n"
    assert outcome.err.endswith("1 line in an index of 8 lines; about 1 should be correct\n")
    [hit] = json.loads(search("received", "--json").out)
    assert list(hit)[:6] == ["page", "line", "text", "probability", "box", "snippet"]
    assert (hit["line"], hit["text"], hit["probability"]) == ("l1", TEXTS[0], 1.0)
    left, top, right, bottom = hit["box"]
    assert left < right and top < bottom
    [row] = csv.DictReader(search("received", "--csv").out.splitlines())
    assert [int(row[name]) for name in ("left", "top", "right", "bottom")] == hit["box"]
    assert json.loads(search("zebra", "--json").out) == [] and "in 8 lines" in search("zebra").err


def test_strict_searches_distinguish_case(search):
    assert search("THANK").out and search("thank", "--strict").out
    assert not search("THANK", "--strict").out


def test_a_letter_that_the_model_cannot_read_is_told(search):
    outcome = search("дом")
    assert outcome.code == 0 and outcome.err.startswith(
        "not in the model's alphabet, so only found in text written by a person: д, о, м\n"
    )
    assert not search("bad").err.startswith("not in")


def test_a_picture_has_a_strip_for_each_hit(search, tmp_path):
    assert search("the", "--image", tmp_path / "hits.png").code == 0
    with Image.open(tmp_path / "hits.png") as picture:
        colors = {color for _, color in picture.convert("RGB").getcolors(1 << 20)}
        assert picture.height > 6 * 60 and any(red > blue + 40 for red, _, blue in colors), "words are marked"
    again = search("the", "--image", tmp_path / "hits.png")
    assert again.code == 2 and "exists" in again.err


def test_a_query_that_names_nothing_ends_in_one_line(search):
    for query in ("", "?", "a" * 10_000, "'\";--", "-not"):
        outcome = search("--", query)
        assert outcome.code == 2 and not outcome.out and outcome.err.count("\n") == 1


def test_a_query_that_is_taken_otherwise_than_typed_is_told(search):
    outcome = search("-thank you")
    assert outcome.code == 2 and not outcome.out
    assert outcome.err == (
        "drethtr: no such option: -t; put two dashes before a query that begins with a minus: "
        "drethtr search INDEX -- '-thank you'\n"
    )
    assert "two dashes" not in search("news", "--strct").err
    outcome = search("news", '"thank you ')
    assert outcome.out.count("l3") == 1 and outcome.err.startswith(
        'a quotation mark is not closed; searched for the phrase "thank you"\n'
    )
    for closed in ('"thank you" news', 'news "', "“thank you“", 'news 3" nail'):
        assert "quotation" not in search(closed).err


def test_transcribe_adds_to_an_index(drethtr, tiny_path, tmp_path):
    make_archive(tmp_path / "archive")
    index = tmp_path / "out" / "b.sqlite"
    options = ("--model", tiny_path, "--decoder", "ctc", "--output", tmp_path / "out", "--index", index)
    assert drethtr("transcribe", tmp_path / "archive", *options).code == 0
    outcome = drethtr("search", index, "received")
    assert outcome.out.startswith("1.00") and "an index of 8 lines" in outcome.err
    lacks = "2 pages with results, but not in the index; drethtr index adds them"
    assert lacks not in drethtr("transcribe", tmp_path / "archive", *options).err
    assert lacks in drethtr("transcribe", tmp_path / "archive", *options[:-1], tmp_path / "new.sqlite").err


def test_a_page_that_transcribe_has_read_and_indexed_is_not_read_again(drethtr, tiny_path, tmp_path):
    make_archive(tmp_path / "scans")
    for name in "one", "two":
        (tmp_path / "scans" / f"{name}.xml").unlink()
    options = ("--model", tiny_path, "--decoder", "ctc", "--lines", "projection", "--output")
    index, page = tmp_path / "a.sqlite", tmp_path / "scans" / "one.page.xml"
    written = (*options, tmp_path / "scans", "--format", "page", "--index", index)
    assert drethtr("transcribe", tmp_path / "scans", *written).code == 0
    page.write_bytes(re.sub(rb">20\d\d-", b">2001-", page.read_bytes()))
    assert drethtr("index", tmp_path / "scans", *options, index).out.endswith("; 0 read now\n")
    page.write_bytes(page.read_bytes().replace(b'conf="0.', b'conf="0.0', 1))
    assert drethtr("index", tmp_path / "scans", *options, index).out.endswith("; 1 read now\n")


def test_transcribe_adds_lines_that_keep_the_text_of_a_person_to_an_index(drethtr, tiny_path, tmp_path):
    """They were left out, and the index counted as up to date."""
    path = put_page(tmp_path, "a")
    file = PageFile.parse(path.read_bytes(), "a")
    written = Transcription("Martin owes barley", review=Review.CORRECTED)
    path.write_bytes(file.with_line(replace(file.page.lines[1], transcription=written)).data)
    options = ("--model", tiny_path, "--decoder", "ctc", "--output")
    index = tmp_path / "a.sqlite"
    assert drethtr("transcribe", path, *options, tmp_path / "out", "--index", index).code == 0
    outcome = drethtr("search", index, '"martin owes barley"')
    assert outcome.out.startswith("1.00") and "an index of 4 lines" in outcome.err
    assert drethtr("index", path, *options, index).out.endswith("4 lines; 0 read now\n")
