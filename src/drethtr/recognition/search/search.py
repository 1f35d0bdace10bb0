"""Find the most likely text, one token at a time.

Search knows nothing of images, retention or characters. It asks a `Scorer` for the next token and hands a state
from step to step. What belongs to one candidate is in the state and is reordered here; what all candidates of a
line share, as the keys and values of its image, stays with the scorer and is stored once per line.
Lines that are done leave, so nobody waits for the longest line of a batch, and no line changes another's answer.

Shapes, everywhere in this file:
    lines   texts sought in this batch
    rows    lines × candidates; the candidates of a line are neighbors
"""

from typing import Any, NamedTuple, Protocol, TypeVar, cast

import torch
from torch import Tensor

State = TypeVar("State")


class Scorer(Protocol[State]):
    """Knows how likely each token is to come next in each of some lines."""

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Last tokens (rows,) and state, to log-probabilities (rows, vocabulary) of the next and the state after.

        Every line has equally many rows: one at the first step, later as many as there are beams.
        """

    def keep(self, lines: Tensor) -> "Scorer[State]":
        """The scorer for some of its lines, whose numbers (kept,) rise; they are numbered anew from 0."""


class Hypothesis(NamedTuple):
    """A text found.

    tokens                   without start and end
    log_probability          of the whole text
    token_log_probabilities  of each token given those before it, then of the end, unless a limit cut the text off
    """

    tokens: tuple[int, ...]
    log_probability: float
    token_log_probabilities: tuple[float, ...]

    @property
    def ended(self) -> bool:
        """Whether the text came to its end before a limit."""
        return len(self.token_log_probabilities) > len(self.tokens)


class Candidates(NamedTuple):
    """What is written so far, one row per candidate.

    tokens   (rows, limit)  with the end, without the start; meaningless from `lengths` on
    gains    (rows, limit)  log-probability of each token
    scores   (rows,)        sum of the gains; -inf: this row is not, or no longer, in the race
    lengths  (rows,)        tokens written, the end included
    closed   (rows,)        ended or cut off: kept as it is
    """

    tokens: Tensor
    gains: Tensor
    scores: Tensor
    lengths: Tensor
    closed: Tensor

    @classmethod
    def blank(cls, lines: int, limit: int, device: torch.device) -> "Candidates":
        """One empty candidate per line."""
        return cls(
            torch.zeros(lines, limit, dtype=torch.long, device=device),
            torch.zeros(lines, limit, device=device),
            torch.zeros(lines, device=device),
            torch.zeros(lines, dtype=torch.long, device=device),
            torch.zeros(lines, dtype=torch.bool, device=device),
        )


def select_rows(state: State, rows: Tensor) -> State:
    """Keep, repeat or reorder rows of every tensor in a nested state."""
    chosen: Any = state
    if isinstance(state, Tensor):
        chosen = state.index_select(0, rows)
    elif isinstance(state, tuple):
        parts = [select_rows(part, rows) for part in state]
        chosen = type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    return cast(State, chosen)


def beam_search(
    scorer: Scorer[State],
    state: State,
    first: Tensor,
    *,
    end: int,
    beams: int = 5,
    limit: int | Tensor = 256,
    length_exponent: float = 1.0,
    nbest: int = 1,
) -> list[list[Hypothesis]]:
    """The best texts of each line, best first, keeping `beams` candidates on the way.

    Texts compete by log-probability / length^length_exponent, the end counted in the length: 0 prefers short texts,
    1 compares the mean per token. A candidate that has ended keeps its place among the `beams`, so the search
    narrows; a line is done when nothing still open can beat its `nbest` texts, even if all to come were certain.

    Args:
        first: (lines,) start token of each line.
        end: Token that ends a text.
        limit: Longest text in tokens, the end included, at least 1; one for all, or (lines,).
        length_exponent: At least 0.
        nbest: Texts wanted per line, at most `beams`; fewer come back where fewer are possible.
    """
    found: list[list[Hypothesis]] = [[] for _ in first]
    numbers, limits = list(range(len(first))), per_line(limit, first)
    longest = max(limits.tolist(), default=0)
    candidates, last = Candidates.blank(len(first), longest, first.device), first
    for position in range(longest):
        log_probabilities, state = scorer.step(last, state)
        if beams == 1:  # nothing to reorder, and nothing to give up
            gains, last = log_probabilities.max(-1)
            candidates = write(candidates, position, last, gains.masked_fill(candidates.closed, 0), end, limits)
        else:
            rows, last, gains = choose(candidates, log_probabilities, len(limits), end, beams)
            candidates, state = select_rows((candidates, state), rows)
            candidates = write(candidates, position, last, gains, end, limits)
            candidates = give_up(candidates, limits, length_exponent, nbest)
        if not time_to_look(position, longest, first):
            continue
        done = (candidates.closed | candidates.scores.isneginf()).view(len(limits), -1).all(1)
        if done.any():
            numbers = collect(found, numbers, candidates, done, end=end, length_exponent=length_exponent, nbest=nbest)
            rest = (~done).nonzero()
            if not len(rest):
                break
            scorer, limits = scorer.keep(rest.flatten()), limits[rest.flatten()]
            width = len(last) // len(done)
            rows = (rest * width + torch.arange(width, device=rest.device)).flatten()
            candidates, state, last = select_rows((candidates, state, last), rows)
    return found


def greedy(
    scorer: Scorer[State], state: State, first: Tensor, *, end: int, limit: int | Tensor = 256
) -> list[Hypothesis]:
    """The text of each line that takes the likeliest token at every step: `beam_search` with one beam."""
    return [best for [best] in beam_search(scorer, state, first, end=end, beams=1, limit=limit)]


def per_line(limit: int | Tensor, first: Tensor) -> Tensor:
    """(lines,) on the device of `first`."""
    return torch.as_tensor(limit, device=first.device).expand(len(first))


def time_to_look(position: int, longest: int, first: Tensor) -> bool:
    """Whether to ask now which lines are done: on a GPU that means waiting for it, so not every time."""
    return not first.is_cuda or position % 8 == 7 or position == longest - 1


def choose(
    candidates: Candidates, log_probabilities: Tensor, lines: int, end: int, beams: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each line: rows they continue, tokens they add and what these gain, (new rows,) each.

    Open candidates of a line are equally long, so among them the sum decides. Closed ones go on whatever their sum.
    """
    vocabulary = log_probabilities.shape[1]
    gains = log_probabilities.masked_fill(candidates.closed[:, None], -torch.inf)
    priority = candidates.scores[:, None] + gains
    priority[:, end].masked_fill_(candidates.closed, torch.inf)
    gains[:, end].masked_fill_(candidates.closed, 0)
    priority = priority.view(lines, -1)
    best = priority.topk(min(beams, priority.shape[1])).indices
    offsets = torch.arange(0, priority.numel(), priority.shape[1], device=best.device)
    best = (best + offsets[:, None]).flatten()
    return best // vocabulary, best % vocabulary, gains.flatten()[best]


