"""What is known about a text besides itself: gathered once, from what the network computed anyway."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.recognition.reading import Evidence
from drethtr.recognition.search.ctc_search import best_path
from drethtr.recognition.search.decoded import CTCScores, Decoded
from drethtr.text.tokenizer import PAD

LogProbs = NDArray[np.float32]
"""Log-probabilities (S, V) that the image alone gives at every CTC step of a line."""

LEGIBILITY = 3
"""Features that tell how an image reads."""


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
    ended = [decoded.ended for decoded in found]
    if memory.ctc is None:
        tokens = [tuple(map(Evidence, decoded.confidences)) for decoded in found]
        return list(map(LineEvidence, tokens, ended, mean_of_image(memory)))
    scores = image_scores(memory)
    tokens = [weigh(decoded, of_line, memory.ctc.per_token) for decoded, of_line in zip(found, scores, strict=True)]
    return list(map(LineEvidence, tokens, ended, impressions_by(scores, memory)))


def weigh(decoded: Decoded, scores: LogProbs, steps: int) -> tuple[Evidence, ...]:
    """Evidence for each token of a text; an image token has so many `steps`."""
    agreeing = in_both(decoded.tokens, decoded.tokens if decoded.draft is None else decoded.draft.tokens)
    entropy = np.concatenate([[0.0], entropies(scores).cumsum()])
    weighed = []
    for token, own, agrees, span in zip(decoded.tokens, decoded.confidences, agreeing, decoded.spans, strict=True):
        first, last = (round(edge * steps) for edge in span)
        first = min(first, len(scores) - 1)
        last = max(last, first + 1)
        step = scores[first + int(scores[first:last, token].argmax())]
        others = np.delete(step, [token, PAD])
        margin = float(step[token] - others.max())
        weighed.append(Evidence(own, margin, bool(agrees), float(entropy[last] - entropy[first])))
    return tuple(weighed)


def in_both(tokens: Sequence[Hashable], others: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Which of the tokens, characters or words the fewest edits leave as they are, (tokens,)."""
    kept = np.zeros(len(tokens), dtype=np.bool_)
    for block in Levenshtein.opcodes(others, tokens):
        if block.tag == "equal":
            kept[block.dest_start : block.dest_end] = True
    return kept


def image_scores(memory: ImageMemory) -> list[LogProbs]:
    """What the CTC head says of each line."""
    scores = CTCScores.of(memory)
    return [scores.line(number).numpy() for number in range(len(scores.steps))]


def entropies(scores: LogProbs) -> LogProbs:
    """Entropy of each step in nats, (S,)."""
    values: LogProbs = -(np.exp(scores) * scores).sum(1)
    return values


def impressions(memory: ImageMemory) -> NDArray[np.float64]:
    """What each image looks like to the network, (B, features)."""
    return mean_of_image(memory) if memory.ctc is None else impressions_by(image_scores(memory), memory)


def features_of(network: DRetHTR) -> int:
    """How many features the impression has that an image makes on a network."""
    return 2 * network.config.width + (LEGIBILITY if network.ctc is not None else 0)


def impressions_by(scores: Sequence[LogProbs], memory: ImageMemory) -> NDArray[np.float64]:
    """How each image reads, and what the text sees of it."""
    return np.column_stack([list(map(legibility, scores)), mean_of_image(memory)])


def legibility(scores: LogProbs) -> tuple[float, float, float]:
    """Mean confidence of the characters, logarithm of the entropy at each, and characters per step."""
    [path] = best_path(torch.from_numpy(scores)[None], torch.tensor([len(scores)]), PAD)
    number = len(path.tokens)
    sure = float(np.exp(path.token_log_probabilities).mean()) if number else 0.0
    entropy = float(entropies(scores).sum()) / max(number, 1)
    return sure, float(np.log(entropy + 0.01)), number / len(scores)


def mean_of_image(memory: ImageMemory) -> NDArray[np.float64]:
    """The mean key and value of each line's image tokens in the last layer, (B, 2 x H x K)."""
    kept = torch.cat(memory.layers[-1], dim=-1).float()
    mask: Tensor = kept.new_ones(kept.shape[0], kept.shape[2]) if memory.mask is None else memory.mask.to(kept.dtype)
    shares = (mask / mask.sum(1, keepdim=True))[:, None, :, None]
    means: NDArray[np.float64] = (kept * shares).sum(2).flatten(1).cpu().double().numpy()
    return means
