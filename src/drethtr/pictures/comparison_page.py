"""The HTML report of `drethtr model compare`, in one self-contained file."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from PIL import Image
from rapidfuzz.distance import Levenshtein

from drethtr.documents.html import jpeg_uri
from drethtr.evaluation.compare import (
    CONVENTION,
    ComparedLine,
    Comparison,
    Difference,
    Side,
    confidence_rows,
    shown,
    without_text,
)
from drethtr.text.normalize import for_scoring

MAX_SIZE = (2560, 64)
"""Width and height of the image of a line at most, in pixels."""

CONFUSIONS, ROWS = 42, 14  # number shown, and rows per table
SIDES = '<span class="key">B better ← → A better</span>'

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: .6rem 0; } th, td { padding: .15rem .7rem; text-align: right; }
th { border-bottom: 1px solid #999; font-weight: 600; } th:first-child, td:first-child { text-align: left; }
th:last-child { text-align: center; } svg { display: block; } .beside { display: flex; gap: 3rem; flex-wrap: wrap; }
.line { margin: 1.1rem 0; border-top: 1px solid #ddd; padding-top: .6rem; } .line img { max-width: 100%; }
.line p { margin: .1rem 0; } .who { display: inline-block; width: 3.4rem; color: #777; }
.key { color: #777; font-size: .85rem; } del { background: #fbd5d5; }
ins { background: #fde3b3; text-decoration: none; } .note { color: #555; max-width: 50rem; }
"""


def comparison_page(found: Comparison, a: Side, b: Side, *, lines: int) -> str:
    """The whole report, with the `lines` lines on which A and B differ most."""
    differing = [line for line in found.lines if line.edits_a != line.edits_b]
    title = f"{escape(a.name)} against {escape(b.name)}"
    parts = [
        f"<h1>{title}</h1>",
        f"<p>A is {escape(str(a))}.</p><p>B is {escape(str(b))}.</p>",
        f"<p>{found.cer.lines:,} lines. <b>CER: {found.cer.verdict}.</b></p>",
        differences("All lines", (found.cer, found.wer)),
        f'<p class="note">{escape(CONVENTION)}</p>',
        *([f'<p class="note">{without_text(found)}</p>'] if found.empty else []),
        "<h2>CER by set</h2>" + differences("set", found.sets),
        "<h2>CER by length of the text</h2>" + differences("characters", found.lengths),
        "<h2>CER by confidence</h2>" + confidences(found),
        "<h2>Confusions</h2>" + confusions(found),
        f"<h2>Lines on which A and B differ most</h2><p>{min(lines, len(differing))} of {len(differing):,}. "
        "<del>Red, struck out</del>: in the text, but not read. <ins>Yellow</ins>: read, but not in the text.</p>",
        *(line_part(line) for line in islice(differing, lines)),
    ]
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table; cells are HTML."""
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def differences(title: str, rows: Sequence[Difference]) -> str:
    """A table of rates of A and B and their differences, with intervals in figures and drawn."""
    widest = max((abs(edge) for row in rows if row.sure for edge in (row.low, row.high)), default=0) or 1
    return table(
        (title, "lines", "A %", "B %", "B − A", "95 % interval", SIDES),
        (
            (
                escape(row.name),
                f"{row.lines:,}",
                f"{100 * row.a:.2f}",
                f"{100 * row.b:.2f}",
                f"{100 * row.difference:+.2f}",
                f"[{100 * row.low:+.2f}, {100 * row.high:+.2f}]" if row.sure else "",
                bar(row, widest) if row.sure else "",
            )
            for row in rows
        ),
    )


def bar(row: Difference, widest: float) -> str:
    """The interval as a bar: green if B is better, red if A is, gray if undecided."""
    left, middle, right = (120 + 110 * value / widest for value in (row.low, row.difference, row.high))
    color = {"B is better": "#2a7f4f", "A is better": "#b03030"}.get(row.verdict, "#888")
    return (
        '<svg width="240" height="14"><line x1="120" x2="120" y1="0" y2="14" stroke="#bbb"/>'
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="7" y2="7" stroke="{color}" stroke-width="3"/>'
        f'<circle cx="{middle:.1f}" cy="7" r="4" fill="{color}"/></svg>'
    )


def confidences(found: Comparison) -> str:
    """A table of the CER of both by confidence."""
    return table(("confidence", "lines A", "CER A %", "lines B", "CER B %"), confidence_rows(found))


def confusions(found: Comparison) -> str:
    """The most frequent confusions of both, in tables side by side."""
    rows = [
        (escape(shown(one.written)), escape(shown(one.read)), f"{one.a:,}", f"{one.b:,}")
        for one in islice(found.confusions, CONFUSIONS)
    ]
    tables = (table(("written", "read", "A", "B"), rows[first : first + ROWS]) for first in range(0, len(rows), ROWS))
    return f'<div class="beside">{"".join(tables)}</div>'


def line_part(line: ComparedLine) -> str:
    """The image of a line above its text and both readings."""
    text, a, b = line.sample.text, line.a.reading, line.b.reading
    return (
        f'<div class="line"><img src="{jpeg_uri(Image.fromarray(line.sample.line()), MAX_SIZE)}" alt="">'
        f'<p><span class="who">text</span>{escape(text)}</p>'
        f'<p><span class="who">A, {line.edits_a}</span>{marked(text, a.text)}</p>'
        f'<p><span class="who">B, {line.edits_b}</span>{marked(text, b.text)}</p>'
        f'<p class="key">{escape(line.sample.key)}; confidence A {a.confidence:.2f}, B {b.confidence:.2f}</p>'
        "</div>"
    )


def marked(text: str, read: str) -> str:
    """A reading with its differences from the text marked."""
    text, read = for_scoring(text), for_scoring(read)
    parts = []
    for step in Levenshtein.opcodes(text, read):
        written, found = text[step.src_start : step.src_end], read[step.dest_start : step.dest_end]
        if step.tag == "equal":
            parts.append(escape(found))
            continue
        parts.append(f"<del>{escape(written)}</del>" if written else "")
        parts.append(f"<ins>{escape(found)}</ins>" if found else "")
    return "".join(parts)
