"""Compare our figures with the paper's, with the uncertainty from seeds and test lines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import mean, stdev
from typing import NamedTuple

from drethtr.evaluation.compare import Difference, paired
from drethtr.evaluation.metrics import Counts, bootstrap
from drethtr.paper.speed.report import markdown_table
from drethtr.paper.tables.result import CER, LINES, MEASURES, NATS, PARAMETERS, LineResult, Result
from drethtr.paper.tables.table import PaperTable, TableRow


def thousandths(line: LineResult) -> Counts:
    """Nats in thousandths, since `bootstrap` and `paired` take whole numbers."""
    return Counts(edits=round(1000 * line.nats_per_character.part), characters=line.nats_per_character.whole)


class Rate(NamedTuple):
    """A measure with intervals: the contribution of a test line, and a display factor."""

    of_line: Callable[[LineResult], Counts]
    shown: float


RATES = {CER: Rate(lambda line: line.counts, 100), NATS: Rate(thousandths, 1e-3)}
"""The measures that have intervals."""
DECIMALS = {LINES: 0, NATS: 3}
"""Decimals of measures with other than two."""
WITHOUT_DEVIATION = {LINES, PARAMETERS}
"""Measures that do not depend on the seed."""
CONVENTION = (
    "CER: edits / characters of all test lines; mean ± standard deviation over seeds; in brackets the 95 % interval "
    "of a bootstrap over pages, or lines of unknown page, all seeds together. Mean of batches: the paper's own "
    "measure, the mean CER of batches of 16 lines. Nats per character: negative log-likelihood of the correct text "
    "with teacher forcing. Models were selected on validation lines."
)


@dataclass(frozen=True)
class Measured:
    """A row with its results, one per seed, possibly none."""

    row: TableRow
    results: Sequence[Result]

    def counts(self, measure: str) -> list[Counts]:
        """The contribution of each test line to one of the `RATES`, summed over seeds."""
        by_seed = [map(RATES[measure].of_line, result.outcome.lines) for result in self.results]
        return [sum(of_line, Counts()) for of_line in zip(*by_seed, strict=True)]

    @property
    def pages(self) -> list[str]:
        """The page of each test line."""
        return [line.page for line in self.results[0].outcome.lines] if self.results else []

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Page and text of each test line, which identify lines even if files have moved."""
        return [(line.page, line.text) for result in self.results[:1] for line in result.outcome.lines]

    def values(self, measure: str) -> list[float]:
        """The figure of each seed."""
        return [r.outcome.figures[measure] for r in self.results if measure in r.outcome.figures]


@dataclass(frozen=True)
class ResultTable:
    """A table of text with notes."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]

    def markdown(self) -> str:
        """The table in Markdown."""
        table = markdown_table(self.head, self.rows)
        return "\n".join([f"## {self.title}", "", table, *(f"\n{note}" for note in self.notes)])

    def html(self) -> str:
        """The table in HTML."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.head)
        rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows]
        body = "\n".join(f"<tr>{row}</tr>" for row in [head, *rows])
        notes = "\n".join(f"<p class='note'>{escape(note)}</p>" for note in self.notes)
        return f"<h2>{escape(self.title)}</h2>\n<table>\n{body}\n</table>\n{notes}"


def sheet(table: PaperTable, results: Mapping[str, Sequence[Result]]) -> ResultTable:
    """Format all rows of a table; rows without results have the paper's figures only."""
    measured = [Measured(row, results.get(row.name, ())) for row in table.rows]
    shown = [m for m in MEASURES if any(one.values(m) or m in one.row.paper for one in measured)]
    read = any(one.pages for one in measured)
    head = ["", "seeds"]
    for measure in shown:
        head += [measure, *(["paper"] if published(measure, table) else [])]
        head += ["minus first row"] if measure in RATES else []
    rows = [cells(one, measured[0], shown, table) for one in measured]
    return ResultTable(f"{table.title} ({table.source})", head, rows, [*table.notes, *([CONVENTION] if read else [])])


def published(measure: str, table: PaperTable) -> bool:
    """Whether the paper gives this measure for any row."""
    return any(measure in row.paper for row in table.rows)


def cells(one: Measured, first: Measured, shown: Sequence[str], table: PaperTable) -> list[str]:
    """The cells of a row."""
    found = [one.row.name, str(len(one.results) or "")]
    for measure in shown:
        found.append(ours(one, measure))
        if published(measure, table):
            found.append(f"{one.row.paper[measure]:g}" if measure in one.row.paper else "")
        if measure in RATES:
            found.append(difference_text(one, first, measure))
    return found


def ours(one: Measured, measure: str) -> str:
    """Our figure: the mean over seeds, the standard deviation, and the interval of a rate."""
    values = one.values(measure)
    if not values:
        return ""
    text = number(mean(values), measure)
    if len(values) > 1 and measure not in WITHOUT_DEVIATION:
        text += f" ± {number(stdev(values), measure)}"
    if measure in RATES and one.pages:
        rates, shown = bootstrap(one.counts(measure), one.pages), RATES[measure].shown
        if rates.sure:
            text += f" [{number(shown * rates.cer_low, measure)}, {number(shown * rates.cer_high, measure)}]"
    return text


def difference_text(one: Measured, first: Measured, measure: str) -> str:
    """The difference from the first row's rate, with the interval of a paired bootstrap over pages."""
    found = difference(one, first, measure)
    if found is None:
        return ""
    places, shown = DECIMALS.get(measure, 2), RATES[measure].shown
    middle, low, high = (f"{shown * value:+.{places}f}" for value in (found.difference, found.low, found.high))
    return f"{middle} [{low}, {high}]" if found.sure else middle


def difference(one: Measured, first: Measured, measure: str) -> Difference | None:
    """The paired difference; None unless both rows have the same lines and number of seeds."""
    if one is first or not one.pages or one.texts != first.texts or len(one.results) != len(first.results):
        return None
    return paired(first.counts(measure), one.counts(measure), one.pages)


def number(value: float, measure: str) -> str:
    """A figure as text."""
    places = DECIMALS.get(measure, 2 if value < 100 else 1)
    return f"{value:,.{places}f}"
