"""Which weights `Joint` decoding should have for a model: tried on validation lines, never on test lines.

Texts are proposed and scored once; what the weights change is only which of them is taken.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import torch

from drethtr.data.sample import Sample
from drethtr.decoding.joint import Scored
from drethtr.decoding.strategies import Joint
from drethtr.evaluation.metrics import Counts, score
from drethtr.recognizer import Recognizer, groups

CTC_WEIGHTS = tuple(step / 20 for step in range(21))
LENGTH_EXPONENTS = (0.0, 0.5, 1.0)


class Tried(NamedTuple):
    """A decoder, and how well it read."""

    decoder: Joint
    counts: Counts


class Proposed(NamedTuple):
    """A text that was proposed for a line, and how far it is from the truth."""

    text: Scored
    counts: Counts


def tune_joint(
    recognizer: Recognizer,
    samples: Sequence[Sample],
    decoder: Joint | None = None,
    *,
    ctc_weights: Sequence[float] = CTC_WEIGHTS,
    length_exponents: Sequence[float] = LENGTH_EXPONENTS,
) -> list[Tried]:
    """The decoder with every weight and exponent, fewest errors first; lines that are read in pieces are left out."""
    decoder = decoder or Joint()
    decoder.check(recognizer.model.network)
    proposed = propose(recognizer, samples, decoder)
    tried = []
    for weight, exponent in product(ctc_weights, length_exponents):
        setting = replace(decoder, ctc_weight=weight, length_exponent=exponent)
        taken = [max(line, key=lambda one: setting.quality(one.text)).counts for line in proposed]
        tried.append(Tried(setting, sum(taken, Counts())))
    return sorted(tried, key=lambda one: one.counts.edits)


@torch.inference_mode()
def propose(recognizer: Recognizer, samples: Sequence[Sample], decoder: Joint) -> list[list[Proposed]]:
    """The texts among which a decoder would choose, for each line that is read in one piece."""
    parts = [pieces[0] for n, s in enumerate(samples) if len(pieces := recognizer.prepare(n, s.line())) == 1]
    tokenizer, proposed = recognizer.model.tokenizer, []
    for group in groups(parts):
        memory = recognizer.encode([parts[i].prepared for i in group])
        for i, texts in zip(group, decoder.propose(recognizer.networks.text, memory), strict=True):
            readings = [tokenizer.decode(text.decoder.tokens) for text in texts]
            counts = score([samples[parts[i].line].text] * len(texts), readings)
            proposed.append([Proposed(*pair) for pair in zip(texts, counts, strict=True)])
    return proposed
