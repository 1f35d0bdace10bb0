"""Speculative decoding: greedy decoding by verifying a draft in parallel.

One parallel pass gives the decoder's next token after every prefix of a draft. As far as they agree with the draft, the
draft is the greedy text; the decoder's own token follows, and then the rest of the draft, realigned. A few passes
replace one step per token.

The draft comes from the CTC head: after each prefix that the decoder has accepted, `Continuation` reads on along the
likeliest path whose text begins with the prefix. So a prefix with a missing, inserted or changed letter is still
aligned with the line, and only the rest of the line is read after it.

Source: speculative decoding (Leviathan et al., arXiv 2211.17192) with the CTC reading as the draft.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.recognition.decoding.ctc_paths import MIN_LOG_PROBABILITY, Paths, common_prefix
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.protocol import TextTree
from drethtr.text.tokenizer import BLANK, EOS


class Continuation:
    """Continues any prefix of the text of one line; scores shared by successive prefixes are computed once."""

    def __init__(self, log_probs: NDArray[np.float32]) -> None:
        self.paths = Paths(log_probs, np.maximum)
        self.best = log_probs.argmax(1)
        best = np.maximum(log_probs.max(1).astype(np.float64), MIN_LOG_PROBABILITY)
        self.rest = np.append(best[::-1].cumsum()[::-1], 0.0)
        self.stack = [self.paths.empty]

    def after(self, beginning: Sequence[int]) -> list[int]:
        """The tokens that follow; none where no path begins with the prefix."""
        known = common_prefix(beginning, [one.token for one in self.stack[1:]])
        del self.stack[known + 1 :]
        for token in beginning[known:]:
            self.stack.append(self.paths.longer(self.stack[-1], token))
        last = self.stack[-1]
        # Where to leave the prefix: at each step, the score of its best path so far plus that of the best continuation.
        best = np.maximum(last.in_token, last.in_blank) + self.rest
        steps = int(best.argmax())
        if best[steps] == -np.inf:
            return []
        before = last.token if last.in_token[steps] >= last.in_blank[steps] else BLANK
        path = self.best[steps:]
        starts = path[path != np.concatenate(([before], path))[:-1]]
        return [int(token) for token in starts if token != BLANK]


ROUNDING = 256
"""Maximum difference of two forms of one sum, in units of the network's precision: ten times what was observed."""


class Predictions(NamedTuple):
    """The decoder's next token after each prefix of a text: N + 1 tokens for a text of N.

    tokens  the likeliest
    gains   their log-probabilities
    unsure  whether the runner-up is so close that rounding could decide
    """

    tokens: list[int]
    gains: list[float]
    unsure: list[bool]

    @classmethod
    def of(cls, logits: Floats, epsilon: float) -> Self:
        """The predictions in logits (N + 1, V), computed with rounding error `epsilon`."""
        second, first = np.sort(logits, axis=1)[:, -2:].T
        gains = first - np.logaddexp.reduce(logits, axis=1)
        largest = np.abs(np.where(np.isneginf(logits), 0, logits)).max(1)
        unsure = first - second < ROUNDING * epsilon * largest
        return cls(logits.argmax(1).tolist(), gains.tolist(), unsure.tolist())


def verify(
    scorer: NetworkScorer, readers: Sequence[Continuation], limits: Sequence[int], *, passes: int
) -> list[Hypothesis | None]:
    """The greedy text of each line.

    None where more than `passes` would be needed, or rounding could decide between two tokens.

    Args:
        readers: One per line; their proposal after an empty prefix is the first draft.
        limits: Maximum tokens of each line's text, including the end.
    """
    found: list[Hypothesis | None] = [None] * len(readers)
    drafts = dict(enumerate(reader.after(()) for reader in readers))
    for _ in range(passes):
        open_lines = list(drafts)
        kept = scorer if len(drafts) == len(readers) else scorer.keep(np.array(open_lines))
        for line, predicted in zip(open_lines, predictions(kept, list(drafts.values())), strict=True):
            draft = drafts.pop(line)
            # Predictions up to the first disagreement were made after tokens that the decoder would have written
            # itself.
            agreed = min(agreement(draft, predicted), limits[line] - 1)
            if any(predicted.unsure[: agreed + 1]):
                continue
            if predicted.tokens[agreed] == EOS or agreed + 1 == limits[line]:
                text = [token for token in predicted.tokens[: agreed + 1] if token != EOS]
                gains = predicted.gains[: agreed + 1]
                found[line] = Hypothesis(tuple(text), sum(gains), tuple(gains))
            else:
                written = [*draft[:agreed], predicted.tokens[agreed]]
                drafts[line] = written + readers[line].after(written)
        if not drafts:
            break
    return found


def predictions(scorer: NetworkScorer, texts: Sequence[Sequence[int]]) -> list[Predictions]:
    """The decoder's predictions along one text per line, in one pass."""
    epsilon = scorer.network.dimensions.epsilon
    return [Predictions.of(logits, epsilon) for logits in scorer.logits([TextTree.of([text]) for text in texts])]


def agreement(draft: Sequence[int], predicted: Predictions) -> int:
    """Number of tokens of a draft that the decoder would write, up to its end."""
    pairs = zip(draft, predicted.tokens, strict=False)
    return next((place for place, (token, own) in enumerate(pairs) if own != token or own == EOS), len(draft))
