"""Which decoder reads with a model best: tried on validation lines, never on test lines.

Texts are proposed, corrected and scored once, with the usual weights; other weights only take others of them. Language
has a say if the decoder knows anything of it.
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
"""The usual one first: of equals it is taken."""

LANGUAGE_WEIGHTS = (0.3, 0.0, 0.1, 0.2, 0.25, 0.35, 0.4, 0.5)
"""Likewise, for a decoder that knows language."""

NGRAM_WEIGHTS = (0.5, 0.3, 0.4, 0.6, 0.7, 0.0)
"""Likewise, for a model that has n-grams."""

TEXTS = 200
"""So many texts show whether a decoder knows language."""


class Tried(NamedTuple):
    """A decoder, and how well it read."""

    decoder: Decoder
    counts: Counts


class Proposed(NamedTuple):
    """A text that was proposed for a line, and how far it is from the truth."""

    text: Scored
    counts: Counts


class Proposals(NamedTuple):
    """The texts of a line among which both readers choose, and what the CTC head makes of it, with each weight."""

    joint: list[Proposed]
    ctc: tuple[Counts, ...]


class Best(NamedTuple):
    """The decoder that reads best, None if that is not known; and the CTC head alone, as it does."""

    decoder: Decoder | None = None
    alone: CTC = CTC()


def best_decoders(model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> Best:
    """The decoders with the fewest errors.

    Nothing is known of them if there is but one reader, or all lines are read in pieces.
    """
    if model.network.ctc is None:
        return Best()
    tried = [one for one in try_decoders(model, samples, advance) if one.counts.lines]
    found = [one.decoder for one in tried]
    return Best(found[0], next(one for one in found if isinstance(one, CTC))) if found else Best()


def try_decoders(model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> list[Tried]:
    """`CTC`, and `Joint` with all weights, fewest errors first; of equals, the faster or more usual.

    Lines that are read in pieces are left out. `advance` is told how many lines were read, after each of many steps.
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
    """How much language may count, the usual first."""
    if model.ngrams is not None:
        return NGRAM_WEIGHTS
    return LANGUAGE_WEIGHTS if knows_language(model, texts) else (0.0,)


@torch.inference_mode()
def knows_language(model: Model, texts: Sequence[str]) -> bool:
    """Whether the decoder, without an image, foretells texts better than the mere frequencies of their characters."""
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
    """The texts among which decoders would choose, for each line that is read in one piece."""
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
