"""`drethtr search`: find lines that may contain a query, the most probable first."""

import csv
import json
import shlex
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from drethtr.base.errors import ConfigError
from drethtr.base.wording import counted
from drethtr.cli.options import threads_option
from drethtr.cli.outputs import refuse_ending, refuse_results
from drethtr.cli.screen import echo, shown
from drethtr.search.index import LEAST, LIMIT, Hit, open_index
from drethtr.search.query import unclosed


class WithMinus(TyperCommand):
    """A command whose query may begin with a minus; if two dashes are missing before it, the error says so.

    Click contexts are typed `Any`, since some versions of typer use their own copy of click.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)  # as parsing takes from it
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            name = getattr(error, "option_name", None)
            taken = [part for part in given if name and part.startswith(name) and not part.startswith("--")]
            if not taken:
                raise
            raise ConfigError(
                f"no such option: {name}; put two dashes before a query that begins with a minus: "
                f"drethtr search INDEX -- {shlex.quote(taken[0])}"
            ) from error


COLUMNS = ("probability", "page", "number", "line", "left", "top", "right", "bottom", "text", "snippet")

app = typer.Typer(add_completion=False)


@app.command(cls=WithMinus)
def search(
    index: Annotated[
        str, typer.Argument(metavar="INDEX", help="An index from drethtr index: a file, or postgresql://…")
    ],
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='Words; "a phrase", A OR B, -not, pref*, *suffix, ? for a letter, ~ for a word one edit away.',
        ),
    ],
    least: Annotated[
        float, typer.Option("--min", metavar="P", min=0, max=1, help="Show only hits with at least this probability.")
    ] = LEAST,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Show at most N hits.")] = LIMIT,
    strict: Annotated[
        bool, typer.Option("--strict", help="Distinguish case, accents and older spellings (u/v, i/j, ſ/s …).")
    ] = False,
    pages: Annotated[
        bool, typer.Option("--pages", help="Apply AND, OR and -not to pages instead of lines; one hit per page.")
    ] = False,
    image: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw the lines with the words marked (.png or .svg).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table.")] = False,
    threads: Annotated[
        int | None,
        threads_option("Threads to search with; default: one per free processor."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing picture.")] = False,
) -> None:
    """Find words in handwriting, even where they were misread; every hit has a probability.

    Put two dashes before a query that begins with a minus: drethtr search INDEX -- -not this.
    """
    if as_json and as_csv:
        raise ConfigError("give --json or --csv, not both")
    refuse_ending(image, ".png", ".svg")
    refuse_results(image, force=force)
    words = " ".join(query)
    with open_index(index, threads=threads) as opened:
        hits = opened.search(words, strict=strict, whole_pages=pages, least=least, limit=limit)
        _, lines = opened.size
        unknown = ", ".join(opened.unknown(words, strict=strict))
    if as_json:
        echo(json.dumps([hit.to_json() for hit in hits], ensure_ascii=False, indent=1))
    elif as_csv:
        echo(table(hits), nl=False)
    else:
        for hit in hits:
            echo(shown(row(hit)))
    if image is not None and hits:
        from drethtr.pictures.hits import draw_hits  # a search without a picture starts without Pillow

        draw_hits(hits).save(image)
    if (phrase := unclosed(words)) is not None:
        echo(f'a quotation mark is not closed; searched for the phrase "{phrase}"', err=True)
    if unknown:
        echo(f"not in the model's alphabet, so only found in text written by a person: {unknown}", err=True)
    echo(summary(hits, lines, least, limit, pages=pages), err=True)


def row(hit: Hit) -> str:
    """A hit as text."""
    number = f" page {hit.number}" if hit.number > 1 else ""
    return f"{hit.probability:4.2f}  {hit.file}{number} {hit.line}  {hit.snippet}"


def table(hits: Sequence[Hit]) -> str:
    """Hits as CSV, without formulas for spreadsheets."""
    from drethtr.documents.writers.table import safe

    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for hit in hits:
        where = (f"{hit.probability:.4f}", safe(hit.file), hit.number, safe(hit.line))
        writer.writerow((*where, *hit.box, safe(hit.text), safe(hit.snippet)))
    return written.getvalue()


def summary(hits: Sequence[Hit], lines: int, least: float, limit: int, *, pages: bool) -> str:
    """The number of hits, and how many of them should be correct."""
    if not hits:
        more = f"; --min {least / 10:g} may find more" if least else ""
        return f"no hit with a probability of at least {least:g} in {counted(lines, 'line')}{more}"
    right = sum(hit.probability for hit in hits)
    found = counted(len(hits), "page" if pages else "line")
    more = f"; --limit {2 * limit} may show more" if len(hits) == limit else ""
    return f"{found} in an index of {lines:,} lines; about {right:.0f} should be correct{more}"