def write(candidates: Candidates, position: int, tokens: Tensor, gains: Tensor, end: int, limits: Tensor) -> Candidates:
    """Add a token to every candidate, and close those that end with it or reach the limit of their line.

    A closed candidate grows no longer; the gain of 0 it gets only says that it is still in the race.
    """
    candidates.tokens[:, position] = tokens
    candidates.gains[:, position] = gains
    scores = candidates.scores + gains
    at_limit = (limits <= position + 1).repeat_interleave(len(tokens) // len(limits))
    return candidates._replace(
        scores=scores,
        lengths=candidates.lengths + ~candidates.closed,
        closed=(candidates.closed | (tokens == end) | at_limit) & ~scores.isneginf(),
    )


def give_up(candidates: Candidates, limits: Tensor, length_exponent: float, nbest: int) -> Candidates:
    """Take open candidates out of the race in lines where the best of them cannot come among the `nbest` any more."""
    lines = len(limits)
    closed = candidates.closed.view(lines, -1)
    scores = candidates.scores.view(lines, -1)
    qualities = quality(candidates, length_exponent).view(lines, -1).masked_fill(~closed, -torch.inf)
    worst = qualities.topk(min(nbest, qualities.shape[1])).values[:, -1]
    # Log-probabilities are at most 0, so the most there is to hope for is a longest text at no further cost.
    hope = scores.masked_fill(closed, -torch.inf).amax(1) / limits**length_exponent
    lost = ~closed & (hope <= worst)[:, None]
    return candidates._replace(scores=scores.masked_fill(lost, -torch.inf).flatten())


def quality(candidates: Candidates, length_exponent: float) -> Tensor:
    """What closed candidates are compared by, (rows,)."""
    return candidates.scores / candidates.lengths**length_exponent


def collect(
    found: list[list[Hypothesis]],
    numbers: list[int],
    candidates: Candidates,
    done: Tensor,
    *,
    end: int,
    length_exponent: float,
    nbest: int,
) -> list[int]:
    """Put the best texts of the lines that are done into `found`; return the `numbers` there of the others."""
    width = len(candidates.scores) // len(done)
    qualities = quality(candidates, length_exponent).view(-1, width)[done]
    best = qualities.topk(min(nbest, width)).indices + done.nonzero() * width
    chosen = select_rows(candidates, best.flatten())
    texts = iter(zip(*(part.tolist() for part in chosen[:4]), strict=True))
    rest = []
    for number, is_done in zip(numbers, done.tolist(), strict=True):
        if not is_done:
            rest.append(number)
            continue
        for _ in range(best.shape[1]):
            tokens, gains, score, length = next(texts)
            if score != -torch.inf:  # what is no number is no text either, but shall be seen
                text = tokens[: length - 1] if tokens[length - 1] == end else tokens[:length]
                found[number].append(Hypothesis(tuple(text), score, tuple(gains[:length])))
    return rest
