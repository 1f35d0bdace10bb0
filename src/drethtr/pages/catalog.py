"""What input files are: images, PDFs, descriptions of pages, lists of pages. Each is opened once.

The facts about a file hold as long as its size and time stay the same. They are kept in the record of the results
(`record.py`), so that a later run opens no file that has not changed.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Self

from drethtr.base.archive import archive_of
from drethtr.base.errors import DataError
from drethtr.base.files import is_file, is_there, leads_nowhere, state_of
from drethtr.documents.beside import DESCRIPTION
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.names import listed_file
from drethtr.documents.read import DESCRIBING, HEAD, first_bytes, made_here, page_in
from drethtr.images.line import is_line_shaped
from drethtr.images.page import PageSource, open_pages, pdf_made_here

METS = re.compile(rb"<(?:[\w.-]+:)?mets\b")
"""The root element of METS."""

MANIFEST = b"iiif.io/api/presentation"
"""Text in the `@context` of every IIIF manifest."""


class Kind(StrEnum):
    """What a file is."""

    IMAGE = "image"
    DESCRIPTION = "description"
    METS = "mets"
    MANIFEST = "manifest"
    OTHER = "other"


class Facts(NamedTuple):
    """Facts about a file.

    frames     of an image or PDF: the frames that are its pages
    is_line    of an image: whether it has the shape of a single line
    image      of a description: the name of its image
    has_lines  of a description: whether it has lines
    made_here  of a description or PDF: whether drethtr wrote it; None if nobody asked
    """

    kind: Kind
    frames: tuple[int, ...] = (0,)
    is_line: bool = False
    image: str = ""
    has_lines: bool = False
    made_here: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """The facts as plain values, without those that have their default."""
        usual = Facts._field_defaults
        return {name: value for name, value in self._asdict().items() if name == "kind" or value != usual[name]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The facts that `to_json` gave.

        Raises:
            ValueError: if they are not facts.
        """
        frames = values.get("frames", (0,))
        known = cls(Kind(values["kind"]), tuple(frames), *(values.get(name, usual) for name, usual in REST))
        kinds = type(known.is_line), type(known.image), type(known.has_lines)
        is_sound = kinds == (bool, str, bool) and {*map(type, known.frames)} == {int}
        if not is_sound or known.made_here not in (None, True, False):
            raise ValueError(values)
        return known


REST = tuple(Facts._field_defaults.items())[1:]
"""The last fields of `Facts` with their defaults."""


class Catalogued(NamedTuple):
    """The facts about a file when it had this size and time."""

    state: str
    facts: Facts


class Folders:
    """The content of folders. A folder is listed once, since a call for each of its files is slow on a network drive.

    A file that a listing lacks is still looked up, since on some file systems a name has several spellings.
    """

    def __init__(self) -> None:
        # Keys are strings: hashing, comparing or splitting a `Path` takes longer than all else done for a finished
        # page.
        self.listed: dict[str, list[os.DirEntry[str]]] = {}
        self.entries: dict[str, os.DirEntry[str]] = {}
        self.real: dict[str, str] = {}

    def forget(self) -> None:
        """Forget all listings, so that folders are listed again."""
        self.listed.clear()
        self.entries.clear()
        self.real.clear()

    def list(self, folder: Path) -> Sequence[os.DirEntry[str]]:
        """The entries of a folder.

        Raises:
            OSError: if it cannot be listed.
        """
        name = str(folder)
        if name not in self.listed:
            with os.scandir(name) as entries:
                self.listed[name] = found = list(entries)
            above = "" if name == "." else os.path.join(name, "")  # noqa: PTH118 - as a `Path` is written
            self.entries |= {above + entry.name: entry for entry in found if not entry.is_symlink()}
        return self.listed[name]

    def files(self, folder: Path) -> Sequence[Path]:
        """The files of a folder that are not hidden, sorted; also links that lead nowhere, to be reported.

        Raises:
            OSError: if it cannot be listed.
        """
        visible = (entry for entry in self.list(folder) if not entry.name.startswith("."))
        names = [entry.name for entry in visible if is_file(entry) or leads_nowhere(entry)]
        return [folder / name for name in sorted(names, key=os.path.normcase)]

    def entry(self, path: Path) -> os.DirEntry[str] | None:
        """The entry of a file, if its folder was listed; None for links, which may lead nowhere."""
        return self.entries.get(str(path))

    def is_file(self, path: Path) -> bool:
        """Whether a file exists."""
        return is_file(self.entry(path) or path)

    def find(self, path: Path) -> Path | None:
        """A file, see `listed_file`."""
        if (entry := self.entry(path)) is None:
            return listed_file(path)
        return path if is_file(entry) else None

    def is_there(self, result: Path) -> bool:
        """Whether a result exists; its folder is listed."""
        if self.entry(result) is not None:
            return True
        with suppress(OSError):
            self.list(result.parent)
        return self.entry(result) is not None or is_there(result)

    def state_of(self, files: Iterable[Path]) -> str:
        """Size and time of files; if these are unchanged, so is the content.

        Raises:
            DataError: naming a file that cannot be accessed.
        """
        try:
            found = [(entry.stat() if (entry := self.entry(path)) else path.stat()) for path in files]
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", error.filename) from error
        return " ".join(map(state_of, found))

    def time_of(self, file: Path) -> int:
        """When a file was last written, in nanoseconds; 0 if it cannot be accessed."""
        with suppress(OSError):
            return (self.entry(file) or file).stat().st_mtime_ns
        return 0

    def resolved(self, path: Path) -> str:
        """The path of a file with links resolved, as text that is equal for equal paths."""
        if (entry := self.entry(path)) is None:
            return os.path.normcase(path.resolve())
        folder = os.path.dirname(path)  # noqa: PTH120 - see `__init__`
        if folder not in self.real:
            self.real[folder] = os.path.normcase(path.parent.resolve() / "x")[:-1]
        return self.real[folder] + os.path.normcase(entry.name)


