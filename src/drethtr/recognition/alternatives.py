"""What a word of a line may be instead: texts for its place, ranked by everything that reads a line.

Alternatives of a whole line differ in the one or two places where its decoder doubted most. For a word, the CTC head is
searched again between its neighbors, which stay as they are, whoever wrote them.
"""

from collections.abc import Collection, Iterable
from math import exp, inf
from typing import NamedTuple, TypeAlias

from drethtr.images.line import Line
from drethtr.language.languages import NO_LANGUAGE_MODEL, WeightedLanguages
from drethtr.recognition.decoding.ctc_search import align, prefix_search
from drethtr.recognition.decoding.decoded import LogProbs, View
from drethtr.recognition.decoding.joint import LineSearch, Tokens, changed, changes_at, rescore
from drethtr.recognition.decoding.scorer import LanguageScorer, NetworkScorer
from drethtr.recognition.decoding.strategies import CTC, Joint
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import PAD

PROPOSED = 40
"""Texts that the CTC head proposes for a word."""

RESCORED = 16
"""Those of them that the decoder scores."""

ROUNDS, FOLLOWED = 2, 3
"""Rounds in which the doubts of the decoder are followed, and how many of the best texts they are about.

With these, and n-grams in the search, the right word is among the first four for 68 % of the wrong ones; without both,
54 % (LOG.md, 2026-11-27)."""

SHARPNESS = 0.6
"""Exponent of the scores in probabilities, since CTC head, decoder and language add up evidence that they share.

With 0.6, texts given 29, 49, 72 and 90 % were right in 31, 53, 66 and 86 % of 700 doubtful words; with 0.4 they were
too modest, with 0.8 too sure (LOG.md, 2026-11-27)."""


LineViews: TypeAlias = tuple[View, ...]
"""A line that is read in one piece, at each width of the strategy."""


class WordCandidate(NamedTuple):
    """A text for the place of a word, and its share of the probability of all that were ranked."""

    text: str
    probability: float


def encode_line(recognizer: Recognizer, line: Line) -> LineViews | None:
    """Encode a line for `word_candidates`; None if it is read in several pieces, or the model has no CTC head.

    Raises:
        CheckpointError: if the model's activations are not finite.
    """
    pieces = recognizer.pieces.prepare_whole([line])
    if not pieces or not isinstance(recognizer.strategy, CTC | Joint):
        return None
    return tuple(recognizer.pieces.view([view]) for view in pieces[0].views)


def word_candidates(
    recognizer: Recognizer, line: LineViews, text: str, start: int, end: int, vocabulary: Iterable[str] = ()
) -> list[WordCandidate]:
    """Texts for the place of a word in the text of a line, likeliest first; the word itself is one of them.

    Args:
        text: The whole text; what stands beside the word is taken as right.
        start: The first character of the word, as a code point of the text.
        end: The character after its last one.
        vocabulary: Further words to rank, such as those that a person has confirmed nearby.
    """
    tokenizer, strategy, network = recognizer.model.tokenizer, recognizer.strategy, recognizer.network
    assert isinstance(strategy, CTC | Joint), "`encode_line` refuses others"
    before, word, after = (tuple(tokenizer.encode(part)) for part in (text[:start], text[start:end], text[end:]))
    rows = [view.scores.lines[0] for view in line]
    languages = WeightedLanguages(recognizer.model.languages, strategy.weights.language)
    search = LineSearch(rows, lambda scored: 0.0, languages, base=(*before, *word, *after))
    first: dict[Tokens, float] = {}  # by CTC head and n-grams
    scorers = [NetworkScorer(network, view.memory) for view in line] if isinstance(strategy, Joint) else []
    alone = LanguageScorer(network) if scorers and network.dimensions.rescores and languages.weight else None

    def rank(words: Iterable[Tokens], always: Collection[Tokens] = ()) -> None:
        """Score words in the place of the word; the decoder scores the most promising, and some `always`."""
        search.propose((*before, *one, *after) for one in words)
        scores = {tokens: by.ctc + languages.weight * by.language for tokens, by in search.waiting.items()}
        best = sorted(scores, key=scores.__getitem__, reverse=True)
        kept = [tokens for place, tokens in enumerate(best) if place < RESCORED or tokens in always]
        first.update((tokens, scores[tokens]) for tokens in kept)
        if scorers and kept:
            search.waiting = {tokens: search.waiting[tokens] for tokens in kept}
            search.add_scores(rescore(scorers, [kept], alone)[0])

    def score(tokens: Tokens) -> float:
        return strategy.quality(search.known[tokens]) if isinstance(strategy, Joint) else first[tokens]

    texts = {
        tokenizer.decode(tokens).strip()
        for scores in rows
        for tokens in proposed(scores, before, word, after, languages)
    }
    given = {text[start:end], *vocabulary}
    words = {one: tuple(tokenizer.encode(one)) for one in given | texts if one}
    rank(words.values(), {(*before, *words[one], *after) for one in given if one})
    for _ in range(ROUNDS if scorers else 0):
        best = sorted(first, key=score, reverse=True)[:FOLLOWED]
        rank(
            other[len(before) : len(other) - len(after)]
            for tokens in best
            for doubt in search.known[tokens].doubts
            if len(before) <= doubt.place <= len(tokens) - len(after)
            for change in changes_at(doubt, tokens)
            if len(before) <= change.start and change.end <= len(tokens) - len(after)
            for other in [changed(tokens, [change])]
        )
    most = max(map(score, first))
    shares = {tokens: exp(SHARPNESS * (score(tokens) - most)) for tokens in first}
    whole = sum(shares.values())
    found: dict[str, float] = {}
    for tokens, share in shares.items():
        one = tokenizer.decode(tokens[len(before) : len(tokens) - len(after)]).strip()
        found[one] = found.get(one, 0.0) + share / whole
    return sorted(
        (WordCandidate(*one) for one in found.items() if one[0]), key=lambda one: one.probability, reverse=True
    )


def proposed(
    scores: LogProbs, before: Tokens, word: Tokens, after: Tokens, languages: WeightedLanguages
) -> set[Tokens]:
    """What CTC head and n-grams may read between the neighbors of a word, white space at the ends included."""
    path = align(scores, (*before, *word, *after), PAD)
    left, right = len(before), len(before) + len(word)
    first = path.spans[left - 2][1] if left > 1 else 0
    last = path.spans[right + 1][0] if right + 1 < len(path.spans) else len(scores)
    return {
        text.tokens
        for model in (NO_LANGUAGE_MODEL, *languages.near(path.tokens))
        for text in prefix_search(scores[first:last], PAD, beams=PROPOSED, tokens_per_step=8, language_model=model)
        if text.log_probability > -inf
    }
