"""Build an index of pages with their lines, texts and posteriors; only new and changed pages are read.

with open_builder("archive.drethtr.sqlite", recognizer, segmentation) as builder:
    for original in builder.waiting(originals):
        builder.read(original)
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Self

from rapidfuzz.distance import Levenshtein

from drethtr.base.archive import archive_of
from drethtr.base.errors import DataError
from drethtr.base.files import is_there
from drethtr.documents.document import Document
from drethtr.documents.formats import FORMATS
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page, TextLine
from drethtr.documents.read import first_bytes
from drethtr.documents.transcription import Transcription
from drethtr.images.straighten import Strip
from drethtr.pages.catalog import Kind
from drethtr.pages.line_reading import ReadLines
from drethtr.pages.record import digest_of, state_of
from drethtr.pages.segmentation import Segmentation, made_with
from drethtr.pages.selection import Selection
from drethtr.pages.source import Original
from drethtr.pages.transcribe import PageReader, SegmentedPage
from drethtr.recognition.posteriors import Posteriors, token_texts
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.locate import LinePlace
from drethtr.search.packed import PackedLines
from drethtr.search.records import PageKey, PageState, StoredLine
from drethtr.search.store import Store
from drethtr.text.normalize import nfc, visible

UNKNOWN = b""
"""The digest of a page that changed while it was read, which no file has."""

TIMES = re.compile(rb"<(Created|LastChange)>[^<]*")
"""When a PAGE file was written; the same reading may be written twice, here and by `drethtr transcribe`."""

Entry = tuple[StoredLine, Posteriors]
"""A line to store, with its posteriors."""


class Builder:
    """Writes pages to an index: `expect` them before they are read, `on_line` receives the lines, then `put` a page.

    Args:
        recognizer: Must keep posteriors.
        segmentation: Line segmentation.
    """

    def __init__(self, store: Store, recognizer: Recognizer, segmentation: Segmentation) -> None:
        self.store = store
        self.recognizer = recognizer
        self.segmentation = segmentation
        self.expected: dict[PageKey, str] = {}
        self.pages: dict[str, int] = {}  # of each scan asked about so far
        self.seen: dict[str, tuple[Strip, Reading]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.store.close()

    def waiting(self, originals: Iterable[Original]) -> Iterator[Original]:
        """The pages that are new or have changed since they were read."""
        for original in originals:
            key, files = self.key(original), original.files
            known = self.store.state(key)
            self.pages[key.scan] = original.source.pages
            try:
                state = state_of(files)
                if known is not None and known.state == state:
                    continue
                digest = digest_of(files)
                is_same = known is not None and (known.digest == digest or self.has_own_reading(original, known))
            except DataError:
                is_same = False  # reading it will tell why
            if not is_same:
                yield original
                continue
            with self.store.writing():
                self.store.touch(key, PageState(state, digest))
                if original.description is not None:  # it need not be kept twice
                    self.store.forget_reading(key)

    def has_own_reading(self, original: Original, known: PageState) -> bool:
        """Whether the new file of a page has the same texts that the index has read."""
        if original.description is None or (kept := self.store.reading(self.key(original))) is None:
            return False
        is_same_scan = known.digest == digest_of((original.source.path,))
        return is_same_scan and TIMES.sub(b"", kept) == TIMES.sub(b"", first_bytes(original.description, MAX_BYTES))

    def missing(self) -> dict[PageKey, Path]:
        """The pages whose scans cannot be found, with the paths of the scans."""
        scans = {key: self.store.scan(key) for key in self.store.states()}
        return {key: scan for key, scan in scans.items() if not is_there(scan)}

    def remove_deleted(self) -> int:
        """Remove the pages whose scans are gone, or have fewer pages since `waiting` saw them; returns their number.

        A folder that is missing or empty may be on a drive that is not connected: its pages stay, unless the index has
        the same content from another place, to which the folder was moved.
        """
        states, missing = self.store.states(), self.missing()
        filled = {folder for folder in {scan.parent for scan in missing.values()} if is_filled(folder)}
        moved = {state.digest for key, state in states.items() if key not in missing} - {UNKNOWN}
        gone = {key for key, scan in missing.items() if scan.parent in filled or states[key].digest in moved}
        gone |= {key for key in states if key.number > self.pages.get(key.scan, key.number)}
        with self.store.writing():
            for key in gone:
                self.store.remove(key)
        return len(gone)

    def read(self, original: Original, read: ReadLines | None = None) -> Page:
        """Read a page and write it; returns it. If the index has the page, only lines that have changed are read.

        Args:
            read: Reads the lines; by default the recognizer does, all at once.

        Raises:
            DataError: if it cannot be read or written.
        """
        self.expect([original])
        self.seen = {}
        original = original.opened()
        reader = PageReader(self.recognizer, self.segmentation, on_line=self.on_line, read_lines=read)
        segmented, known, texts = reader.segment(original), dict[str, Entry](), dict[str, TextLine]()
        if isinstance(segmented, SegmentedPage) and segmented.given is not None:
            unchanged = self.unchanged(original, segmented)
            known = {line.id: (line, posteriors) for line, posteriors in unchanged.values()}
            texts = {line.id: line for line in segmented.given.lines if line.id in known}
            strips = {number: strip for number, strip in segmented.strips.items() if number not in unchanged}
            segmented = segmented._replace(strips=strips)
        page = reader.page(original, segmented)
        self.put(original, page, known)
        return page.with_lines(lambda line: texts.get(line.id, line))

    def unchanged(self, original: Original, page: SegmentedPage) -> dict[int, Entry]:
        """The lines of a page that need not be read again; none if the scan has changed."""
        key = self.key(original)
        known, id = self.store.state(key), self.store.page_id(key)
        if known is None or id is None or known.state.split()[:1] != [state_of((original.source.path,))]:
            return {}
        _, lines, posteriors = self.store.page(id)
        return unchanged_lines(page, lines, posteriors)

    def expect(self, originals: Iterable[Original]) -> None:
        """Remember the state of pages that are about to be read, so that later changes count."""
        for original in originals:
            with suppress(DataError):  # reading it will tell why
                self.expected[self.key(original)] = state_of(original.files)

    def on_line(self, id: str, strip: Strip, reading: Reading) -> None:
        """Receive a line of the page that is being read."""
        self.seen[id] = (strip, reading)

    def add(self, original: Original, page: Page) -> None:
        """Write a page after its lines were received; if some kept their text and were not read, it is read here.

        Raises:
            DataError: if it cannot be read or written.
        """
        if all(line.id in self.seen for line in page.lines if line.transcription is not None):
            self.put(original, page)
        else:
            self.read(original)

    def put(self, original: Original, page: Page, known: Mapping[str, Entry] | None = None) -> None:
        """Write a page after its lines were received.

        Args:
            known: Its lines that need not be read again, by id.

        Raises:
            DataError: if it cannot be written.
        """
        seen, self.seen = self.seen, {}
        same = known or {}
        given = {line.id: line.transcription for line in original.given_lines()}
        lines, posteriors = [], []
        for line in page.lines:
            if line.id in seen or line.id in same:
                stored, possible = same.get(line.id) or entry_of(line.id, *seen[line.id], given.get(line.id))
                lines.append(stored)
                posteriors.append(possible)
        key, files = self.key(original), original.files
        digest, now = digest_of(files), state_of(files)
        before = self.expected.pop(key, now)
        state = PageState(before, digest if before == now else UNKNOWN)
        kept = None
        if original.description is None:  # the editor need not read the scan again later
            document = Document((original.sheet(page),), self.recognizer.provenance())
            kept = FORMATS["page"].write(document)
        with self.store.writing():
            self.store.put(key, state, lines, PackedLines.of(posteriors).content, kept)

    def key(self, original: Original) -> PageKey:
        """The key of a page in the index."""
        return self.store.key(original.source.path, original.source.number)


def open_builder(
    path: str | Path, recognizer: Recognizer, segmentation: Segmentation, *, rebuild: bool = False, alone: bool = True
) -> Builder:
    """Open an index to add pages, or create it.

    Args:
        recognizer: Made with `posteriors=True`.
        rebuild: Remove all pages first.
        alone: Keep other processes from writing until it is closed; otherwise they may write between pages.

    Raises:
        DataError: if it is damaged, of another version or model, or being written by another process.
    """
    alphabet = "".join(sorted(set("".join(token_texts(recognizer.model.tokenizer)))))
    made = made_with(recognizer, segmentation) | {"alphabet": alphabet}
    return Builder(Store.write(path, made, rebuild=rebuild, alone=alone), recognizer, segmentation)


def kept_reading(path: Path, original: Original, recognizer: Recognizer, segmentation: Segmentation) -> bytes | None:
    """A PAGE file for a scan that has none, from an index that has read it with the same settings.

    None if it has not, or the scan has changed since.

    Raises:
        DataError: if the index has other settings, or it or the scan cannot be read.
    """
    with Store.read(path) as store:
        store.check_made_with(made_with(recognizer, segmentation))
        key, files = store.key(original.source.path, original.source.number), original.files
        known = store.state(key)
        is_fresh = known is not None and (known.state == state_of(files) or known.digest == digest_of(files))
        return store.reading(key) if is_fresh else None


def is_filled(folder: Path) -> bool:
    """Whether a folder can be opened and is not empty."""
    with suppress(OSError), os.scandir(folder) as entries:  # a folder without the right to enter it fails at `stat`
        return any(entry.stat(follow_symlinks=False) for entry in entries)
    return False


def refuse_passing(selection: Selection) -> None:
    """Refuse ZIP files and volumes: an index opens scans later, so it needs their own files.

    Raises:
        DataError: naming the first.
    """
    for file in selection.files:
        if (archive := archive_of(file)) is not None:
            raise DataError("an index links to the scans, so unpack it and give the folder", archive)
        if selection.catalog.kind(file) in (Kind.METS, Kind.MANIFEST):
            raise DataError("an index links to the scans; give the folder of the images", file)


def entry_of(id: str, strip: Strip, reading: Reading, given: Transcription | None) -> Entry:
    """A line to store, with its posteriors: those of its reading, or of a person's text."""
    if reading.posteriors is None:
        raise ValueError("an index needs a recognizer that keeps posteriors")
    place = LinePlace.of(strip).to_bytes()
    if given is None:
        return StoredLine(id, reading.text, place, reading.confidence, False), reading.posteriors
    stored = given_line(id, place, given)
    if not stored.certain:
        return stored, reading.posteriors
    return stored, Posteriors.certain(stored.text, lefts_of(stored.text, reading, strip), reading.posteriors.step)


