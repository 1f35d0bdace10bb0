import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from printed_pages import put_page
from real_data import LINES, needs_lines

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.hugging_face import HuggingFace
from drethtr.datasets.open import open_all, open_samples
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import check_apart
from drethtr.training.feed import Real, Streamed


def as_written_in(*texts):
    """A column of texts in some encoding or other."""
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))])


@pytest.fixture
def write_parquet(tmp_path):
    def write(columns, name="lines.parquet"):
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    return write


def test_parquet_with_all_columns(draw, write_parquet):
    path = write_parquet(
        {
            "image": [{"bytes": draw("a"), "path": "a.png"}, {"bytes": draw("b"), "path": None}],
            "text": ["e\u0301 ", ""],
            "set": ["letters", None],
            "lang": ["fr", None],
            "page": ["p1", None],
            "hand": ["h1", None],
            "clean": [False, None],
            "unknown": [1, 2],
        }
    )
    a, b = open_samples(path)
    assert (a.image, a.text, a.set, a.language, a.page, a.hand, a.clean) == (
        draw("a"), "é", "letters", "fr", "p1", "h1", False,
    )  # fmt: skip
    assert (b.text, b.set, b.language, b.page, b.hand, b.clean) == ("", "lines", None, None, None, True)
    assert a.key == f"{path} row 0"


def test_parquet_with_plain_bytes(draw, write_parquet):
    [sample] = open_samples(write_parquet({"image": [draw("a")], "text": ["a"]}))
    assert sample.image == draw("a") and sample.set == "lines"


def test_parquet_that_names_files(draw, write_parquet, tmp_path):
    (tmp_path / "a.png").write_bytes(draw("a"))
    image = pa.array([{"bytes": None, "path": "a.png"}], pa.struct({"bytes": pa.binary(), "path": pa.string()}))
    [sample] = open_samples(write_parquet({"image": image, "text": ["a"]}))
    assert sample.image == tmp_path / "a.png"


def test_numbers_name_sets_pages_and_hands(draw, write_parquet, tmp_path):
    numbers = {name: [1900, 0] for name in ("set", "lang", "page", "hand")}
    samples = open_samples(write_parquet({"image": [draw("a"), draw("b")], "text": ["a", "b"], **numbers}))
    store_parquet(samples, tmp_path / "again.parquet")
    for found in (samples, open_samples(tmp_path / "again.parquet")):
        assert [(s.set, s.language, s.page, s.hand) for s in found] == [("1900",) * 4, ("0",) * 4]


def test_integers_stay_integers_beside_missing_values(draw, write_parquet):
    pages = {"page": [12.0, float("nan"), 12.5]}
    samples = open_samples(write_parquet({"image": [draw(n) for n in "abc"], "text": list("abc"), **pages}))
    assert [sample.page for sample in samples] == ["12", None, "12.5"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"picture": [b""], "text": ["a"]}, "no column image or im; it has picture, text"),
        ({"image": [b""], "label": ["a"]}, "no column text; it has image, label"),
        ({"image": [b"", None], "text": ["a", "b"]}, "row 1: no image"),
        ({"image": [b""], "text": pa.array([None], pa.string())}, "row 0: text is None"),
        ({"image": [{"bytes": None, "path": "gone.png"}], "text": ["a"]}, "row 0: image .*gone.png does not exist"),
        ({"image": ["x" * 300], "text": ["a"]}, "row 0: image .*x cannot be read: File name too long"),
        ({"image": [b""], "text": [12]}, "row 0: text is 12, not a string"),
        ({"image": [b""], "text": as_written_in(b"caf\xe9")}, "lines.parquet: contains text that is not UTF-8"),
        ({"image": [b""], "text": ["a"], "clean": ["false"]}, "row 0: clean is 'false'; expected true, false, 1, 0"),
        ({"image": [b""], "text": ["a"], "clean": [2]}, "row 0: clean is 2; expected true, false, 1, 0"),
    ],
)
def test_parquet_that_cannot_be_used(write_parquet, columns, message):
    path = write_parquet(columns)
    with pytest.raises(DataError, match=message):
        open_samples(path)


