"""`--doubts`, with a number and without."""

import json

import pytest

from drethtr.cli.doubts import USUAL, completed
from drethtr.documents.read import read_page
from drethtr.recognition.reading import DOUBTFUL


def test_the_number_may_be_left_out():
    assert USUAL == DOUBTFUL
    for given, meant in (
        (["--doubts"], ["--doubts=0.5"]),
        (["--doubts", "a.png"], ["--doubts=0.5", "a.png"]),
        (["--doubts", "-f", "txt"], ["--doubts=0.5", "-f", "txt"]),
        (["--doubts", "0.8", "a.png"], ["--doubts", "0.8", "a.png"]),
        (["--doubts=0.8"], ["--doubts=0.8"]),
        (["--doubts", "--", "0.8"], ["--doubts=0.5", "--", "0.8"]),
        (["--", "--doubts"], ["--", "--doubts"]),
    ):
        assert list(completed(given)) == meant


def test_one_limit_for_every_format(drethtr, lines, tiny_path, tmp_path):
    """At 1 no word is sure enough, at 0 every word is."""
    run = ("transcribe", lines / "two.png", "--model", tiny_path, "--format", "txt,page,alto,json", "--output")
    for limit, doubtful in (("1", True), ("0", False)):
        out = tmp_path / limit
        assert drethtr(*run, out, "--doubts", limit).code == 0
        assert ("?]" in (out / "two.txt").read_text(encoding="utf-8")) == doubtful
        for name in ("two.page.xml", "two.alto.xml", "two.json"):
            words = [word for line in read_page(out / name).lines for word in line.words]
            assert words and {word.doubtful for word in words} == {doubtful}
    refused = drethtr(*run, tmp_path / "0", "--doubts", "1")
    assert refused.code == 1 and "made with doubts 0.0, not 1.0" in refused.err


def test_the_limit_of_a_line_image(drethtr, lines, tiny_path):
    image = lines / "two.png"
    marked = drethtr("transcribe", image, "--model", tiny_path, "--doubts", "1").out.split()
    found = json.loads(drethtr("transcribe", image, "--model", tiny_path, "--format", "json", "--doubts", "1").out)
    assert marked == [f"[{word['text']}?]" for word in found["words"]]
    assert all(word["doubtful"] for word in found["words"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--doubts", "2"), "0<=x<=1"),
        (("--doubts", "--format", "tsv"), "cannot mark words in tsv"),
        (("--doubts", "--format", "pdf,hocr", "--output", "out"), "cannot mark words in pdf, hocr"),
    ],
)
def test_doubts_that_cannot_be_marked(drethtr, lines, tiny_path, arguments, message):
    outcome = drethtr("transcribe", lines / "two.png", "--model", tiny_path, *arguments)
    assert outcome.code == 2 and message in outcome.err
