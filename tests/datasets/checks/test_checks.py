from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.datasets.checks import check, open_splits
from drethtr.datasets.checks.finding import Severity
from drethtr.datasets.layouts.folder import store_folder
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample


def line(text, number, page=None, **known):
    """A line of its own image, as wide as its text."""
    image = np.full((16, 8 * max(len(text), 1) + number), 200, np.uint8)
    image[4:12, 4:-4:3] = 20
    return Sample(image, text, "set", page=page, key=f"row {number}", **known)


def found(splits, name):
    """The findings of one check: severity, message and the rows."""
    return [
        (finding.severity.value, finding.message, [row.key for row in finding.rows])
        for finding in check(splits).findings
        if finding.check == name
    ]


SOUND = {
    "train": [line(text, n, page="1") for n, text in enumerate(["eine Zeile", "noch eine", "ein Zoll"] * 3)],
    "val": [line(text, n + 50, page="2") for n, text in enumerate(["eine Zeile", "ein Zoll"])],
}


def test_sound_lines_have_no_errors_and_no_warnings():
    report = check(SOUND)
    assert report.sound and [finding for finding in report.findings if finding.severity is not Severity.NOTE] == []
    assert (report.sizes["train"].lines, report.sizes["val"].pages, report.sizes["val"].characters) == (9, 1, 18)


def test_images_and_pages_in_two_splits():
    first = SOUND["train"][0]
    splits = {**SOUND, "val": [*SOUND["val"], replace(first, key="again", page=None)]}
    [(severity, message, rows)] = found(splits, "the same image")
    assert severity == "error" and rows == ["row 0", "again"] and "2 in 'train' and 'val'" in message
    splits = {**SOUND, "test": [line("neu", 90, page="1")]}
    [(severity, message, rows)] = found(splits, "the same page")
    assert severity == "error" and rows[-1] == "row 90" and len(rows) == 10
    assert not check(splits).sound


def test_the_same_page_of_another_set_is_another_page():
    assert found({**SOUND, "test": [replace(line("neu", 90, page="1"), set="other")]}, "the same page") == []


def test_letters_that_are_written_from_right_to_left():
    splits = {**SOUND, "train": [*SOUND["train"], line("\u05e9\u05dc\u05d5\u05dd", 40), line("2 \u0633\u0644", 41)]}
    [(severity, message, rows)] = found(splits, "right to left")
    assert severity == "warning" and rows == ["row 40", "row 41"] and "\u05e9\u00d71" in message
    assert found(SOUND, "right to left") == []


def test_images_twice_in_a_split():
    first = SOUND["train"][0]
    equal, other = replace(first, text="eine  Zeile", key="a"), replace(first, text="zwei", key="b")
    splits = {"train": [*SOUND["train"], equal, other]}
    assert [(s, rows) for s, _, rows in found(splits, "duplicates")] == [("warning", ["a"])]
    assert [(s, rows) for s, _, rows in found(splits, "conflicting duplicates")] == [("error", ["b"])]


@pytest.mark.parametrize(
    ("text", "name", "severity"),
    [
        (" ", "empty text", "error"),
        ("a\nb", "damaged text", "error"),
        ("gr\ufffdn", "damaged text", "error"),
        ("\ue8bf et", "private characters", "warning"),
        ("Zoll " * 60, "over-long text", "warning"),
        ("Zоll", "mixed scripts", "warning"),  # a Cyrillic о
        ("u\u0308ber", "normal form", "note"),
    ],
)
def test_texts(text, name, severity):
    splits = {"train": [*SOUND["train"], line(text, 80)]}
    [(is_severity, _, rows)] = found(splits, name)
    assert (is_severity, rows) == (severity, ["row 80"])


def test_both_spellings_of_accents_are_mixed():
    splits = {"all": [line("u\u0308ber", 1), line("für", 2)]}
    assert [(s, rows) for s, _, rows in found(splits, "normal form")] == [("warning", ["row 1"])]


def test_two_scripts_on_a_line_are_no_mistake():
    assert found({"all": [line("das Wort λόγος", 1)]}, "mixed scripts") == []


def test_the_strange_letter_is_named():
    [(_, message, _)] = found({"all": [line("Zоll", 1)]}, "mixed scripts")
    assert "Zоll (Cyrillic о)" in message


def test_a_look_alike_in_a_common_word():
    splits = {"all": [*(line("of it", n) for n in range(10)), line("o\u017f it", 20), line("1t is 10", 30)]}
    [(_, message, rows)] = found(splits, "confused letters")
    assert rows == ["row 20"] and "oſ for of ×1" in message


def test_signs_that_only_another_split_has_are_worse():
    apart = {"train": [line("it's", 1), line("it\u2019s", 2)], "val": [line("it's", 3)]}
    assert [(s, rows) for s, _, rows in found(apart, "look-alike signs")] == [("note", ["row 2"])]
    strange = {"train": [line("it's", 1), line("don't", 2)], "val": [line("it\u2019s", 3)]}
    [(severity, message, _)] = found(strange, "look-alike signs")
    assert severity == "warning" and "not in training: ’ U+2019" in message


def test_characters_that_training_lacks_or_hardly_has():
    splits = {**SOUND, "val": [line("Éte", 1)], "train": [*SOUND["train"], line("Ïle", 2)]}
    [(severity, message, rows)] = found(splits, "unknown characters")
    assert severity == "warning" and "É×1" in message and rows == ["row 1"]
    assert [rows for _, _, rows in found(splits, "rare characters")] == [["row 2"]]