@pytest.mark.parametrize("columns", [{"text": [12]}, {"text": as_written_in(b"caf\xe9")}, {"clean": ["false"]}])
def test_parquet_is_refused_alike_in_memory_and_streamed(write_parquet, columns):
    path = write_parquet({"image": [b""], "text": ["a"], **columns})
    errors = []
    for source in (Real(paths=(str(path),)), Streamed(paths=(str(path),))):
        with pytest.raises(DataError) as error:
            source.open()
        errors.append(str(error.value))
    assert errors[0] == errors[1]


def test_models_learn_texts_as_they_are_compared(draw, write_parquet):
    """Of wide spaces, which error rates ignore, models learned every one; `data import` keeps them."""
    path = write_parquet({"image": [draw("a")], "text": [" a  e\u0301\u00a0b\t"]})
    [(_, streamed)], [(_, real)] = (kind(paths=(str(path),)).open() for kind in (Streamed, Real))
    assert [*streamed.texts(), *real.texts(), streamed.sample(0, 0).text] == ["a é b"] * 3
    assert [entry.text for entry in HuggingFace().entries(path)] == [" a  e\u0301\u00a0b\t"]


@pytest.mark.parametrize("clean", [pa.array([0, 1, None], pa.int8()), pa.array([False, True, None]), [0.0, 1.0, None]])
def test_clean_is_a_yes_or_no_for_every_reader(draw, write_parquet, clean):
    path = write_parquet({"image": [draw(n) for n in "abc"], "text": list("abc"), "clean": clean})
    [(_, streamed)] = Streamed(paths=(str(path),)).open()
    assert [sample.clean for sample in open_samples(path)] == [False, True, True]
    assert [entry.clean for entry in HuggingFace().entries(path)] == [False, True, True]
    assert list(streamed.texts()) == ["b", "c"]


def test_columns_of_one_name_are_refused(draw, tmp_path):
    table = pa.Table.from_arrays([pa.array([draw("a")]), pa.array(["a"]), pa.array(["b"])], ["image", "text", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a.parquet: has several columns 'text'"):
        open_samples(tmp_path / "a.parquet")


def test_what_only_claims_to_be_parquet(tmp_path):
    (tmp_path / "a.parquet").write_text("text")
    with pytest.raises(DataError, match=r"a.parquet: cannot be read as Parquet"):
        open_samples(tmp_path / "a.parquet")


def test_folder_of_images_and_texts(draw, tmp_path):
    """Names with several dots: the text of `p.1.line.2.png` is not that of `p.1.line.3.png`."""
    texts = {"p.1.line.2": "two", "p.1.line.3": "three", "b": "e\u0301"}
    for name, text in texts.items():
        (tmp_path / f"{name}.png").write_bytes(draw(text))
        (tmp_path / f"{name}.gt.txt").write_text(text + "\r\n", encoding="utf-8")
    (tmp_path / "c.JPG").write_bytes(draw("c", "JPEG"))
    (tmp_path / "c.txt").write_text("c", encoding="utf-8-sig")
    (tmp_path / "readme.txt").write_text("about the lines")
    samples = open_samples(tmp_path)
    assert [(s.image.name, s.text) for s in samples] == [
        ("b.png", "é"), ("c.JPG", "c"), ("p.1.line.2.png", "two"), ("p.1.line.3.png", "three"),
    ]  # fmt: skip
    assert {s.set for s in samples} == {tmp_path.name}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the folder is empty"),
        ({"a.png": b"", "a.1.png": b"", "a.txt": b""}, r"a.1.png: no transcription; expected a.1.gt.txt or a.1.txt"),
        ({"a.png": b"", "a.gt.txt": b"", "b.gt.txt": b""}, "b.gt.txt: no image"),
        ({"a.png": b"", "a.jpg": b"", "a.txt": b""}, "a.txt: belongs to two images, a.jpg and a.png"),
        ({"a.png": b"", "a.txt": b"one\ntwo\n"}, "a.txt: has 2 lines"),
        ({"a.png": b"", "a.txt": b"\xe9"}, "a.txt: is not UTF-8"),
        (
            {"a.png": b"", "a.tsv": b"a.png\ta", "b.jsonl": b'{"file": "a.png", "text": "b"}'},
            r"b.jsonl line 1: a.png is in a.tsv, too; give one of them",
        ),
    ],
)
def test_folder_that_cannot_be_used(tmp_path, files, message):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_samples(tmp_path)


