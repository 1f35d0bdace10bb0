r"""Write Markdown, and strip its markup: CommonMark, and the extensions of GitHub and pandoc.

A region is a paragraph, a line break is written as `\` at the end of a row, and text that looks like markup is escaped.
Stripping keeps what a reader would see in the rendered text, and removes markup. No pattern scans beyond its closing
mark, so that the time grows linearly with the length of the text.
"""

import re
from collections.abc import Callable, Sequence
from html import unescape
from itertools import chain

from drethtr.documents.document import Document
from drethtr.documents.markup import clean
from drethtr.documents.page import Region
from drethtr.documents.reflow import reading_blocks, runs
from drethtr.documents.transcription import Transcription

Pattern = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

BLOCKS: tuple[Pattern, ...] = (
    (re.compile(r"\A---\n(?:[\w-]+:.*\n|[ \t#].*\n|- .*\n)+---$", re.MULTILINE), ""),
    (re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), ""),
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"^ {0,3}\[(?:\^[^\]\n]+\]:|[^\]\n]+\]:[ \t]+\S+:).*$", re.MULTILINE), ""),
    (re.compile(r"^(?: {0,3}>[ \t]?)+", re.MULTILINE), ""),
    (re.compile(r"^( {0,3}#{1,6}[ \t].*[^\s#])[ \t]+#+[ \t]*$", re.MULTILINE), r"\1"),
    (re.compile(r"^ {0,3}#{1,6}(?:[ \t]+|$)", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?:=+|([-*_])(?:[ \t]*\1)+)[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*[-*+][ \t]+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*(?:\|[ \t]*)?(?::?-+:?[ \t]*\|[ \t]*)+(?::?-+:?[ \t]*)?$", re.MULTILINE), ""),
    (re.compile(r"(?<!\S)\|(?!\S)"), " "),
)
"""Front matter, comments, fences, link definitions and footnotes, quotations, headings, rules, lists, tables."""

SPANS: tuple[Pattern, ...] = (
    (re.compile(r"!\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])|\[\^[^\[\]\n]+\]"), ""),
    (re.compile(r"(?<!\\)\[([^\[\]\n]*)\](?:\([^()\n]*\)|\[[^\[\]\n]*\])"), r"\1"),
    (re.compile(r"<br[ \t]*/?>"), "\n"),
    (re.compile(r"(?<!\\)</?[A-Za-z][^<>\n]*>"), ""),
    (re.compile(r"(?<![\\`])`+([^`\n]+)`+"), r"\1"),
    (re.compile(r"(?<![\\*])\*(?=[^\s*])([^*\n]*[^\s*\\])\*(?!\*)"), r"\1"),
    (re.compile(r"(?<!\\)(\*\*\*?)(?=[^\s*])([^*\n]*[^\s*\\])\1"), r"\2"),
    (re.compile(r"(?<![\\\w])(_{1,3})(?=[^\s_])([^_\n]*[^\s_\\])\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!\\)~~([^~\n]+)~~"), r"\1"),
    (re.compile(r"(?<!\\)&#?\w{1,32};"), lambda found: unescape(found[0])),
    (re.compile(r"\\([!-/:-@\[-`{-~\n])"), r"\1"),
)
"""Images and footnote marks, links, HTML tags, code, emphasis, deletions, entities, escapes."""


def without_markup(text: str) -> str:
    """The plain text of Markdown, with its line breaks."""
    for pattern, instead in (*BLOCKS, *SPANS):
        text = pattern.sub(instead, text)
    return text


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


def write_prose(document: Document) -> bytes:
    """Write the text of all pages for reading: running paragraphs, without doubts, with raised letters in <sup>."""
    blocks = [f"<!-- {clean(str(document.provenance)).replace('>', '')} -->"]
    blocks += [f"# {escaped(document.about.title)}"] if document.about.title else []
    for block in chain.from_iterable(map(reading_blocks, document.pages)):
        if block.rows:
            first, *others = ([raised(cell) for cell in row] for row in block.rows)
            rows = [first, ["---"] * len(first), *others]
            blocks.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        else:
            text = START.sub(r"\1\\", LINK.sub(r"]\\", raised(block.text)))
            blocks.append(f"> {text}" if block.is_margin else text)
    return ("\n\n".join(blocks) + "\n").encode("utf-8", "replace")


def raised(text: str) -> str:
    """A text, escaped, with its raised letters."""
    return "".join(f"<sup>{escaped(run.text)}</sup>" if run.raised else escaped(run.text) for run in runs(text))


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
