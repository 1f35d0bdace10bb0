"""`drethtr bench check`, `fit-check`, `align` and `retrieval`."""

import json
from pathlib import Path

import pytest
from printed_pages import put_page

from drethtr.recognition.model.file import SHIPPED, load_model

ROOT = Path(__file__).parents[3]
TEXTS = ["abc def", "a cabbage"]


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    for name in ("one", "two"):
        put_page(folder / f"{name}.png", folder / f"{name}.xml", TEXTS)
    return folder


def test_errors_are_made_and_counted(drethtr, tmp_path):
    figures = tmp_path / "figures.json"
    done = drethtr("bench", "check", ROOT / "samples", "--json", figures, "--threads", "1")
    assert done.code == 0 and "held out" in done.out and "overlooked" in done.out
    [of_set, pool] = json.loads(figures.read_text(encoding="utf-8"))["sets"]
    assert (pool["name"], pool["lines"]) == ("held out", 6) and of_set["kinds"] == pool["kinds"]
    assert pool["kinds"]["inserted"]["auroc"] > 0.9


def test_a_set_without_others_to_fit_on_is_refused_before_it_is_read(drethtr, monkeypatch):
    """The fit in the model was made on lines of the same sets."""
    monkeypatch.setattr("drethtr.bench.quality.check.weigh_cases", lambda *given: pytest.fail("lines were read"))
    done = drethtr("bench", "check", ROOT / "samples", "--fit", ROOT / "samples")
    assert done.code == 2 and "--fit has lines of samples only" in done.err and "add lines of another set" in done.err


def test_a_model_learns_to_check_on_enough_lines(drethtr, tmp_path):
    fitted = tmp_path / "fitted.safetensors"
    outcome = drethtr("bench", "fit-check", SHIPPED, ROOT / "samples", "--output", fitted)
    assert outcome.code == 2 and "6 usable lines; the check needs at least 25" in outcome.err and not fitted.exists()
    for number in range(5):
        for sample in (ROOT / "samples").glob("0*.*"):
            (tmp_path / f"{number}{sample.name}").write_bytes(sample.read_bytes())
    outcome = drethtr("bench", "fit-check", SHIPPED, tmp_path, "--output", fitted)
    assert outcome.code == 0 and "drethtr check calibrated on 30 lines" in outcome.out
    before, after = load_model(SHIPPED).record, load_model(fitted).record
    assert after.support != before.support and after.calibrations == before.calibrations


@pytest.mark.parametrize("lines", [(), ("--lines", "projection")], ids=["marked", "found"])
def test_texts_are_aligned_with_pages(drethtr, pages, tiny_path, tmp_path, lines):
    outcome = drethtr("bench", "align", pages, *lines, "--model", tiny_path, "--json", tmp_path / "a.json")
    assert outcome.code == 0 and "exact %" in outcome.out and "decoder ctc, float32." in outcome.out
    [of_set, pool] = json.loads((tmp_path / "a.json").read_text())["sets"]
    assert (of_set["name"], pool["name"]) == ("pages", "held out")
    assert (of_set["pages"], of_set["lines"]) == (2, 4) and 0 <= of_set["exact"] <= 1


def test_pages_with_found_lines_are_not_drawn(drethtr, pages, tiny_path):
    outcome = drethtr("bench", "align", pages, "--lines", "projection", "--limit", 2, "--model", tiny_path)
    assert outcome.code == 2 and "--limit draws single lines" in outcome.err


def test_queries_are_drawn_from_the_models_language(drethtr, tiny_path, lines):
    outcome = drethtr("bench", "retrieval", lines, "--model", tiny_path, "--decoder", "ctc")
    assert outcome.code == 2 and "add one with drethtr model language" in outcome.err and outcome.err.count("\n") == 1
