import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import written
from edited_folders import LINES
from edited_folders import put_page as put_scan
from page_examples import document_of
from PIL import Image
from printed_pages import put_page
from rapidfuzz.distance import Levenshtein

from drethtr import Recognizer, transcribe_page
from drethtr.datasets.layouts.pages import BACKWARD
from drethtr.datasets.open import open_samples
from drethtr.documents import FORMATS, TextLine, Transcription
from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import Review

LETTER = Path(__file__).parents[3] / "samples" / "page" / "letter.jpg"


@pytest.fixture
def letters(tmp_path):
    """A kraken folder with splits, one JPEG, one broken and one empty line."""
    for split, name, text in (("train", "a.jpg", "abc"), ("train", "b.png", " "), ("test", "c.png", "cab")):
        folder = tmp_path / "letters" / split
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(written(text)).save(folder / name)
        (folder / name).with_suffix(".gt.txt").write_text(text, encoding="utf-8")
    (tmp_path / "letters" / "test" / "d.gt.txt").write_text("lost", encoding="utf-8")
    return tmp_path / "letters"


def test_splits_go_to_files_of_their_own_and_images_keep_their_bytes(drethtr, letters, tmp_path):
    outcome = drethtr("data", "import", letters, tmp_path / "out.parquet", "--lang", "en", "--json", tmp_path / "j")
    assert outcome.code == 0
    [line] = open_samples(tmp_path / "out.train.parquet")
    assert line.image == (letters / "train" / "a.jpg").read_bytes()
    assert (line.text, line.set, line.language) == ("abc", "letters", "en")
    assert [line.text for line in open_samples(tmp_path / "out.test.parquet")] == ["cab"]
    assert outcome.out.startswith("Layout kraken: line images beside .gt.txt")
    assert "out.train.parquet: 1 line" in outcome.out
    assert "\n1 left out, empty transcription:\n  " in outcome.out and "b.png" in outcome.out
    report = json.loads((tmp_path / "j").read_text(encoding="utf-8"))
    assert report["lines"] == {"train": 1, "test": 1}
    assert set(report["left_out"]) == {"empty transcription", "no image of that name beside it"}


def test_a_text_too_long_for_a_line_is_left_out(drethtr, lines, tmp_path):
    """It was stored, and no command read the file."""
    (lines / "two.gt.txt").write_text("a cabbage " * 2000, encoding="utf-8")
    outcome = drethtr("data", "import", lines, tmp_path / "out.parquet")
    assert outcome.code == 0 and "1 left out, more than 10,000 characters:" in outcome.out
    assert [line.text for line in open_samples(tmp_path / "out.parquet")] == ["abc def"]


def test_unconfirmed_lines_are_imported_if_asked_for(drethtr, tmp_path):
    file = PageFile.parse(put_scan(tmp_path / "scans", "a").read_bytes(), "a")
    line = file.line("l1")
    confirmed = replace(line, transcription=replace(line.transcription, review=Review.CONFIRMED))
    (tmp_path / "scans" / "a.page.xml").write_bytes(file.with_line(confirmed).data)
    for options, count in (((), 1), (("--unconfirmed", "--force"), LINES)):
        assert drethtr("data", "import", tmp_path / "scans", tmp_path / "out.parquet", *options).code == 0
        assert len(open_samples(tmp_path / "out.parquet")) == count


def test_a_new_import_leaves_nothing_of_the_one_it_replaces(drethtr, letters, tmp_path):
    """An old test file would hold lines that are in training now."""
    drethtr("data", "import", letters, tmp_path / "out.parquet")
    (letters / "test").rename(letters / "train" / "more")
    outcome = drethtr("data", "import", letters, tmp_path / "out.parquet", "--force")
    assert outcome.code == 0 and "out.test.parquet: removed" in outcome.out
    assert [path.name for path in tmp_path.glob("out.*")] == ["out.train.parquet"]


def test_what_is_imported_is_neither_replaced_nor_removed(drethtr, letters, tmp_path):
    drethtr("data", "import", letters, tmp_path / "out.parquet")
    content = (tmp_path / "out.test.parquet").read_bytes()
    outcome = drethtr("data", "import", tmp_path / "out.test.parquet", tmp_path / "out.parquet", "--force")
    assert outcome.code == 2 and "is never overwritten" in outcome.err
    assert (tmp_path / "out.test.parquet").read_bytes() == content


def test_lists_split_what_has_no_splits(drethtr, lines, tmp_path):
    (tmp_path / "train.txt").write_text("one\n")
    (tmp_path / "val.txt").write_text("two\n")
    outcome = drethtr("data", "import", lines, tmp_path / "x.parquet", "--splits", tmp_path, "--set-name", "mine")
    assert outcome.code == 0
    [line] = open_samples(tmp_path / "x.val.parquet")
    assert (line.text, line.set) == ("a cabbage", "mine")


