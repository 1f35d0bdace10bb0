"""The commands of `drethtr bench`, each on a few lines and tiny networks."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from archives import build_index, make_archive
from conftest import TINY
from printed_pages import put_page

from drethtr.base.errors import ConfigError
from drethtr.bench import pages, training
from drethtr.bench.commands.choices import RaceOptions
from drethtr.layout.projection import Projection
from drethtr.paper.speed import peers
from drethtr.paper.speed.race import can_measure
from drethtr.recognition.model import architecture
from drethtr.recognition.recognizer import Recognizer
from drethtr.search import open_index
from drethtr.search.store import Store
from drethtr.training.feed.batch import BatchConfig

RACES = {
    "decoding": ("retention", "key-value cache", "published"),
    "length": ("retention", "key-value cache"),
    "strategies": ("ctc", "greedy"),
    "peers": ("COMPACT float32, ctc", "COMPACT float32, greedy", "TrOCR small", "TrOCR base"),
}


@pytest.fixture(autouse=True)
def small(monkeypatch, tiny_path):
    """A tiny network in the place of COMPACT, of the shipped model and of TrOCR, for speed."""
    monkeypatch.setitem(architecture.PRESETS, "compact", TINY)
    monkeypatch.setattr("drethtr.recognition.model.file.SHIPPED", tiny_path)
    monkeypatch.setattr(peers, "SHIPPED", tiny_path)
    narrow = partial(peers.trocr_small, 1, 1)
    for name in ("trocr_small", "trocr_base"):
        monkeypatch.setattr(peers, name, narrow)
    torch.manual_seed(0)


@pytest.mark.parametrize("command", RACES)
def test_shows_writes_and_draws(drethtr, tmp_path, lines, command):
    if command == "peers":
        pytest.importorskip("transformers")
    files = tmp_path / "figures.json", tmp_path / "figures.svg"
    real = [lines, "--decoders", "ctc,greedy", "--batches", "2"] if command in ("strategies", "peers") else []
    outcome = drethtr("bench", command, *real, "--quick", "--json", files[0], "--plot", files[1], "--device", "cpu")
    assert outcome.code == 0, outcome.err
    for race in json.loads(files[0].read_text())["races"]:
        measured = {one["name"]: one["figures"] for one in race["contenders"]}
        assert measured.keys() >= set(RACES[command]) and all(min(figures) > 0 for figures in measured.values())
        assert race["work"] in outcome.out and all(name in outcome.out for name in measured)
    assert files[1].read_text().startswith("<svg")


def test_training_is_measured(drethtr, tmp_path, monkeypatch):
    batches = BatchConfig(pixels=48 * 4000, lines=2, max_columns=2000, chunk=8)
    run = replace(training.default_run(), network=TINY, batches=batches, augmentation=(), bfloat16=False)
    monkeypatch.setattr(training, "default_run", lambda **_: run)
    options = ("--count", "2", "--workers", "0", "--device", "cpu", "--json", tmp_path / "speed.json")
    outcome = drethtr("bench", "training", *options)
    assert outcome.code == 0, outcome.err
    speed = json.loads((tmp_path / "speed.json").read_text())
    assert speed["lines"] >= 2 and f"{speed['lines_per_second']:.1f} lines/s" in outcome.out


def test_settings_change_the_default_run(drethtr, monkeypatch):
    measured = []

    def measure(run, **options):
        measured.append(run)
        return training.TrainingSpeed(2, 1.0, 0.0, 800.0, 0)

    monkeypatch.setattr(training, "measure", measure)
    assert drethtr("bench", "training", "--device", "cpu", "--set", "batches.lines=7").code == 0
    assert measured == [replace(training.default_run(), batches=replace(training.default_run().batches, lines=7))]
    outcome = drethtr("bench", "training", "--device", "cpu", "--set", "nonsense.field=1")
    assert outcome.code == 2 and "nonsense" in outcome.err


def test_the_host_is_measured_against_another_version(drethtr, tmp_path, lines):
    options = ("bench", "host", lines, "--decoders", "ctc", "--precision", "float32", "--rounds", "1")
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    outcome = drethtr(*options, "--json", first)
    assert outcome.code == 0 and outcome.out.startswith("ctc: ") and "first.json" not in outcome.out, outcome.err
    assert json.loads(first.read_text())["milliseconds"]["ctc"] > 0
    assert f" of {first}" in drethtr(*options, "--json", second, "--against", first).out
    second.write_text("{}")
    refused = drethtr(*options, "--against", second)
    assert refused.code == 2 and "second.json" in refused.err and "bench host --json" in refused.err


def test_pages_are_measured(drethtr, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "LARGE", 480_000)
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["abc def", "a cabbage"])
    options = ("--lines", "projection", "--device", "cpu", "--json", tmp_path / "pages.json")
    outcome = drethtr("bench", "pages", tmp_path / "a.xml", *options)
    assert outcome.code == 0, outcome.err
    found = json.loads((tmp_path / "pages.json").read_text())
    assert [page["name"] for page in found["pages"]] == [str(tmp_path / "a.xml")] and "of 2 marked lines" in outcome.out
    assert (found["peak_bytes"] or 0) > 1e8 or not can_measure(torch.device("cpu"))


def test_pages_are_measured_with_the_threads_and_on_the_device_that_are_asked_for(drethtr, tmp_path, monkeypatch):
    seen, measure_page = [], pages.measure_page

    def seeing(page, recognizer, finder):
        seen.append((recognizer.threads, finder.threads))
        return measure_page(page, recognizer, finder)

    monkeypatch.setattr(pages, "measure_page", seeing)
    monkeypatch.setattr(pages, "LARGE", 480_000)
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["abc def", "a cabbage"])
    assert drethtr("bench", "pages", tmp_path / "a.xml", "--device", "cpu", "--threads", "1").code == 0
    assert set(seen) == {(1, 1)}
    with pytest.raises(ConfigError, match="device"):
        pages.read_and_weigh(tmp_path / "a.png", Projection(), "tpu", None)


def test_drift_is_measured(drethtr, tmp_path, lines):
    arguments = ("bench", "drift", lines, "--decoder", "greedy", "--device", "cpu", "--json", tmp_path / "drift.json")
    outcome = drethtr(*arguments)
    assert outcome.code == 0 and "within the tolerance of 0.001" in outcome.out and not outcome.err
    drifts = json.loads((tmp_path / "drift.json").read_text())["drifts"]
    assert len(drifts) == 2 and 0 < max(drifts) < 1e-3
    coarse = json.loads(drethtr(*arguments, "--precision", "bfloat16") and (tmp_path / "drift.json").read_text())
    assert len(coarse["drifts"]) == 2


def test_too_much_drift_is_a_warning(drethtr, lines, monkeypatch):
    monkeypatch.setattr("drethtr.bench.quality.drift.TOLERANCE", -1.0)
    outcome = drethtr("bench", "drift", lines, "--decoder", "greedy", "--device", "cpu")
    assert outcome.code == 0 and "more than the tolerance of -1" in outcome.out and "warning" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["decoding", "--batches", "1,x"], "'1,x' is not a list of positive integers such as 1,8,32"),
        (["decoding", "--beams", "0"], "'0' is not a list of positive integers"),
        (
            ["memory", "--networks", "smal"],
            "unknown network 'smal'; did you mean 'small'?; known: compact, small, base",
        ),
        (["strategies", "nothing.parquet"], "nothing.parquet"),
        (["peers", "nothing.parquet", "--decoders", "bean"], "nothing.parquet"),
        (["decoding", "--json", "gone/a.json"], "there is no folder gone"),
        (["memory", "--plot", "gone/a.svg"], "there is no folder gone"),
        (["length", "--plot", "precious.txt"], "the file name must end in .svg; name it precious.svg"),
        (["peers", "nothing.parquet", "--peers", "rapid"], "unknown peer 'rapid'; did you mean 'rapidocr'?"),
        (["peers", "nothing.parquet", "--kraken-model", "gone.mlmodel"], "gone.mlmodel: no such file"),
        (["peers", "nothing.parquet", "--kraken-model", "precious.txt"], "pip install kraken"),
        (["strategies", "nothing.parquet", "--json", "gone/a.json"], "there is no folder gone"),
        (["peers", "nothing.parquet", "--json", "gone/a.json"], "there is no folder gone"),
        (["training", "--json", "gone/a.json"], "there is no folder gone"),
        (["pages", "nothing.xml", "--json", "gone/a.json"], "there is no folder gone"),
        (["drift", "nothing.parquet", "--json", "gone/a.json"], "there is no folder gone"),
        (["drift", "nothing.parquet", "--decoder", "bean"], "unknown decoder 'bean'; did you mean 'beam'?"),
        (["all", "nothing.parquet", "--output", "precious.txt"], "precious.txt is a file"),
        (["all", "nothing.parquet", "--output", "precious.txt/results"], "the folder cannot be created"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_says_what_is_wrong(drethtr, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "precious.txt").touch()
    outcome = drethtr("bench", *arguments)
    assert outcome.code == 2 and outcome.err.count("\n") == 1 and message in outcome.err


def test_help_names_every_benchmark(drethtr):
    outcome = drethtr("bench", "--help")
    assert all(name in outcome.out for name in (*RACES, "memory", "training", "pages", "drift", "all"))


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


def test_a_quick_check_keeps_what_it_is_given():
    tasks = RaceOptions(quick=True, device="cpu").tasks((None, "3", None), ("small", "8", "10"))
    assert [(task.name, task.batch, task.beams) for task in tasks] == [("compact", 3, 1), ("compact", 3, 2)]