def test_of_several_defects_the_first_is_named_and_what_lists_them(tmp_path):
    for name in "abcd":
        (tmp_path / f"{name}.png").touch()
    (tmp_path / "d.txt").write_text("d")
    message = r"a\.png: no transcription; .*and 2 more; drethtr data check .* lists them"
    with pytest.raises(DataError, match=message):
        open_samples(tmp_path)


def test_scans_in_a_folder_of_their_own_are_no_lines(draw, tmp_path):
    (tmp_path / "a.png").write_bytes(draw("a"))
    (tmp_path / "a.txt").write_text("a")
    for folder in ("scans", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "letter.png").write_bytes(draw("letter"))
    (tmp_path / "more" / "b.png").write_bytes(draw("b"))
    assert [sample.text for sample in open_samples(tmp_path)] == ["a"]
    (tmp_path / "more" / "b.txt").write_text("b")
    with pytest.raises(DataError, match=r"more/letter\.png: no transcription"):
        open_samples(tmp_path)


def test_a_text_that_is_gone_is_named(tmp_path):
    (tmp_path / "a.png").touch()
    (tmp_path / "a.gt.txt").symlink_to(tmp_path / "gone.txt")
    with pytest.raises(DataError, match=r"a\.gt\.txt: cannot be read: No such file"):
        open_samples(tmp_path)


def test_hidden_files_are_no_lines(draw, tmp_path):
    (tmp_path / "a.png").write_bytes(draw("a"))
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "._a.png").write_bytes(b"Mac OS X")
    (tmp_path / ".drethtr.jsonl").write_text('{"result": "a.page.xml"}\n', encoding="utf-8")
    assert [sample.text for sample in open_samples(tmp_path)] == ["a"]


@pytest.mark.parametrize(
    ("header", "more"),
    [("", ""), ("file\ttext\n", ""), ("file\ttext\tconfidence\tflags\n", "\t0.9\t"), ("\nfile\ttext\tpage\n", "\t3")],
)
def test_tsv_beside_its_images(draw, tmp_path, header, more):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(draw("a"))
    (tmp_path / "b.png").write_bytes(draw("b"))
    (tmp_path / "gt.tsv").write_text(header + f'images/a.png\t"e\u0301 x{more}\n\nb.png\t{more}\r\n', encoding="utf-8")
    for path in (tmp_path, tmp_path / "gt.tsv"):
        a, b = open_samples(path)
        assert (a.image, a.text, a.set) == (tmp_path / "images" / "a.png", '"é x', "gt")
        assert (b.image, b.text) == (tmp_path / "b.png", "") and (a.id, b.id) == ("images/a.png", "b.png")


def test_results_of_single_images_are_one_set(draw, tmp_path):
    """`drethtr transcribe --format tsv --output` writes a table for each image, and each was a set of its own."""
    folder = tmp_path / "letters"
    folder.mkdir()
    for name in ("a", "b.c"):
        (folder / f"{name}.png").write_bytes(draw(name))
        (folder / f"{name}.tsv").write_text(f"file\ttext\n{name}.png\tabc\n")
    assert [line.set for line in open_all([str(folder)])] == ["letters", "letters"]
    assert [line.set for line in open_all([str(folder / "*.tsv")])] == ["letters", "letters"]


