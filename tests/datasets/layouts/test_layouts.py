"""Small folders of exactly the published layouts: the licensed sets themselves cannot be had by a test."""

import html
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drethtr.base.errors import ConfigError, DataError
from drethtr.datasets.layouts import LAYOUTS, layout_for, layout_named
from drethtr.datasets.layouts.hugging_face import files_of
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import LeftOut, Sample, checked
from drethtr.text.normalize import nfc


@pytest.fixture
def put(tmp_path):
    """Write a file below the source, text or bytes."""

    def write(place, content):
        path = tmp_path / "source" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "source"

    return write


def found(source, layout=None):
    """What the recognized layout finds, in NFC: (split, text) of lines, and the reasons of what it leaves out."""
    recognized = layout_for(source)
    assert layout is None or recognized.name == layout
    entries = [checked(entry) for entry in recognized.entries(source)]
    lines = [entry for entry in entries if isinstance(entry, Sample)]
    return lines, [entry.reason for entry in entries if isinstance(entry, LeftOut)]


def texts(lines):
    return [(line.split, nfc(line.text)) for line in lines]


def ids(lines):
    return [line.id for line in lines]


LINES_TXT = """#--- lines.txt ---#
# format: a01-000u-00 ok 154 19 408 746 1663 91 A|MOVE|to|stop|Mr.|Gaitskell|from
a01-000u-00 ok 154 19 408 746 1663 91 A|MOVE|,|Mr.
a01-000u-01 err 156 19 395 932 1850 105 nominating|"
b04-010-00 ok 150 3 1 1 10 10 gone
LONG ok 150 3 1 1 10 10 longer than the name of a file may be
""".replace("LONG", "a" * 300)


@pytest.mark.parametrize("root", ["", "data/"])
def test_iam_as_in_lines_txt(put, draw, root):
    put(f"{root}ascii/lines.txt", LINES_TXT)
    put(f"{root}ascii/forms.txt", "# format\na01-000u 005 2 prt 7 5 52 36\n")
    put(f"{root}lines/a01/a01-000u/a01-000u-00.png", draw("A"))
    source = put(f"{root}lines/a01/a01-000u/a01-000u-01.png", draw("n"))
    lines, left_out = found(source, "iam")
    assert texts(lines) == [("", "A MOVE , Mr."), ("", 'nominating "')]
    assert (lines[0].page, lines[0].hand, lines[0].language) == ("a01-000u", "005", "en")
    assert ids(lines) == ["a01-000u-00", "a01-000u-01"]
    assert left_out == ["no image"] * 2


def test_iam_as_written(put, draw):
    form = """<?xml version="1.0" encoding="iso-8859-1"?><form id="a01-000u" writer-id="005"><handwritten-part>
      <line id="a01-000u-00" text="A &amp;quot;MOVE&amp;quot;, Mr."><word id="w" text="A"/></line>
      </handwritten-part></form>"""
    put("xml/a01-000u.xml", form)
    source = put("lines/a01-000u-00.png", draw("A"))
    lines, _ = found(source, "iam-xml")
    assert texts(lines) == [("", 'A "MOVE", Mr.')]
    assert (lines[0].page, lines[0].hand) == ("a01-000u", "005")


def rimes_xml(*letters):
    pages = []
    for name, lines in letters:
        rows = "".join(f'<Line Value="{html.escape(text)}" {box}/>' for text, box in lines)
        pages.append(f'<SinglePage FileName="images_gray/{name}.png"><Paragraph>{rows}</Paragraph></SinglePage>')
    return f"<DocumentList>{''.join(pages)}</DocumentList>"


BOX = 'Top="2" Bottom="12" Left="4" Right="23"'


