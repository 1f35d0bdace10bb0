"""The option `--doubts P`, whose number is optional.

Click contexts are typed `Any`, since some versions of typer use their own copy of click.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

NAME = "--doubts"

USUAL = 0.5
"""The default number."""

Doubts = Annotated[
    float | None,
    typer.Option(
        NAME,
        metavar="P",
        min=0,
        max=1,
        help=f"Mark words whose probability of being right is below P (default: {USUAL}): in txt as \\[word?], and "
        "flagged lines as \\[!kind: reason]; other formats have their own marks.",
    ),
]


class WithDoubts(TyperCommand):
    """A command that accepts `--doubts` without a number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(completed(args)))


def completed(arguments: Sequence[str]) -> Iterator[str]:
    """Insert the default number where `--doubts` is not followed by one; the next argument may be a file."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for place, argument in enumerate(arguments):
        following = arguments[place + 1] if place + 1 < end else ""
        yield f"{NAME}={USUAL}" if place < end and argument == NAME and not is_number(following) else argument


def is_number(text: str) -> bool:
    """Whether a text is a number, valid for the option or not."""
    try:
        float(text)
    except ValueError:
        return False
    return True
