"""Fetch files from URLs that a user has given: bounded, one at a time, and never from a private network.

    path = Web().file(("https://example.org/scan.jpg",), "scan.jpg")

Every host is looked up once for each request, its numbers are checked, and the connection goes to a number that was
checked: a name that leads somewhere else a moment later (DNS rebinding) gains nothing. Redirections are checked alike.
"""

import socket
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from ssl import SSLCertVerificationError, create_default_context
from threading import Lock
from typing import TypeAlias
from urllib.parse import SplitResult, quote, urlsplit

from drethtr.base.cache import ADDRESS, joined, place_of
from drethtr.base.errors import DataError, first_line
from drethtr.base.outputs import is_there, write_bytes
from drethtr.base.version import __version__
from drethtr.base.web_answer import LONGEST_PAUSE, Answer, answer_of

Number: TypeAlias = IPv4Address | IPv6Address
"""A host on the internet."""

MOST_BYTES = 256 << 20
"""Bytes of a file."""

PATIENCE = 30.0
"""Seconds without an answer."""

TRIES, PAUSE = 4, 2.0
"""How often a busy host is asked; seconds before the second time, doubled each time, unless it names some itself."""

MOST_HOPS = 5
"""Redirections that are followed."""

MARKS = "%/:=&?~#+!$,;'@()*[]-._"
"""Characters that an address may have beside letters and digits; others, as accents and spaces, are written as %XX."""

TRANSLATED = "64:ff9b::/96"
"""Numbers of IPv6 that stand for those of IPv4 in their last 32 bits, in networks without IPv4 (RFC 6052)."""


def is_public(number: Number) -> bool:
    """Whether a number is of the public internet, and so is the number of IPv4 that one of IPv6 may stand for."""
    inside: IPv4Address | None = None
    if isinstance(number, IPv6Address):
        if number.ipv4_mapped:
            return is_public(number.ipv4_mapped)
        inside = number.sixtofour or (number.teredo[1] if number.teredo else None)
        if number in ip_network(TRANSLATED):
            inside = IPv4Address(int(number) & 0xFFFFFFFF)
    return number.is_global and not number.is_multicast and (inside is None or is_public(inside))


@dataclass(frozen=True)
class Web:
    """The web, as far as a user's command may go.

    may_reach  whether a number may be connected to
    pause      waits for some seconds
    """

    may_reach: Callable[[Number], bool] = is_public
    pause: Callable[[float], object] = time.sleep
    turns: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock), compare=False, repr=False)

    def file(self, addresses: Sequence[str], name: str) -> Path:
        """The file at the first of some addresses that has it, kept in the user's cache folder.

        Raises:
            DataError: if no address has it, or it cannot be kept.
        """
        path = place_of(addresses[0], name)
        if not is_there(path):
            content = self.fetch(addresses)
            write_bytes(path.with_name(ADDRESS), addresses[0].encode())
            write_bytes(path, content)
        return path

    def fetch(self, addresses: Sequence[str], most: int = MOST_BYTES) -> bytes:
        """The content of the first of some addresses that has one; busy hosts are asked again, with pauses.

        Raises:
            DataError: naming the first address, if none has a file of at most so many bytes.
        """
        first: Answer | None = None
        for address in addresses:
            answer = self.patiently(address, most)
            if answer.status == 200:
                return answer.content
            first = first or answer
            if answer.may_change or answer.status in (401, 429):
                break
        raise DataError(first.reason if first else "no address", addresses[0])

    def patiently(self, address: str, most: int) -> Answer:
        """The answer at an address, after redirections, and after pauses if the host is busy."""
        answer = self.follow(address, most)
        for tried in range(1, TRIES):
            wait = PAUSE * 2 ** (tried - 1) if answer.after is None else answer.after
            if not answer.may_change or wait > LONGEST_PAUSE:
                break
            self.pause(wait)
            answer = self.follow(address, most)
        return answer

    def follow(self, address: str, most: int) -> Answer:
        """The answer at an address, or where it is redirected to.

        Raises:
            DataError: if that is no address of the public web.
        """
        here = address
        for _ in range(MOST_HOPS + 1):
            parts = checked(here, address)
            with self.turns[parts.netloc.lower()]:
                answer = self.ask(parts, most, address)
            if not answer.location:
                return answer
            there = joined(here, answer.location)
            if here.startswith("https:") and not there.startswith("https:"):
                raise DataError(f"is redirected to {there}, which is not encrypted", address)
            here = there
        raise DataError(f"is redirected more than {MOST_HOPS} times", address)

    def ask(self, parts: SplitResult, most: int, name: str) -> Answer:
        """The answer of one host to one request."""
        secure, host = parts.scheme == "https", parts.hostname or ""
        try:
            sock = self.connected(host, parts.port or (443 if secure else 80), name)
            with closing(sock):
                if secure:
                    sock = create_default_context().wrap_socket(sock, server_hostname=host)
                connection = HTTPConnection(host)
                connection.sock = sock
                headers = {
                    "Host": parts.netloc,
                    "User-Agent": f"drethtr/{__version__}",
                    "Accept": "*/*",
                    "Accept-Encoding": "identity",
                    "Connection": "close",
                }
                path = parts._replace(scheme="", netloc="", fragment="", path=parts.path or "/").geturl()
                connection.request("GET", path, headers=headers)
                with closing(connection), connection.getresponse() as response:
                    return answer_of(response, most, name)
        except SSLCertVerificationError as error:
            raise DataError(f"its certificate is not valid: {error.verify_message}", name) from error
        except TimeoutError:
            return Answer(0, trouble="the host does not respond")
        except (OSError, HTTPException) as error:
            return Answer(0, trouble=f"the host cannot be reached: {first_line(error)}")

    def connected(self, host: str, port: int, name: str) -> socket.socket:
        """A connection to a host, at one of the numbers that were looked up and checked.

        Raises:
            DataError: if one of them may not be reached.
            OSError: if none of them answers.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        numbers = list(dict.fromkeys(str(place[4][0]) for place in found))
        if not all(self.may_reach(ip_address(number.split("%")[0])) for number in numbers):
            raise DataError(f"{host} is in a private network ({', '.join(numbers)}); only the public web is read", name)
        trouble: OSError = OSError(f"{host} cannot be resolved")
        for number in numbers:
            try:
                return socket.create_connection((number, port), timeout=PATIENCE)
            except OSError as error:
                trouble = error
        raise trouble


WEB = Web()


def checked(address: str, named: str) -> SplitResult:
    """The parts of an address.

    Raises:
        DataError: naming what the user named, if it is none of the web.
    """
    try:
        parts = urlsplit(quote(address, safe=MARKS))
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc:
        raise DataError("is not a web address" if address == named else f"leads to {address!r}", named)
    return parts
