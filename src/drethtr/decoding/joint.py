"""Texts that a line may have, and what CTC head and decoder say of each.

The CTC head proposes texts by prefix search; the decoder reads them all back in one parallel pass, as beams that share
the image memory of their line. The text the decoder would write itself is one more.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch

from drethtr.decoding.ctc_search import ctc_log_likelihood, prefix_search
from drethtr.decoding.decoded import CTCScores
from drethtr.decoding.scorer import NetworkScorer
from drethtr.decoding.search import Hypothesis
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
    """For each line at least one and at most `number` texts of the CTC head, and its `own` text where there is one."""
    texts: list[list[tuple[int, ...]]] = []
    for line, written in enumerate(own):
        found = prefix_search(scores.line(line), PAD, beams=number, nbest=number, tokens_per_step=4, margin=MARGIN)
        texts.append([text.tokens for text in found if written is None or text.tokens != written.tokens])
    read_back = decoder_scores(scorer, texts)
    hypotheses = [
        [*([] if written is None else [written]), *others] for written, others in zip(own, read_back, strict=True)
    ]
    return [
        [Scored(text, ctc) for text, ctc in zip(line, ctc_scores(scores, number, line), strict=True)]
        for number, line in enumerate(hypotheses)
    ]


def decoder_scores(scorer: NetworkScorer, texts: Sequence[Sequence[tuple[int, ...]]]) -> list[list[Hypothesis]]:
    """What the decoder says of any number of texts per line; lines with equally many are read together."""
    scored: list[list[Hypothesis]] = [[] for _ in texts]
    of_size: dict[int, list[int]] = defaultdict(list)
    for line, some in enumerate(texts):
        of_size[len(some)].append(line)
    for size, lines in of_size.items():
        if not size:
            continue
        kept = scorer if len(lines) == len(texts) else scorer.keep(torch.tensor(lines, device=scorer.device))
        found = read_back(kept, [text for line in lines for text in texts[line]])
        for row, line in enumerate(lines):
            scored[line] = found[row * size : (row + 1) * size]
    return scored


def read_back(scorer: NetworkScorer, texts: Sequence[tuple[int, ...]]) -> list[Hypothesis]:
    """The texts, equally many of each line, with the probabilities the decoder gives to their tokens and ends."""
    log_probabilities = scorer.logits(texts).log_softmax(-1)
    longest = log_probabilities.shape[1]
    ended = [[*text, *[EOS] * (longest - len(text))] for text in texts]
    gains = log_probabilities.gather(2, torch.tensor(ended, device=scorer.device)[..., None])[..., 0].tolist()
    rows = [tuple(row[: len(text) + 1]) for text, row in zip(texts, gains, strict=True)]
    return [Hypothesis(text, sum(row), row) for text, row in zip(texts, rows, strict=True)]


def ctc_scores(scores: CTCScores, line: int, texts: Sequence[Hypothesis]) -> list[float]:
    """What the CTC head says of some texts of one line."""
    log_probabilities = scores.line(line)
    copies = log_probabilities.expand(len(texts), -1, -1)
    steps = torch.full((len(texts),), len(log_probabilities))
    found: list[float] = ctc_log_likelihood(copies, steps, [text.tokens for text in texts], PAD).tolist()
    return found
