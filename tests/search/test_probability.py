"""What hits that people have judged do to the probabilities of a collection."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import written
from PIL import Image

from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.recognition.confidence.logistic import log_odds, sigmoid
from drethtr.search.build import open_builder
from drethtr.search.index import open_index
from drethtr.search.probability import FEATURES, CandidateLines, features, shipped
from drethtr.search.records import CERTAIN, PageKey, Verdict

RANDOM = np.random.default_rng(0)


def test_features_by_hand():
    """Of three candidates among ten lines, the last of which a person wrote; sums above 1 count as 1."""
    lines = CandidateLines(
        np.array([254, 127, CERTAIN], np.uint8), np.array([40, 0, 90], np.uint16), np.zeros(256, np.int64)
    )
    lines.searched[[254, 127, CERTAIN]] = 3, 6, 1
    found = features(np.array([0.5, 0.25, 1.5]), 6, lines)
    sure, even = np.log(0.995 / 0.005), np.log(0.5 / 0.5)
    total, others = 0.5 + 0.25 + 1, np.array([1.25, 1.5, 0.75])
    chances = np.array([0.5, 0.25, 1 - 1e-4])
    expected = {
        "chance": np.log(chances / (1 - chances)),
        "letters": np.log(6),
        "steps": np.log([40, 1, 90]),
        "confidence": [sure, even, sure],
        "legibility": (3 * sure + 6 * even) / 9,
        "frequency": np.log((total + 0.5) / 11),
        "rivals": np.log(chances / (chances + others + 1e-3)),
        "lines": np.log(11),
        "surely": np.log1p(1),
        "likely": np.log1p(1),
        "perhaps": np.log1p(3),
        "hardly": np.log1p(3),
    }
    assert tuple(expected) == FEATURES
    columns = np.column_stack([np.broadcast_to(column, 3) for column in expected.values()])
    np.testing.assert_allclose(found, columns, rtol=1e-6)


@pytest.mark.parametrize("too_sure", [2.0, -1.5])
def test_judged_hits_calibrate_a_collection(too_sure):
    """Where the log-odds of hits are too high or too low by some number, 60 verdicts nearly find it."""
    said = RANDOM.uniform(0.1, 0.95, 60)
    right = RANDOM.random(60) < sigmoid(log_odds(said) - too_sure)
    verdicts = [
        Verdict("q", PageKey("a", 1), str(n), p, bool(y)) for n, (p, y) in enumerate(zip(said, right, strict=True))
    ]
    assert shipped().shifted(verdicts).shift == pytest.approx(-too_sure, abs=0.7)
    assert abs(shipped().shifted(verdicts[:3]).shift) < abs(too_sure), "few verdicts say little"


@pytest.mark.parametrize("said", [0.5, 0.95, 0.999])
def test_the_more_hits_are_wrong_the_lower_are_all(said):
    shifts = [
        shipped().shifted([Verdict("q", PageKey("a", 1), str(n), said, False) for n in range(wrong)]).shift
        for wrong in (0, 1, 3, 10, 100)
    ]
    assert shifts[0] == 0 and all(more < fewer - 0.5 for fewer, more in pairwise(shifts))


def test_a_certain_line_has_the_word_or_not_whatever_was_judged():
    lines = CandidateLines.of_all(np.array([CERTAIN, CERTAIN, 100], np.uint8), np.array([9, 9, 9], np.uint16))
    verdicts = [Verdict("q", PageKey("a", 1), str(n), 0.9, False) for n in range(50)]
    chances = np.array([1.0, 0.0, 0.5])
    before, after = shipped()(chances, 5, lines), shipped().shifted(verdicts)(chances, 5, lines)
    assert after[:2].tolist() == before[:2].tolist() == [1, 0] and 0 < after[2] < before[2]


@pytest.fixture
def doubtful(recognizer, tmp_path):
    """An index of lines that a tiny model cannot read, so that every hit is doubtful, and a query with many hits."""
    for number in range(6):
        Image.fromarray(written("abcdefgh" * 2 + "ij" * number)).save(tmp_path / f"{number}.png")
    with open_builder(tmp_path / "b.sqlite", recognizer, segmentation_named("whole")) as builder:
        for path in sorted(tmp_path.glob("*.png")):
            [original] = open_originals(path)
            builder.read(original)
    with open_index(tmp_path / "b.sqlite") as index:
        yield index, next(q for q in ("a?", "??a", "b*", "*c", "a*") if len(index.search(q)) > 3)


def by_place(hits):
    return {(hit.page, hit.line): hit.probability for hit in hits}


def test_rejected_hits_make_the_others_less_probable(doubtful):
    index, query = doubtful
    hits = index.search(query)
    before = by_place(hits)
    for hit in hits[2:]:
        index.judge(hit, stands=False)
    after = by_place(index.search(query))
    assert after.keys() == {(hit.page, hit.line) for hit in hits[:2]}
    assert all(chance < before[place] for place, chance in after.items())


def test_what_was_said_of_a_hit_before_all_verdicts_is_kept(doubtful):
    """Else verdicts on hits that earlier ones had moved would be taken for a sign that these were wrong."""
    index, query = doubtful
    first, *others = index.search(query)
    for hit in others:
        index.judge(hit, stands=False)
    [moved] = index.search(query)
    assert moved.probability < first.probability
    index.judge(moved, stands=True)
    [verdict] = [verdict for verdict in index.store.verdicts() if verdict.stands]
    assert verdict.probability == pytest.approx(first.probability, abs=1e-4)


def test_verdicts_do_not_change_what_was_said_of_several_words(doubtful):
    index, query = doubtful
    several = f"{query} -d*"
    before = {(hit.page, hit.line): hit.unjudged for hit in index.search(several)}
    for hit in index.search(query):
        index.judge(hit, stands=False)
    after = {(hit.page, hit.line): hit.unjudged for hit in index.search(several)}
    assert after and after == pytest.approx({place: before[place] for place in after})


def test_a_person_may_think_again(doubtful):
    """A rejected hit can be shown and confirmed; what was said of it before all verdicts stays the same."""
    index, query = doubtful
    hits = index.search(query)
    last = hits[-1]
    for hit in hits:
        index.judge(hit, stands=False)
    assert not index.search(query)
    rejected = index.search(query, least=0.5, rejected=True)
    assert len(rejected) == len(hits) and {hit.probability for hit in rejected} == {0.0}
    [again] = [hit for hit in rejected if (hit.page, hit.line) == (last.page, last.line)]
    index.judge(again, stands=True)
    [confirmed] = index.search(query, least=0.5)
    assert confirmed.probability == 1.0 and confirmed.page == last.page, "although the others have lowered it"
    index.judge(confirmed, stands=True)
    [kept] = [verdict.probability for verdict in index.store.verdicts() if verdict.stands]
    assert kept == pytest.approx(last.probability, abs=1e-4)
