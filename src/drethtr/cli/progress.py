"""Messages of commands while they read: progress bars, skipped inputs, and a summary of doubts."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError, or_error
from drethtr.base.wording import counted, first_of
from drethtr.cli.screen import shown

if TYPE_CHECKING:
    from drethtr.datasets.layouts.pages import Pages
    from drethtr.datasets.sample import Sample, Tally
    from drethtr.evaluation.reading import ScoredLine
    from drethtr.pages.events import DoubtCounts
    from drethtr.recognition.recognizer import Recognizer

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells."""

CONTINUE = "stopped; run the same command to continue"
RESUME = "stopped; run the same command with --resume to continue"
START_OVER = (
    "stopped before the first snapshot, so there is nothing to continue; run the same command with --resume to start "
    "over"
)

SHOWN_PAGES = 5
"""Maximum number of pages to name in a sentence about them."""


@contextmanager
def stopping(words: str) -> Iterator[None]:
    """Print these words after Ctrl-C, and exit."""
    try:
        yield
    except KeyboardInterrupt:
        say(words)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def stopping_run(folder: Path) -> Iterator[None]:
    """`stopping` a training in a folder: it can be continued only from a snapshot."""
    from drethtr.training.loop import SNAPSHOT

    try:
        yield
    except KeyboardInterrupt:
        with stopping(RESUME if any(folder.rglob(SNAPSHOT)) else START_OVER):
            raise


def say(words: str) -> None:
    """Print a message without breaking a progress bar. It may contain file names that we did not choose."""
    from tqdm import tqdm

    tqdm.write(shown(as_given(words)), file=sys.stderr)


def report_skipped(error: DataError) -> None:
    """Report an input that was skipped, and why."""
    say(f"drethtr: {error}")


def remarks_of(tally: "Tally", shown: int = SHOWN_PAGES) -> Iterator[str]:
    """How irregular data were interpreted so that their lines could be used, with the first pages or passages."""
    for what, places in tally.remarks.items():
        rows = [as_given(place) + (f": {number:,} lines" if number > 1 else "") for place, number in places.items()]
        yield from listed(f"{what}:", rows, shown)


def left_out_of(tally: "Tally", shown: int = SHOWN_PAGES) -> Iterator[str]:
    """What was left out and why, with the first of each reason."""
    for reason, keys in tally.left_out.items():
        yield from listed(f"{len(keys):,} left out, {reason}:", list(map(as_given, keys)), shown)


def listed(heading: str, rows: Sequence[str], shown: int) -> Iterator[str]:
    """A heading, the first rows below it, and how many more there are."""
    yield heading
    yield from (f"  {row}" for row in rows[:shown])
    if len(rows) > shown:
        yield f"  and {len(rows) - shown:,} more"


def open_lines(data: "Sequence[str]", pages: "Pages | None" = None, *, count_unclean: bool = True) -> "list[Sample]":
    """Open transcribed lines, see `datasets.open.open_all`.

    Reports how irregular data were interpreted, how many lines repeat an image, and how many are left out as not clean.

    Raises:
        DataError: if they cannot be opened, or there are none.
    """
    from drethtr.base.urls import identity
    from drethtr.datasets.open import AS_FOUND, open_all

    samples = open_all(data, pages or AS_FOUND)
    report_remarks(samples)
    images = [identity(str(sample.image)) for sample in samples if isinstance(sample.image, Path)]
    if again := len(images) - len(set(images)):
        say(f"{again:,} of {len(samples):,} lines repeat the image of another; give each image once")
    if count_unclean and (unclean := sum(not sample.clean for sample in samples)):
        say(f"{unclean:,} of {len(samples):,} lines left out because of editorial marks or uncertain letters")
    return samples


def open_untranscribed(inputs: "Sequence[str]", pages: "Pages") -> "list[Sample]":
    """The lines of the inputs, with or without text, see `lines_to_read`; reports what was left out.

    Raises:
        DataError: if there are none.
    """
    from drethtr.datasets.sample import Tally
    from drethtr.evaluation.untranscribed import lines_to_read

    tally = Tally()
    try:
        found = lines_to_read(inputs, tally.count, pages)
    finally:  # if no line is left, this says why
        for words in left_out_of(tally):
            say(words)
    report_remarks(found)
    return found


def report_remarks(samples: "Iterable[Sample]") -> None:
    """Report how irregular data were interpreted, see `remarks_of`."""
    from drethtr.datasets.sample import Tally

    tally = Tally()
    for sample in samples:
        tally.count(sample)
    for words in remarks_of(tally):
        say(words)


def usable_samples(recognizer: "Recognizer", samples: "Sequence[Sample]") -> "list[Sample]":
    """The samples whose images can be used; others are reported. For samples that are read many times."""
    from drethtr.datasets.sample import open_sample

    usable = []
    for sample in samples:
        found = or_error(open_sample, recognizer, sample)
        if isinstance(found, DataError):
            report_skipped(found)
        else:
            usable.append(sample)
    return usable


def exit_if_left_out(wanted: "Sequence[Sample]", used: "Sequence[Sample | ScoredLine]") -> None:
    """Exit with code 1 if not all of the wanted samples were used.

    Raises:
        Exit: if so.
    """
    if len(used) < len(wanted):
        raise typer.Exit(1)


def read_usable(recognizer: "Recognizer", samples: "Sequence[Sample]", name: str | None = None) -> "list[ScoredLine]":
    """Read lines with a progress bar, labeled with `name`; those whose images cannot be used are reported."""
    from tqdm import tqdm

    from drethtr.evaluation.reading import read_each

    lines = []
    with tqdm(total=len(samples), unit="line", desc=name, disable=None) as bar:
        for found in read_each(recognizer, samples, bar.update):
            if isinstance(found, DataError):
                report_skipped(found)
            else:
                lines.append(found)
    return lines


def unknown_hands_text(pages: Sequence[str], of: int) -> str:
    """A sentence about pages in hands that the model does not know, of `of` pages read, and the cure.

    Without pages, it is about all lines together: each page may have too few of them to tell.
    """
    from drethtr.pages.flags import CURE

    number = f"{len(pages):,} of {counted(of, 'page')}" if of > 1 else "this page"
    which = f"{number} ({first_of(pages, SHOWN_PAGES)})" if pages else "these lines"
    return f"The model does not know the hand, or the language, of {which}: {CURE}."


def doubts_text(doubts: "DoubtCounts") -> str:
    """A one-line summary of doubtful words, flagged lines, and lines that were not read."""
    if doubts.lines:
        basis = " by uncalibrated confidences" if doubts.uncalibrated else ""
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(doubts.kinds.items()))
        flagged = f"{doubts.flagged:,} of {counted(doubts.lines, 'line')} flagged" + (f" ({kinds})" if kinds else "")
        found = f"{doubts.doubtful:,} of {counted(doubts.words, 'word')} doubtful{basis}, {flagged}"
    else:
        kept = f": {doubts.kept:,} have text, which --force would replace" if doubts.kept else ""
        found = f"no line was read{kept}"
    if doubts.reviewed:
        found += f"; kept {counted(doubts.reviewed, 'line')} that a person corrected or confirmed"
    return found
