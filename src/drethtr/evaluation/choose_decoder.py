"""Which decoder reads with a model best: tried on validation lines, never on test lines.

Texts are proposed, corrected and scored once, with the usual weight; other weights only take others of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from drethtr.checkpoint import Model
from drethtr.data.sample import Sample
from drethtr.decoding.joint import Scored
from drethtr.decoding.strategies import CTC, Decoder, Joint
from drethtr.evaluation.evaluate import Advance, portions
from drethtr.evaluation.metrics import Counts, score
from drethtr.images.line import Line
from drethtr.recognizer import Recognizer, groups

CTC_WEIGHTS = sorted((step / 20 for step in range(21)), key=lambda weight: abs(weight - Joint().ctc_weight))
"""The usual one first: of equals it is taken."""


class Tried(NamedTuple):
    """A decoder, and how well it read."""

    decoder: Decoder
    counts: Counts


class Proposed(NamedTuple):
    """A text that was proposed for a line, and how far it is from the truth."""

    text: Scored
    counts: Counts


class Proposals(NamedTuple):
    """The texts of a line among which both readers choose, and what the CTC head alone makes of it."""

    joint: list[Proposed]
    ctc: Counts


def best_decoder(model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> Decoder | None:
    """The decoder with the fewest errors; None, the network's own choice, if it has but one reader.

    None as well if all lines are read in pieces: then nothing is known of any decoder.
    """
    if model.network.ctc is None:
        return None
    best = try_decoders(model, samples, advance)[0]
    return best.decoder if best.counts.lines else None


def try_decoders(model: Model, samples: Sequence[Sample], advance: Advance | None = None) -> list[Tried]:
    """`CTC`, and `Joint` with every weight, fewest errors first; of equals, the faster or more usual.

    Lines that are read in pieces are left out. `advance` is told how many lines were read, after each of many steps.
    """
    recognizer, lines = Recognizer(model, Joint()), list[Proposals]()
    for some in portions(samples, advance):
        lines += propose(recognizer, some, Joint())
    tried = [Tried(CTC(), sum((line.ctc for line in lines), Counts()))]
    for weight in CTC_WEIGHTS:
        decoder = replace(Joint(), ctc_weight=weight)
        taken = [max(line.joint, key=lambda one: decoder.quality(one.text)).counts for line in lines]
        tried.append(Tried(decoder, sum(taken, Counts())))
    return sorted(tried, key=lambda one: one.counts.edits)


@torch.inference_mode()
def propose(recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]], decoder: Joint) -> list[Proposals]:
    """The texts among which decoders would choose, for each line that is read in one piece."""
    parts = [pieces[0] for n, (_, line) in enumerate(samples) if len(pieces := recognizer.prepare(n, line)) == 1]
    network, tokenizer, proposed = recognizer.networks.text, recognizer.model.tokenizer, []
    for group in groups(parts):
        memory = recognizer.encode([parts[i].prepared for i in group])
        alone = CTC().decode(network, memory)
        for i, texts, own in zip(group, decoder.propose(network, [memory]), alone, strict=True):
            tokens = [own.tokens, *(text.decoder.tokens for text in texts)]
            readings = [tokenizer.decode(some).strip() for some in tokens]
            sample, _ = samples[parts[i].line]
            by_image, *counts = score([sample.text] * len(readings), readings)
            proposed.append(Proposals(list(map(Proposed, texts, counts)), by_image))
    return proposed
