"""The strategies, on small networks with random weights: what each finds, keeps and refuses."""

from dataclasses import replace
from math import inf, nan
from statistics import fmean

import pytest
import torch
from noise import VOCABULARY, find, network, noise_lines, noisy_weights

from drethtr.base.errors import ConfigError
from drethtr.language.languages import BONUS_PER_TOKEN, Languages, WeightedLanguages, WeightedNGrams
from drethtr.language.learn import Ingredient, learn
from drethtr.network.backend import TorchNetwork
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.decoding.ctc_paths import TextScores
from drethtr.recognition.decoding.ctc_search import prefix_search
from drethtr.recognition.decoding.decoded import CTCScores, View
from drethtr.recognition.decoding.joint import MARGIN, rescore
from drethtr.recognition.decoding.scorer import LanguageScorer, NetworkScorer
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, Strategy, VerifiedDrafts
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.protocol import TextTree
from drethtr.text.tokenizer import BOS, EOS, PAD, SPECIALS, Characters

STRATEGIES = [CTC(), Greedy(), VerifiedDrafts(), Beam(4), Joint()]


@pytest.fixture
def made():
    return network()


def head(memory, line):
    """What the CTC head says of texts of a line."""
    return TextScores(CTCScores.of(memory).lines[line])


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
    ngrams = learn([Ingredient(["abc", "cab", "bcaabc"])], tokenizer, order=3, most=99)
    languages = Languages({"all": ngrams})
    joint = Joint(ctc_weight=0.3, language_weight=0.9)
    language_model, found = WeightedLanguages(languages, 0.9), joint.propose(made, [View.of(memory)], languages)
    for texts, decoded in zip(found, find(joint, made, memory, languages=languages), strict=True):
        for text in texts:
            assert text.language == pytest.approx(language_model.unweighted_scores([text.decoder.tokens])[0])
        assert decoded.tokens == max(texts, key=joint.quality).decoder.tokens
    alone = CTC(language_weight=0.9)
    for line, decoded in enumerate(find(alone, made, memory, 3, languages)):
        rows = CTCScores.of(memory).lines[line]
        best, *_ = prefix_search(rows, margin=MARGIN, language_model=WeightedNGrams(ngrams, 0.9))
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
        languages = Languages({"all": learn([Ingredient(["abc", "cab", "bcaabc"])], tokenizer, order=3, most=99)})
    language_models, joint, memory = WeightedLanguages(languages, 0.9), Joint(language_weight=0.9), noise_lines(made, 2)
    for texts in joint.propose(made, [View.of(memory)], languages):
        for text in texts:
            tokens = text.decoder.tokens
            [scores] = LanguageScorer(made).score_trees([TextTree.of([tokens])])
            rescored = scores[range(len(tokens) + 1), [*tokens, EOS]].sum() + BONUS_PER_TOKEN * len(tokens)
            said = (rescored + language_models.unweighted_scores([tokens])[0]) / 2 if with_ngrams else rescored
            assert text.language == pytest.approx(said, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("ctc_weight", "score"), [(1.0, lambda text: text.ctc), (0.0, lambda text: text.decoder.log_probability)]
)
def test_a_weight_of_one_is_what_the_ctc_head_likes_best_and_of_zero_the_decoder(ctc_weight, score, made):
    memory = noise_lines(made, 6)
    joint = Joint(ctc_weight=ctc_weight)
    for texts, decoded in zip(joint.propose(made, [View.of(memory)]), find(joint, made, memory), strict=True):
        assert decoded.tokens == max(texts, key=score).decoder.tokens


def test_both_scores_are_weighed(made):
    memory = noise_lines(made, 3)
    scores, joint = CTCScores.of(memory), Joint(ctc_weight=0.3)
    for line, texts in enumerate(joint.propose(made, [View.of(memory)])):
        assert len({text.decoder.tokens for text in texts}) == len(texts)
        for text in texts:
            tokens = text.decoder.tokens
            ctc = TextScores(scores.lines[line])(tokens)
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


SETTINGS_ERRORS = [
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


@pytest.mark.parametrize(("strategy", "changes"), SETTINGS_ERRORS, ids=str)
def test_impossible_settings_are_refused(strategy, changes):
    with pytest.raises(ConfigError):
        replace(strategy, **changes)
