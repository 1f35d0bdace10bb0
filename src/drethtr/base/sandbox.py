"""Call functions in a child process with limited memory and time, which small malicious files could exhaust.

    value, content = sandboxed("scan.pdf", render, path)

Arguments are trusted and pickled. Answers are not trusted, since a compromised child may send anything: they are JSON
followed by bytes. Children are reused, and end with this process.
"""

import atexit
import faulthandler
import importlib
import json
import math
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase, BufferedRandom
from pathlib import Path
from typing import Any, TypeAlias, cast

from drethtr.base.errors import DataError, DrethtrError

Answer: TypeAlias = tuple[Any, "bytes | bytearray | memoryview"]
"""What a function called here returns: a JSON value, and bytes."""

MEMORY = 2 << 30
"""Address space of a child in bytes: several times what the largest image needs."""

SECONDS = 15.0
"""Processor time of a call; a genuine page takes a second or two.

Processor time, not elapsed time: on a busy machine a process may wait longer than this (LOG.md, 2026-11-24, night).
"""

CHILDREN = 4
"""Number of concurrent calls: a slow file must not hold up the others, and each may take `MEMORY`."""

READY = b"drethtr\n"
"""What a child writes first: it can answer calls. A program that is no Python would not."""

HEAD = struct.Struct(">IQ")
"""Header of an answer: the lengths of its JSON and of its bytes."""

MAX_JSON = 1 << 20  # a child compromised by a file must not fill the parent's memory

OWN_STREAM = re.compile(r"^/(dev/(std(in|out|err)|fd/\d+)|proc/(self|thread-self|\d+)/fd/\d+)$")
"""Names that mean something else in each process: a child would read its own pipe of calls and wait forever."""

OUT_OF_TIME = (-signal.SIGXCPU,) if hasattr(signal, "SIGXCPU") else (1,)
"""Exit codes of a child that ran out of time; on Windows, faulthandler sets it."""

OUT_OF_MEMORY = 2
"""Exit code of a child that caught a MemoryError; most are killed by the system or a library."""

FROZEN_CHILD = "DRETHTR_FROZEN_CHILD"
"""Variable that tells a frozen program (PyInstaller) that it was started as a child; it has the modules to import."""

WATCH = 0.05
"""Seconds between checks of memory use, where the system cannot limit it."""


class Child:
    """A process that answers calls one at a time; it imports `modules` before the first."""

    def __init__(self, *modules: str) -> None:
        self.ready = False
        places = [place for place in sys.path if isinstance(place, str)]  # Python skips others, such as paths
        begin = f"import sys; sys.path[:] = {places!r}; from drethtr.base.sandbox import serve; serve(*{modules!r})"
        command = [sys.executable, "-c", begin]
        # Each thread takes address space, which is what is limited.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if not sys.executable:
            raise DrethtrError(
                "cannot start a process for opening files: this program has no Python of its own; let it set "
                "sys.executable to one of the same version before it opens a file"
            )
        if is_frozen():
            command = [sys.executable]  # the program itself, which takes no code
            environment[FROZEN_CHILD] = " ".join(modules)
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise DrethtrError(f"cannot start a process for opening files: {error.strerror}") from error

    def ask(self, seconds: float, function: Callable[..., Answer], args: tuple[Any, ...]) -> tuple[Any, bytearray]:
        """Call a function in the child.

        Raises:
            EOFError: if the child has ended, or its answer is malformed.
            DrethtrError: if it did not start, which says nothing about a file.
        """
        questions, answers = (cast("BufferedRandom", pipe) for pipe in (self.process.stdin, self.process.stdout))
        self.wait_until_ready(answers)
        try:
            question = seconds, here(), function.__module__, function.__qualname__, args
            pickle.dump(question, questions, pickle.HIGHEST_PROTOCOL)
            questions.flush()
        except OSError as error:  # a broken pipe; on Windows, an invalid argument
            raise EOFError from error
        head, content = HEAD.unpack(read_exactly(answers, HEAD.size))
        if head > MAX_JSON or content > MEMORY:
            raise EOFError
        try:
            answer = json.loads(read_exactly(answers, head))
        except (ValueError, RecursionError) as error:
            raise EOFError from error
        if not isinstance(answer, dict):
            raise EOFError
        return answer, read_exactly(answers, content)

    def wait_until_ready(self, answers: BufferedIOBase) -> None:
        """Wait until the child can answer calls.

        Raises:
            DrethtrError: if it has ended before, or is another program.
        """
        with suppress(EOFError):
            self.ready = self.ready or read_exactly(answers, len(READY)) == READY
        if not self.ready:
            raise DrethtrError(
                f"cannot start a process for opening files: {sys.executable} ended with exit code {self.end()}; "
                "sys.executable must be a Python of the same version, with enough memory to start"
            )

    def end(self, patience: float = 1.0) -> int:
        """Return the exit code of the child, negative if a signal killed it; it may take `patience` seconds to end."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            return self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Children:
    """The child processes: idle ones are reused, new ones started as needed."""

    def __init__(self) -> None:
        self.idle: list[Child] = []
        self.slots = threading.BoundedSemaphore(CHILDREN)

    def call(self, name: str, seconds: float, function: Callable[..., Answer], args: tuple[Any, ...]) -> Answer:
        """Call a function in a child; see `sandboxed`."""
        with self.slots:  # held until the child is idle again, so that there are never more than `CHILDREN`
            child = self.idle_one()
            result = self.ask(child or Child(), seconds, function, args)
            # A used child may still hold memory of earlier files; a new one has all of it for this file.
            if child is not None and isinstance(result, int) and result not in OUT_OF_TIME:
                result = self.ask(Child(), seconds, function, args)
        if isinstance(result, int):
            raise DataError(reason_of(result, seconds), name)
        answer, content = result
        if "value" in answer:
            return answer["value"], content
        if "error" in answer:
            raise DataError(*answer["error"])
        raise DrethtrError(f"drethtr failed on this file; please report it:\n{answer.get('failure')}", name)

    def ask(
        self, child: Child, seconds: float, function: Callable[..., Answer], args: tuple[Any, ...]
    ) -> tuple[Any, bytearray] | int:
        """The answer of a child, which then is idle again; its exit code if it has ended."""
        try:
            answer = child.ask(seconds, function, args)
        except EOFError:
            # A process may take seconds to die; if killed earlier, it would not tell which limit it met.
            return child.end(patience=10.0)
        except BaseException:
            child.end()  # interrupted: its answer would be mistaken for that of the next call
            raise
        self.idle.append(child)
        return answer

    def idle_one(self) -> Child | None:
        """Take an idle child that is still alive, if there is one."""
        with suppress(IndexError):
            while True:
                child = self.idle.pop()
                if child.process.poll() is None:
                    return child
                child.end()
        return None

    def end(self) -> None:
        """End all idle children."""
        while self.idle:
            self.idle.pop().end()

    def forget(self) -> None:
        """Drop all children after a fork, since they belong to the parent."""
        self.idle.clear()
        self.slots = threading.BoundedSemaphore(CHILDREN)


children = Children()
atexit.register(children.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=children.forget)


def sandboxed(name: str, function: Callable[..., Answer], *args: Any, seconds: float | None = None) -> Answer:
    """Call a module-level function in a child process.

    Args:
        name: The file that it opens, for messages.
        seconds: Limit of processor time, by default `SECONDS`; on Windows, of elapsed time.

    Raises:
        DataError: as the function does, or if it takes too much memory or time; for an argument such as `/dev/stdin`.
        DrethtrError: if no child can be started, or the function fails unexpectedly.
    """
    for argument in args:
        if isinstance(argument, str | Path) and OWN_STREAM.search(os.path.abspath(argument)):  # noqa: PTH100 - links stay
            raise DataError("is a stream of one process, not a file; save it to a file first, and give that", name)
    return children.call(name, SECONDS if seconds is None else seconds, function, args)


def prepare(*modules: str) -> None:
    """Start a child that imports these modules in the background, ready for the first call, unless one is idle."""
    if not children.idle:
        children.idle.append(Child(*modules))


def is_frozen() -> bool:
    """Whether this program was frozen by PyInstaller or the like, so that its executable is not Python."""
    return getattr(sys, "frozen", False)


def serve_if_child() -> None:
    """Serve, and exit, if this frozen program was started as a child."""
    if (modules := os.environ.pop(FROZEN_CHILD, None)) is not None:
        serve(*modules.split())
        sys.exit()


def reason_of(code: int, seconds: float) -> str:
    """Explain the exit code of a child."""
    if code in OUT_OF_TIME:
        why = f"takes more than {seconds:.0f} seconds to open"
    else:
        why = f"takes more than {MEMORY >> 30} GB of memory to open, or crashes the decoder"
    return f"{why}; save its pages as plain images with another program"


def here() -> str:
    """The working directory, for relative paths; the root if it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 - a string is needed
    except OSError:
        return os.sep


