"""Connections that must bring the head of each request in time, so that idle ones cannot hold all of them."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""How long the head of a request may take. Bodies have `uploads.MOST_SECONDS`, idle connections uvicorn's own limit."""


class Punctual(H11Protocol):
    """A connection that is closed if the head of a request has not arrived in time."""

    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self.forget()
        super().connection_lost(exc)

    def watch(self) -> None:
        """Start the clock while a head is awaited; stop it once that is there."""
        if self.conn.their_state is not h11.IDLE:
            self.forget()
        elif self.late is None and not self.transport.is_closing():
            self.late = self.loop.call_later(HEAD_SECONDS, self.close)

    def forget(self) -> None:
        """Stop the clock."""
        if self.late is not None:
            self.late.cancel()
            self.late = None

    def close(self, *_: Any) -> None:
        """End a connection that is late."""
        self.late = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()
