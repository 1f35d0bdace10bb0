"""Choosing between texts by both readers."""

from math import inf

import numpy as np
import pytest
from noise import network, noise_lines

from drethtr.paper.variants import RETHTR_SMALL, Fade, Gated, JointSoftmax, SplitSoftmax
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.recognition.decoding.joint import (
    Change,
    Doubt,
    Judgment,
    LineScores,
    LineSearch,
    ScoredText,
    changed,
    changes_at,
    ctc_scores,
    judge,
    rescore,
)
from drethtr.recognition.decoding.scorer import LanguageScorer, NetworkScorer, log_softmax
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.model.architecture import Retentive
from drethtr.recognition.protocol import TextTree
from drethtr.text.tokenizer import BOS, EOS


@pytest.fixture
def made():
    return network()


SYSTEMS = {
    "retention": {},
    "retention as described": {"mixer": Retentive(normalize=False)},
    "gated": {"mixer": Retentive(decay=Gated())},
    "two softmaxes": {"mixer": SplitSoftmax()},
    "two softmaxes, fading": {"mixer": SplitSoftmax(Fade())},
    "one softmax": {"mixer": JointSoftmax()},
    "one softmax, fading": {"mixer": JointSoftmax(Fade())},
    "encoder-decoder": {"architecture": RETHTR_SMALL.architecture},
    "no positions": {"text_positions": False},
}


