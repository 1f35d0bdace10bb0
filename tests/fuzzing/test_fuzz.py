"""A short round of fuzzing, and all cases that once failed; `make fuzz MINUTES=60` goes on."""

from pathlib import Path

import pytest

from fuzzing.run import CORPUS, fuzz, try_case
from fuzzing.targets import targets

CASES = 20
NAMES = (
    *("adapter", "alto", "defaults", "docx", "iiif", "image", "index", "json", "jsonl", "languages", "markdown"),
    *("mets", "model", "page", "parquet", "pdf", "tei", "toml", "tsv", "zip"),
)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return targets(tmp_path_factory.mktemp("made once"))


def test_every_target_has_its_turn(known):
    assert sorted(known) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_nearly_right(name, known, tmp_path):
    tried, failing = fuzz(known[name], CASES, tmp_path, always_the_same=True)
    kept = tmp_path / f"failing{known[name].ending}"
    if failing is not None:
        kept.write_bytes(failing)
    assert tried >= CASES and failing is None, f"it fails with {kept}"


@pytest.mark.parametrize("case", sorted(CORPUS.iterdir()), ids=lambda case: case.name)
def test_a_case_that_failed_once(case: Path, known, tmp_path):
    try_case(known[case.name.partition("-")[0]], case.read_bytes(), tmp_path)
