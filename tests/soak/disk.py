"""Simulate a disk that loses power, from the system calls of a program recorded by `strace` (Linux).

Whatever was not flushed may or may not be on the disk: bytes written, and names created, moved or removed.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from os import SEEK_END
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

CALLS = (
    "openat,creat,write,writev,pwrite64,lseek,ftruncate,truncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "mkdir,mkdirat,rmdir,fsync,fdatasync,sendfile,copy_file_range"
)
STRACE = ("strace", "-D", "-f", "-q", "-y", "-xx", "-s", "100000000", "--seccomp-bpf", "-e", f"trace={CALLS}")

FIRST, REST, CALL = (
    re.compile(r"(\d+) +(.*) <unfinished \.\.\.>$"),
    re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)$"),
    re.compile(r"\d+ +(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?"),
)
QUOTED, OPENED = re.compile(r'"((?:\\x[0-9a-f]{2})*)"'), re.compile(r"(\w+)<((?:\\x[0-9a-f]{2})*)>")


class Call(NamedTuple):
    """A successful system call: its recorded arguments, the returned value, and the path of a returned descriptor."""

    name: str
    arguments: str
    returned: int
    path: str

    def strings(self) -> list[bytes]:
        """The strings among its arguments."""
        return [plain(text) for text in QUOTED.findall(self.arguments)]

    def descriptor(self) -> tuple[str, str]:
        """Its first descriptor and the path of that."""
        found = OPENED.match(self.arguments)
        return (found[1], plain(found[2]).decode()) if found else ("", "")

    def numbers(self) -> list[int]:
        """The last numbers among its arguments."""
        return [int(text) for text in re.findall(r"(?<=, )-?\d+", self.arguments)]


def plain(text: str) -> bytes:
    """Decode a string recorded in hexadecimal."""
    return bytes.fromhex(text.replace("\\x", ""))


def calls(log: Path) -> Iterator[Call]:
    """The successful calls, in the order in which they ended."""
    begun: dict[str, str] = {}
    wait_for_end(log)
    with log.open() as lines:
        for line in lines:  # one by one: the weights of a training take gigabytes
            if found := FIRST.match(line):
                begun[found[1]] = f"{found[1]} {found[2]}"
                continue
            if found := REST.match(line):
                line = begun.pop(found[1]) + found[2]
            if (found := CALL.match(line)) and int(found[3]) >= 0:
                yield Call(found[1], found[2], int(found[3]), plain(found[4] or "").decode())


def wait_for_end(log: Path) -> None:
    """Wait until strace, which ends soon after the program, has written everything."""
    with log.open("rb") as written:
        while not ends(written):
            time.sleep(0.05)


def ends(log: BinaryIO) -> bool:
    """Whether the last line is that of a program's end."""
    log.seek(max(log.seek(0, SEEK_END) - 5, 0))
    return log.read() == b" +++\n"


