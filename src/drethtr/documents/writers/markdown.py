r"""Write Markdown: a paragraph per region, with doubts marked as in plain text.

The syntax is CommonMark. Text that looks like markup, including the extensions of GitHub and pandoc, is escaped. A line
break is written as `\` at the end of a row.
"""

import re
from collections.abc import Sequence

from drethtr.documents.document import Document
from drethtr.documents.markup import clean
from drethtr.documents.page import Region
from drethtr.documents.transcription import Transcription

SPECIAL = re.compile(r"[\\`*_\[\]<~|$^]|&(?=[#\w])")
"""Characters that are markup anywhere."""

START = re.compile(r"^(\d+(?=[.)])|(?=[-+#=:>]))")
"""Starts of lists, headings and quotations."""

LINK = re.compile(r"\](?=[(:])")
"""The end of a mark that, with what follows, would become a link."""


def write_markdown(document: Document) -> bytes:
    """Write all pages of a document; several pages have headings."""
    blocks = [f"<!-- {clean(str(document.provenance)).replace('>', '')} -->"]
    for title, page in zip(document.titles, document.pages, strict=True):
        if len(document.pages) > 1:
            blocks.append(f"# {escaped(title)}")
        blocks += filter(None, map(paragraph, page.blocks))
    return ("\n\n".join(blocks) + "\n").encode("utf-8", "replace")


def paragraph(block: Sequence[Region]) -> str:
    """The lines of a region or table that have text or flags."""
    lines = (line for region in block for line in region.lines)
    texts = (marked(line.transcription) for line in lines if line.transcription is not None)
    return "\\\n".join(text for text in texts if text)


def marked(line: Transcription) -> str:
    """The text of a line with doubtful words as `[word?]`, followed by its flags as `[!kind: reason]`."""
    parts = (
        f"[{escaped(part)}?]" if word is not None and word.doubtful else escaped(part) for part, word in line.parts
    )
    text = " ".join(["".join(parts).strip(), *(f"[!{escaped(str(flag))}]" for flag in line.flags)])
    return START.sub(r"\1\\", LINK.sub(r"]\\", text.strip()))


def escaped(text: str) -> str:
    """Escape text that looks like markup."""
    return SPECIAL.sub(r"\\\g<0>", clean(text))