def test_jsonl_beside_its_images(draw, tmp_path):
    (tmp_path / "a.png").write_bytes(draw("a"))
    rows = [
        {"file": "a.png", "text": "x\u2028y"},
        {"file": "a.png", "text": "", "set": "letters", "lang": "de", "page": "1", "hand": "h", "clean": False, "n": 1},
        {"file": "a.png", "text": "", "set": 1900, "page": 3, "hand": 2.0},
    ]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "gt.jsonl").write_text(text, encoding="utf-8")
    a, b, c = open_samples(tmp_path)
    assert (a.text, a.set, a.language, a.clean) == ("x y", "gt", None, True)
    assert (b.text, b.set, b.language, b.page, b.hand, b.clean) == ("", "letters", "de", "1", "h", False)
    assert (c.set, c.page, c.hand) == ("1900", "3", "2")
    assert b.key == f"{tmp_path / 'gt.jsonl'} line 2"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gt.tsv", "a.png a", "line 1: no tab"),
        ("gt.tsv", "file\ttext\na.png\ta\t0.9", "line 2: 3 columns; expected"),
        ("gt.tsv", "a.png\ta\t0.9", "line 1: 3 columns; expected file<TAB>text, or a header row"),
        ("gt.tsv", "a.png\ta\ngone.png\tb", "line 2: image .*gone.png does not exist"),
        ("gt.jsonl", '{"file": "a.png", "text": "a"}\n\n{"file": ', "line 3: invalid JSON"),
        ("gt.jsonl", '["a.png", "a"]', "line 1: expected an object"),
        ("gt.jsonl", '{"name": "a.png"}', "line 1: no file and no text"),
        ("gt.jsonl", '{"file": "a.png", "text": 7}', "line 1: text is 7, expected str"),
        ("gt.jsonl", '{"file": "a.png", "text": "a", "page": true}', "line 1: page is True, expected str"),
        ("gt.jsonl", '{"file": "gone.png", "text": ""}', "line 1: image .*gone.png does not exist"),
        (
            "gt.jsonl",
            '{"file": "a.png", "text": "a\\ud800b"}',
            "text contains an unpaired surrogate",
        ),
        ("gt.jsonl", '{"file": "a.png", "text": ' + "[" * 100_000, "line 1: invalid JSON: .*recursion"),
        ("gt.jsonl", '{"file": "a.png", "text": ' + "1" * 5000 + "}", "line 1: invalid JSON: .*digits"),
        pytest.param("gt.tsv", "a" * 5000 + "\ta", "line 1: image .*aa does not exist", id="a long name"),
        ("gt.csv", "", "gt.csv: no known layout recognized"),
    ],
)
def test_table_that_cannot_be_used(tmp_path, name, content, message):
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        open_samples(tmp_path / name)


@pytest.fixture
def with_splits(draw, tmp_path):
    """A folder with a table for each split."""
    for split in ("train", "val"):
        (tmp_path / "set").mkdir(exist_ok=True)
        (tmp_path / "set" / f"{split}.png").write_bytes(draw(split))
        (tmp_path / "set" / f"{split}.tsv").write_text(f"{split}.png\t{split}\n")
    return tmp_path / "set"


def test_a_split_of_a_data_set_is_chosen_by_name(with_splits):
    assert [(s.text, s.split, s.set) for s in open_samples(f"{with_splits}#val")] == [("val", "val", "set")]
    both = open_all([f"{with_splits}#train", f"{with_splits}#val"])
    assert [sample.text for sample in both] == ["train", "val"]
    assert [sample.text for sample in open_all([f"{with_splits.parent}/*#train"])] == ["train"]
    with pytest.raises(DataError, match="set: has no split 'test', only train, val"):
        open_samples(f"{with_splits}#test")


def test_splits_are_never_mixed_without_a_word(with_splits):
    with pytest.raises(DataError, match=r"several splits; choose one: \S*set#train or \S*set#val"):
        open_samples(with_splits)


def test_a_path_may_end_like_a_split(draw, tmp_path):
    (tmp_path / "a.png").write_bytes(draw("a"))
    (tmp_path / "a#val").mkdir()
    (tmp_path / "a#val" / "gt.tsv").write_text("../a.png\ta\n")
    assert [sample.text for sample in open_samples(tmp_path / "a#val")] == ["a"]


PUBLISHED = {
    "kraken": {"train/a.png": "image", "train/a.gt.txt": "a", "test/b.png": "image", "test/b.gt.txt": "b"},
    "pylaia": {"syms.txt": "", "train.txt": "1 a", "test.txt": "2 b", "images/1.png": "image", "images/2.png": "image"},
    "bentham": {
        "Partitions/TrainLines.lst": "1",
        "Partitions/ValidationLines.lst": "",
        "Partitions/TestLines.lst": "2",
        "Images/Lines/1.png": "image",
        "Images/Lines/2.png": "image",
        "Transcriptions/1.txt": "a",
        "Transcriptions/2.txt": "b",
    },
}


