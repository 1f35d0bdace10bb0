"""The text of Markdown without its signs: CommonMark, and what GitHub and pandoc add to it.

What a reader of the page would see stays; what only tells programs how to show it goes. Each pattern looks no farther
than its closing sign, so that long texts take time in proportion.
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
"""Front matter, comments, fences, definitions and footnotes, quotations, headings, rules, lists, tables."""

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
"""Pictures and marks of footnotes, links, tags of HTML, code, emphasis, deletions, entities, escaped signs."""


def without_markup(text: str) -> str:
    """The text that Markdown stands for, with its line breaks."""
    for pattern, instead in (*BLOCKS, *SPANS):
        text = pattern.sub(instead, text)
    return text
