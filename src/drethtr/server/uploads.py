"""Read parameters, uploads and JSON from requests, with limits of size and time."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from typing import Any, NamedTuple, ParamSpec, TypeVar
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, create_form_parser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from drethtr.base.config import hint
from drethtr.base.encoding import json_in
from drethtr.base.errors import ConfigError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MAX_BYTES = 64 << 20
"""Maximum size of an image or PDF."""

MAX_TOTAL_BYTES = 256 << 20
"""Maximum bytes of images and texts in all requests together, decoded lines included."""

MAX_FILES = 64
"""Maximum number of files in a form."""

MAX_FIELDS = 64
"""Maximum number of other fields, which are ignored: a million empty ones would take minutes to parse."""

MAX_JSON_BYTES = 1 << 20
"""Maximum size of JSON."""

MAX_PICTURES = 2
"""How many images of pages, and of lines, are rendered at the same time."""

MAX_UPLOAD_SECONDS = 60.0
"""Maximum seconds for an upload."""


def parameters_of(request: Request, *known: str) -> Mapping[str, str]:
    """The parameters of a request.

    Raises:
        ConfigError: for one that is unknown.
    """
    return known_parameters(request, request.query_params, known)


def known_parameters(request: Request, given: Mapping[str, str], known: Sequence[str]) -> Mapping[str, str]:
    """The given parameters; a `ConfigError` for one that is unknown."""
    for name in given:
        if name not in known:
            takes = f"known: {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{request.url.path} has no parameter {name!r}{hint(name, known)}; {takes}")
    return given


async def form_of(request: Request, *known: str) -> Mapping[str, str]:
    """The parameters of a request, or the fields of a form in its body, which may be longer.

    Raises:
        ConfigError: for one that is unknown.
        HTTPException: if the body is too large, or comes too slowly.
    """
    if request.method != "POST":
        return parameters_of(request, *known)
    with share_of(request) as share:
        content = await read_body(request, "form", MAX_JSON_BYTES, share.add)
    return known_parameters(request, dict(parse_qsl(content.decode("utf-8", "replace"))), known)


def whole_number(asked: Mapping[str, str], name: str, usual: int, most: int, least: int = 1) -> int:
    """A number among the parameters of a request.

    Raises:
        ConfigError: if it is not a whole number from `least` to `most`.
    """
    value = asked.get(name, str(usual))
    if not (value.isascii() and value.isdecimal() and len(value) < 10 and least <= int(value) <= most):
        raise ConfigError(f"{name} must be a whole number from {least} to {most:,}, not {value[:60]!r}")
    return int(value)


def number_in(asked: Mapping[str, str], name: str, usual: float) -> float:
    """A number among the parameters of a request.

    Raises:
        ConfigError: if it is none.
    """
    try:
        value = float(asked.get(name, usual))
    except ValueError:
        value = nan
    if not isfinite(value):
        raise ConfigError(f"{name} is {asked[name][:60]!r}; it must be a number")
    return value


def is_set(asked: Mapping[str, str], name: str) -> bool:
    """Whether a parameter of a request is set, in any case, as Python writes `False`; by default it is not.

    Raises:
        ConfigError: if it is neither.
    """
    value = asked.get(name, "").lower()
    if value not in ("", "0", "false", "no", "1", "true", "yes"):
        raise ConfigError(f"{name} is {value[:60]!r}; it must be 1 or 0")
    return value in ("1", "true", "yes")


class Budget:
    """Counts the bytes that all requests hold in memory."""

    def __init__(self) -> None:
        self.held = 0

    @contextmanager
    def share(self) -> Iterator["Share"]:
        """The share of one request, released when it is finished."""
        share = Share(self)
        try:
            yield share
        finally:
            self.held -= share.held


@dataclass
class Share:
    """Counts the bytes that one request holds in memory."""

    budget: Budget
    held: int = 0

    def add(self, size: int) -> None:
        """Count this many more bytes.

        Raises:
            HTTPException: if all requests together hold too many.
        """
        if self.budget.held + size > MAX_TOTAL_BYTES:
            message = "this server holds too many images and texts; send fewer at once, or try again later"
            raise HTTPException(503, message, {"Retry-After": "1"})
        self.held += size
        self.budget.held += size


def share_of(request: Request) -> AbstractContextManager[Share]:
    """The memory share of a request, for handlers outside of `Service`."""
    budget: Budget = request.app.state.budget
    return budget.share()


class HeavyWork:
    """Runs slow work, by default one piece at a time, in its own threads; the common threads are for quick requests."""

    def __init__(self, most: int = 1) -> None:
        self.free = asyncio.Semaphore(most)
        self.threads = ThreadPoolExecutor(most)

    async def run(
        self, request: Request, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Do work in a thread when it is its turn.

        Raises:
            ClientDisconnect: if the client has left by then; its work is dropped.
        """
        async with self.free:
            if await request.is_disconnected():
                raise ClientDisconnect
            called = partial(work, *args, **kwargs)
            return await asyncio.get_running_loop().run_in_executor(self.threads, called)


