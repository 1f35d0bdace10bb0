"""Call functions in a child process with limited memory and time: small malicious files can exhaust both.

    value, content = limited("scan.pdf", render, path)

The caller's arguments are trusted and pickled. The answer is not, as a damaged child may send anything: it is plain
JSON, with bytes beside it. Children are kept and used again; they end with this process.
"""

import atexit
import faulthandler
import importlib
import json
import math
import os
import pickle
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
from typing import Any, TypeAlias, cast

from drethtr.base.errors import DataError, DrethtrError

Answer: TypeAlias = tuple[Any, "bytes | bytearray | memoryview"]
"""What a function that is called here returns: a value that JSON can hold, and bytes."""

MEMORY = 2 << 30
"""Address space of a child, in bytes: enough to decode the largest image, several times over."""

SECONDS = 15.0
"""Processor time that a call may take; a page that a person made takes a second or two."""

CHILDREN = 4
"""Number of concurrent calls, so that a slow file does not hold up the others."""

HEAD = struct.Struct(">IQ")
"""The lengths of an answer: of its JSON and of its bytes."""

LONGEST_JSON = 1 << 20

OUT_OF_TIME = (-signal.SIGXCPU,) if hasattr(signal, "SIGXCPU") else (1,)
"""Exit codes of a child that ran out of time; on Windows, that of faulthandler."""

OUT_OF_MEMORY = 2
"""Exit code of a child that noticed that it ran out of memory; most are ended by the system or a library."""

WATCH = 0.05
"""Seconds between looks at the memory, where the system does not limit it."""


class Child:
    """A process that answers one call after the other; it imports `modules` before the first."""

    def __init__(self, *modules: str) -> None:
        begin = f"import sys; sys.path[:] = {sys.path!r}; from drethtr.base.limited import serve; serve(*{modules!r})"
        command = [sys.executable, "-c", begin]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # each takes address space
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise DrethtrError(f"cannot start a process to open files in: {error.strerror}") from error

    def ask(self, seconds: float, function: Callable[..., Answer], args: tuple[Any, ...]) -> tuple[Any, bytearray]:
        """Call a function in the child.

        Raises:
            EOFError: if the child has ended, or its answer is none.
        """
        questions, answers = (cast("BufferedRandom", pipe) for pipe in (self.process.stdin, self.process.stdout))
        try:
            question = seconds, here(), function.__module__, function.__qualname__, args
            pickle.dump(question, questions, pickle.HIGHEST_PROTOCOL)
            questions.flush()
        except BrokenPipeError as error:
            raise EOFError from error
        head, content = HEAD.unpack(received(answers, HEAD.size))
        if head > LONGEST_JSON or content > MEMORY:
            raise EOFError
        try:
            return json.loads(received(answers, head)), received(answers, content)
        except ValueError as error:
            raise EOFError from error

    def end(self) -> int:
        """End the child; returns its exit code, below 0 if it was killed by a signal."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            return self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Children:
    """The children of this process: idle ones are used again, and new ones are started as they are needed."""

    def __init__(self) -> None:
        self.idle: list[Child] = []
        self.places = threading.BoundedSemaphore(CHILDREN)

    def call(self, name: str, seconds: float, function: Callable[..., Answer], args: tuple[Any, ...]) -> Answer:
        """The answer to a call; see `limited`."""
        with self.places:
            child = self.idle_one() or Child()
            try:
                answer, content = child.ask(seconds, function, args)
            except EOFError:
                raise DataError(reason_of(child.end(), seconds), name) from None
            except BaseException:
                child.end()  # interrupted, with an answer on its way that nobody asked for
                raise
            self.idle.append(child)
        if "value" in answer:
            return answer["value"], content
        if "error" in answer:
            raise DataError(*answer["error"])
        raise DrethtrError(f"the program failed on this file; please report it:\n{answer.get('failure')}", name)

    def idle_one(self) -> Child | None:
        """A child that waits for a call; None if there is none."""
        with suppress(IndexError):
            while True:
                child = self.idle.pop()
                if child.process.poll() is None:
                    return child
                child.end()
        return None

    def end(self) -> None:
        """End all that are idle."""
        while self.idle:
            self.idle.pop().end()

    def forget(self) -> None:
        """After a fork: the children belong to the parent."""
        self.idle.clear()
        self.places = threading.BoundedSemaphore(CHILDREN)


children = Children()
atexit.register(children.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=children.forget)


def limited(name: str, function: Callable[..., Answer], *args: Any, seconds: float | None = None) -> Answer:
    """Call a function of a module in a child process.

    Args:
        name: The file that it opens, for messages.
        seconds: Processor time that it may take, by default `SECONDS`; on Windows, time.

    Raises:
        DataError: as the function does, or if it takes too much memory or time.
        DrethtrError: if no child can be started, or the function fails unexpectedly.
    """
    return children.call(name, SECONDS if seconds is None else seconds, function, args)


def prepare(*modules: str) -> None:
    """Start a child that imports these modules, while this process goes on until its first call."""
    children.idle.append(Child(*modules))


def reason_of(code: int, seconds: float) -> str:
    """Why a child ended, in words."""
    if code in OUT_OF_TIME:
        why = f"takes more than {seconds:.0f} seconds to open"
    else:
        why = f"takes more than {MEMORY >> 30} GB of memory to open, or crashes the decoder"
    return f"{why}; save its pages as plain images with another program"


def here() -> str:
    """The working directory, which paths may be relative to; the root if it was removed."""
    try:
        return os.getcwd()  # noqa: PTH109 - a string
    except OSError:
        return os.sep


def received(pipe: BufferedIOBase, length: int) -> bytearray:
    """So many bytes of a pipe.

    Raises:
        EOFError: if there are fewer.
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
    """The main loop of a child: import `modules`, then answer until the parent closes the pipe or ends."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    answers = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # what a library prints is no answer
    limit_memory()
    for module in modules:
        importlib.import_module(module)
    with suppress(EOFError, BrokenPipeError):
        while True:
            seconds, folder, module, name, args = pickle.load(sys.stdin.buffer)
            if folder != here():
                os.chdir(folder)  # the parent may have changed it since the last call
            with limited_time(seconds):
                answer, content = answered(module, name, args)
            head = json.dumps(answer).encode()
            answers.write(HEAD.pack(len(head), len(content)) + head)
            answers.write(content)
            answers.flush()


def answered(module: str, name: str, args: tuple[Any, ...]) -> tuple[dict[str, Any], Any]:
    """The answer to a call, or the reason why there is none."""
    try:
        value, content = getattr(importlib.import_module(module), name)(*args)
        return {"value": value}, memoryview(content).cast("B")
    except DataError as error:
        return {"error": [error.reason, None if error.source is None else str(error.source)]}, b""
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except Exception:
        return {"failure": traceback.format_exc()[-4000:]}, b""


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """End this process if the block takes more processor time; on Windows, which does not limit that, more time."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), resource.RLIM_INFINITY))
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def limit_memory() -> None:
    """Let this process take no more than `MEMORY`; on Windows there is no limit."""
    if sys.platform == "win32":
        return
    import resource

    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    else:
        threading.Thread(target=watch_memory, daemon=True).start()


def watch_memory() -> None:
    """End this process when it has taken more than `MEMORY`; for systems such as macOS, which do not limit it."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit < MEMORY:
        time.sleep(WATCH)
    os._exit(OUT_OF_MEMORY)