def test_published_splits_are_named(drethtr, tmp_path, draw_iam):
    source = draw_iam()
    outcome = drethtr("data", "import", source, tmp_path / "iam.parquet", "--splits", source)
    assert "not a published split" in outcome.out and "punctuation is detached" in outcome.out


def test_a_form_without_writer_is_named(drethtr, tmp_path, draw_iam):
    source = draw_iam()
    (source / "ascii" / "forms.txt").write_text("#form writer\na01-000u 000\na01-003\n")
    outcome = drethtr("data", "import", source, tmp_path / "iam.parquet", "--splits", source)
    assert outcome.code == 2 and "forms.txt line 3: expected a form and its writer: 'a01-003'" in outcome.err


@pytest.fixture
def draw_iam(tmp_path):
    def draw():
        source = tmp_path / "iam"
        (source / "ascii").mkdir(parents=True)
        (source / "lines").mkdir()
        (source / "ascii" / "lines.txt").write_text("a01-000u-00 ok 1 1 1 1 1 1 A|b|.\n")
        (source / "train.uttlist").write_text("a01-000u\n")
        Image.fromarray(written("A b .")).save(source / "lines" / "a01-000u-00.png")
        return source

    return draw


def test_refusals(drethtr, letters, tmp_path):
    assert "must end in .parquet" in drethtr("data", "import", letters, tmp_path / "out").err
    (tmp_path / "out.val.parquet").touch()
    assert "exists" in drethtr("data", "import", letters, tmp_path / "out.parquet").err
    text = letters / "train" / "a.gt.txt"
    assert f"{text} is an input" in drethtr("data", "import", letters, tmp_path / "o.parquet", "--json", text).err
    assert (
        "did you mean 'kraken'" in drethtr("data", "import", letters, tmp_path / "o.parquet", "--layout", "krake").err
    )
    shards = tmp_path / "shards"
    place = shards / "lines.parquet"
    assert f"{place}: there is no folder {shards}" in drethtr("data", "import", letters, place).err
    shards.mkdir()
    assert drethtr("data", "import", letters, shards / "lines.parquet").code == 0
    before = sorted(shards.iterdir())
    inside = drethtr("data", "import", shards, shards / "out.parquet")
    assert inside.code == 2 and "write it elsewhere" in inside.err and sorted(shards.iterdir()) == before
    for options in (["--splits", tmp_path / "gone"], ["--splits", letters / "test" / "d.gt.txt"]):
        outcome = drethtr("data", "import", letters, tmp_path / "o.parquet", *options)
        assert outcome.code == 2 and "no such folder" in outcome.err
    gone = drethtr("data", "import", tmp_path / "gone", tmp_path / "o.parquet", "--layout", "kraken")
    assert gone.code == 2 and "no such file or folder" in gone.err
    (tmp_path / "empty").mkdir()
    outcome = drethtr("data", "import", tmp_path / "empty", tmp_path / "o.parquet", "--layout", "kraken")
    assert outcome.code == 2 and "no line could be imported" in outcome.err
    assert not list(tmp_path.glob("*o.parquet*"))


def test_a_folder_with_corrected_lines_of_which_none_is_confirmed_names_the_cure(drethtr, tmp_path):
    path = put_scan(tmp_path / "scans", "a")
    file = PageFile.parse(path.read_bytes(), "a")
    corrected = Transcription("corrected", review=Review.CORRECTED)
    path.write_bytes(file.with_line(replace(file.page.lines[0], transcription=corrected)).data)
    outcome = drethtr("data", "import", tmp_path / "scans", tmp_path / "o.parquet")
    assert outcome.code == 2 and "imported; confirm lines in drethtr edit, or add --unconfirmed\n" in outcome.err


def test_baselines_that_were_turned_around_are_counted_by_page(drethtr, tmp_path):
    texts = ["eins zwei drei", "vier sechs", "sieben acht"]
    for name, backward in (("a", (0, 2)), ("b", ())):
        file = tmp_path / "pages" / f"{name}.xml"
        put_page(file.with_suffix(".png"), file, texts)
        page = file.read_text(encoding="utf-8")
        for number in backward:
            y = 60 * number + 78
            page = page.replace(f'"35,{y} 385,{y}"', f'"385,{y} 35,{y}"')
        file.write_text(page, encoding="utf-8")
    report = tmp_path / "report.json"
    done = drethtr("data", "import", tmp_path / "pages", tmp_path / "o.parquet", "--json", report)
    assert done.code == 0 and "were turned around:\n  a: 2 lines\n" in done.out
    assert json.loads(report.read_text(encoding="utf-8"))["remarks"][BACKWARD.what] == {"a": 2}


