"""A report for people: every doubtful word with its strip of ink, least likely first."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from PIL import Image

from drethtr.base.wording import counted
from drethtr.datasets.sample import Sample
from drethtr.documents.html import jpeg_uri
from drethtr.documents.points import Box
from drethtr.images.line import Line
from drethtr.proofreading.check import Kind
from drethtr.proofreading.fit import OVERLOOKED
from drethtr.proofreading.proof import PageProof, ProofLine, ProofWord

TEMPLATE = Path(__file__).with_name("report.html")

SHOWN = 500
"""Maximum doubtful words in a report."""

MAX_SIZE = (1200, 1200)
"""Maximum width and height of a strip in pixels."""

MARGIN = 0.2
"""Margin of the page around a line, relative to its height."""

Strips = Mapping[int, tuple[Line, Box]]
"""The picture of each line and its place on the page, by the number of the line."""


def summary(lines: Sequence[ProofLine]) -> str:
    """Numbers of checked words, and of doubtful words by kind."""
    words = [word.checked for line in lines for word in line.words]
    given = sum(bool(word.text) for word in words)
    kinds = {kind: sum(word.kind is kind for word in words) for kind in Kind if kind is not Kind.SUPPORTED}
    found = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number)
    number = sum(line.line is not None for line in lines)
    return f"{counted(given, 'word')}, {counted(number, 'line')}: {found or 'no doubtful word'}"


def caution() -> str:
    """The measured shares of errors that a check misses."""
    rates = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in OVERLOOKED.items())
    return f"Nothing here is verified. Of errors in collections that the model has never seen, it overlooks: {rates}."


def ranked(lines: Sequence[ProofLine]) -> list[tuple[int, ProofWord]]:
    """The doubtful words, least likely first, with the numbers of their lines."""
    found = [(number, word) for number, line in enumerate(lines) for word in line.doubts]
    return sorted(found, key=lambda pair: pair[1].checked.probability)


def write_report(lines: Sequence[ProofLine], strips: Strips, title: str, made_by: str) -> str:
    """The report as one HTML file without external resources.

    Args:
        lines: All lines that were checked.
        strips: As from `page_strips` or `row_strips`.
    """
    words = ranked(lines)
    shown = words[:SHOWN]
    more = f" The first {SHOWN} of {len(words):,} are shown." if len(words) > SHOWN else ""
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        summary=escape(f"{summary(lines)}. {caution()}{more}"),
        rows="\n".join(row(lines[number], word, strips.get(number)) for number, word in shown),
        footer=escape(made_by),
    )


def doubted(lines: Sequence[ProofLine]) -> list[int]:
    """The numbers of the lines that a report shows."""
    return sorted({number for number, _ in ranked(lines)[:SHOWN]})


def page_strips(lines: Sequence[ProofLine], pages: Sequence[PageProof]) -> dict[int, tuple[Line, Box]]:
    """The pictures of doubtful lines, cut from their scans; each page is opened once."""
    # By identity: two lines may be equal, and each has its own place.
    wanted, numbers = set(doubted(lines)), {id(line): number for number, line in enumerate(lines)}
    found = {}
    for proof in pages:
        boxes = {line.id: line.box for line in proof.page.lines}
        of_page = [line for line in proof.lines if numbers[id(line)] in wanted and boxes[str(line.line)]]
        if not of_page:
            continue
        gray = proof.original.source.gray()
        for line in of_page:
            box = boxes[str(line.line)]
            assert box is not None
            around = round(MARGIN * box.height)
            left, top = max(box.left - around, 0), max(box.top - around, 0)
            part = gray[top : box.bottom + around, left : box.right + around]
            if part.size:
                found[numbers[id(line)]] = (part, Box(left, top, left + part.shape[1], top + part.shape[0]))
    return found


def row_strips(lines: Sequence[ProofLine], samples: Sequence[Sample]) -> dict[int, tuple[Line, Box]]:
    """The images of doubtful lines of a table."""
    found = {}
    for number in doubted(lines):
        row = lines[number].line
        assert isinstance(row, int)
        image = samples[row].line()
        found[number] = (image, Box(0, 0, image.shape[1], image.shape[0]))
    return found


def row(line: ProofLine, word: ProofWord, strip: tuple[Line, Box] | None) -> str:
    """One doubtful word."""
    checked = word.checked
    place = f"{line.page}, line {line.line}" if line.line is not None else "not on any line"
    verdict = [f"<b>{checked.probability:.3f}</b>", f"<span>{checked.kind}: {escape(checked.reason)}</span>"]
    return (
        f"<li>{picture(word, strip)}<div class=verdict>{''.join(verdict)}</div>"
        f"<div>{' '.join(marked(line, word))}</div><div class=place>{escape(place)}</div></li>"
    )


def marked(line: ProofLine, doubtful: ProofWord) -> Iterator[str]:
    """The words of a line with one marked; missing words are marked by an ellipsis."""
    for word in line.words if line.line is not None else (doubtful,):
        if word is doubtful:
            yield f"<mark>{escape(word.checked.text) or '…'}</mark>"
        elif word.checked.text:
            yield escape(word.checked.text)


def picture(word: ProofWord, strip: tuple[Line, Box] | None) -> str:
    """The strip with a frame around the word."""
    if strip is None:
        return ""
    image, place = strip
    frame = ""
    if (box := word.box) is not None and place.width and place.height:
        left, top = (box.left - place.left) / place.width, (box.top - place.top) / place.height
        width, height = box.width / place.width, box.height / place.height
        frame = f'<span style="left:{left:.2%};top:{top:.2%};width:{width:.2%};height:{height:.2%}"></span>'
    return f'<div class=strip><img alt="" src="{jpeg_uri(Image.fromarray(image), MAX_SIZE)}">{frame}</div>'
