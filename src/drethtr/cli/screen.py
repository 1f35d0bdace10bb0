"""Output to a terminal: names and texts that we did not write cannot control it."""

import re
import sys
from io import TextIOWrapper

CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, apart from tabs and line breaks: they could change titles, keys or the clipboard."""

OURS = re.compile(r"(\x1b\[(?:[\d;]*m|A)|\r)")
"""The control sequences of our help and progress bars: colors, one line up, and the beginning of the line."""


def shown(text: str) -> str:
    """A text with its control characters as escapes."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class Screen(TextIOWrapper):
    """A terminal that obeys no control characters but those of our own output."""

    def write(self, text: str) -> int:
        """Write a text."""
        return super().write("".join(part if OURS.fullmatch(part) else shown(part) for part in OURS.split(text)))


def echo(text: str, *, nl: bool = True, err: bool = False) -> None:
    """Print a text at once; typer does so without `Screen` where it finds a console of Windows."""
    print(text, end="\n" if nl else "", file=sys.stderr if err else sys.stdout, flush=True)


def use_screen() -> None:
    """Write to terminals through `Screen`, and UTF-8 to files and pipes, so that no character makes a command fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, TextIOWrapper):
            continue  # a stream of a program that runs this one
        if stream.isatty():
            setattr(sys, name, Screen(stream.buffer, stream.encoding, "replace", line_buffering=True))
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")
