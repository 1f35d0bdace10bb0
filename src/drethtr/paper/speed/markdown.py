"""Markdown tables."""

from collections.abc import Sequence


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table with aligned columns."""
    widths = [max(3, *(len(row[column]) for row in [head, *rows])) for column in range(len(head))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| " + " | ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [head, rule, *rows]
    )
