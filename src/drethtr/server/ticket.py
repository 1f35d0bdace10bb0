"""A ticket passes the token to the browser that a server opens for its user: once, within a minute of the start.

The command line of a browser can be read by every user of a Linux machine, so it must not show the token; and sandboxed
browsers, such as those of snap, cannot read a file with it. A ticket may be seen by others: it is accepted only from a
connection of this user, who can read the token anyway.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from secrets import token_urlsafe
from time import monotonic

from starlette.datastructures import Headers
from starlette.types import Scope

SECONDS = 60.0
"""How long a ticket is valid: the first start of a browser may take half a minute on a slow disk."""

CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""Tables of all connections on Linux, with the user of each end that is on this machine."""

ESTABLISHED = "01"
"""The state of connections that neither end has closed; the tables do not name users for other states."""


class Ticket:
    """A secret that is valid once, for `SECONDS` after it was made, and on Linux only for this user and root."""

    def __init__(self) -> None:
        self.secret = token_urlsafe(24)
        self.ends = monotonic() + SECONDS

    def admits(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request with the secret is admitted, which uses up the ticket."""
        if scope["method"] != "GET" or monotonic() > self.ends or not is_of_this_user(scope, headers):
            return False
        self.ends = 0.0
        return True


def is_of_this_user(scope: Scope, headers: Headers) -> bool:
    """Whether the client of a connection runs on this machine, as this user, or as root, who can read everything.

    True on other systems than Linux: Windows shows command lines to nobody else, and on macOS a browser is not told
    its address on the command line.
    """
    if sys.platform != "linux":
        return True
    if "x-forwarded-for" in headers or scope["client"] is None:
        return False  # the header replaces the client of the scope, and anybody can send it; None has left
    (_, here), (_, there) = scope["server"], scope["client"]
    users = {user for table in CONNECTIONS for user in users_in(table, there, here)}
    return bool(users) and users <= {os.getuid(), 0}


def users_in(table: Path, local: int, remote: int) -> Iterator[int]:
    """The users of the connections of a table between two ports, seen from the first; none if it cannot be read."""
    try:
        rows = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    for row in rows:
        _, own, other, state, _, _, _, user, *_ = row.split()
        if (own[-5:], other[-5:], state) == (f":{local:04X}", f":{remote:04X}", ESTABLISHED):
            yield int(user)
