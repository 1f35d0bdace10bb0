"""Flags of a page as a whole: its layout is doubtful, or the model does not know its hand."""

from collections.abc import Iterable
from dataclasses import replace

from drethtr.documents.page import Page, TextLine
from drethtr.documents.transcription import PageFlag
from drethtr.recognition.confidence.error_rate import ErrorRate, TotalDoubt

LAYOUT, UNKNOWN_HAND = "layout", "unknown-hand"
"""The kinds of these flags."""

CURE = "confirm about 60 lines of it in drethtr edit, and run drethtr model finetune"
"""Fine-tuning on sixty lines of a new hand removed a third of its errors; on fifty lines of another, a sixth."""


def flagged(line: TextLine, flag: PageFlag) -> TextLine:
    """A line with one more flag, if it was read."""
    text = line.transcription
    return line if text is None else replace(line, transcription=replace(text, flags=(*text.flags, flag)))


def doubt_in(lines: Iterable[TextLine]) -> TotalDoubt:
    """The doubt in lines that were read; those without confidence are left out."""
    sure = [(line.confidence, line.text) for line in lines if line.confidence is not None]
    return TotalDoubt(
        sum(((1 - confidence) * len(text) for confidence, text in sure), 0.0),
        sum(len(text) for _, text in sure),
        len(sure),
        sum(not text for _, text in sure),
    )


def page_flags(lines: Iterable[TextLine], rate: ErrorRate | None) -> tuple[PageFlag, ...]:
    """The flags of a page as a whole, from its lines that no person has touched; none if `rate` is unknown."""
    read = doubt_in(line for line in lines if not line.is_reviewed)
    if rate is None or not rate.unknown_hand(read):
        return ()
    return (PageFlag(UNKNOWN_HAND, f"about {100 * rate(read).cer:.0f} % of the characters are probably wrong; {CURE}"),)


def has_unknown_hand(page: Page) -> bool:
    """Whether a page is flagged as in an unknown hand."""
    return any(flag.kind == UNKNOWN_HAND for flag in page.flags)