def read_exactly(pipe: BufferedIOBase, length: int) -> bytearray:
    """Read exactly `length` bytes from a pipe.

    Raises:
        EOFError: if it ends earlier.
    """
    content = bytearray(length)
    view, done = memoryview(content), 0
    while done < length:
        got = pipe.readinto(view[done:])
        if not got:
            raise EOFError
        done += got
    return content


def serve(*modules: str) -> None:
    """The main loop of a child: import `modules`, then answer calls until the parent closes the pipe or ends."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interruptions
    answers = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # keep output of libraries out of the answers
    limit_memory()
    for module in modules:
        importlib.import_module(module)
    with suppress(EOFError, BrokenPipeError):
        answers.write(READY)
        answers.flush()
        while True:
            seconds, folder, module, name, args = pickle.load(sys.stdin.buffer)
            # Relative paths mean the folder of the parent.
            if folder != here():
                os.chdir(folder)  # the parent may have moved since the last call
            with limited_time(seconds):
                answer, content = call_function(module, name, args)
            head = json.dumps(answer).encode()
            answers.write(HEAD.pack(len(head), len(content)) + head)
            answers.write(content)
            answers.flush()
            del args, answer, content  # otherwise the last image would keep memory that the next one needs


def call_function(module: str, name: str, args: tuple[Any, ...]) -> tuple[dict[str, Any], Any]:
    """Call a function; returns its answer, or the reason why it has none."""
    try:
        value, content = getattr(importlib.import_module(module), name)(*args)
        return {"value": value}, memoryview(content).cast("B")
    except DataError as error:
        return {"error": [error.reason, None if error.source is None else str(error.source)]}, b""
    except MemoryError:
        # No clean-up, which would need memory as well.
        os._exit(OUT_OF_MEMORY)
    except Exception:
        return {"failure": traceback.format_exc()[-4000:]}, b""


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """End this process if the block takes more processor time; on Windows, which cannot limit that, elapsed time."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def limit_memory() -> None:
    """Limit the memory of this process to `MEMORY`, except on Windows."""
    if sys.platform == "win32":
        return
    import resource

    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    else:
        threading.Thread(target=watch_memory, daemon=True).start()


def watch_memory() -> None:
    """End this process when it exceeds `MEMORY`, for systems that cannot limit it, such as macOS."""
    if sys.platform == "win32":
        return
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit < MEMORY:
        time.sleep(WATCH)
    os._exit(OUT_OF_MEMORY)
