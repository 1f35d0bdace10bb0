import json

import pytest

from drethtr.research.tables.paper import TABLES


def test_lists_every_row(drethtr):
    outcome = drethtr("reproduce")
    assert outcome.code == 0
    for table in TABLES.values():
        assert f"{table.name}: {table.title}" in outcome.out
        assert all(row.name in outcome.out for row in table.rows)


def test_runs_a_row_prints_it_beside_the_paper_and_reports(drethtr, tmp_path):
    where = ("--scale", "smoke", "--output", tmp_path / "out", "--workers", "0", "--device", "cpu")
    outcome = drethtr("reproduce", "gamma", "--row", "head-wise", "--report", tmp_path / "report.html", *where)
    assert outcome.code == 0, outcome.err
    [row] = [line for line in outcome.out.splitlines() if line.startswith("| head-wise")]
    assert "4.51" in row and "seed 0" in outcome.err
    result = json.loads((tmp_path / "out" / "smoke" / "gamma" / "head-wise.0.json").read_text())
    assert result["row"] == "head-wise" and len(result["outcome"]["lines"]) == 4
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_a_finished_row_is_finished_in_every_working_folder(drethtr, tmp_path, monkeypatch):
    (tmp_path / "else").mkdir()
    for place, output in ((tmp_path, "out"), (tmp_path / "else", "../out/")):
        monkeypatch.chdir(place)
        where = ("--scale", "smoke", "--output", output, "--workers", "0", "--device", "cpu")
        outcome = drethtr("reproduce", "gamma", "--row", "head-wise", "--report", "report.html", *where)
        assert outcome.code == 0, outcome.err
    assert "training" not in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gama"], "unknown table 'gama'; did you mean 'gamma'?"),
        (["gamma", "--row", "layerwise"], "did you mean 'layer-wise'?"),
        (["gamma", "--scale", "tiny"], "known: full, small, smoke"),
        (["gamma"], "no lines of iam to train on; give --data iam=STEM"),
        (["gamma", "--data", "iams=lines"], "has no data set 'iams'; it has iam, rimes, read2016, bentham"),
        (["gamma", "--fonts", "fonts"], "both --fonts FOLDER and --text FILE"),
        (["pretraining", "--data", "lines"], "give --fonts FOLDER --text FILE"),
        (["gamma", "--data", "nothing"], "nothing.train.parquet: matches no file"),
        (["--report", "report.html"], "contains no results yet"),
        (["gamma", "--scale", "smoke", "--output", "file"], "file is a file; give a folder to write to"),
        (["gamma", "--scale", "smoke", "--report", "gone/report.html"], "there is no folder gone"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_says_what_is_wrong(drethtr, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    outcome = drethtr("reproduce", *arguments, "--workers", "0", "--device", "cpu")
    assert outcome.code == 2 and message in outcome.err
    assert outcome.err.splitlines()[-1].startswith("drethtr: ")
