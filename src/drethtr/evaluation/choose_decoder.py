"""Choose the decoder that reads best with a model, on validation lines.

Candidate texts are generated and scored once, with the default weights; other weights only rerank them. The language
model takes part if there is one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import ceil, log
from typing import NamedTuple

import torch

from drethtr.evaluation.evaluate import Advance, portions
from drethtr.evaluation.metrics import Counts, score
from drethtr.images.line import Line
from drethtr.lines.sample import Sample
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer
from drethtr.recognition.search.decoder import Decoder
from drethtr.recognition.search.joint import Scored, read_back
from drethtr.recognition.search.scorer import NetworkScorer
from drethtr.recognition.search.strategies import CTC, USUAL, Joint
from drethtr.text.tokenizer import EOS

CTC_WEIGHTS = sorted((step / 20 for step in range(21)), key=lambda weight: abs(weight - USUAL.ctc))
"""The default comes first: it wins ties."""

LANGUAGE_WEIGHTS = (0.3, 0.0, 0.1, 0.2, 0.25, 0.35, 0.4, 0.5)
"""Weights of the decoder as a language model; the default comes first."""

NGRAM_WEIGHTS = (0.5, 0.3, 0.4, 0.6, 0.7, 0.0)
"""Weights of the n-grams; the default comes first."""

TEXTS = 200
"""Number of texts used to test whether the decoder knows language."""


class Tried(NamedTuple):
    """A decoder and the errors it made."""

    decoder: Decoder
    counts: Counts


class Proposed(NamedTuple):
    """A candidate text of a line, with its errors."""

    text: Scored
    counts: Counts


class Proposals(NamedTuple):
    """The candidates of a line for joint decoding, and the errors of CTC with each weight."""

    joint: list[Proposed]
    ctc: tuple[Counts, ...]


class Best(NamedTuple):
    """The best decoder, None if unknown, and the best CTC decoder."""

    decoder: Decoder | None = None
    alone: CTC = CTC()


def best_decoders(model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> Best:
    """The decoders with the fewest errors.

    The best decoder is unknown if the network has no CTC head, or if all lines are read in pieces.
    """
    if model.network.ctc is None:
        return Best()
    tried = [one for one in try_decoders(model, samples, advance) if one.counts.lines]
    found = [one.decoder for one in tried]
    return Best(found[0], next(one for one in found if isinstance(one, CTC))) if found else Best()


def try_decoders(model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> list[Tried]:
    """Try `CTC` and `Joint` with all weights, fewest errors first; ties go to the faster or the more usual one.

    Lines that are read in pieces are skipped. `advance` is called after each of many steps with the number of lines
    read.
    """
    language_weights = language_weights_of(model, [sample.text for sample in samples])
    alone = (CTC(),) if model.ngrams is None else tuple(map(CTC, language_weights))
    usual = Joint(ctc_weight=CTC_WEIGHTS[0], language_weight=language_weights[0])
    recognizer, lines = Recognizer(model, usual), list[Proposals]()
    for some in portions(recognizer, samples, advance):
        lines += propose(recognizer, some, usual, alone)
    tried = [Tried(ctc, sum((line.ctc[n] for line in lines), Counts())) for n, ctc in enumerate(alone)]
    for weight, language_weight in product(CTC_WEIGHTS, language_weights):
        decoder = replace(usual, ctc_weight=weight, language_weight=language_weight)
        taken = [max(line.joint, key=lambda one: decoder.quality(one.text)).counts for line in lines]
        tried.append(Tried(decoder, sum(taken, Counts())))
    return sorted(tried, key=lambda one: one.counts.edits)


def language_weights_of(model: Model, texts: Sequence[str]) -> tuple[float, ...]:
    """Candidate weights of the language model, the default first."""
    if model.ngrams is not None:
        return NGRAM_WEIGHTS
    return LANGUAGE_WEIGHTS if knows_language(model, texts) else (0.0,)


@torch.inference_mode()
def knows_language(model: Model, texts: Sequence[str]) -> bool:
    """Whether the decoder, without an image, predicts texts better than character frequencies do."""
    encoded = [tuple(model.tokenizer.encode(text)) for text in texts[:: max(1, ceil(len(texts) / TEXTS))]]
    frequencies = Counter(token for tokens in encoded for token in (*tokens, EOS))
    number = frequencies.total()
    by_frequency = sum(count * log(count / number) for count in frequencies.values())
    blind = NetworkScorer(model.network, model.network.blank(len(encoded)))
    judgments = read_back([blind], [[tokens] for tokens in encoded])
    return sum(only.text.log_probability for [only] in judgments) > by_frequency


@torch.inference_mode()
def propose(
    recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]], decoder: Joint, alone: Sequence[CTC]
) -> list[Proposals]:
    """The candidate texts of each line that is read in one piece."""
    ngrams = recognizer.model.ngrams
    parts = recognizer.pieces.prepare_whole([line for _, line in samples])
    network, tokenizer, proposed = recognizer.pieces.networks.text, recognizer.model.tokenizer, []
    for group, memory in recognizer.pieces.encoded(parts):
        by_image = zip(*(ctc.decode(network, memory, ngrams=ngrams) for ctc in alone), strict=True)
        for i, texts, own in zip(group, decoder.propose(network, [memory], ngrams), by_image, strict=True):
            tokens = [*(line.tokens for line in own), *(text.decoder.tokens for text in texts)]
            readings = [tokenizer.decode(some).strip() for some in tokens]
            sample, _ = samples[parts[i].line]
            counts = score([sample.text] * len(readings), readings)
            proposed.append(Proposals(list(map(Proposed, texts, counts[len(own) :])), tuple(counts[: len(own)])))
    return proposed
