"""Download files from URLs given by a user: of bounded size, one per host at a time, never from a private network.

    path = Web().file(("https://example.org/scan.jpg",), "scan.jpg")

Each request resolves its host once, checks all addresses, and connects to one of those, so that DNS rebinding has no
effect. Redirects are checked in the same way.
"""

import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from ssl import SSLCertVerificationError, SSLSocket, create_default_context
from threading import Event, Lock, Timer
from typing import NamedTuple, NoReturn, TypeAlias
from urllib.parse import SplitResult, quote, urlsplit
from urllib.request import getproxies

from drethtr.base.cache import ADDRESS, place_of
from drethtr.base.errors import DataError, first_line
from drethtr.base.files import is_there, write_bytes
from drethtr.base.urls import joined
from drethtr.base.version import __version__

IPAddress: TypeAlias = IPv4Address | IPv6Address

MAX_BYTES = 256 << 20
"""Largest file."""

PATIENCE = 30.0
"""Timeout of a connection in seconds."""

TRIES, PAUSE = 4, 2.0
"""Attempts at a busy host; seconds before the second, then doubled, unless the host sends Retry-After."""

MAX_HOPS = 5
"""Redirects that are followed."""

MARKS = "%/:=&?~#+!$,;'@()*[]-._"
"""Characters that stay in a URL beside letters and digits; others, such as accents and spaces, are percent-encoded."""

AMBIGUOUS = frozenset("ßς\u200c\u200d")
"""Letters in host names that Python resolves by IDNA 2003 and browsers by IDNA 2008, which gives different hosts."""

EMBEDDING = tuple(map(ip_network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
"""IPv6 addresses with an IPv4 address in their last 32 bits: NAT64 (RFC 6052), IPv4-compatible, SIIT (RFC 2765)."""

OWN_TRANSLATION = ip_network("64:ff9b:1::/48")
"""Addresses that each network may translate in its own way (RFC 8215); Python before 3.12.4 calls them global."""

MAX_SECONDS, MAX_PAUSE = 600.0, 120.0
"""Seconds for a request with its response, and the longest pause before a retry."""

MOVED = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 500, 502, 503, 504})
"""Status codes of hosts that may answer later."""

REASONS = {
    401: "asks for a login; download the files and give their folder",
    403: "refuses access; download the files and give their folder",
    404: "not found",
    410: "no longer there",
}


def is_public(ip: IPAddress) -> bool:
    """Whether an IP address, and any IPv4 address embedded in it, is on the public internet."""
    embedded: IPv4Address | None = None
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped:
            return is_public(ip.ipv4_mapped)
        if ip.is_site_local or ip in OWN_TRANSLATION:
            return False
        embedded = ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if any(ip in network for network in EMBEDDING):
            embedded = IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.is_global and not ip.is_multicast and (embedded is None or is_public(embedded))


class HTTPAnswer(NamedTuple):
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
        if self.after is not None and self.after > MAX_PAUSE:
            return f"the host asks to wait {self.after:.0f} seconds; run the same command again then"
        return self.trouble or REASONS.get(self.status, f"the host responds with status {self.status}")