def test_rimes_is_cut_from_its_letters(put, draw):
    letters = [(f"train2011-{number}", [(f"l\u2019e\u0301te\u0301 {number}", BOX)]) for number in range(15)]
    put("training_2011.xml", rimes_xml(*reversed(letters)))
    swapped, outside = 'Top="12" Bottom="2" Left="-3" Right="9"', 'Top="90" Bottom="99" Left="4" Right="23"'
    test = [("eval2011-0", [("droit", swapped), ("dehors", outside)]), ("eval2011-1", [("loin", BOX)])]
    source = put("eval_2011_annotated.xml", rimes_xml(*test))
    for name in (*(f"train2011-{number}" for number in range(15)), "eval2011-0"):
        put(f"images_gray/{name}.png", draw("letter"))
    lines, left_out = found(source, "rimes")
    assert texts(lines)[-2:] == [("val", "l’été 14"), ("test", "droit")]  # in the order of numbers: 14 after 9
    assert [line.split for line in lines].count("train") == 14
    assert lines[0].size() == (20, 11) and lines[-1].size() == (10, 11)
    assert lines[0].page == "train2011-0" and lines[0].language == "fr" and ids(lines)[-1] == "0"
    assert left_out == ["box outside the letter", "no image of the letter"]


def test_a_letter_that_cannot_be_cut_is_left_out(put, draw):
    letters = rimes_xml(("a", [("a", BOX)]), ("b", [("b", BOX)])).replace("</Doc", "<SinglePage/></Doc")
    put("training_2011.xml", "<DocumentList/>")
    put("images_gray/a.png", draw("letter")[:60])
    put("images_gray/b.png", draw("letter"))
    lines, left_out = found(put("eval_2011_annotated.xml", letters), "rimes")
    assert texts(lines) == [("test", "b")]
    assert left_out == ["image of the letter cannot be read", "no image of the letter"]


BOMB = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ('<?xml version="1.0" encoding="foo"?><a/>', "unknown encoding .*foo"),
        ('<?xml version="1.0" encoding="utf-7"?><a/>', "unknown encoding .*multi-byte"),
        ("<a>", "not well-formed XML"),
        (BOMB, "refused because it declares entities"),
        (None, "cannot be read: Is a directory"),
    ],
)
def test_annotations_that_cannot_be_used_are_named(put, xml, message):
    for place in ("training_2011.xml", "xml/a.xml", "lines/none"):
        source = put(place if xml else f"{place}/file", xml or "")
    put("eval_2011_annotated.xml", "<a/>")
    with pytest.raises(DataError, match=f"{source / 'training_2011.xml'}: {message}"):
        list(layout_named("rimes").entries(source))
    put("xml/b.xml", '<form id="b"><line id="b-00" text="B"/></form>')
    put("lines/b-00.png", "")
    damaged, line = layout_named("iam-xml").entries(source)  # the other forms can be used
    assert re.match(f"{source / 'xml/a.xml'}: {message}", damaged.described()) and line.text == "B"


def test_annotations_may_name_a_document_type(put, draw):
    form = '<!DOCTYPE form SYSTEM "form-metadata.dtd"><form id="a01-000u"><line id="a01-000u-00" text="A"/></form>'
    put("xml/a01-000u.xml", form)
    assert texts(found(put("lines/a01-000u-00.png", draw("A")))[0]) == [("", "A")]


def test_bentham_has_its_partitions(put, draw):
    root = "BenthamDatasetR0-GT"
    for split, names in {
        "Train": ["002_080_001_02_01", "gone"],
        "Validation": ["002_081_001_02_01"],
        "Test": [],
    }.items():
        put(f"{root}/Partitions/{split}Lines.lst", "".join(f"{name}\n" for name in names))
    for name, text in (("002_080_001_02_01", "law &amp; order"), ("002_081_001_02_01", "a <gap/> of")):
        put(f"{root}/Images/Lines/{name}.png", draw("a"))
        source = put(f"{root}/Transcriptions/{name}.txt", text + "\n")
    lines, left_out = found(source, "bentham")
    assert texts(lines) == [("train", "law & order"), ("val", "a <gap/> of")]
    assert [line.clean for line in lines] == [True, False] and lines[0].page == "002_080_001"
    assert ids(lines) == ["002_080_001_02_01", "002_081_001_02_01"]
    assert left_out == ["no image"]