@pytest.mark.parametrize("files", PUBLISHED.values(), ids=PUBLISHED)
def test_published_layouts_need_no_import(draw, tmp_path, files):
    for place, content in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(draw(place) if content == "image" else content.encode())
    [sample] = open_samples(f"{tmp_path}#test")
    assert sample.text == "b" and sample.line().size


def test_sets_of_the_hub_need_no_import(draw, tmp_path):
    for split in ("train", "test"):
        pq.write_table(pa.table({"im": [draw(split)], "text": [split]}), tmp_path / f"{split}-00000-of-00001.parquet")
    assert [sample.text for sample in open_samples(f"{tmp_path}#test")] == ["test"]


def test_missing_path(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such file or folder"):
        open_samples(tmp_path / "nowhere")


def test_patterns(draw, write_parquet, tmp_path):
    for name in ("b.train", "a.train", "a.test"):
        write_parquet({"image": [draw("a")], "text": [name]}, f"{name}.parquet")
    pattern = str(tmp_path / "*.train.parquet")
    assert [s.text for s in open_all([pattern, str(tmp_path / "a.test.parquet")])] == ["a.train", "b.train", "a.test"]
    with pytest.raises(DataError, match="matches no file or folder"):
        open_all([str(tmp_path / "*.val.parquet")])
    with pytest.raises(DataError, match=r"\*: \S+/a.train.parquet is already given"):
        open_all([pattern, str(tmp_path / "a.*")])
    with pytest.raises(DataError, match=r"there is \S+/a.train.parquet and \S+/a.test.parquet$"):
        open_all([str(tmp_path / "a.parquet")])
    write_parquet({"image": [draw("a")], "text": ["c"]}, "c.parquet")  # without splits
    with pytest.raises(DataError, match=r"there is \S+/c.parquet$"):
        open_all([str(tmp_path / "c.test.parquet")])
    with pytest.raises(DataError, match=r"splits are called train, val, test: \S+/a.test.parquet#train$"):
        open_all([str(tmp_path / "a.test.parquet#validation")])


def test_a_path_with_brackets_is_no_pattern(draw, write_parquet, tmp_path):
    (tmp_path / "Lines [2024]").mkdir()
    path = write_parquet({"image": [draw("a")], "text": ["a"]}, "Lines [2024]/a.parquet")
    assert [s.text for s in open_all([str(path)])] == ["a"]
    write_parquet({"image": [draw("b")], "text": ["b"]}, "b.parquet")
    assert [s.text for s in open_all([str(tmp_path / "[ab].parquet")])] == ["b"]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_pages_meet_where_files_name_no_set(draw, write_parquet, tmp_path, ending):
    splits = {}
    for split in ("train", "test"):
        (tmp_path / f"{split}.png").write_bytes(draw(split))
        path = tmp_path / f"mine.{split}.{ending}"
        if ending == "jsonl":
            path.write_text(json.dumps({"file": f"{split}.png", "text": split, "page": "1"}))
        else:
            write_parquet({"image": [draw(split)], "text": [split], "page": ["1"]}, path.name)
        splits[split] = open_samples(path)
    with pytest.raises(DataError, match="page '1' of 'mine' is in 'train'"):
        check_apart(splits)


@needs_lines
def test_real_lines():
    samples = open_samples(LINES / "tables20_fr.val.parquet")
    assert len(samples) > 10 and {s.set for s in samples} == {"tables20_fr"} and {s.language for s in samples} == {"fr"}
    assert samples[0].size() == samples[0].line().shape[::-1] and samples[0].size()[1] == 64


@pytest.fixture
def described(tmp_path):
    """A page with a text in two signs for one letter, and a line that nobody read or gave a place."""
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["e\u0301te\u0301", "zwei"])
    xml = (tmp_path / "a.xml").read_text(encoding="utf-8")
    (tmp_path / "a.xml").write_text(xml.replace("</TextRegion>", '<TextLine id="x"/></TextRegion>'), encoding="utf-8")
    return tmp_path


def test_lines_of_a_page_that_have_a_text(described):
    for path in (described, described / "a.xml"):
        assert [(s.text, s.page) for s in open_samples(path)] == [("été", "a"), ("zwei", "a")]


