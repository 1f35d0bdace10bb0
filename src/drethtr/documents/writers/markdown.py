r"""Write Markdown: a paragraph per region with its lines, doubts marked as in text.

The syntax is CommonMark. What looks like markup in a text is escaped, also that of the extensions of GitHub and pandoc;
a line ends with `\`, which breaks it.
"""

import re

from drethtr.documents.document import Document
from drethtr.documents.markup import clean
from drethtr.documents.page import Region, Transcription

SPECIAL = re.compile(r"[\\`*_\[\]<~|$^]|&(?=[#\w])")
"""What means something wherever it stands."""

START = re.compile(r"^(\d+(?=[.)])|(?=[-+#=:>]))")
"""What makes a list, a heading or a quotation at the start of a line."""

LINK = re.compile(r"\](?=[(:])")
"""A mark that would become a link with what follows."""


def write_markdown(document: Document) -> bytes:
    """Write all pages of a document; each has a heading if there are several."""
    blocks = [f"<!-- {clean(str(document.provenance)).replace('>', '')} -->"]
    for title, page in zip(document.titles, document.pages, strict=True):
        if len(document.pages) > 1:
            blocks.append(f"# {escaped(title)}")
        blocks += filter(None, map(paragraph, page.regions))
    return ("\n\n".join(blocks) + "\n").encode("utf-8", "replace")


def paragraph(region: Region) -> str:
    """The lines of a region that have text or flags."""
    texts = (marked(line.transcription) for line in region.lines if line.transcription is not None)
    return "\\\n".join(text for text in texts if text)


def marked(line: Transcription) -> str:
    """The text of a line with doubtful words as `[word?]`, followed by its flags as `[!kind: reason]`."""
    parts = (
        f"[{escaped(part)}?]" if word is not None and word.doubtful else escaped(part) for part, word in line.parts
    )
    text = " ".join(["".join(parts).strip(), *(f"[!{escaped(str(flag))}]" for flag in line.flags)])
    return START.sub(r"\1\\", LINK.sub(r"]\\", text.strip()))


def escaped(text: str) -> str:
    """The text without the markup that it seems to have."""
    return SPECIAL.sub(r"\\\g<0>", clean(text))
