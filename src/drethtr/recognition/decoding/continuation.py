"""Continue a given prefix of a text with the CTC head.

The continuation is that of the likeliest path whose text begins with the prefix. So a prefix with a missing, inserted
or changed letter is still aligned with the line, and only the rest of the line is read after it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.decoding.ctc_paths import LEAST, Paths, common_prefix


class Continuation:
    """Continues any prefix of the text of one line; scores shared by successive prefixes are computed once."""

    def __init__(self, log_probs: NDArray[np.float32], blank: int) -> None:
        self.paths = Paths(log_probs, blank, np.maximum)
        self.best = log_probs.argmax(1)
        best = np.maximum(log_probs.max(1).astype(np.float64), LEAST)
        self.rest = np.append(best[::-1].cumsum()[::-1], 0.0)
        self.blank = blank
        self.stack = [self.paths.nothing]

    def after(self, beginning: Sequence[int]) -> list[int]:
        """The tokens that follow; none where no path begins with the prefix."""
        known = common_prefix(beginning, [one.token for one in self.stack[1:]])
        del self.stack[known + 1 :]
        for token in beginning[known:]:
            self.stack.append(self.paths.longer(self.stack[-1], token))
        last = self.stack[-1]
        best = np.maximum(last.in_token, last.in_blank) + self.rest
        steps = int(best.argmax())
        if best[steps] == -np.inf:
            return []
        before = last.token if last.in_token[steps] >= last.in_blank[steps] else self.blank
        path = self.best[steps:]
        starts = path[path != np.concatenate(([before], path))[:-1]]
        return [int(token) for token in starts if token != self.blank]