class Catalog:
    """Facts about files: from an earlier run if they have not changed, else by opening them.

    Args:
        known: Files by their absolute paths, from a record.
        images: A folder in which the images of descriptions are looked for first.
    """

    def __init__(self, known: Mapping[str, Catalogued] | None = None, images: Path | None = None) -> None:
        self.images = images
        self.seen = dict(known or {})
        self.new: dict[str, Catalogued] = {}
        self.folders = Folders()
        self.current: dict[str, Facts] = {}  # of files in listed folders, which count as unchanged from then on

    def facts(self, path: Path) -> Facts:
        """What a file is.

        Raises:
            DataError: if it is missing or damaged.
        """
        if (current := self.current.get(str(path))) is not None:
            return current
        place, state = os.path.abspath(path), self.folders.state_of([path])  # noqa: PTH100 - links stay
        if (seen := self.seen.get(place)) is None or seen.state != state:
            seen = Catalogued(state, look_at(path))
            self.keep(path, place, seen)
        elif self.folders.entry(path) is not None:
            self.current[str(path)] = seen.facts
        return seen.facts

    def kind(self, path: Path) -> Kind | None:
        """What kind of file it is; None if it is missing or damaged."""
        with suppress(DataError):
            return self.facts(path).kind
        return None

    def forget_folders(self) -> None:
        """Check again whether files have changed."""
        self.current.clear()
        self.folders.forget()

    def keep(self, path: Path, place: str, seen: Catalogued) -> None:
        """Keep the facts about a file, also for later runs unless the file is gone by then."""
        self.current.pop(str(path), None)
        self.seen[place] = seen
        if archive_of(path) is None:
            self.new[place] = seen

    def is_ours(self, path: Path) -> bool:
        """Whether drethtr wrote a description or PDF; false if it is damaged."""
        try:
            facts = self.facts(path)
        except DataError:
            return False
        if facts.made_here is None:  # opening a PDF takes long, and few have the name of a scan
            facts = facts._replace(made_here=pdf_made_here(path))
            place = os.path.abspath(path)  # noqa: PTH100 - as above
            self.keep(path, place, Catalogued(self.seen[place].state, facts))
        return facts.made_here is True

    def sources(self, path: Path) -> tuple[PageSource, ...]:
        """The pages of an image or PDF.

        Raises:
            DataError: if it is missing or damaged.
        """
        frames = self.facts(path).frames
        return tuple(PageSource(path, frame, number, len(frames)) for number, frame in enumerate(frames, start=1))


def look_at(path: Path) -> Facts:
    """What a file is, by its name and its content.

    Raises:
        DataError: if it is missing or damaged.
    """
    ending = path.suffix.lower()
    if ending not in (DESCRIPTION, ".json"):
        sources, is_line = open_pages(path), False
        with suppress(DataError):  # a damaged image has no shape
            is_line = len(sources) == 1 and sources[0].is_alone and is_line_shaped(*sources[0].size())
        return Facts(Kind.IMAGE, tuple(source.frame for source in sources), is_line)
    data = first_bytes(path, MAX_BYTES + 1)
    head = data[:HEAD].replace(b"\0", b"")  # in UTF-16 every other byte is 0
    if ending == DESCRIPTION and METS.search(head):
        return Facts(Kind.METS)
    if ending == ".json" and is_manifest_data(data):
        return Facts(Kind.MANIFEST)
    try:
        page = page_in(data, str(path), lambda image: None)
    except DataError:
        if ending == DESCRIPTION and not DESCRIBING.search(head):
            return Facts(Kind.OTHER)
        raise
    return Facts(Kind.DESCRIPTION, image=page.image, has_lines=bool(page.lines), made_here=made_here(data))


def is_manifest_data(data: bytes) -> bool:
    """Whether the bytes of a JSON file are a IIIF manifest, by its `@context`, wherever that stands."""
    if MANIFEST not in data.replace(b"\0", b"").replace(b"\\/", b"/"):  # UTF-16, and slashes as PHP writes them
        return False
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return MANIFEST in data[:HEAD]  # damaged, which is reported when it is read
    return isinstance(content, dict) and MANIFEST.decode() in json.dumps(content.get("@context"))
