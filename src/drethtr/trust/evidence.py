"""What is known about a text besides itself: gathered once, from what the network computed anyway."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from drethtr.decoding.ctc_search import best_path
from drethtr.decoding.decoded import Decoded
from drethtr.decoding.scorer import text_limits
from drethtr.model.ctc import CTCReading
from drethtr.model.network import ImageMemory
from drethtr.reading import Evidence
from drethtr.text.tokenizer import PAD

Scores = NDArray[np.float32]
"""Log-probabilities (S, V) that the image alone gives at every CTC step of a line."""


class LineEvidence(NamedTuple):
    """What is known of one line.

    tokens      about each token of the text
    ended       whether the decoder ended the text, and not the greatest length
    impression  what the image looks like to the network, (features,)
    """

    tokens: tuple[Evidence, ...]
    ended: bool
    impression: NDArray[np.float64]


def gather(memory: ImageMemory, found: Sequence[Decoded]) -> list[LineEvidence]:
    """Evidence for the text found on each line of the memory."""
    ended = [len(decoded.tokens) < limit for decoded, limit in zip(found, text_limits(memory).tolist(), strict=True)]
    return list(map(LineEvidence, weigh_all(memory.ctc, found), ended, impressions(memory)))


def weigh_all(ctc: CTCReading | None, found: Sequence[Decoded]) -> list[tuple[Evidence, ...]]:
    """Evidence for each token of each line."""
    if ctc is None:
        return [tuple(map(Evidence, decoded.confidences)) for decoded in found]
    steps = ctc.refined.shape[1] // ctc.draft.shape[1]
    return [weigh(decoded, image_scores(ctc, line), steps) for line, decoded in enumerate(found)]


def weigh(decoded: Decoded, scores: Scores, steps: int) -> tuple[Evidence, ...]:
    """Evidence for each token of a text; an image token has so many `steps`."""
    agreeing = in_both(decoded.tokens, decoded.tokens if decoded.draft is None else decoded.draft.tokens)
    hesitation = np.concatenate([[0.0], entropies(scores).cumsum()])
    weighed = []
    for token, own, agrees, span in zip(decoded.tokens, decoded.confidences, agreeing, decoded.spans, strict=True):
        first, last = (round(edge * steps) for edge in span)
        first = min(first, len(scores) - 1)
        last = max(last, first + 1)
        step = scores[first + int(scores[first:last, token].argmax())]
        others = np.delete(step, [token, PAD])
        margin = float(step[token] - others.max())
        weighed.append(Evidence(own, margin, bool(agrees), float(hesitation[last] - hesitation[first])))
    return tuple(weighed)


def in_both(tokens: Sequence[Hashable], others: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Which of the tokens, characters or words the fewest edits leave as they are, (tokens,)."""
    kept = np.zeros(len(tokens), dtype=np.bool_)
    for block in Levenshtein.opcodes(others, tokens):
        if block.tag == "equal":
            kept[block.dest_start : block.dest_end] = True
    return kept


def image_scores(ctc: CTCReading, line: int) -> Scores:
    """What the refined CTC reading says of one line, padding left out."""
    scores: Scores = ctc.refined[line, : int(ctc.steps[line])].float().log_softmax(-1).cpu().numpy()
    return scores


def entropies(scores: Scores) -> Scores:
    """Entropy of each step in nats, (S,)."""
    values: Scores = -(np.exp(scores) * scores).sum(1)
    return values


def impressions(memory: ImageMemory) -> NDArray[np.float64]:
    """What each image looks like to the network: how it reads, if there is a CTC head, and its mean key, (B, F)."""
    keys = mean_keys(memory)
    if memory.ctc is None:
        return keys
    return np.column_stack([[legibility(image_scores(memory.ctc, line)) for line in range(len(keys))], keys])


def legibility(scores: Scores) -> tuple[float, float, float]:
    """Mean confidence of the characters, logarithm of the hesitation at each, and characters per step."""
    [path] = best_path(torch.from_numpy(scores)[None], torch.tensor([len(scores)]), PAD)
    number = len(path.tokens)
    sure = float(np.exp(path.token_log_probabilities).mean()) if number else 0.0
    hesitation = float(entropies(scores).sum()) / max(number, 1)
    return sure, float(np.log(hesitation + 0.01)), number / len(scores)


def mean_keys(memory: ImageMemory) -> NDArray[np.float64]:
    """The mean key of each line's image tokens in the last layer, (B, H x K)."""
    keys = memory.layers[-1].keys.float()
    mask: Tensor = keys.new_ones(keys.shape[0], keys.shape[2]) if memory.mask is None else memory.mask.to(keys.dtype)
    shares = (mask / mask.sum(1, keepdim=True))[:, None, :, None]
    means: NDArray[np.float64] = (keys * shares).sum(2).flatten(1).double().cpu().numpy()
    return means
