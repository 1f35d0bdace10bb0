"""Choose the decoder that reads best with a model, on validation lines.

Candidate texts are generated and scored once, with the default weights; other weights only rerank them. The language
model takes part if there is one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, log
from typing import NamedTuple

from drethtr.datasets.sample import Sample
from drethtr.evaluation.metrics import Counts, score
from drethtr.evaluation.reading import Advance, portions
from drethtr.images.line import Line
from drethtr.recognition.decoding.decoded import View
from drethtr.recognition.decoding.joint import ScoredText
from drethtr.recognition.decoding.scorer import LanguageScorer
from drethtr.recognition.decoding.strategies import CTC, DEFAULT_WEIGHTS, Joint, Strategy
from drethtr.recognition.model.file import Model
from drethtr.recognition.pieces import PreparedPiece
from drethtr.recognition.protocol import Network, TextTree
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import EOS

CTC_WEIGHTS = sorted((step / 20 for step in range(21)), key=lambda weight: abs(weight - DEFAULT_WEIGHTS.ctc))
"""The default comes first: it wins ties."""

LANGUAGE_WEIGHTS = (0.3, 0.0, 0.1, 0.2, 0.25, 0.35, 0.4, 0.5)
"""Weights of the decoder as a language model; the default comes first.

At 0.3 it lowers the CER from 9.38 to 9.15 % (LOG.md, 2026-11-23)."""

TRAINED_WEIGHTS = (0.5, 0.3, 0.4, 0.6, 0.7, 0.0)
"""Weights of n-grams and rescorer; the default comes first.

They are better language models than the decoder (1.69 and 1.55 against 1.99 nats per character), so they weigh more
(LOG.md, 2026-11-23 and 2026-11-25)."""

TEXTS = 200
"""Number of texts used to test whether the decoder knows language."""


class Tried(NamedTuple):
    """A decoder and the errors it made."""

    strategy: Strategy
    counts: Counts


class Proposed(NamedTuple):
    """A candidate text of a line, with its errors."""

    text: ScoredText
    counts: Counts


class Proposals(NamedTuple):
    """The candidates of a line for joint decoding, and the errors of CTC with each weight."""

    joint: list[Proposed]
    ctc: tuple[Counts, ...]


class Best(NamedTuple):
    """The best decoder, None if unknown, and the best CTC decoder."""

    strategy: Strategy | None = None
    alone: CTC = CTC()


Open = Callable[[Model, Strategy], Recognizer]
"""Opens a recognizer on the wanted device."""


def best_strategies(open_model: Open, model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> Best:
    """The strategies with the fewest errors.

    The best one is unknown if the network has no CTC head, or if all lines are read in pieces.
    """
    if model.network.ctc is None:
        return Best()
    tried = [one for one in try_strategies(open_model, model, samples, advance) if one.counts.lines]
    found = [one.strategy for one in tried]
    return Best(found[0], next(one for one in found if isinstance(one, CTC))) if found else Best()


def try_strategies(
    open_model: Open, model: Model, samples: Sequence[Sample], advance: Advance | None = None
) -> list[Tried]:
    """Try `CTC` and `Joint` with all weights, fewest errors first; ties go to the faster or the more usual one.

    Lines that are read in pieces are skipped. `advance` is called whenever lines have been read, with their
    number.
    """
    usual = Joint(ctc_weight=CTC_WEIGHTS[0], language_weight=0.0)
    recognizer = open_model(model, usual)
    language_weights = language_weights_of(model, recognizer.network, [sample.text for sample in samples])
    usual = replace(usual, language_weight=language_weights[0])
    alone = tuple(map(CTC, language_weights)) if model.languages else (CTC(),)
    lines = list[Proposals]()
    for some in portions(recognizer, samples, advance):
        lines += propose(recognizer, some, usual, alone)
    tried = [Tried(ctc, sum((line.ctc[n] for line in lines), Counts())) for n, ctc in enumerate(alone)]
    for weight, language_weight in product(CTC_WEIGHTS, language_weights):
        strategy = replace(usual, ctc_weight=weight, language_weight=language_weight)
        taken = [max(line.joint, key=lambda one: strategy.quality(one.text)).counts for line in lines]
        tried.append(Tried(strategy, sum(taken, Counts())))
    # Stable: of equals the first tried wins, which is the faster or the more usual one.
    return sorted(tried, key=lambda one: one.counts.edits)


def language_weights_of(model: Model, network: Network, texts: Sequence[str]) -> tuple[float, ...]:
    """Candidate weights of the language model, the default first."""
    if model.languages or model.rescorer is not None:
        return TRAINED_WEIGHTS
    return LANGUAGE_WEIGHTS if knows_language(model, network, texts) else (0.0,)


def knows_language(model: Model, network: Network, texts: Sequence[str]) -> bool:
    """Whether the decoder, without an image, predicts texts better than character frequencies do."""
    encoded = [tuple(model.tokenizer.encode(text)) for text in texts[:: max(1, ceil(len(texts) / TEXTS))]]
    frequencies = Counter(token for tokens in encoded for token in (*tokens, EOS))
    number = frequencies.total()
    # The cost of a text by character frequencies alone; a decoder that has learned language beats it.
    by_frequency = sum(count * log(count / number) for count in frequencies.values())
    trees = [TextTree.of([tokens]) for tokens in encoded]
    scored = zip(encoded, LanguageScorer(network).score_trees(trees), strict=True)
    return float(sum(values[range(len(text) + 1), [*text, EOS]].sum() for text, values in scored)) > by_frequency


def propose(
    recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]], joint: Joint, alone: Sequence[CTC]
) -> list[Proposals]:
    """The candidate texts of each line that is read in one piece."""
    network, model = recognizer.network, recognizer.model
    pieces = recognizer.pieces.prepare_whole([line for _, line in samples])

    def work(group: Sequence[PreparedPiece], view: View) -> Iterator[Proposals]:
        by_image = zip(*(ctc.find(network, [view], languages=model.languages) for ctc in alone), strict=True)
        for piece, texts, own in zip(group, joint.propose(network, [view], model.languages), by_image, strict=True):
            tokens = [*(line.tokens for line in own), *(text.decoder.tokens for text in texts)]
            readings = [model.tokenizer.decode(some).strip() for some in tokens]
            sample, _ = samples[piece.line]
            counts = score([sample.text] * len(readings), readings)
            yield Proposals(list(map(Proposed, texts, counts[len(own) :])), tuple(counts[: len(own)]))

    return recognizer.pieces.map_views(pieces, work)
