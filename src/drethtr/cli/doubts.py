"""The option `--doubts P`, whose number is optional.

Contexts are of click, or of the copy of it inside typer, as the version of typer has it: hence `Any`.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

NAME = "--doubts"

USUAL = 0.5
"""The number that is left out."""

Doubts = Annotated[
    float | None,
    typer.Option(
        NAME,
        metavar="P",
        min=0,
        max=1,
        help=f"Mark words that are right with a probability below P, {USUAL} if left out: in txt as \\[word?], and odd "
        "lines as \\[!kind: reason]; other formats mark words as they do.",
    ),
]


class WithDoubts(TyperCommand):
    """A command that takes `--doubts` without a number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(completed(args)))


def completed(arguments: Sequence[str]) -> Iterator[str]:
    """Arguments with the number that is left out: what follows `--doubts` may as well be a file."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for place, argument in enumerate(arguments):
        following = arguments[place + 1] if place + 1 < end else ""
        yield f"{NAME}={USUAL}" if place < end and argument == NAME and not is_number(following) else argument


def is_number(text: str) -> bool:
    """Whether a text is a number, sensible or not."""
    try:
        float(text)
    except ValueError:
        return False
    return True