def test_a_text_of_bentham_that_is_no_line_costs_only_itself(put, draw):
    """It ended the import of all others."""
    for split, name in (("Train", "a"), ("Validation", "b"), ("Test", "c")):
        put(f"Partitions/{split}Lines.lst", f"{name}\n")
        put(f"Images/Lines/{name}.png", draw(name))
    put("Transcriptions/a.txt", "two\nlines\n")
    put("Transcriptions/b.txt", b"caf\xe9\n")
    lines, left_out = found(put("Transcriptions/c.txt", "law\n"), "bentham")
    assert texts(lines) == [("test", "law")] and left_out == ["not one line of UTF-8 text"] * 2


def write_parquet(path, columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_teklia_sets(draw, tmp_path):
    for split in ("train", "validation", "test"):
        image = [{"bytes": draw(split, "JPEG"), "path": None}]
        write_parquet(tmp_path / f"IAM-line/data/{split}-00000-of-00001.parquet", {"image": image, "text": [split]})
    lines, _ = found(tmp_path / "IAM-line", "hugging-face")
    assert texts(lines) == [("test", "test"), ("train", "train"), ("val", "validation")]
    assert lines[1].image == draw("train", "JPEG") and lines[1].set == "IAM-line"


def test_what_drethtr_wrote_keeps_its_sets_and_doubts(draw, tmp_path):
    own = [Sample(draw("a"), "a", set="letters", clean=False, id="l1"), Sample(draw("b"), "b", set="diary")]
    store_parquet(own, tmp_path / "mine.train.parquet")
    lines, _ = found(tmp_path / "mine.train.parquet", "hugging-face")
    assert [(line.set, line.clean) for line in lines] == [("letters", False), ("diary", True)]
    assert ids(lines) == ["l1", None]


def test_catmus_modern(draw, tmp_path):
    columns = {
        "im": [{"bytes": draw("a"), "path": "a.png"}, {"bytes": draw("b"), "path": "b.png"}, None],
        "text": ["e\u0301", "b", "c"],
        "language": ["French", "Latin", None],
        "writing_type": ["handwritten", "printed", None],
        "shelfmark": ["Paris, AN, X1", "Paris, BnF, Y", None],
        "gen_split": ["train", "train", "train"],
    }
    write_parquet(tmp_path / "modern/data/dev/catmus.parquet", columns)
    lines, left_out = found(tmp_path / "modern", "hugging-face")
    assert texts(lines) == [("val", "é"), ("val", "b")]
    assert [line.set for line in lines] == ["modern_handwritten", "modern_printed"]
    assert (lines[0].language, lines[0].hand) == ("French", "Paris, AN, X1")
    assert left_out == ["unusable row"]


def test_classes_and_page_numbers_are_names(draw, tmp_path):
    columns = {"image": [draw("a")], "text": ["a"], "page": [0], "lang": [3], "hand": [7], "writing_type": [0]}
    write_parquet(tmp_path / "mine.train.parquet", columns)
    [line], _ = found(tmp_path / "mine.train.parquet", "hugging-face")
    assert (line.page, line.language, line.hand) == ("0", "3", "7")
    assert (line.split, line.set) == ("train", "mine_0")


@pytest.mark.parametrize(
    ("features", "set_"),
    [
        ('{"writing_type": {"names": ["printed", "typed"], "_type": "ClassLabel"}}', "mine_typed"),
        ('{"writing_type": {"names": ["printed"], "_type": "ClassLabel"}}', "mine_1"),
        ('{"page": {"names": ["a"]}}', "mine_1"),
        ('["writing_type"]', "mine_1"),
        ('{"writing_type": {"names": null}}', "mine_1"),
        ('{"writing_type": {"names": {"1": "typed"}}}', "mine_1"),
        (100_000 * "[", "mine_1"),
        ("no JSON", "mine_1"),
    ],
)
def test_classes_have_the_names_that_datasets_gives_them(draw, tmp_path, features, set_):
    table = pa.table({"image": [draw("a")], "text": ["a"], "writing_type": [1], "page": [-1]})
    said = f'{{"info": {{"features": {features}}}}}'
    pq.write_table(table.replace_schema_metadata({"huggingface": said}), tmp_path / "mine.train.parquet")
    [line], _ = found(tmp_path / "mine.train.parquet", "hugging-face")
    assert line.set == set_ and line.page == (None if '"page"' in features else "-1")  # -1: unlabeled


def test_texts_come_before_parquet_that_was_made_of_them(put, draw):
    put("a.png", draw("a"))
    source = put("a.gt.txt", "corrected")
    write_parquet(source / "lines.parquet", {"image": [draw("a")], "text": ["old"]})
    assert texts(found(source, "kraken")[0]) == [("", "corrected")]


def test_a_parquet_of_something_else(tmp_path):
    write_parquet(tmp_path / "a.parquet", {"label": ["a"], "text": ["b"]})
    with pytest.raises(DataError, match=r"a\.parquet: no column image or im; it has label, text"):
        found(tmp_path)


def test_kraken_folders(put, draw):
    put("train/p1/0001.gt.txt", "eins\n")
    put("train/p1/0001.png", draw("eins"))
    put("train/p1/0001.nrm.png", draw("binary"))
    put("valid/0002.jpg", draw("zwei", "JPEG"))
    put("valid/0002.gt.txt", "zwei")
    put("valid/0003.gt.txt", "drei")
    put("valid/0004.png", draw("vier"))
    source = put("valid/0005.gt.txt", "fünf\nsechs\n")
    put("valid/0005.png", draw("a"))
    lines, left_out = found(source, "kraken")
    assert texts(lines) == [("train", "eins"), ("val", "zwei")]
    assert lines[0].image == source / "train/p1/0001.png"
    assert [line.page for line in lines] == ["p1", None] and ids(lines) == ["0001", "0002"]
    assert sorted(left_out) == ["no image of that name beside it", "no transcription", "not one line of UTF-8 text"]


def test_endings_of_images_may_be_capitals(put, draw):
    for name in ("0001.PNG", "0002.nrm.png", "0002.Png", "0003.JPG"):
        source = put(name, draw("a"))
    for name in ("0001", "0002"):
        put(f"{name}.gt.txt", name)
    lines, left_out = found(source, "kraken")
    assert [line.image.name for line in lines] == ["0001.PNG", "0002.Png"]
    assert left_out == ["no transcription"]
    put("syms.txt", "")
    put("train.txt", "0001 a\n0003 b\n")
    assert texts(found(source, "pylaia")[0]) == [("train", "a"), ("train", "b")]


def test_pylaia_tables(put, draw):
    put("syms.txt", "<ctc> 0\n<space> 1\n")
    put("train.txt", "train/im01 f o r <space> d e t\ntrain/im02 a\n")
    put("train_ids.txt", "train/im01\n")
    put("train_text.txt", "train/im01 for det\n")
    put("val.txt", "val/im03.jpg æ <space>\n" + "x" * 300 + " a\n")
    put("images/train/im01.jpg", draw("for", "JPEG"))
    source = put("images/val/im03.jpg", draw("a", "JPEG"))
    lines, left_out = found(source, "pylaia")
    assert texts(lines) == [("train", "for det"), ("val", "æ ")] and ids(lines) == ["train/im01", "val/im03.jpg"]
    assert left_out == ["no image", "no image"]


def test_spaces_that_are_not_plain_are_tokens(put, draw):
    put("syms.txt", "")
    put("train.txt", "a «\t\u00a0 a \u202f  ! <space> \u3000 \r\n")
    source = put("a.png", draw("a"))
    assert texts(found(source, "pylaia")[0]) == [("train", "«\u00a0a\u202f! \u3000")]


def test_tables_of_files_and_texts(put, draw):
    put("image/a.png", draw("a"))
    source = put("img_transcription.txt", "a.png\tHerr ¬\nb.png\tweg\na.png\nc.png\t \n")
    put("image/c.png", draw("c"))
    lines, left_out = found(source, "table")
    assert texts(lines) == [("", "Herr ¬")] and ids(lines) == ["a.png"]
    assert left_out == ["no image", "not file<TAB>text", "empty transcription"]


def test_the_header_of_a_table_is_no_line(put, draw):
    put("a.png", draw("a"))
    source = put("lines.tsv", "file\ttext\r\na.png\ta\r\n")
    lines, left_out = found(source, "table")
    assert texts(lines) == [("", "a")] and left_out == []


def test_an_image_that_is_none_is_left_out(put):
    put("a.gt.txt", "text")
    source = put("a.png", b"no image")
    assert found(source) == ([], ["image cannot be read"])


def test_layouts_have_names_of_their_own():
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS)
    assert all(layout_named(layout.name) is layout for layout in LAYOUTS)
    with pytest.raises(ConfigError, match="did you mean 'rimes'"):
        layout_named("rime")


