"""`drethtr check` and `drethtr align` with the shipped model, on the sample page and lines."""

import json
import re
import runpy
import shutil
from pathlib import Path

import pytest
from made_pages import HAND
from PIL import Image, ImageDraw, ImageFont

from drethtr.datasets.open import open_samples
from drethtr.documents.read import read_page

ROOT = Path(__file__).parents[2]
LETTER = [text for _, _, text in runpy.run_path(str(ROOT / "docs" / "make_page.py"))["LETTER"][:6]]
END = 690
"""The row below the last of these lines; reading the others would only take time."""
WHOLE = " ".join(LETTER)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The beginning of the sample letter."""
    path = tmp_path_factory.mktemp("page") / "letter.jpg"
    with Image.open(ROOT / "samples" / "page" / "letter.jpg") as whole:
        whole.crop((0, 0, whole.width, END)).save(path)
    return path


@pytest.fixture
def text(tmp_path):
    """The letter as running text, in a file."""
    path = tmp_path / "text.txt"
    path.write_text(WHOLE, encoding="utf-8")
    return path


@pytest.fixture
def samples(tmp_path):
    """The first sample lines with their texts."""
    folder = tmp_path / "lines"
    folder.mkdir()
    for number in (1, 3):
        for ending in (".png", ".gt.txt"):
            shutil.copy(ROOT / "samples" / f"00000{number}{ending}", folder)
    return folder


def test_a_letter_is_aligned_with_its_lines(drethtr, page, text, tmp_path):
    out, lines = tmp_path / "out", tmp_path / "lines.parquet"
    command = ("align", page, text, "--output", out, "--format", "page,alto,hocr,json", "--threads", "1")
    done = drethtr(*command, "--ground-truth", lines, "--correct", "0.9")
    assert done.code == 0 and f"aligned with {len(LETTER)} of {len(LETTER)} lines" in done.out
    read = read_page(out / "letter.page.xml")
    assert [line.text for line in read.lines] == LETTER
    assert all(word.polygon for line in read.lines for word in line.words)
    assert {path.name for path in out.iterdir()} == {
        f"letter.{end}" for end in ("page.xml", "alto.xml", "hocr", "json")
    }
    assert {sample.text for sample in open_samples(lines)} <= set(LETTER)
    assert drethtr(*command).code == 2


def test_lines_to_train_on_are_sure_enough_and_go_into_a_table(drethtr, page, text, tmp_path):
    command = ("align", page, text, "--correct", "1", "--threads", "1", "--decoder", "ctc", "--ground-truth")
    assert "lines.tsv: the file name must end in .parquet" in drethtr(*command, tmp_path / "lines.tsv").err
    said = f"0 of {len(LETTER)} lines, because none is certain enough; lower --correct"
    assert said in drethtr(*command, tmp_path / "lines.parquet").out


def test_what_is_left_over_on_either_side_is_named(drethtr, page, text, tmp_path):
    text.write_text(" ".join([*LETTER[:3], *LETTER[4:], "And something that an editor has added at the end of it."]))
    done = drethtr("align", page, text, "--output", tmp_path / "out", "--threads", "1")
    assert (
        done.code == 1 and "no text for letter.jpg r1l4" in done.out and "not on any line: 'And something" in done.out
    )


def test_a_text_with_the_line_breaks_of_the_page_is_placed_line_by_line(drethtr, page, text, tmp_path):
    rows, lines = [re.sub(r"[^\W\dea]", "x", line) for line in LETTER], tmp_path / "lines.parquet"
    text.write_text("\n".join(rows), encoding="utf-8")
    command = ("align", page, text, "--ground-truth", lines, "--correct", "0", "--threads", "1")
    assert "--line-breaks kept" in drethtr(*command).err and not lines.exists()
    assert drethtr(*command, "--line-breaks", "kept").code == 0
    assert [sample.text for sample in open_samples(lines)] == rows


def test_a_page_of_another_document_gets_no_text(drethtr, page, text, tmp_path):
    image = Image.new("L", (2400, 500), 235)
    for row, line in enumerate(
        ("Piotr Nikolaievitch, né le 4 août 1816 à Moscou", "et mort le 18 janvier, est un écrivain")
    ):
        ImageDraw.Draw(image).text((90, 90 + 180 * row), line, font=ImageFont.truetype(HAND, 80), fill=30)
    image.save(tmp_path / "other.png")
    note = "And something that an editor has added at the end of it, and again something else that is as long."
    text.write_text(f"{WHOLE} {note}", encoding="utf-8")
    done = drethtr("align", page, tmp_path / "other.png", text, "--output", tmp_path / "out", "--threads", "1")
    assert done.code == 1 and "no text for other.png (2 lines)" in done.out and done.out.count("not on any line: ") == 1
    assert {line.text for line in read_page(tmp_path / "out" / "other.page.xml").lines} == {""}
    assert [line.text for line in read_page(tmp_path / "out" / "letter.page.xml").lines] == LETTER


def test_a_text_of_another_page_does_not_stop_the_others(drethtr, page, tmp_path):
    pages = [Path(shutil.copy(page, tmp_path / f"{name}.jpg")) for name in ("a", "b")]
    texts = [one.with_suffix(".txt") for one in pages]
    texts[0].write_text("Ganz andere Worte, die niemand auf dieses Blatt geschrieben hat. " * 8, encoding="utf-8")
    texts[1].write_text(WHOLE, encoding="utf-8")
    done = drethtr("align", *pages, *texts, "--output", tmp_path / "out", "--threads", "1")
    assert done.code == 1 and "a.txt: this is not the text of" in done.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.page.xml"]
    assert f"aligned with {len(LETTER)} of {len(LETTER)} lines" in done.out


@pytest.mark.parametrize("command", [("align", "--output", "out"), ("check",)], ids=lambda words: words[0])
def test_a_scan_that_cannot_be_opened_does_not_stop_the_others(drethtr, page, text, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("empty.jpg").touch()
    done = drethtr(*command, page, "empty.jpg", text, "--threads", "1")
    assert done.code == 1 and done.err == "drethtr: empty.jpg: the file is empty; copy it again\n"
    assert f"{len(LETTER)} lines" in done.out
    alone = drethtr(*command, "empty.jpg", text, "--threads", "1")
    assert (alone.code, alone.err) == (2, done.err)


def test_a_false_word_of_a_letter_is_doubted(drethtr, page, text, tmp_path):
    words = WHOLE.split()
    text.write_text(" ".join([*words[:8], "Schornsteinfeger", *words[9:]]), encoding="utf-8")
    rows, report = tmp_path / "rows.json", tmp_path / "report.html"
    done = drethtr("check", page, text, "--json", rows, "--html", report, "--threads", "1")
    assert done.code == 1 and "Nothing here is verified" in done.out
    found = json.loads(rows.read_text(encoding="utf-8"))
    assert set(found[0]) == {"page", "line", "word", "probability", "kind", "instead", "box"}
    assert [row["word"] for row in found if row["kind"] != "omitted"] == text.read_text(encoding="utf-8").split()
    worst = min(found, key=lambda row: row["probability"])
    assert (worst["word"], worst["kind"]) == ("Schornsteinfeger", "unsupported")
    assert "Schornsteinfeger" in report.read_text(encoding="utf-8").split("<li>")[1]


def test_no_other_text_passes(drethtr, page, text):
    text.write_text("Привет, мир! " * 20, encoding="utf-8")
    done = drethtr("check", page, text, "--threads", "1")
    assert done.code == 2 and str(text) in done.err and not done.out


def test_a_preface_is_one_doubt_in_its_place(drethtr, page, text, tmp_path):
    text.write_text(f"A long preface of an editor, who says a good deal. {WHOLE}", encoding="utf-8")
    rows = tmp_path / "rows.json"
    done = drethtr("check", page, text, "--json", rows, "--threads", "1")
    assert done.code == 1 and done.out.count("not on any line") == 2 and "(11 words)" in done.out
    found = json.loads(rows.read_text(encoding="utf-8"))
    assert [row["word"] for row in found if row["kind"] != "omitted"] == text.read_text(encoding="utf-8").split()


def test_lines_of_a_table_are_numbered(drethtr, samples, tmp_path):
    rows = tmp_path / "rows.json"
    (samples / "000003.gt.txt").write_text("Müller stand spät auf und öffnete\n", encoding="utf-8")
    done = drethtr("check", samples, "--json", rows, "--threads", "1")
    found = json.loads(rows.read_text(encoding="utf-8"))
    assert done.code == 1 and {row["line"] for row in found} == {0, 1}
    assert [row["word"] for row in found if row["probability"] < 0.1] == ["spät"]


def test_supported_lines_end_well_and_a_high_bar_does_not(drethtr, samples):
    assert drethtr("check", samples, "--min", "0.3", "--threads", "1").code == 0
    assert drethtr("check", samples, "--min", "1", "--threads", "1").code == 1


def test_a_convention_is_no_error(drethtr, samples):
    (samples / "000003.gt.txt").write_text("MÜLLER stand früh auf, und öffnete\n", encoding="utf-8")
    assert "MÜLLER" in drethtr("check", samples, "--threads", "1").out
    assert "MÜLLER" not in drethtr("check", samples, "--allow", "spelling,punctuation", "--threads", "1").out
