"""Strip the markup of Markdown: CommonMark, and the extensions of GitHub and pandoc.

What a reader would see in the rendered text stays; markup goes. No pattern scans beyond its closing mark, so that the
time grows linearly with the length of the text.
"""

import re
from collections.abc import Callable
from html import unescape

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
