"""What the CTC head reads behind a given beginning of a text.

Of all paths whose text begins so, the likeliest goes on in a certain way: a beginning that lacks a letter, has one too
many or another one is thereby aligned to the line, and the rest of the reading behind it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.search.ctc_paths import Paths, alike


class Continuation:
    """Reads on behind any beginning of one line's text; what two beginnings share is computed once."""

    def __init__(self, log_probs: NDArray[np.float32], blank: int) -> None:
        self.paths = Paths(log_probs, blank, np.maximum)
        self.best = self.paths.rows.argmax(1)
        self.rest = np.append(self.paths.rows.max(1)[::-1].cumsum()[::-1], 0.0)
        self.blank = blank
        self.stack = [self.paths.nothing]

    def after(self, beginning: Sequence[int]) -> list[int]:
        """The tokens that follow; none where no path can begin so."""
        known = alike(beginning, [one.token for one in self.stack[1:]])
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