class Upload(NamedTuple):
    """An uploaded file; its name is without folders."""

    name: str
    content: bytes


async def uploads_of(request: Request, share: Share, name: str = "") -> list[Upload]:
    """The files that a request uploads: its bytes, or those of a form, as `curl --form file=@page.jpg` sends it.

    Args:
        share: Counts their bytes.
        name: The name of a file that is sent alone.

    Raises:
        HTTPException: if there are none or too many, if they are too large or come too slowly, or the form is damaged.
    """
    content = await read_body(request, "image", MAX_BYTES, share.add)
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        found = await asyncio.to_thread(files_of_form, request.headers["content-type"], content)
    else:
        found = [Upload(name, content)]
    if not found or not all(upload.content for upload in found):
        raise HTTPException(
            400,
            "the request has no image; send its bytes, as curl --data-binary @line.png does, or files, as curl "
            "--form file=@line.png does",
        )
    return found


def files_of_form(content_type: str, content: bytes) -> list[Upload]:
    """The files of a form, in order; other fields are left out.

    Raises:
        HTTPException: if there are too many, or the form is damaged.
    """
    found: list[Upload] = []
    fields = 0

    def leave_out(field: Field) -> None:
        nonlocal fields
        fields += 1
        if fields > MAX_FIELDS:
            raise HTTPException(413, f"a form may have at most {MAX_FIELDS} fields besides its files")

    def add(file: File) -> None:
        if len(found) >= MAX_FILES:
            raise HTTPException(413, f"a form may have at most {MAX_FILES} files")
        file.file_object.seek(0)  # in memory, see below
        name = (file.file_name or b"").decode("utf-8", "replace").replace("\\", "/")
        found.append(Upload(name.rpartition("/")[2], file.file_object.read()))

    header = {"Content-Type": content_type.encode("latin-1")}
    in_memory = {"MAX_MEMORY_FILE_SIZE": MAX_BYTES + 1}  # larger parts would become temporary files
    try:
        parser = create_form_parser(header, leave_out, add, in_memory)
        parser.write(content)
        parser.finalize()
    except (FormParserError, ValueError) as error:
        raise HTTPException(400, f"the form is damaged: {error}") from error
    _, options = parse_options_header(content_type)
    if (boundary := options.get(b"boundary")) and b"--%b--" % boundary not in content:
        raise HTTPException(400, "the form is damaged: it ends before its last boundary")
    return found


async def json_of(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request, with U+FFFD for each half of a character; {} if the body is empty.

    Raises:
        HTTPException: if it is too large, comes too slowly, or is no JSON object.
    """
    with share_of(request) as share:
        content = await read_body(request, "request", MAX_JSON_BYTES, share.add)
    if not content:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
    try:
        found = json_in(content)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the request is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise HTTPException(400, 'the request must be a JSON object, as {"text": "…"}')
    return found


async def read_body(request: Request, what: str, most: int, count: Callable[[int], None] = lambda size: None) -> bytes:
    """Read the body of a request; `count` is called with the size of each piece, and may raise.

    Raises:
        HTTPException: if it has more bytes than `most`, or comes too slowly.
    """
    pieces, size = [], 0
    refuse_bytes(announced_length(request), what, most)
    try:
        async with asyncio.timeout(MAX_UPLOAD_SECONDS):
            async for piece in request.stream():
                pieces.append(piece)
                size += len(piece)
                refuse_bytes(size, what, most)
                count(len(piece))
    except TimeoutError as error:
        message = f"the {what} did not arrive within {MAX_UPLOAD_SECONDS:g} seconds; try again, or send a smaller one"
        raise HTTPException(408, message, {"Connection": "close"}) from error
    return b"".join(pieces)


def announced_length(request: Request) -> int:
    """The length in the header Content-Length; 0 without one.

    Raises:
        HTTPException: if it is not a number.
    """
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal()):
        raise HTTPException(400, f"Content-Length is {length[:60]!r}; it must be the number of bytes of the image")
    return int(length[:20])  # Python refuses to convert thousands of digits


def refuse_bytes(size: int, what: str, most: int) -> None:
    """Refuse a body of more bytes than `most`."""
    if size > most:
        article = "an" if what == "image" else "a"
        raise HTTPException(413, f"{article} {what} may have at most {most >> 20} MiB")
