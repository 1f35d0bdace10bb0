"""Access control: which requests are accepted, and security headers for browsers.

Every web page that is open in a browser can reach a server on the same machine. Therefore the server responds only to
its own host names (DNS rebinding), and accepts requests only from its own pages and from programs, which send no origin
(CSRF). Other users of the machine, and perhaps of the network, can also reach it, but lack the token.

Source of the check of origins: Filippo Valsorda, "Cross-Site Request Forgery", 2025 (as in Go's
`http.CrossOriginProtection`): Sec-Fetch-Site first, Origin against Host for browsers without it.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hmac import digest
from ipaddress import ip_address
from secrets import compare_digest
from socket import gethostname
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drethtr.server.ticket import Ticket

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

READS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

PAGES = re.compile(r"/|/p/[^/]*(/layout)?")
"""Paths to which links on other web pages may lead; they return only the empty page of the editor."""

OPEN = frozenset({"/health"})
"""Paths that answer under any host name and need no token, for the probes of load balancers; they reveal nothing."""

STATIC = "/static/"
"""The prefix of the files of the web page, which need no token."""

ASKS = re.compile(r"/api/(here|export|preview)|/api/pages/[^/]+/compare|/api/pages/[^/]+/lines/.+/alternatives")
"""Paths of `POST` requests that change nothing, although they have a body."""

# Matched to the very end, since the router of Starlette ignores a line break at the end of a path.
MANAGES = re.compile(r"/api/(read|learn|index|jobs|pages/[^/]+/read)\b.*", re.DOTALL)
"""Paths of requests that start, stop or adopt background work on whole pages."""

ROLE = "drethtr.role"
"""The key of the role in the scope of a request."""

HOST = re.compile(r"(?:\[(?P<address>[^\[\]]*)\]|(?P<name>[^:@/]*))(?::(?P<port>[0-9]*))?")
"""A Host header: a name or an address, and maybe a port."""

POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'self'"
)

LOCKED = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>drethtr</title><link rel="stylesheet" href="/static/style/base.css">
<main class="notice"><h1>This folder is locked</h1>{said}
<p>Open it with the full address that <code>drethtr edit</code> printed when it started, or ask the person who runs it
for an address. It ends in <code>?token=…</code>; the part after the equals sign is the key.</p>
<form action="/"><label>Key <input name="token" type="password" autocomplete="off" required autofocus></label>
<button class="main">Open</button></form></main></html>
"""
"""The page for a browser without a token."""

WRONG = (
    '<p class="flag" role="alert">This key is not valid. It may be incomplete, or from an earlier start of the '
    "program.</p>"
)
"""What it adds for a browser with another token."""

USED = '<p class="flag" role="alert">The address that opened this page works only once, within one minute.</p>'
"""What it adds for a browser with an invalid or expired ticket."""

