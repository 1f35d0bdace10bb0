"""The benchmark of queries."""

from archives import build_index, make_archive

from drethtr.bench.searching import TIMES, measure
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.scan import scan_pages


def test_a_query_is_timed_as_if_it_were_new(tiny_path, tmp_path, monkeypatch):
    """A search keeps the last scans, and a scan of the index is what takes time."""
    recognizer = Recognizer.load(tiny_path, decoder="ctc", threads=1, posteriors=True)
    build_index(make_archive(tmp_path / "archive"), recognizer, tmp_path / "a.sqlite")
    scans = []
    monkeypatch.setattr("drethtr.search.scan.scan_pages", lambda *given: scans.append(1) or scan_pages(*given))
    lines, [one, two] = measure(tmp_path / "a.sqlite", ["the", "received"], 20, 1)
    assert lines == 24 and one.hits and two.hits and len(scans) == 2 * TIMES
