"""`drethtr bench search`: an index grows by its own pages, and is searched."""

import json

from archives import build_index, make_archive

from drethtr.recognition.recognizer import Recognizer
from drethtr.search import open_index
from drethtr.search.store import Store


def test_an_index_of_many_lines_is_searched(drethtr, tiny_path, tmp_path):
    recognizer = Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)
    index = tmp_path / "a.sqlite"
    build_index(make_archive(tmp_path / "archive"), recognizer, index)
    with open_index(index) as own:
        known = own.size
    outcome = drethtr("bench", "search", index, "received", "zebra", "--lines", 50, "--json", tmp_path / "a.json")
    assert outcome.code == 0 and "query in 56 lines" in outcome.out and "| received" in outcome.out
    figures = json.loads((tmp_path / "a.json").read_text())
    assert figures["lines"] == 56 and [figure["hits"] for figure in figures["figures"]] == [7, 0]
    with open_index(index) as own:
        assert own.size == known, "it stays as it was"
    with Store.write(tmp_path / "empty.sqlite", {}):
        pass
    assert "has no lines" in drethtr("bench", "search", tmp_path / "empty.sqlite", "a").err
