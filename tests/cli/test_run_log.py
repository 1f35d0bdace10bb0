"""What a run says at its end, after Ctrl-C, and to programs."""

import json
import sys

import pytest
from PIL import Image

from drethtr.cli.main import main
from drethtr.cli.run_log import duration
from drethtr.pages.plan import Claims
from drethtr.recognition.recognizer import Recognizer


@pytest.fixture
def said(monkeypatch, capsys, tiny_path):
    """The exit code of `drethtr transcribe`, and all that it says on stderr."""

    def run(*arguments):
        command = ["drethtr", "transcribe", *map(str, arguments), "--model", str(tiny_path)]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, capsys.readouterr().err

    return run


@pytest.fixture
def mixed(lines):
    """Two line images and a broken one."""
    (lines / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return lines


def test_the_end_says_what_was_read_and_what_failed_and_where_it_is(said, mixed, tmp_path):
    out = tmp_path / "out"
    code, err = said(mixed, "--output", out)
    *_, summary, doubts = err.splitlines()
    assert code == 1 and summary.startswith("2 files read in ") and "words doubtful" in doubts
    assert summary.endswith(f" s; 1 failed: {mixed / 'bad.png'}; results are in {out}")
    _, err = said(mixed, "--output", out)
    assert "2 of 3 files already have results; --force reads them again" in err
    assert "0 files read in " in err.splitlines()[-1] and "; 2 done before; 1 failed: " in err.splitlines()[-1]


def test_one_line_on_the_screen_has_no_summary(said, lines):
    code, err = said(lines / "one.png")
    assert code == 0 and "read in" not in err


def test_results_made_otherwise_are_kept(said, lines, tmp_path):
    said(lines, "--output", tmp_path / "out", "--decoder", "ctc")
    code, err = said(lines, "--output", tmp_path / "out", "--decoder", "greedy")
    assert code == 1 and "were made with decoder ctc, not greedy; they are kept; choose another --output" in err
    assert "; 2 kept: " in err


def test_results_made_otherwise_are_among_the_files(said, lines, tmp_path):
    said(lines / "one.png", "--output", tmp_path / "out", "--decoder", "ctc")
    run = (lines, "--output", tmp_path / "out", "--decoder", "greedy")
    said(*run)
    assert "1 of 2 files already have results; --force reads them again" in said(*run)[1]


def test_files_that_another_run_has_finished_meanwhile_are_not_among_those_read(said, lines, tmp_path, monkeypatch):
    acquire = Claims.acquire

    def after_another_run(claims, task):
        if task.path.name == "one.png":
            task.wanted[0].touch()
        return acquire(claims, task)

    monkeypatch.setattr(Claims, "acquire", after_another_run)
    _, err = said(lines, "--output", tmp_path / "out")
    assert "1 file read in " in err and "; 1 done by another run; " in err
    _, err = said(lines, "--output", tmp_path / "again", "--log", "json")
    finished = json.loads(err.splitlines()[-1])
    assert (finished["files"], finished["done_before"]) == (1, 1)


@pytest.mark.parametrize(("more", "words"), [((), "stopped\n"), (("--output", "out"), "run the same command")])
def test_ctrl_c_says_what_to_do(said, lines, tmp_path, monkeypatch, more, words):
    def stopped(*arguments, **choices):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Recognizer, "read_opened", stopped)
    code, err = said(lines, *more)
    assert code == 130 and words in err
    code, err = said(lines, *more, "--log", "json")
    assert code == 130 and json.loads(err.splitlines()[-1])["resumable"] == bool(more)


def test_json_lines_for_programs(said, mixed, tmp_path):
    out = tmp_path / "out"
    code, err = said(mixed, "--output", out, "--log", "json")
    events = [json.loads(row) for row in err.splitlines()]
    assert code == 1 and all(event["time"].endswith("+00:00") for event in events)
    told = [event["event"] for event in events if event["event"] != "note"]
    assert told == ["failed", "started", "line", "line", "finished"]
    failed, started, line, _, finished = (event for event in events if event["event"] != "note")
    assert failed["file"] == str(mixed / "bad.png") and failed["reason"]
    assert (started["lines"], started["files"], started["done_before"]) == (2, 2, 0)
    assert line["file"] == str(mixed / "one.png") and line["lines"] == 1 and line["words"] >= line["doubtful"]
    assert finished["failed"] == [failed["file"]] and finished["output"] == str(out) and finished["files"] == 2


def test_json_lines_of_pages(said, tmp_path):
    Image.new("L", (500, 600), 220).save(tmp_path / "blank.png")
    _, err = said(tmp_path / "blank.png", "--lines", "projection", "--log", "json")
    events = {row["event"]: row for row in map(json.loads, err.splitlines())}
    assert events["started"]["pages"] == 1 and events["page"]["page"] == 1 and events["page"]["lines"] == 0
    assert "no lines found" in events["note"]["message"]


def test_a_command_that_is_refused_says_so_in_json(said, lines):
    code, err = said(lines, "--format", "jsno", "--log", "json")
    assert code == 2 and "did you mean 'json'?" in json.loads(err)["reason"]
    code, err = said(lines, "--log", "xml")
    assert code == 2 and "known: text, json" in err


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (38.4, "38 s"), (448, "7 min 28 s"), (7500, "2 h 5 min")]
)
def test_durations(seconds, words):
    assert duration(seconds) == words
