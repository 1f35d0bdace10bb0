"""Files that clients download at their own pace, and that wait for them in memory."""

from collections.abc import AsyncIterator
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from drethtr.editing.export import Exported

MAX_WAITING_BYTES = 256 << 20
"""If clients have more untransferred bytes than this, no further file is made; a single file may have any size."""

PIECE = 1 << 16
"""Bytes to send at a time. A file sent in one piece would wait in the connection, where its bytes are not counted."""


class Downloads:
    """Counts the bytes of files that clients have not taken yet."""

    def __init__(self) -> None:
        self.waiting = 0

    def refuse_more(self) -> None:
        """Refuse to make another file while too many wait.

        Raises:
            HTTPException: if they do.
        """
        if self.waiting > MAX_WAITING_BYTES:
            message = "earlier exports are still being downloaded; try again when they have ended"
            raise HTTPException(503, message, {"Retry-After": "10"})


class Download(StreamingResponse):
    """A file to be saved by the browser; it counts as waiting until it is sent, or the client has left."""

    def __init__(self, file: Exported, downloads: Downloads) -> None:
        self.content, self.downloads = file.content, downloads
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "Content-Length": str(len(file.content)),
        }
        super().__init__(self.pieces(), media_type=file.media, headers=headers)
        downloads.waiting += len(file.content)

    async def pieces(self) -> AsyncIterator[memoryview]:
        """The file in order."""
        view = memoryview(self.content)
        for start in range(0, len(view), PIECE):
            yield view[start : start + PIECE]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.downloads.waiting -= len(self.content)