HEADERS = {
    "Cache-Control": "no-cache",  # otherwise browsers would mix scripts of the earlier version with new ones for days
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Role(StrEnum):
    """What the holder of a token may do."""

    READ = "read"
    CORRECT = "correct"
    MANAGE = "manage"

    def token(self, secret: str) -> str:
        """The token of this role. For managing it is the secret itself, which the others do not reveal."""
        if self is Role.MANAGE:
            return secret
        return urlsafe_b64encode(digest(secret.encode(), self.encode(), "sha256"))[:32].decode()

    def may(self, method: str, path: str) -> bool:
        """Whether requests for a path are allowed."""
        if self is Role.MANAGE or method in READS or (method == "POST" and ASKS.fullmatch(path)):
            return True
        return self is Role.CORRECT and not MANAGES.fullmatch(path)


DOES = {Role.READ: "read", Role.CORRECT: "read and correct"}


@dataclass(frozen=True)
class Access:
    """Which requests are accepted.

    hosts      names of this server besides those of loopback
    addresses  whether it also responds to IP addresses as host names
    token      the token for managing, from which those of other roles follow; None accepts requests without one
    ticket     by which a browser on this machine gets that token
    """

    hosts: frozenset[str] = frozenset()
    addresses: bool = False
    token: str | None = None
    ticket: Ticket | None = None

    @classmethod
    def of(
        cls,
        host: str,
        hosts: frozenset[str] = frozenset(),
        token: str | None = None,
        ticket: Ticket | None = None,
    ) -> "Access":
        """The access to a server that responds to an address, and, in a network, to the name of the machine."""
        names = frozenset(map(str.lower, hosts)) | {host.lower()}
        if is_loopback(host):
            return cls(names, addresses=False, token=token, ticket=ticket)
        own = gethostname().lower()
        return cls(names | {own, f"{own}.local"}, addresses=True, token=token, ticket=ticket)

    @property
    def tokens(self) -> dict[Role, str]:
        """The token of each role; none without a token."""
        return {} if self.token is None else {role: role.token(self.token) for role in Role}

    def answers_as(self, host: str) -> bool:
        """Whether the server responds to a host name."""
        return host in LOOPBACK or host in self.hosts or (self.addresses and is_ip_address(host))


class Guard:
    """Middleware that refuses requests that `access` does not allow, and adds headers for browsers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self.refusal(scope)
        await (self.app if refused is None else refused)(scope, receive, send_guarded)

    def refusal(self, scope: Scope) -> Response | None:
        """The response for a request that is refused; None if it is accepted."""
        if path_in(scope) in OPEN:
            return None
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self.access.answers_as(name_of(host)):
            words = f"this server does not respond to {host[:60]!r}; use its address, or start it with --allow-host"
            return JSONResponse({"error": words}, 400)
        if not (is_visit(scope, headers) or is_own(scope, headers)):
            words = (
                "only requests from this server's own pages and from programs are accepted, not from other web pages"
            )
            return JSONResponse({"error": words}, 403)
        if self.access.token is None or path_in(scope).startswith(STATIC):
            scope[ROLE] = Role.MANAGE
            return None
        return self.refuse_without_token(scope, headers)

    def refuse_without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """The response for a request without a token, or with that of another role; None if it is allowed.

        A page requested with a token or a ticket in its URL gets a cookie, and is redirected to the URL without it.
        """
        name = cookie_name(headers.get("host", ""))
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        new = [value for key, value in asked if key == "token"] if scope["method"] in READS else []
        tickets = [value for key, value in asked if key == "ticket"]
        role = Role.MANAGE if self.is_admitted(tickets, scope, headers) else self.role_of(new)
        if role is not None:
            token = self.access.tokens[role]
            rest = urlencode([(name, value) for name, value in asked if name not in ("token", "ticket")])
            path = "/" + scope["path"].lstrip("/")  # two slashes would redirect to another server
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            # Not "strict": after a link in an e-mail, a browser would not send the cookie with the redirected request.
            answer.set_cookie(name, token, httponly=True, samesite="lax")
            return answer
        # Not parsed by `http.cookies`, which drops all if one is malformed: other servers on this machine also set
        # cookies.
        kept = HTTPConnection(scope).cookies.get(name, "")
        role = self.role_of([headers.get("authorization", "").removeprefix("Bearer "), kept])
        if role is None:
            unknown = {"WWW-Authenticate": "Bearer"}
            if is_visit(scope, headers):
                said = WRONG if new else USED if tickets else ""
                return HTMLResponse(LOCKED.format(said=said), 401, unknown)
            words = "this server requires a token; open the full address that it printed at startup"
            return JSONResponse({"error": words}, 401, unknown)
        scope[ROLE] = role
        if role.may(scope["method"], path_in(scope)):
            return None
        words = f"your address only lets you {DOES[role]}; ask whoever gave it to you for another one"
        return JSONResponse({"error": words}, 403)

    def is_admitted(self, tickets: Sequence[str], scope: Scope, headers: Headers) -> bool:
        """Whether one of the tickets is valid and admits this request."""
        ticket = self.access.ticket
        if ticket is None or not any(is_same(one, ticket.secret) for one in tickets):
            return False
        return ticket.admits(scope, headers)

    def role_of(self, given: Sequence[str]) -> Role | None:
        """The role of the first valid token; None if none is valid."""
        tokens = self.access.tokens.items()
        return next((role for one in given for role, token in tokens if is_same(one, token)), None)


def path_in(scope: Scope) -> str:
    """The path of a request, without the prefix under which another application or a proxy mounts this one."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether a request opens a page of this server in a tab, not in a frame of another page.

    Browsers send no Sec-Fetch headers to another machine without TLS; the Accept header then tells them from programs.
    """
    kinds = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    is_page = "text/html" in headers.get("accept", "") if kinds == (None, None) else kinds == ("navigate", "document")
    return scope["method"] in READS and is_page and bool(PAGES.fullmatch(path_in(scope)))


def is_own(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from a page of this server, or from a program, which has no origin."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin, own = headers.get("origin"), f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
    return scope["method"] in READS or origin is None or origin.lower() == own.lower()


def name_of(host: str) -> str:
    """The name in a Host header, without the port; "" if it is none."""
    found = HOST.fullmatch(host)
    return "" if found is None else (found["address"] or found["name"]).lower().rstrip(".")


def is_loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    return host in LOOPBACK or (is_ip_address(host) and ip_address(host).is_loopback)


def is_ip_address(host: str) -> bool:
    """Whether a host is an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def cookie_name(host: str) -> str:
    """The name of the cookie with the token, port included: browsers send a host's cookies to all its ports."""
    found = HOST.fullmatch(host)
    return f"drethtr-{found['port']}" if found is not None and found["port"] else "drethtr"


def is_same(given: str, token: str) -> bool:
    """Whether a token is right, compared in constant time."""
    return compare_digest(given.encode("utf-8", "replace"), token.encode())