def test_a_zip_file_is_to_be_imported(tmp_path):
    """An export was answered with all layouts, none of which was the cure."""
    (tmp_path / "export.zip").touch()
    with pytest.raises(DataError, match=r"export\.zip: is a ZIP file; import it first"):
        layout_for(tmp_path / "export.zip")


def test_unknown_layouts_list_the_known_ones(tmp_path):
    (tmp_path / "a.doc").touch()
    with pytest.raises(DataError, match=r"no known layout recognized(.|\n)*bentham .* ICFHR-2014"):
        layout_for(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        layout_for(tmp_path / "gone")
    (tmp_path / "a.xml").write_bytes('<?xml version="1.0" encoding="UTF-8"?><PcGts>ä'.encode("latin-1"))
    with pytest.raises(
        DataError, match=r"says what is missing for one\n.*a\.xml: declared as utf-8 but encoded otherwise"
    ):
        layout_for(tmp_path)
    (tmp_path / "a.jpg").touch()
    with pytest.raises(DataError, match="is an image; give the folder of line images with their texts"):
        layout_for(tmp_path / "a.jpg")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_named_layout_needs_a_source_too(layout, tmp_path):
    assert layout_for(tmp_path, layout.name) is layout
    with pytest.raises(DataError, match="gone: no such file or folder"):
        layout_for(tmp_path / "gone", layout.name)
    (tmp_path / "a.doc").touch()
    if not isinstance(layout, Pages):  # a file may be a page, and one that is none is left out by name
        with pytest.raises(DataError, match=r"a\.doc: "):
            list(layout.entries(tmp_path / "a.doc"))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_what_a_layout_lacks_is_named(layout, tmp_path):
    assert not layout.recognizes(tmp_path)
    if layout.name != "kraken":  # every folder is a kraken folder, of no lines
        with pytest.raises(DataError, match=str(tmp_path)):
            list(layout.entries(tmp_path))


def test_hidden_files_and_folders_are_passed_over(put, draw):
    """macOS leaves `._` files on foreign disks, notebooks copies in folders of their own."""
    for place in ("p1/a", "p1/._a", ".ipynb_checkpoints/a"):
        put(f"{place}.png", draw("a"))
        source = put(f"{place}.gt.txt", "text of a line")
    lines, reasons = found(source, "kraken")
    assert len(lines) == 1 and not reasons
    source = put("hub/._train.parquet", b"no Parquet")
    assert not files_of(source)