@pytest.mark.parametrize("changes", SYSTEMS.values(), ids=SYSTEMS)
def test_texts_read_back_are_scored_as_if_written_step_by_step(changes):
    """Different numbers of texts per line, of different lengths, with and without a common beginning; the empty one."""
    made = network(**changes)
    memory = noise_lines(made, 4)
    texts = [[(4, 5), (), (4, 5, 6, 7), (4, 8, 6, 7), (6,) * 9], [(7, 8, 9)], [], [(4,), (5,), (6, 7, 6)]]
    for line, (found, expected) in enumerate(zip(rescore([NetworkScorer(made, memory)], texts), texts, strict=True)):
        assert [text.tokens for text, *_ in found] == expected
        scorer = NetworkScorer(made, memory).keep(np.array([line]))
        for text, *_ in found:
            state, last, gains = scorer.begin(), BOS, []
            for token in (*text.tokens, EOS):
                log_probabilities, state = scorer.step(np.array([last]), state)
                gains.append(float(log_probabilities[0, token]))
                last = token
            assert text.token_log_probabilities == pytest.approx(gains, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("changes", SYSTEMS.values(), ids=SYSTEMS)
def test_without_the_image_texts_are_scored_as_if_written_without(changes):
    made = network(**changes)
    scorer, language = NetworkScorer(made, noise_lines(made, 2)), LanguageScorer(made)
    texts = [[(4, 5), (4, 5, 6, 7)], [(7, 8, 9), ()]]
    [one, two], [three, four] = rescore([scorer], texts, language)
    for judgment in (one, two, three, four):
        [logits] = language.score_trees([TextTree.of([judgment.text.tokens])])
        expected = sum(float(logits[place, token]) for place, token in enumerate((*judgment.text.tokens, EOS)))
        assert judgment.language == pytest.approx(expected, rel=1e-4, abs=1e-3)
        assert judgment.language != pytest.approx(judgment.text.log_probability, abs=1e-2)
    assert [judgment.language for line in rescore([scorer], texts) for judgment in line] == [None] * 4


def test_what_texts_share_is_read_once(made):
    memory, read = noise_lines(made, 1), []
    made.text.embed.register_forward_hook(lambda _module, given, _out: read.append(given[0].shape))
    rescore([NetworkScorer(made, memory)], [[(4, 5, 6, 7), (4, 5, 6, 8), (4, 9, 6, 7)]])
    assert read == [(1, 1 + 4 + 1 + 3)]


def test_a_text_too_long_for_a_narrow_view_is_left_to_the_others():
    wide, narrow = (log_softmax(np.linspace(-1, 1, steps * 12).reshape(steps, 12)) for steps in (4, 2))
    texts = [(4, 5, 6), (4,), (4, 5, 6, 7, 8)]
    heads = [TextScores(rows.astype(np.float32)) for rows in (wide, narrow)]
    of_both = ctc_scores(heads, texts, texts[0])
    assert of_both[0] == pytest.approx(heads[0](texts[0]))
    assert of_both[1] == pytest.approx((heads[0](texts[1]) + heads[1](texts[1])) / 2)
    assert of_both[2] == -inf


def test_doubts_are_the_tokens_that_are_nearly_as_likely():
    """At most e^2 times less: of 4, 5 and the end; the decoder would rather begin with 6."""
    logits = np.full((3, 8), -10.0)
    for place, (token, others) in enumerate([(4, {6: 0.5}), (5, {7: -1.9, 4: -2.1}), (EOS, {4: -0.2})]):
        logits[place, [token, *others]] = [-1.0, *(lead - 1.0 for lead in others.values())]
    text, doubts, language = judge((4, 5), [0, 1, 2], logits, 2 * logits)
    assert language == pytest.approx(2 * text.log_probability)
    assert text.token_log_probabilities == (-1.0, -1.0, -1.0)
    assert tuple(doubts) == (Doubt(0, 6), Doubt(2, 4), Doubt(1, 7))


@pytest.mark.parametrize(
    ("doubt", "texts"),
    [
        (Doubt(0, 6), {(6, 4, 5), (6, 5)}),
        (Doubt(0, 5), {(5, 4, 5), (5, 5), (5,)}),
        (Doubt(2, 6), {(4, 5, 6)}),
        (Doubt(1, EOS), {(4,)}),
    ],
    ids=str,
)
def test_a_token_comes_instead_or_in_between_or_one_too_many_goes(doubt, texts):
    assert {changed((4, 5), [change]) for change in changes_at(doubt, (4, 5))} == texts


TEXT = (4, 5, 6, 7, 8)


def search_of(known: dict[tuple[int, ...], float], *doubts: Doubt, ctc: float = 0.0) -> LineSearch:
    """Texts with what the decoder says of them, which alone counts; the doubts are those about `TEXT` and `()`."""
    scored = {text: ScoredText(Hypothesis(text, gain, ()), ctc, doubts) for text, gain in known.items()}
    scores = LineScores([log_softmax(np.zeros((12, 12))).astype(np.float32)], known=scored)
    return LineSearch(scores, lambda text: text.decoder.log_probability)


def tried(gains: dict[Change, float]) -> LineSearch:
    """The same when changes of `TEXT` were read back."""
    made = search_of({TEXT: 0.0} | {changed(TEXT, [change]): gain for change, gain in gains.items()})
    made.base, made.tried = TEXT, tuple(gains)
    return made


def test_what_makes_a_text_better_in_several_places_is_put_together():
    """Two changes that touch are not both made; the one that brings more is."""
    made = tried({Change(0, 1, (9,)): 2.0, Change(1, 1, (9,)): 1.0, Change(4, 5, ()): 1.0, Change(3, 4, ()): -1.0})
    made.advance()
    assert list(made.scores.waiting) == [(9, 5, 6, 7)]


@pytest.mark.parametrize(
    ("together", "base", "settled"), [(4.0, (6, 7, 9), {Doubt(1, 11)}), (2.5, (6, 7, 8), {Doubt(1, 11), Doubt(3, 10)})]
)
def test_doubts_that_were_followed_move_with_what_stands_there(together, base, settled):
    """Those about what was changed are open again; what became of the text counts, not what was tried of it."""
    made = tried({Change(0, 2, ()): 3.0, Change(4, 5, (9,)): 2.0})
    made.settled = frozenset({Doubt(0, 10), Doubt(3, 11), Doubt(5, 10)})
    made.advance()
    [text] = made.scores.waiting
    made.scores.add_scores([Judgment(Hypothesis(text, together, ()), (Doubt(1, 11),))])
    made.advance()
    assert made.base == base and made.settled == settled and not made.scores.waiting


def test_the_empty_text_is_corrected_too():
    made = search_of({(): 0.0}, Doubt(0, 5), ctc=-100.0)
    made.advance()
    assert list(made.scores.waiting) == [(5,)]


def test_the_most_doubtful_places_come_first_and_others_later():
    made = search_of({TEXT: 0.0}, *(Doubt(place % 5, 9 + place // 5) for place in range(10)), ctc=-100.0)
    made.advance()
    assert {text for text in made.scores.waiting if 10 in text and 9 not in text} == {
        changed(TEXT, [change]) for place in range(3) for change in changes_at(Doubt(place, 10), TEXT)
    }
    assert len(made.settled) == 8


def test_later_doubts_are_followed_when_the_first_bring_nothing():
    doubts = tuple(Doubt(place % 5, 9 + place // 5) for place in range(10))
    made = search_of({TEXT: 0.0}, *doubts, ctc=-100.0)
    made.advance()
    made.scores.add_scores([Judgment(Hypothesis(text, -50.0, ()), ()) for text in made.scores.waiting])
    made.advance()
    assert made.base == TEXT and made.scores.waiting and made.settled == frozenset(doubts)
    made.scores.add_scores([Judgment(Hypothesis(text, -50.0, ()), ()) for text in made.scores.waiting])
    made.advance()
    assert not made.scores.waiting


def test_what_the_ctc_head_refuses_is_not_tried():
    """What it finds e^3 times less likely."""
    made = search_of({TEXT: 0.0}, Doubt(0, 9))
    score = made.scores.ctc[0](changed(TEXT, [Change(0, 1, (9,))]))
    for worse, waits in ((2.9, True), (3.1, False)):
        made = search_of({TEXT: 0.0}, Doubt(0, 9), ctc=score + worse)
        made.advance()
        assert (changed(TEXT, [Change(0, 1, (9,))]) in made.scores.waiting) == waits


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_what_weighs_nothing_does_not_matter(weight):
    """Not even where it holds a text for impossible."""
    sure, impossible = Hypothesis((4,), -2.0, (-1.5, -0.5)), Hypothesis((4,), -inf, (-inf, -0.5))
    text = ScoredText(sure, -inf) if weight == 0 else ScoredText(impossible, -2.0)
    assert text.quality(weight) == -2.0
