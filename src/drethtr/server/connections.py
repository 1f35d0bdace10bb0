"""Connections that must keep moving, and are bounded in number, so that idle ones cannot hold all of them."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""How long the head of a request may take, or the rest of a body after its answer.

Bodies have `uploads.MOST_SECONDS`, idle connections uvicorn's own limit.
"""

ANSWER_SECONDS = 60.0
"""How long a client may take none of an answer."""

MOST_CONNECTIONS = 512
"""With more than these, one that waits for its client gives way to each new one."""


class Punctual(H11Protocol):
    """A connection that is closed if the client neither sends the head of a request in time nor takes its answer."""

    late: asyncio.TimerHandle | None = None
    stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.watch()
        if len(self.connections) > MOST_CONNECTIONS:
            self.make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
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
    def awaited(self) -> bool:
        """Whether nobody works for this connection: it is the client's turn."""
        return self.cycle is None or self.cycle.response_complete

    def watch(self) -> None:
        """Start the clock when it is the client's turn; stop it when a request is there."""
        if not self.awaited:
            stop(self.late)
            self.late = None
        elif self.late is None and not self.transport.is_closing():
            self.late = self.loop.call_later(HEAD_SECONDS, self.close)

    def close(self, *_: Any) -> None:
        """End a connection that is late."""
        self.late = None
        if self.awaited:
            self.transport.close()

    def make_room(self) -> None:
        """End the connection that has waited longest for its client; first those that are closing, but not closed."""
        others = (one for one in self.connections if isinstance(one, Punctual) and one.awaited)
        longest = min(others, key=lambda one: 0.0 if one.late is None else one.late.when())
        self.connections.discard(longest)  # it is told only later that it has ended
        longest.transport.abort()


def stop(clock: asyncio.TimerHandle | None) -> None:
    """Stop a clock that may run."""
    if clock is not None:
        clock.cancel()