def put_letter(folder, recognizer, upside_down):
    """The sample letter twice, in PAGE with its lines by their outlines; one page lies upside down below its lines."""
    page = transcribe_page(LETTER, recognizer)
    lines = {line.id: TextLine(line.id, line.polygon, None, Transcription(line.text)) for line in page.lines}
    page = replace(page, source=None).with_lines(lambda line: lines[line.id])
    folder.mkdir()
    with Image.open(LETTER) as image:
        for name in "ab":
            scan = image.rotate(180) if name == upside_down else image
            scan.save(folder / f"{name}.jpg")
            shown = replace(page.turned(3), orientation=1) if name == upside_down else page
            named = document_of(replace(shown, image=f"{name}.jpg"))
            (folder / f"{name}.xml").write_bytes(FORMATS["page"].write(named))


def test_lines_upside_down_are_turned_before_anything_learns_from_them(drethtr, tmp_path):
    recognizer = Recognizer.load(decoder="ctc", threads=1)
    put_letter(tmp_path / "pages", recognizer, upside_down="b")
    done = drethtr("data", "import", tmp_path / "pages", tmp_path / "o.parquet", "--set-name", "letters")
    assert done.code == 0 and "upside down were turned:\n  b: 14 lines\n" in done.out, done.out
    samples = open_samples(tmp_path / "o.parquet")
    for page in "ab":
        some = [sample for sample in samples if sample.page == page][:3]
        read = [reading.text for reading in recognizer.read_lines([recognizer.open_line(one.line()) for one in some])]
        errors = [Levenshtein.normalized_distance(*both) for both in zip(read, (one.text for one in some), strict=True)]
        assert max(errors) < 0.2, errors
    checked = drethtr("data", "check", tmp_path / "pages")
    assert "note: odd description, 14: lines that can only be read upside down were turned" in checked.out


def test_what_cannot_be_understood_is_told_and_its_line_goes_on(drethtr, tmp_path):
    put_page(tmp_path / "pages" / "a.png", tmp_path / "pages" / "a.xml", ["eins zwei drei", "vier sechs"])
    file = tmp_path / "pages" / "a.xml"
    file.write_text(file.read_text(encoding="utf-8").replace('"35,78 385,78"', '"35,78 12a"'), encoding="utf-8")
    done = drethtr("data", "import", tmp_path / "pages", tmp_path / "o.parquet")
    assert done.code == 0 and "o.parquet: 2 lines" in done.out
    assert "cannot be understood and were left out:\n  " in done.out
    assert "a.xml: line 'l0': '12a' is not a number" in done.out


def test_splits_by_names_are_told_and_can_be_refused(drethtr, letters, tmp_path):
    (letters / "train").rename(letters / "Training 1")
    done = drethtr("data", "import", letters, tmp_path / "o.parquet")
    assert f"o.train.parquet: 1 line\n  from {letters / 'Training 1'}: 1\n" in done.out
    done = drethtr("data", "import", letters, tmp_path / "p.parquet", "--splits", "none")
    assert done.code == 0 and f"{tmp_path / 'p.parquet'}: 2 lines" in done.out
    assert [path.name for path in tmp_path.glob("p.*")] == ["p.parquet"]


def test_images_elsewhere_and_outlines_as_given(drethtr, tmp_path):
    put_page(tmp_path / "scans" / "a.png", tmp_path / "pages" / "a.xml", ["eins zwei drei", "vier sechs", "sieben"])
    missing = drethtr("data", "import", tmp_path / "pages", tmp_path / "o.parquet", "--images", tmp_path / "gone")
    assert missing.code == 2 and "no such folder; give --images" in missing.err
    options = ("--images", tmp_path / "scans")
    done = drethtr("data", "import", tmp_path / "pages", tmp_path / "o.parquet", *options)
    assert done.code == 0 and "were redrawn; data import --outlines given keeps them:\n  a: 3 lines\n" in done.out
    done = drethtr("data", "import", tmp_path / "pages", tmp_path / "g.parquet", *options, "--outlines", "given")
    assert done.code == 0 and "redrawn" not in done.out
    heights = [open_samples(tmp_path / f"{name}.parquet")[0].line().shape[0] for name in "og"]
    assert heights[0] != heights[1]


def test_what_was_left_out_is_told_when_all_was(drethtr, tmp_path):
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "a.png").write_bytes(b"broken")
    (tmp_path / "lines" / "a.gt.txt").write_text("eins", encoding="utf-8")
    outcome = drethtr("data", "import", tmp_path / "lines", tmp_path / "o.parquet", "--json", tmp_path / "report.json")
    assert outcome.code == 2 and "no line could be imported" in outcome.err
    [keys] = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["left_out"].values()
    assert len(keys) == 1 and "a" in keys[0]
