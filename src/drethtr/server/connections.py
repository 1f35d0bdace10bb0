"""Connections with time limits and a maximum number, so that slow clients cannot block the server."""

import asyncio
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""Seconds for sending the headers of a request, or the rest of a body after its response.

Bodies have `uploads.MAX_UPLOAD_SECONDS`, idle connections uvicorn's own limit.
"""

ANSWER_SECONDS = 60.0
"""Seconds for which a client may stop receiving a response."""

MAX_REST_BYTES = 256 << 20
"""Maximum bytes of a refused body to read before the response; a longer body is cut off by closing the connection."""

MAX_CONNECTIONS = 512
"""Beyond this number, each new connection replaces one that waits for its client, or for the rest of a request."""


class TimedConnection(H11Protocol):
    """A connection that is closed if the client is too slow to send headers or to receive a response."""

    late: asyncio.TimerHandle | None = None
    stuck: asyncio.TimerHandle | None = None
    heard = 0.0
    """When the client last sent something."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.heard = self.loop.time()
        self.watch()
        if len(self.connections) > MAX_CONNECTIONS:  # uvicorn's own limit would refuse the new client instead
            self.make_room()

    def data_received(self, data: bytes) -> None:
        # `watch` does not restart a running timeout: a client that sends a few bytes now and then gains no time.
        self.heard = self.loop.time()
        super().data_received(data)
        self.watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stuck = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        stop(self.stuck)

    def connection_lost(self, exc: Exception | None) -> None:
        stop(self.late)
        stop(self.stuck)
        super().connection_lost(exc)

    @property
    def waits_for_client(self) -> bool:
        """Whether the next step is the client's: no request is being processed."""
        return self.cycle is None or self.cycle.response_complete

    def watch(self) -> None:
        """Start the timeout while waiting for the client; stop it when a request has arrived."""
        if not self.waits_for_client:
            stop(self.late)
            self.late = None
        elif self.late is None and not self.transport.is_closing():
            self.late = self.loop.call_later(HEAD_SECONDS, self.close)

    def close(self, *_: Any) -> None:
        """Close a connection that has timed out."""
        self.late = None
        if self.waits_for_client:
            self.transport.close()

    @property
    def may_go(self) -> bool:
        """Whether the connection waits for its client, which may also be in the middle of sending a body."""
        return self.waits_for_client or (self.cycle is not None and self.cycle.more_body)

    def make_room(self) -> None:
        """Abort the connection whose client has been silent the longest; this new one is the last choice."""
        others = (one for one in self.connections if isinstance(one, TimedConnection) and one.may_go)
        longest = min(others, key=lambda one: one.heard)
        self.connections.discard(longest)  # `connection_lost` is called only later
        longest.transport.abort()


class DrainBody:
    """Middleware that reads the rest of a body before a response after which the connection is closed.

    Many clients read no response until they have sent everything. Closing the connection while their bytes are still in
    flight resets it, and they report the reset instead of the error. uvicorn itself drains connections that stay open.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_last(scope):
            await self.app(scope, receive, send)
            return
        more = True

        async def receive_noted() -> Message:
            nonlocal more
            message = await receive()
            more = message.get("more_body", False)
            return message

        async def send_late(message: Message) -> None:
            if message["type"] == "http.response.start":
                left = MAX_REST_BYTES
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEAD_SECONDS):
                        while more and left > 0:
                            left -= len((await receive_noted()).get("body", b""))
            await send(message)

        await self.app(scope, receive_noted, send_late)


def is_last(scope: Scope) -> bool:
    """Whether the connection of a request is closed after it, and its client sends a body without being asked to."""
    headers = Headers(scope=scope)
    closes = scope["http_version"] == "1.0" or headers.get("connection", "").lower() == "close"
    return closes and "expect" not in headers


def stop(clock: asyncio.TimerHandle | None) -> None:
    """Cancel a timer, if there is one."""
    if clock is not None:
        clock.cancel()