def test_lines_whose_length_does_not_fit():
    narrow, wide = line("Zeile", 1), line("ein", 2)
    narrow = replace(narrow, image=narrow.image[:, :8])
    wide = replace(wide, image=np.tile(wide.image, (1, 40)))
    splits = {"all": [*SOUND["train"], replace(narrow, key="n"), replace(wide, key="w")]}
    assert [rows for _, _, rows in found(splits, "crowded line")] == [["n"]]
    assert [rows for _, _, rows in found(splits, "roomy line")] == [["w"]]


def test_images_that_cannot_be_used():
    broken = Sample(b"\x89PNG", "a", key="broken")
    low, blank = Sample(np.full((5, 50), 9, np.uint8), "a", key="low"), Sample(np.full((20, 50), 9, np.uint8), "a")
    splits = {"all": [broken, low, replace(blank, key="blank")]}
    assert [(s, r) for s, _, r in found(splits, "unreadable image")] == [("error", ["broken"])]
    assert [r for _, _, r in found(splits, "low image")] == [["low"]]
    assert [r for _, _, r in found(splits, "blank image")] == [["blank"]]


def test_an_image_file_that_is_gone_is_unreadable(tmp_path):
    gone = Sample(tmp_path / "gone.png", "a", key="gone")
    assert [(s, r) for s, _, r in found({"all": [gone]}, "unreadable image")] == [("error", ["gone"])]


def test_a_file_of_two_patterns_is_refused(tmp_path):
    """All its lines would be duplicates."""
    store_parquet(SOUND["val"], tmp_path / "a.val.parquet")
    with pytest.raises(DataError, match=r"a\.val\.parquet: is already given"):
        open_splits([str(tmp_path / "*.parquet"), str(tmp_path / "a.val.parquet")])


def test_pages_of_two_sets_of_one_name(tmp_path):
    """They count as one, since nothing tells them apart."""
    first, second = SOUND["train"][0], line("noch eine", 90, page="1")
    store_parquet([first], tmp_path / "a.parquet")
    store_parquet([second], tmp_path / "b.parquet")
    _, [finding] = open_splits([str(tmp_path / "*.parquet")])
    assert (finding.severity, finding.check) == (Severity.WARNING, "shared names") and "--set-name" in finding.message
    assert [row.key for row in finding.rows] == [f"{tmp_path / name}.parquet row 0" for name in "ab"]


@pytest.mark.parametrize("names", [("a", "b"), ("a.train", "a.val"), ("train-0-of-2", "train-1-of-2")])
def test_pages_of_one_set_in_two_files(tmp_path, names):
    """Copies, splits and shards."""
    again = SOUND["train"][0] if names[0] == "a" else line("noch eine", 90, page="1")
    for name, sample in zip(names, (SOUND["train"][0], again), strict=True):
        store_parquet([sample], tmp_path / f"{name}.parquet")
    assert open_splits([str(tmp_path / "*.parquet")])[1] == []


def test_folders_of_one_name_are_two_sets(tmp_path):
    for box, samples in (("a", SOUND["train"][:1]), ("b", [line("noch eine", 90, page="1")])):
        store_folder(samples, tmp_path / box / "lines" / "1")
    splits, findings = open_splits([str(tmp_path / "*" / "lines")])
    assert findings == [] and check(splits).sizes["all"].pages == 2


def test_sentences_that_training_has_too():
    sentence = "Ich bestätige, dass ich gelesen habe"
    splits = {"train": [line(sentence, 1)], "val": [line(sentence, 2), line("kurz", 3)]}
    assert [(s, rows) for s, _, rows in found(splits, "shared texts")] == [("note", ["row 2"])]


def test_the_gravest_comes_first():
    splits = {"train": [*SOUND["train"], line("Ïle", 2), line("", 3), line("Zоll", 4)]}
    severities = [finding.severity for finding in check(splits).findings]
    assert severities == sorted(severities, key=list(Severity).index) and severities[0] is Severity.ERROR


def test_invisible_characters_are_a_warning():
    [(severity, message, rows)] = found(
        {"all": [line("a\u200bb", 1), line("c\u00ad", 2), line("d", 3)]}, "invisible characters"
    )
    assert (severity, rows) == ("warning", ["row 1", "row 2"]) and message.endswith("U+200B×1 U+00AD×1")


def test_characters_that_are_still_escaped_are_a_warning():
    lines = [line("A &amp; B", 1), line("&lt;C&gt; &#39;&#x2014;", 2), line("A & B; R&D; &c.", 3)]
    [(severity, message, rows)] = found({"all": lines}, "escaped characters")
    assert (severity, rows) == ("warning", ["row 1", "row 2"])
    assert message.endswith(": &amp; ×1, &lt; ×1, &gt; ×1, &#39; ×1, &#x2014; ×1")


def test_lines_with_editorial_marks_are_named():
    lines = [line("a [...] b", 1), line("c", 2, clean=False), line("d", 3)]
    [(severity, message, rows)] = found({"all": lines}, "editorial marks")
    assert (severity, rows) == ("note", ["row 1", "row 2"]) and message.endswith("editorial marks: [...] ×1")
    [(_, message, _)] = found({"all": lines[1:]}, "editorial marks")
    assert message == "lines that are not clean, left out of training and evaluation"


def test_cells_quoted_as_in_csv_are_a_warning():
    lines = [line('"a ""b"" c"', 1), line('"a"', 2), line('say "a"', 3)]
    assert [rows for _, _, rows in found({"all": lines}, "quoted cells")] == [["row 1"]]