@dataclass(frozen=True)
class Web:
    """Downloads files for a user's command.

    may_reach  whether it may connect to an IP address
    pause      waits for some seconds
    longest    seconds for a request and its response
    """

    may_reach: Callable[[IPAddress], bool] = is_public
    pause: Callable[[float], object] = time.sleep
    longest: float = MAX_SECONDS
    turns: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock), compare=False, repr=False)

    def file(self, addresses: Sequence[str], name: str) -> Path:
        """Download a file from the first URL that has it, unless it is in the user's cache.

        Raises:
            DataError: if no URL has it, or it cannot be stored.
        """
        path = place_of(addresses[0], name)
        if not is_there(path):
            content = self.fetch(addresses)
            write_bytes(path.with_name(ADDRESS), addresses[0].encode())
            write_bytes(path, content)
        return path

    def fetch(self, addresses: Sequence[str], most: int = MAX_BYTES) -> bytes:
        """The content of the first URL that has any; requests to busy hosts are retried with pauses.

        Raises:
            DataError: naming the first URL, if none has a file of at most `most` bytes.
        """
        reasons: list[str] = []
        for address in addresses:
            answer = self.fetch_with_retries(address, most)
            if answer.status == 200:
                return answer.content
            reasons.append(answer.reason)
            if answer.may_change or answer.status == 401:  # it may have the file, whatever the earlier ones answered
                raise DataError(answer.reason, addresses[0])
        raise DataError(reasons[0], addresses[0])

    def fetch_with_retries(self, address: str, most: int) -> HTTPAnswer:
        """The answer at a URL, after redirects, and retries if the host is busy."""
        answer = self.follow(address, most)
        for tried in range(1, TRIES):
            wait = PAUSE * 2 ** (tried - 1) if answer.after is None else answer.after
            if not answer.may_change or wait > MAX_PAUSE:
                break
            self.pause(wait)
            answer = self.follow(address, most)
        return answer

    def follow(self, address: str, most: int) -> HTTPAnswer:
        """The answer at a URL, after redirects.

        Raises:
            DataError: if a URL is malformed or not on the public web, or redirects are too many or leave HTTPS.
        """
        here, parts = address, check_url(address, address)
        for _ in range(MAX_HOPS + 1):
            with self.turns[parts.netloc.lower()]:
                answer = self.ask(parts, most, address)
            if not answer.location:
                return answer
            here = joined(here, answer.location)
            encrypted, parts = parts.scheme == "https", check_url(here, address)
            if encrypted and parts.scheme != "https":
                raise DataError(f"is redirected to {here}, which is not encrypted", address)
        raise DataError(f"is redirected more than {MAX_HOPS} times", address)

    def ask(self, parts: SplitResult, most: int, name: str) -> HTTPAnswer:
        """Send one request to one host.

        Raises:
            DataError: if its content or its certificate is refused, or it takes too long.
        """
        secure, host = parts.scheme == "https", parts.hostname or ""
        try:
            sock = self.connect(host, parts.port or (443 if secure else 80), name)
            if secure:
                sock = create_default_context().wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
            with closing(sock), deadline(sock, self.longest, name):
                if isinstance(sock, SSLSocket):
                    sock.do_handshake()
                connection = HTTPConnection(parts.netloc)
                connection.sock = sock
                headers = {
                    "Host": parts.netloc,
                    "User-Agent": f"drethtr/{__version__}",
                    "Accept": "*/*",
                    "Accept-Encoding": "identity",
                    "Connection": "close",
                }
                # Not by `geturl`: since Python 3.12.7 it adds slashes to a path that begins with two.
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("GET", target, headers=headers)
                with closing(connection), connection.getresponse() as response:
                    return answer_of(response, most, name)
        except SSLCertVerificationError as error:
            raise DataError(f"its certificate is not valid: {error.verify_message}", name) from error
        except (OSError, HTTPException) as error:
            late = isinstance(error, TimeoutError)
            trouble = "does not respond" if late else f"cannot be reached: {first_line(error)}"
            return HTTPAnswer(0, trouble=f"the host {trouble}{hint_of_proxy(parts.scheme)}")

    def connect(self, host: str, port: int, name: str) -> socket.socket:
        """Resolve a host, check its IP addresses, and connect to one of them.

        Raises:
            DataError: if one of them is not allowed.
            OSError: if none of them accepts the connection.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ips = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not all(self.may_reach(ip_address(ip.split("%")[0])) for ip in ips):
            raise DataError(f"{host} is in a private network ({', '.join(ips)}); only the public web can be read", name)
        trouble: OSError = OSError(f"{host} cannot be resolved")
        # Connect to the addresses that were checked, not to the name, which might resolve to others a moment later.
        for ip in ips:
            try:
                return socket.create_connection((ip, port), timeout=PATIENCE)
            except OSError as error:
                trouble = error
        raise trouble


WEB = Web()


@contextmanager
def deadline(sock: socket.socket, seconds: float, name: str) -> Iterator[None]:
    """Shut a connection down after some seconds: a socket's timeout starts again with each byte that a slow host sends.

    Raises:
        DataError: if that was done.
    """
    over = Event()

    def end() -> None:
        over.set()
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # SSLSocket's would let the reader go on unencrypted

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if over.is_set():
            raise DataError(f"takes more than {seconds:g} seconds to download", name)


def check_url(address: str, named: str) -> SplitResult:
    """The components of a URL; `named` is the URL that the user gave.

    Raises:
        DataError: if it is not a valid HTTP or HTTPS URL.
    """
    try:
        given = urlsplit(address)
        if not AMBIGUOUS.isdisjoint(given.hostname or ""):
            raise DataError("contains a letter that browsers resolve to another host; write its host as xn--…", named)
        host = (given.hostname or "").encode("idna").decode()
        port = "" if given.port is None else f":{given.port}"
        known = address if given.netloc.isascii() else address.replace(given.netloc, f"{host}{port}", 1)
        parts = urlsplit(quote(known, safe=MARKS))
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in given.netloc
    except ValueError:  # also for labels of no or too many letters
        usable = False
    if not usable:
        raise DataError("is not a web address" if address == named else f"leads to {address!r}", named)
    return parts


def answer_of(response: HTTPResponse, most: int, name: str) -> HTTPAnswer:
    """Read an HTTP response.

    Raises:
        DataError: if the file is larger than `most` bytes, or compressed.
    """
    if response.status in MOVED:
        return HTTPAnswer(response.status, location=as_utf8(response.headers.get("Location", "")))
    if response.status != 200:
        return HTTPAnswer(response.status, after=seconds_of(response.headers.get("Retry-After", "")))
    if (packing := response.headers.get("Content-Encoding", "identity")) != "identity":
        raise DataError(f"is sent compressed ({packing}), which was not requested", name)
    promised = response.length
    if promised is not None and promised > most:
        refuse_large(most, name)
    content = bytearray()
    while piece := response.read1(1 << 16):
        content += piece
        if len(content) > most:
            refuse_large(most, name)
    if promised not in (None, len(content)):
        return HTTPAnswer(0, trouble=f"the connection broke after {len(content):,} of {promised:,} bytes")
    return HTTPAnswer(200, bytes(content))


def as_utf8(header: str) -> str:
    """An HTTP header that `http.client` has decoded as Latin-1; as browsers do, as UTF-8 if it is valid UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def hint_of_proxy(scheme: str) -> str:
    """What to do if a proxy is set, which may be the only way out; "" without one."""
    if scheme not in getproxies():
        return ""
    return "; the proxy in your settings is not used: if you need it, download the files and give their folder"


def refuse_large(most: int, name: str) -> NoReturn:
    """Refuse a file that is too large."""
    raise DataError(f"is larger than {most >> 20} MB", name)


def seconds_of(text: str) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or date; None if it asks for none."""
    if text.strip().isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return max((date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0)