class File:
    """A file: its content on the disk, and the changes since; a change is an offset with bytes, or a length."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
        self.changes: list[tuple[int, bytes | None]] = []

    def with_changes(self, taken: slice) -> bytes:
        """The content if only these changes have reached the disk."""
        content = bytearray(self.content)
        for place, data in self.changes[taken]:
            if data is None:
                content[place:] = bytes(max(place - len(content), 0))
            else:
                content.extend(bytes(max(place - len(content), 0)))
                content[place : place + len(data)] = data
        return bytes(content)

    def flush(self) -> None:
        """All changes reach the disk."""
        self.content = self.with_changes(slice(None))
        self.changes.clear()


NONE, SOME, EACH = slice(0, 0), slice(None, None, 2), slice(None)
"""Selections of changes that have reached the disk."""

Names = dict[PurePosixPath, File | None]
"""Files by path; None is a folder."""


class Disk:
    """A folder as programs see it, and the part of it that is certain to be on the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = PurePosixPath(folder)
        self.seen: Names = {
            PurePosixPath(path): File(path.read_bytes()) if path.is_file() else None for path in folder.rglob("*")
        }
        self.sure = dict(self.seen)
        self.places: dict[tuple[str, File], int] = {}

    def at(self, text: bytes | str, base: PurePosixPath | None = None) -> PurePosixPath:
        """Resolve a path in a call."""
        return (base or self.folder) / (text if isinstance(text, str) else text.decode())

    def inside(self, path: PurePosixPath) -> bool:
        return self.folder in path.parents

    def do(self, call: Call) -> None:
        """Carry out a call.

        Raises:
            NotImplementedError: for an unknown call.
        """
        match call.name:
            case "openat" | "creat":
                self.open(call)
            case "write" | "writev" | "pwrite64" | "lseek" | "ftruncate":
                self.write(call)
            case "fsync" | "fdatasync":
                self.flush(self.at(call.descriptor()[1]))
            case "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat" | "rmdir" | "mkdir" | "mkdirat":
                self.name(call)
            case _:
                if str(self.folder).encode() in b"".join(call.strings()) or self.inside(self.at(call.descriptor()[1])):
                    raise NotImplementedError(call.name)

    def open(self, call: Call) -> None:
        """Open a file, which may create or truncate it."""
        path = self.at(call.path)
        if not self.inside(path) or "O_DIRECTORY" in call.arguments:
            return
        if path not in self.seen and (call.name == "creat" or "O_CREAT" in call.arguments):
            self.seen[path] = File()
        file = self.seen.get(path)
        if isinstance(file, File):
            if call.name == "creat" or "O_TRUNC" in call.arguments:
                file.changes.append((0, None))
            self.places[str(call.returned), file] = -1 if "O_APPEND" in call.arguments else 0

    def write(self, call: Call) -> None:
        """Write at the position of a descriptor or of the call, or move the descriptor."""
        descriptor, path = call.descriptor()
        file = self.seen.get(self.at(path))
        if not isinstance(file, File):
            return
        place = self.places.get((descriptor, file), 0)
        if call.name == "lseek":
            self.places[descriptor, file] = call.returned if place >= 0 else -1
        elif call.name == "ftruncate":
            file.changes.append((call.numbers()[-1], None))
        elif call.name == "pwrite64":
            file.changes.append((call.numbers()[-1], b"".join(call.strings())[: call.returned]))
        else:
            start = len(file.with_changes(EACH)) if place < 0 else place
            file.changes.append((start, b"".join(call.strings())[: call.returned]))
            self.places[descriptor, file] = place if place < 0 else place + call.returned

    def name(self, call: Call) -> None:
        """Create, move or remove a name."""
        bases = [self.at(plain(text).decode()) for _, text in OPENED.findall(call.arguments)]
        paths = [
            self.at(text, bases[number] if number < len(bases) else None) for number, text in enumerate(call.strings())
        ]
        if not self.inside(paths[-1]):
            return
        if call.name in ("mkdir", "mkdirat"):
            self.seen[paths[0]] = None
        elif call.name.startswith("rename"):
            for path in [path for path in self.seen if paths[0] in (path, *path.parents)]:
                self.seen[paths[1] / path.relative_to(paths[0])] = self.seen.pop(path)
        else:
            self.seen.pop(paths[0], None)

    def flush(self, path: PurePosixPath) -> None:
        """Flush the content of a file, or the names in a folder."""
        file = self.seen.get(path)
        if isinstance(file, File):
            file.flush()
        else:
            here = {name: file for name, file in self.seen.items() if name.parent == path}
            self.sure = {name: file for name, file in self.sure.items() if name.parent != path} | here

    def losses(self) -> Iterator[dict[PurePosixPath, bytes]]:
        """Possible states of the disk after a loss of power now: files with their contents."""
        for names, taken in product((self.sure, self.seen), (NONE, SOME, EACH)):
            known = {path for path in names if all(parent in names for parent in self.between(path))}
            files = {path: names[path] for path in sorted(known)}
            yield {path: file.with_changes(taken) for path, file in files.items() if file is not None}

    def between(self, path: PurePosixPath) -> Sequence[PurePosixPath]:
        """The folders of a path below this one."""
        return [parent for parent in path.parents if self.inside(parent)]


def replay(disk: Disk, log: Path, look: Callable[[int, dict[PurePosixPath, bytes]], None]) -> int:
    """Replay the calls of a program, passing to `look` what a loss of power may leave; returns their number."""
    number = 0
    for number, call in enumerate(calls(log), 1):
        if call.name in ("fsync", "fdatasync") or call.name.startswith(("rename", "unlink")):
            for files in disk.losses():
                look(number, files)
        disk.do(call)
    return number
