"""Write a page for browsers: scan and text side by side, in one self-contained file.

Words are shaded by grade, doubtful ones underlined, and flags follow their lines. The line under the mouse is
highlighted in both, and a slider sets the confidence below which words are shaded.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

from drethtr.documents.document import Document
from drethtr.documents.html import jpeg_uri, tooltip
from drethtr.documents.page import Page, TextLine
from drethtr.documents.points import written
from drethtr.documents.transcription import MIN_CONFIDENCE, SHADES, UNDERLINE, Grade, PageWord

TEMPLATE = Path(__file__).with_name("view.html")
MAX_SIZE = (1800, 1800)
"""Width and height of the scan at most: large enough for reading on a screen."""


def write_view(document: Document) -> bytes:
    """Write a single-page document."""
    [sheet] = document.sheets
    page = sheet.page
    numbers = {line.id: number for number, line in enumerate(page.lines)}
    filled = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(page.image),
        made_by=escape(str(document.provenance)),
        summary=summary(page),
        legend=" ".join(map(legend, MIN_CONFIDENCE)),
        underline=UNDERLINE,
        **SHADES,
        most=f"{MIN_CONFIDENCE[Grade.CERTAIN]:g}",
        width=page.width,
        height=page.height,
        scan=jpeg_uri(sheet.scan.load(), MAX_SIZE),
        places="\n".join(place(line, numbers[line.id]) for line in page.lines),
        texts="\n".join(texts(page, numbers)),
    )
    return filled.encode("utf-8", "replace")


def summary(page: Page) -> str:
    """The number of lines, doubtful words and flagged lines."""
    doubtful = sum(word.doubtful for line in page.lines for word in line.words)
    flagged = sum(bool(line.flags) for line in page.lines)
    return f"lines: {len(page.lines)}, doubtful words: {doubtful}, flagged lines: {flagged}"


def legend(grade: Grade) -> str:
    """The name of a grade in its shade, with its lowest probability."""
    least = f" from {100 * MIN_CONFIDENCE[grade]:.0f} %" if MIN_CONFIDENCE[grade] else ""
    return f'<span class="{grade}">{grade}</span>{least}'


def place(line: TextLine, number: int) -> str:
    """The outline of a line on the scan; "" if its position is unknown."""
    box = line.box
    polygon = line.polygon or (box and box.polygon())
    return f'<polygon data-line="{number}" points="{written(polygon)}"/>' if polygon else ""


def texts(page: Page, numbers: dict[str, int]) -> Iterator[str]:
    """The lines beside the scan, grouped by region or table."""
    for block in page.blocks:
        yield '<div class="region">'
        for line in (line for region in block for line in region.lines):
            flags = (f'<span class="flag">{escape(str(flag))}</span>' for flag in line.flags)
            content = " ".join([*(map(marked, line.words) if line.words else [escape(line.text)]), *flags])
            yield f'<span class="line" data-line="{numbers[line.id]}">{content}</span>'
        yield "</div>"


def marked(word: PageWord) -> str:
    """A word with its confidence as a tooltip, shaded by grade and underlined if doubtful."""
    grade = Grade.of(word.confidence)
    classes = [grade] * (grade is not Grade.CERTAIN) + ["doubtful"] * word.doubtful
    looks = f' class="{" ".join(classes)}"' if classes else ""
    moved = f' data-sure="{word.confidence:.4f}"' if grade is not Grade.CERTAIN else ""
    return f"<span{looks}{tooltip(word.confidence)}{moved}>{escape(word.text)}</span>"
