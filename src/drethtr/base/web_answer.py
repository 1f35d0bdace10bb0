"""HTTP answers: the content of a file, or why there is none and whether a retry may help."""

import time
from http.client import HTTPResponse
from typing import NamedTuple, NoReturn

from drethtr.base.errors import DataError

LONGEST, LONGEST_PAUSE = 600.0, 120.0
"""Seconds for a download, and the longest pause before a retry."""

MOVED = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 500, 502, 503, 504})
"""Status codes of redirects, and of hosts that may answer later."""

REASONS = {
    401: "asks for a login; download the files and give their folder",
    403: "refuses access; download the files and give their folder",
    404: "not found",
    410: "no longer there",
}


class Answer(NamedTuple):
    """The answer of a host.

    status    HTTP status; 0 if the host cannot be reached, 200 with content
    content   the file
    location  target of a redirect
    after     seconds of Retry-After, or None
    trouble   why the host cannot be reached
    """

    status: int
    content: bytes = b""
    location: str = ""
    after: float | None = None
    trouble: str = ""

    @property
    def may_change(self) -> bool:
        """Whether a retry may succeed."""
        return self.status in BUSY or not self.status

    @property
    def reason(self) -> str:
        """Why there is no file."""
        if self.after is not None and self.after > LONGEST_PAUSE:
            return f"the host asks to wait {self.after:.0f} seconds; run the same command again then"
        return self.trouble or REASONS.get(self.status, f"the host responds with status {self.status}")


def answer_of(response: HTTPResponse, most: int, name: str) -> Answer:
    """Read an HTTP response.

    Raises:
        DataError: if the file is larger than `most` bytes, compressed, or takes too long.
    """
    if response.status in MOVED:
        return Answer(response.status, location=response.headers.get("Location", ""))
    if response.status != 200:
        return Answer(response.status, after=seconds_of(response.headers.get("Retry-After", "")))
    if (packing := response.headers.get("Content-Encoding", "identity")) != "identity":
        raise DataError(f"is sent as {packing}, which was not requested", name)
    promised = response.length
    if promised is not None and promised > most:
        refuse_large(most, name)
    content, end = bytearray(), time.monotonic() + LONGEST
    while piece := response.read1(1 << 16):
        content += piece
        if len(content) > most:
            refuse_large(most, name)
        if time.monotonic() > end:
            raise DataError(f"takes more than {LONGEST:.0f} seconds to download", name)
    if promised not in (None, len(content)):
        return Answer(0, trouble=f"the connection broke after {len(content):,} of {promised:,} bytes")
    return Answer(200, bytes(content))


def refuse_large(most: int, name: str) -> NoReturn:
    """Refuse a file that is too large."""
    raise DataError(f"is larger than {most >> 20} MB", name)


def seconds_of(text: str) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or date; None if it asks for none."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if text.strip().isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max((date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0)