def test_pages_without_any_text_are_said_to_be(tmp_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["", ""])
    with pytest.raises(DataError, match="no line in its 1 PAGE or ALTO files has a text; transcribe them first"):
        open_samples(tmp_path)


def test_documents_of_an_export_are_sets_of_their_own(tmp_path):
    documents = {}
    for name in ("letters_anna", "diary_karl"):
        put_page(tmp_path / name / "0001.png", tmp_path / name / "page" / "0001.xml", [name])
        documents[name] = open_samples(tmp_path / name / "page")
    assert [(s.set, s.page) for [s] in documents.values()] == [("letters_anna", "0001"), ("diary_karl", "0001")]
    check_apart(documents)


def test_a_line_of_a_page_with_a_text_but_without_place_is_named(described):
    xml = (described / "a.xml").read_text(encoding="utf-8")
    text = '<TextLine id="x"><TextEquiv><Unicode>drei</Unicode></TextEquiv></TextLine>'
    (described / "a.xml").write_text(xml.replace('<TextLine id="x"/>', text), encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.xml line x: no position on the page"):
        open_samples(described)


@pytest.mark.parametrize("layout", ["kraken", "pages"])
def test_a_split_that_is_given_alone_is_of_its_collection(layout, draw, tmp_path):
    """Otherwise two collections would be one set `val`, and a page in two splits would be found in none."""
    for folder in ("a/train", "a/val", "b/val"):
        if layout == "pages":
            put_page(tmp_path / folder / "p.png", tmp_path / folder / "page" / "p.xml", [folder])
        else:
            (tmp_path / folder / "p").mkdir(parents=True)
            (tmp_path / folder / "p" / "1.png").write_bytes(draw(folder))
            (tmp_path / folder / "p" / "1.gt.txt").write_text(folder)
    together = [sample for name in ("a#train", "a#val", "b") for sample in open_samples(f"{tmp_path}/{name}")]
    apart = open_all([str(tmp_path / folder) for folder in ("a/train", "a/val", "b/val")])
    assert [(sample.set, sample.page) for sample in apart] == [(sample.set, sample.page) for sample in together]
    assert [sample.set for sample in apart] == ["a", "a", "b"]
    [train, val, other] = apart
    check_apart({"train": [train], "other": [other]})
    if layout == "kraken":  # where folders in a split are pages
        with pytest.raises(DataError, match=r"page 'p' of 'a' is in 'train' .* and in 'val'"):
            check_apart({"train": [train], "val": [val]})


@pytest.mark.parametrize("layout", ["kraken", "pages", "table", "parquet"])
def test_sets_of_one_name_in_two_places_are_two(layout, draw, write_parquet, tmp_path):
    """Two collections whose folders had equal names were one, with half of their pages, and leaked into each other."""
    sources = [tmp_path / box / "lines" for box in ("boxA", "boxB")]
    for folder in sources:
        (folder / "p").mkdir(parents=True)
        if layout == "pages":
            put_page(folder / "p.png", folder / "p.xml", [folder.parent.name])
        elif layout == "parquet":
            columns = {"im": [draw(folder.parent.name)], "text": ["a"], "page": ["p"], "writing_type": ["printed"]}
            write_parquet(columns, folder / "mine.parquet")
        else:
            (folder / "p" / "1.png").write_bytes(draw(folder.parent.name))
            (folder / "p" / "1.gt.txt").write_text("a", encoding="utf-8")
        if layout == "table":
            (folder / "mine.jsonl").write_text('{"file": "p/1.png", "text": "a", "page": "p"}', encoding="utf-8")
    if layout == "table":
        sources = [folder / "mine.jsonl" for folder in sources]
    name = {"table": "lines/mine", "parquet": "lines_printed"}.get(layout, "lines")
    apart = open_all([str(source) for source in sources])
    assert [(sample.set, sample.page) for sample in apart] == [(f"boxA/{name}", "p"), (f"boxB/{name}", "p")]
    alone = {source.parent.parent.name: open_samples(source) for source in sources}
    assert {sample.set for [sample] in alone.values()} == {name.rpartition("/")[2]}
    check_apart(alone)
