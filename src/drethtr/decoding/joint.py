"""Texts that a line may have, and what CTC head and decoder say of each.

The CTC head proposes texts by prefix search; the decoder reads them all back in one parallel pass, as a tree in which
they share their beginnings. The text the decoder would write itself is one more.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from drethtr.decoding.ctc_search import ctc_log_likelihood, prefix_search
from drethtr.decoding.decoded import CTCScores
from drethtr.decoding.scorer import NetworkScorer
from drethtr.decoding.search import Hypothesis
from drethtr.decoding.tree import TextTree
from drethtr.text.tokenizer import EOS, PAD

MARGIN = 6.0
"""Texts that the CTC head holds for e^6 times less likely than its best are not proposed."""


class Scored(NamedTuple):
    """A text with its log-probabilities: `decoder` of the text and its tokens, `ctc` over all paths."""

    decoder: Hypothesis
    ctc: float

    def quality(self, ctc_weight: float) -> float:
        """The mean of both, weighted."""
        parts = (ctc_weight, self.ctc), (1 - ctc_weight, self.decoder.log_probability)
        return sum(weight * score for weight, score in parts if weight)  # 0 times -inf would be no number


def score_texts(
    scorer: NetworkScorer, scores: CTCScores, own: Sequence[Hypothesis | None], number: int
) -> list[list[Scored]]:
    """For each line at most `number` texts of the CTC head, and its `own` text where there is one; one at least."""
    texts: list[list[tuple[int, ...]]] = []
    for line, written in enumerate(own):
        found = prefix_search(scores.line(line), PAD, beams=number, nbest=number, tokens_per_step=4, margin=MARGIN)
        texts.append([text.tokens for text in found if written is None or text.tokens != written.tokens])
    hypotheses = [
        [*([] if written is None else [written]), *others]
        for written, others in zip(own, read_back(scorer, texts), strict=True)
    ]
    return [
        [Scored(text, ctc) for text, ctc in zip(some, ctc_scores(scores, line, some), strict=True)]
        for line, some in enumerate(hypotheses)
    ]


def read_back(scorer: NetworkScorer, texts: Sequence[Sequence[tuple[int, ...]]]) -> list[list[Hypothesis]]:
    """Any number of texts per line, with the probabilities the decoder gives to their tokens and ends."""
    trees = [TextTree.of(some) for some in texts]
    log_probabilities = scorer.tree_logits(trees).log_softmax(-1).cpu()
    return [
        [scored(text, values[path, [*text, EOS]].tolist()) for text, path in zip(some, tree.paths, strict=True)]
        for some, tree, values in zip(texts, trees, log_probabilities, strict=True)
    ]


def scored(text: tuple[int, ...], gains: Sequence[float]) -> Hypothesis:
    """A text with the log-probabilities of its tokens and its end."""
    return Hypothesis(text, sum(gains), tuple(gains))


def ctc_scores(scores: CTCScores, line: int, texts: Sequence[Hypothesis]) -> list[float]:
    """What the CTC head says of some texts of one line."""
    log_probabilities = scores.line(line)
    copies = log_probabilities.expand(len(texts), -1, -1)
    steps = torch.full((len(texts),), len(log_probabilities))
    found: list[float] = ctc_log_likelihood(copies, steps, [text.tokens for text in texts], PAD).tolist()
    return found