def lefts_of(text: str, reading: Reading, strip: Strip) -> list[float]:
    """Where the characters of a text begin on its line, from the characters of the reading."""
    begins = [character.left for character in reading.characters]
    ends = [*begins, reading.characters[-1].right if begins else float(strip.ends[1])]
    begins = begins or [float(strip.ends[0])]
    lefts: list[float] = []
    for part in Levenshtein.opcodes([c.text for c in reading.characters], list(text)):
        number = part.dest_end - part.dest_start
        begin, end = ends[part.src_start] if part.src_start else begins[0], ends[part.src_end]
        lefts += [begin + (end - begin) * place / max(number, 1) for place in range(number)]
    return lefts


def given_line(id: str, place: bytes, given: Transcription) -> StoredLine:
    """A line with the text of a file.

    A text that a person wrote, corrected or confirmed is certain. A text by a program is only shown.
    """
    text = nfc(visible(given.text))
    if not given.by_program:
        return StoredLine(id, text, place, 1.0, True)
    of_words = [word.confidence for word in given.words if word.confidence is not None]
    confidence = fmean(of_words) if given.confidence is None else given.confidence
    return StoredLine(id, text, place, confidence, False)


def unchanged_lines(page: SegmentedPage, known: list[StoredLine], content: bytes) -> dict[int, Entry]:
    """The lines of a page that need not be read again, by their numbers, with the texts that its file has now.

    Args:
        known: Its lines in the index, read from the same scan.
        content: Their packed posteriors.

    Raises:
        DataError: if the index is damaged.
    """
    numbers, posteriors = {line.id: number for number, line in enumerate(known)}, PackedLines.from_bytes(content)
    placed = [line for line in page.given.lines if line.is_placed] if page.given is not None else []
    found = {}
    for number, strip in page.strips.items():
        line = placed[number]
        at = numbers.get(line.id)
        if at is None or line.transcription is None:
            continue
        before, place = known[at], LinePlace.of(strip)
        now = given_line(line.id, place.to_bytes(), line.transcription)
        # A person's text replaces the reading; a program's text does not.
        is_same = now.certain == before.certain and (now.text == before.text or not now.certain)
        if is_same and place.is_same(LinePlace.from_bytes(before.place)):
            found[number] = now, posteriors.line(at)
    return found
