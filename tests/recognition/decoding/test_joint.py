"""Choosing between texts by both readers."""

from dataclasses import replace
from math import inf, nan
from statistics import fmean

import numpy as np
import pytest
import torch
from noise import VOCABULARY, find, network, noise_lines, noisy_weights

from drethtr.base.errors import ConfigError
from drethtr.language.languages import Languages
from drethtr.language.learn import learn
from drethtr.language.weighted import BONUS_PER_TOKEN, WeightedLanguages, WeightedNGrams
from drethtr.network.backend import TorchNetwork
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.architecture import RETHTR_SMALL, Fade, JointSoftmax, RescorerConfig, Retentive, SplitSoftmax
from drethtr.recognition.decay import Gated
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.recognition.decoding.ctc_search import ctc_log_likelihood, prefix_search
from drethtr.recognition.decoding.decoded import CTCScores
from drethtr.recognition.decoding.joint import (
    AT_ONCE,
    MARGIN,
    NEARLY,
    WORSE,
    Change,
    Doubt,
    Judgment,
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
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, Strategy, VerifiedDrafts
from drethtr.recognition.decoding.strategy import View
from drethtr.recognition.text_tree import TextTree
from drethtr.text.tokenizer import BOS, EOS, PAD, SPECIALS, Characters

STRATEGIES = [CTC(), Greedy(), VerifiedDrafts(), Beam(4), Joint()]


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


def head(memory, line):
    """What the CTC head says of texts of a line."""
    return TextScores(CTCScores.of(memory).lines[line], PAD)


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


def test_weights_left_open_are_those_of_the_model():
    best = Joint(ctc_weight=0.6, language_weight=0.2)
    assert Joint(stretches=(1, 2)).completed_by(best) == replace(best, stretches=(1, 2))
    assert Joint(ctc_weight=0.1).completed_by(best) == Joint(ctc_weight=0.1, language_weight=0.2)
    assert Joint().completed_by(None) == Joint().completed_by(CTC()) == Joint(ctc_weight=0.4, language_weight=0.0)
    assert Joint().weights == Joint().completed_by(None).weights and CTC().completed_by(best) == CTC(
        language_weight=0.2
    )
    assert CTC(language_weight=0.0).completed_by(best) == CTC(language_weight=0.0)


def test_language_is_weighed_on_top(made):
    memory = noise_lines(made, 3)
    joint = Joint(ctc_weight=0.3, language_weight=0.25)
    found = joint.propose(made, [View.of(memory)])
    for texts, decoded in zip(found, find(joint, made, memory), strict=True):
        for text in texts:
            without = Joint(ctc_weight=0.3).quality(text)
            assert joint.quality(text) == pytest.approx(without + 0.25 * text.language)
        assert decoded.tokens == max(texts, key=joint.quality).decoder.tokens


def test_ngrams_give_the_language_score(made):
    """They, not the decoder without the image; and they are heard when texts are proposed."""
    memory, tokenizer = (
        noise_lines(made, 3),
        Characters("".join(map(chr, range(97, 97 + made.dimensions.vocabulary - SPECIALS)))),
    )
    ngrams = learn([["abc", "cab", "bcaabc"]], [1.0], tokenizer, order=3, most=99)
    languages = Languages({"all": ngrams})
    joint = Joint(ctc_weight=0.3, language_weight=0.9)
    language_model, found = WeightedLanguages(languages, 0.9), joint.propose(made, [View.of(memory)], languages)
    for texts, decoded in zip(found, find(joint, made, memory, languages=languages), strict=True):
        for text in texts:
            assert text.language == pytest.approx(language_model.unweighted_score(text.decoder.tokens))
        assert decoded.tokens == max(texts, key=joint.quality).decoder.tokens
    alone = CTC(language_weight=0.9)
    for line, decoded in enumerate(find(alone, made, memory, 3, languages)):
        rows = CTCScores.of(memory).lines[line]
        best, *_ = prefix_search(rows, PAD, margin=MARGIN, language_model=WeightedNGrams(ngrams, 0.9))
        assert decoded.tokens == best.tokens and decoded.draft is not None
        own = head(memory, line)(best.tokens)
        assert decoded.alternatives[0].score == pytest.approx(own + language_model.score(best.tokens))
        assert decoded.tokens == find(alone, made, memory, languages=languages)[line].tokens
    silent = CTC(language_weight=0.0)
    assert find(silent, made, memory, languages=languages) == find(CTC(), made, memory)


@pytest.mark.parametrize("with_ngrams", [False, True])
def test_a_rescorer_scores_alone_or_beside_the_ngrams(with_ngrams):
    torch.manual_seed(1)
    rescorer = RescorerNetwork(RescorerConfig(layers=2, width=16, heads=2, hidden=32), VOCABULARY).eval()
    torch.nn.init.normal_(rescorer.to_logits.weight)
    made = TorchNetwork(noisy_weights(), rescorer=rescorer)
    languages = Languages()
    if with_ngrams:
        tokenizer = Characters("".join(map(chr, range(97, 97 + VOCABULARY - SPECIALS))))
        languages = Languages({"all": learn([["abc", "cab", "bcaabc"]], [1.0], tokenizer, order=3, most=99)})
    language_models, joint, memory = WeightedLanguages(languages, 0.9), Joint(language_weight=0.9), noise_lines(made, 2)
    for texts in joint.propose(made, [View.of(memory)], languages):
        for text in texts:
            tokens = text.decoder.tokens
            [scores] = LanguageScorer(made).score_trees([TextTree.of([tokens])])
            rescored = scores[range(len(tokens) + 1), [*tokens, EOS]].sum() + BONUS_PER_TOKEN * len(tokens)
            said = (rescored + language_models.unweighted_score(tokens)) / 2 if with_ngrams else rescored
            assert text.language == pytest.approx(said, rel=1e-4, abs=1e-4)


def test_what_texts_share_is_read_once(made):
    memory, read = noise_lines(made, 1), []
    made.text.embed.register_forward_hook(lambda _module, given, _out: read.append(given[0].shape))
    rescore([NetworkScorer(made, memory)], [[(4, 5, 6, 7), (4, 5, 6, 8), (4, 9, 6, 7)]])
    assert read == [(1, 1 + 4 + 1 + 3)]


def test_a_weight_of_one_is_what_the_ctc_head_likes_best(made):
    memory = noise_lines(made, 6)
    joint = Joint(ctc_weight=1.0)
    for texts, decoded in zip(joint.propose(made, [View.of(memory)]), find(joint, made, memory), strict=True):
        assert decoded.tokens == max(texts, key=lambda text: text.ctc).decoder.tokens


def test_a_weight_of_zero_is_what_the_decoder_likes_best(made):
    memory = noise_lines(made, 6)
    joint = Joint(ctc_weight=0.0)
    for texts, decoded in zip(joint.propose(made, [View.of(memory)]), find(joint, made, memory), strict=True):
        assert decoded.tokens == max(texts, key=lambda text: text.decoder.log_probability).decoder.tokens


def test_both_scores_are_weighed(made):
    memory = noise_lines(made, 3)
    scores, joint = CTCScores.of(memory), Joint(ctc_weight=0.3)
    for line, texts in enumerate(joint.propose(made, [View.of(memory)])):
        assert len({text.decoder.tokens for text in texts}) == len(texts)
        for text in texts:
            tokens = text.decoder.tokens
            ctc = ctc_log_likelihood(scores.lines[line], tokens, PAD)
            expected = 0.3 * ctc + 0.7 * text.decoder.log_probability
            assert joint.quality(text) == pytest.approx(expected, abs=1e-4)


def test_what_is_seen_twice_is_read_as_once(made):
    memory = noise_lines(made, 6)
    once, twice = find(Joint(), made, memory, 3), Joint(stretches=(1, 1)).find(made, [View.of(memory)] * 2, 3)
    assert [line._replace(alternatives=()) for line in twice] == [line._replace(alternatives=()) for line in once]
    for line, other in zip(once, twice, strict=True):
        assert [text.tokens for text in line.alternatives] == [text.tokens for text in other.alternatives]


def test_scores_are_means_over_views_and_each_of_them_proposes_texts(made):
    views = [noise_lines(made, 4), noise_lines(made, 4, seed=1)]
    joint = Joint(candidates=2, corrections=0)
    alone = [joint.propose(made, [View.of(memory)]) for memory in views]
    for line, texts in enumerate(replace(joint, stretches=(1.0, 1.2)).propose(made, list(map(View.of, views)))):
        tokens = [text.decoder.tokens for text in texts]
        assert set(tokens) == {text.decoder.tokens for of_view in alone for text in of_view[line]}
        backs = [rescore([NetworkScorer(made, made.keep(memory, [line]))], [tokens])[0] for memory in views]
        for number, text in enumerate(texts):
            both = [of_view[number].text.log_probability for of_view in backs]
            assert text.decoder.log_probability == pytest.approx(sum(both) / 2, abs=1e-3)
            ctc = [head(memory, line)(text.decoder.tokens) for memory in views]
            assert text.ctc == pytest.approx(fmean(score for score in ctc if score > -inf), abs=1e-3)


def test_a_text_too_long_for_a_narrow_view_is_left_to_the_others():
    wide, narrow = (log_softmax(np.linspace(-1, 1, steps * 12).reshape(steps, 12)) for steps in (4, 2))
    texts = [(4, 5, 6), (4,), (4, 5, 6, 7, 8)]
    heads = [TextScores(rows.astype(np.float32), PAD) for rows in (wide, narrow)]
    of_both = ctc_scores(heads, texts, texts[0])
    assert of_both[0] == pytest.approx(heads[0](texts[0]))
    assert of_both[1] == pytest.approx((heads[0](texts[1]) + heads[1](texts[1])) / 2)
    assert of_both[2] == -inf


def test_a_line_must_be_shown_at_every_width(made):
    with pytest.raises(ValueError, match="3 widths, not 1"):
        find(Joint(stretches=(1.0, 0.8, 1.2)), made, noise_lines(made, 1))


def test_confidences_of_other_widths_mean_something_else():
    assert Joint().is_like(Joint(candidates=8)) and not Joint().is_like(Joint(stretches=(1.0, 0.8)))
    assert Joint(stretches=[1.0, 0.8]).is_like(Joint(stretches=(1.0, 0.8)))
    assert Beam(3).is_like(Beam(5)) and not Beam().is_like(Greedy())


def test_corrections_find_better_texts_and_no_worse_ones(made):
    memory = noise_lines(made, 12)
    best = [
        [max(map(joint.quality, texts)) for texts in joint.propose(made, [View.of(memory)])]
        for joint in (Joint(corrections=0), Joint(corrections=1), Joint(corrections=5))
    ]
    assert all(before <= after <= late for before, after, late in zip(*best, strict=True))
    assert best[0] < best[1] < best[2], "of some line, each time"


def test_a_line_is_corrected_alike_alone_and_among_others(made):
    memory = noise_lines(made, 6)
    together = find(Joint(), made, memory)
    for line in range(6):
        alone = made.keep(memory, [line])
        assert find(Joint(), made, alone)[0].tokens == together[line].tokens


def test_doubts_are_the_tokens_that_are_nearly_as_likely():
    """Of 4, 5 and the end; the decoder would rather begin with 6."""
    logits = np.full((3, 8), -10.0)
    for place, (token, others) in enumerate([(4, {6: 0.5}), (5, {7: -NEARLY / 2, 4: -NEARLY - 0.1}), (EOS, {4: -0.2})]):
        logits[place, [token, *others]] = [-1.0, *(lead - 1.0 for lead in others.values())]
    text, doubts, language = judge((4, 5), logits, 2 * logits)
    assert language == pytest.approx(2 * text.log_probability)
    assert text.token_log_probabilities == (-1.0, -1.0, -1.0)
    assert doubts == (Doubt(0, 6), Doubt(2, 4), Doubt(1, 7))


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
    return LineSearch(
        [log_softmax(np.zeros((12, 12))).astype(np.float32)], lambda text: text.decoder.log_probability, known=scored
    )


def tried(gains: dict[Change, float]) -> LineSearch:
    """The same when changes of `TEXT` were read back."""
    made = search_of({TEXT: 0.0} | {changed(TEXT, [change]): gain for change, gain in gains.items()})
    made.base, made.tried = TEXT, tuple(gains)
    return made


def test_what_makes_a_text_better_in_several_places_is_put_together():
    """Two changes that touch are not both made; the one that brings more is."""
    made = tried({Change(0, 1, (9,)): 2.0, Change(1, 1, (9,)): 1.0, Change(4, 5, ()): 1.0, Change(3, 4, ()): -1.0})
    made.advance()
    assert list(made.waiting) == [(9, 5, 6, 7)]


@pytest.mark.parametrize(
    ("together", "base", "settled"), [(4.0, (6, 7, 9), {Doubt(1, 11)}), (2.5, (6, 7, 8), {Doubt(1, 11), Doubt(3, 10)})]
)
def test_doubts_that_were_followed_move_with_what_stands_there(together, base, settled):
    """Those about what was changed are open again; what became of the text counts, not what was tried of it."""
    made = tried({Change(0, 2, ()): 3.0, Change(4, 5, (9,)): 2.0})
    made.settled = frozenset({Doubt(0, 10), Doubt(3, 11), Doubt(5, 10)})
    made.advance()
    [text] = made.waiting
    made.add_scores([Judgment(Hypothesis(text, together, ()), (Doubt(1, 11),))])
    made.advance()
    assert made.base == base and made.settled == settled and not made.waiting


def test_the_empty_text_is_corrected_too():
    made = search_of({(): 0.0}, Doubt(0, 5), ctc=-100.0)
    made.advance()
    assert list(made.waiting) == [(5,)]


def test_the_most_doubtful_places_come_first_and_others_later():
    made = search_of({TEXT: 0.0}, *(Doubt(place % 5, 9 + place // 5) for place in range(10)), ctc=-100.0)
    made.advance()
    assert {text for text in made.waiting if 10 in text and 9 not in text} == {
        changed(TEXT, [change]) for place in range(3) for change in changes_at(Doubt(place, 10), TEXT)
    }
    assert len(made.settled) == AT_ONCE


def test_later_doubts_are_followed_when_the_first_bring_nothing():
    doubts = tuple(Doubt(place % 5, 9 + place // 5) for place in range(10))
    made = search_of({TEXT: 0.0}, *doubts, ctc=-100.0)
    made.advance()
    made.add_scores([Judgment(Hypothesis(text, -50.0, ()), ()) for text in made.waiting])
    made.advance()
    assert made.base == TEXT and made.waiting and made.settled == frozenset(doubts)
    made.add_scores([Judgment(Hypothesis(text, -50.0, ()), ()) for text in made.waiting])
    made.advance()
    assert not made.waiting


def test_what_the_ctc_head_refuses_is_not_tried():
    made = search_of({TEXT: 0.0}, Doubt(0, 9))
    score = made.heads[0](changed(TEXT, [Change(0, 1, (9,))]))
    for worse, waits in ((WORSE - 0.1, True), (WORSE + 0.1, False)):
        made = search_of({TEXT: 0.0}, Doubt(0, 9), ctc=score + worse)
        made.advance()
        assert (changed(TEXT, [Change(0, 1, (9,))]) in made.waiting) == waits


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_alternatives_begin_with_the_text_itself(strategy: Strategy, made):
    memory = noise_lines(made, 5)
    plain = find(strategy, made, memory)
    found = find(strategy, made, memory, 3)
    assert max(len(line.alternatives) for line in found) == 4
    for line, without in zip(found, plain, strict=True):
        assert line.tokens == without.tokens and without.alternatives == ()
        assert line.alternatives[0].tokens == line.tokens
        texts = [text.tokens for text in line.alternatives]
        assert len(set(texts)) == len(texts) <= 4
        scores = [text.score for text in line.alternatives[1:]]
        assert scores == sorted(scores, reverse=True)
        assert not any({BOS, EOS, PAD} & set(text) for text in texts)


@pytest.mark.parametrize("strategy", STRATEGIES[1:], ids=lambda strategy: type(strategy).__name__)
def test_who_writes_keeps_the_draft(strategy: Strategy, made):
    memory = noise_lines(made, 3)
    drafts = find(CTC(), made, memory)
    assert [line.draft for line in find(strategy, made, memory)] == drafts
    assert all(line.draft is None for line in drafts)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_what_weighs_nothing_does_not_matter(weight):
    """Not even where it holds a text for impossible."""
    sure, impossible = Hypothesis((4,), -2.0, (-1.5, -0.5)), Hypothesis((4,), -inf, (-inf, -0.5))
    text = ScoredText(sure, -inf) if weight == 0 else ScoredText(impossible, -2.0)
    assert text.quality(weight) == -2.0


SENSELESS = [
    (Joint(), {"candidates": 0}),
    (Joint(), {"ctc_weight": 1.5}),
    (Joint(), {"ctc_weight": -0.1}),
    (Joint(), {"corrections": -1}),
    (Joint(), {"language_weight": 1.1}),
    (Joint(), {"stretches": ()}),
    (Joint(), {"stretches": (1.0, 0.4)}),
    (Joint(), {"stretches": (nan,)}),
    (Joint(), {"stretches": (1.0,) * 11}),
    (Beam(), {"beams": 0}),
    (Beam(), {"length_exponent": -0.5}),
    (Beam(), {"length_exponent": 250.0}),
    (Beam(), {"length_exponent": nan}),
]


@pytest.mark.parametrize(("strategy", "changes"), SENSELESS, ids=str)
def test_impossible_settings_are_refused(strategy, changes):
    with pytest.raises(ConfigError):
        replace(strategy, **changes)
