"""A transcribed line: its image as stored and its text; and checks, counts and digests of many of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np
from PIL import Image

from drethtr.base.errors import DataError, first_line
from drethtr.base.links import open_ordinary
from drethtr.images.decode import DECODING_ERRORS, formats_of, upright_size
from drethtr.images.line import Line, load_line
from drethtr.text.normalize import marks_in

if TYPE_CHECKING:
    from drethtr.recognition.recognizer import Recognizer


Value = TypeVar("Value")

MAX_TEXT = 10_000
"""Maximum characters of a line's text: a few kilobytes of Parquet may hold millions, which take minutes to compare."""

OR_NAME_SETS = "; if these are two sets of one name, give each its own with drethtr data import --set-name"
"""The cure for different pages with the same set and name."""


class Remark(NamedTuple):
    """How a line was interpreted although its description is irregular.

    what   a sentence, the same for all such lines
    where  the passage of the description; "" for the page of the line
    """

    what: str
    where: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One line; `image` contains encoded bytes, the path of an image file, or pixels.

    `set` names the collection; `page` and `hand` are unique within it. `clean` is false if the text has editorial marks
    or uncertain letters; those that `marks_in` finds make it false in every layout. `key` says where the sample comes
    from, for error messages. `id` names the line in its source, such as the id in its PAGE file or the name of its
    image, and is kept when the sample is stored. `split` is `train`, `val`, `test`, or "" if its data set has none.
    `named_after` is the folder or file that gave `set` its name, None if the data names its set; neither it nor
    `remarks`, which are for reports, are stored.
    """

    image: bytes | Path | Line
    text: str
    set: str = ""
    language: str | None = None
    page: str | None = None
    hand: str | None = None
    clean: bool = True
    key: str = ""
    id: str | None = None
    split: str = ""
    named_after: Path | None = None
    remarks: tuple[Remark, ...] = ()

    def __post_init__(self) -> None:
        if self.clean and marks_in(self.text):
            object.__setattr__(self, "clean", False)

    def line(self) -> Line:
        """Decode the image.

        Raises:
            DataError: naming the sample, if the image cannot be read.
        """
        try:
            return load_line(self.image)
        except DataError as error:
            raise error.of(self.key or "sample") from error

    def size(self) -> tuple[int, int]:
        """Width and height in pixels, read from the header only.

        Raises:
            DataError: naming the sample, if the image cannot be read.
        """
        if isinstance(self.image, np.ndarray):
            height, width = self.image.shape
            return width, height
        try:
            with BytesIO(self.image) if isinstance(self.image, bytes) else open_ordinary(self.image) as file:
                return upright_size(Image.open(file, formats=formats_of(file, self.key or "sample")))
        except DECODING_ERRORS as error:
            name = f"{self.key or 'sample'}{f': {self.image}' if isinstance(self.image, Path) else ''}"
            raise DataError(f"cannot be read as an image: {first_line(error)}", name) from error


def open_sample(recognizer: "Recognizer", sample: Sample) -> Line:
    """The image of a sample, checked to be readable.

    Raises:
        DataError: naming the sample, if its image cannot be used or is too long for its height.
    """
    line = sample.line()
    try:
        recognizer.refuse_unreadable(line)
    except DataError as error:
        raise error.of(sample.key or "sample") from error
    return line


class LeftOut(NamedTuple):
    """A line that cannot be used, so that nothing is dropped silently.

    key     the line, or the file, that is left out
    reason  a short reason, the same for all such lines, by which reports count them
    detail  what exactly is wrong, and the cure, if the reason does not say it
    """

    key: str
    reason: str
    detail: str = ""

    def error(self) -> DataError:
        """The line as an error, where all lines are needed."""
        return DataError(self.detail or self.reason, self.key)

    def described(self) -> str:
        """The line, and what is wrong with it beside the reason."""
        return f"{self.key}: {self.detail}" if self.detail else self.key


Entry: TypeAlias = Sample | LeftOut
"""A line of a data set, or what is left out of it."""


def checked(entry: Entry) -> Entry:
    """The entry, or the reason why no model can learn from it: text empty or too long, or image unreadable."""
    if isinstance(entry, LeftOut):
        return entry
    if not entry.text.strip():
        return LeftOut(entry.key, "empty transcription")
    if len(entry.text) > MAX_TEXT:
        return LeftOut(entry.key, f"more than {MAX_TEXT:,} characters")
    try:
        entry.size()
    except DataError:
        return LeftOut(entry.key, "image cannot be read")
    return entry


@dataclass
class Tally:
    """Counts of an import: lines by split, lines that are not clean, lines with remarks, and lines left out by reason.

    folders  of each split, the number of lines by folder
    remarks  what was done, with the number of lines by page or passage
    """

    lines: dict[str, int] = field(default_factory=dict)
    folders: dict[str, dict[str, int]] = field(default_factory=dict)
    unclean: int = 0
    remarks: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def count(self, entry: Entry) -> None:
        """Add one entry."""
        if isinstance(entry, LeftOut):
            self.left_out.setdefault(entry.reason, []).append(entry.described())
        else:
            self.lines[entry.split] = self.lines.get(entry.split, 0) + 1
            self.unclean += not entry.clean
            folders, folder = self.folders.setdefault(entry.split, {}), str(Path(entry.key).parent)
            folders[folder] = folders.get(folder, 0) + 1
            for what, where in entry.remarks:
                places, place = self.remarks.setdefault(what, {}), where or entry.page or entry.key
                places[place] = places.get(place, 0) + 1


def with_distinct_sets(*groups: Sequence[Sample]) -> list[list[Sample]]:
    """The groups of samples, in which sets named after different places of the same name get different names.

    Such a set gets as many parent folders as needed: `boxA/lines` and `boxB/lines` instead of `lines`.
    """
    places = {place for samples in groups for sample in samples if (place := sample.named_after)}
    often = Counter(name for place in places for name in names_of(place))
    names: Mapping[Path | None, str] = {
        place: next(name for name in names_of(place) if often[name] == 1) for place in places
    }
    return [
        [
            sample if (name := names.get(sample.named_after, sample.set)) == sample.set else replace(sample, set=name)
            for sample in samples
        ]
        for samples in groups
    ]


def names_of(place: Path) -> Iterator[str]:
    """The name of a folder or file, then with more and more of the folders around it."""
    return (Path(*place.parts[-length:]).as_posix() for length in range(1, len(place.parts) + 1))


def check_apart(splits: Mapping[str, Sequence[Sample]]) -> None:
    """Check that no image and no page is in two splits, such as training and test.

    Raises:
        DataError: naming the first sample found twice and both splits.
    """
    seen: dict[Hashable, tuple[str, Sample]] = {}
    for split, samples in zip(splits, with_distinct_sets(*splits.values()), strict=True):
        for sample in samples:
            # Pages are checked as well as images, since lines of one page share hand, ink and paper.
            marks: dict[Hashable, tuple[str, str]] = {fingerprint(sample): ("the same image", "")}
            if sample.page:
                marks[sample.set, sample.page] = (f"page {sample.page!r} of {sample.set!r}", OR_NAME_SETS)
            for mark, (name, cure) in marks.items():
                other_split, other = seen.setdefault(mark, (split, sample))
                if other_split != split:
                    raise DataError(
                        f"{name} is in {other_split!r} ({other.key}) and in {split!r} ({sample.key}); "
                        f"metrics would be wrong; keep it in one split{cure}"
                    )


def page_of(sample: Sample) -> str:
    """The page of a line, unique across sets, or "" if unknown."""
    return f"{sample.set}/{sample.page}" if sample.page else ""


def lines_digest(samples: Iterable[Sample]) -> str:
    """Digest of lines in order, from their texts and the size in bytes of each image, which is not read.

    Raises:
        DataError: naming the sample, if its file is missing.
    """
    # Another image with the same size and text goes unnoticed; reading all images would take minutes at every start.
    digest = blake2b(digest_size=8)
    for sample in samples:
        digest.update(f"{stored_bytes(sample)} {sample.text}\n".encode())
    return digest.hexdigest()


def stored_bytes(sample: Sample) -> int:
    """The size in bytes of the stored image."""
    if isinstance(sample.image, bytes):
        return len(sample.image)
    if isinstance(sample.image, np.ndarray):
        return sample.image.nbytes
    try:
        return sample.image.stat().st_size
    except OSError as error:
        raise DataError(f"{sample.image} cannot be read: {error.strerror}", sample.key or "sample") from error


def fingerprint(sample: Sample) -> bytes:
    """Digest of the stored image: equal bytes give equal digests, wherever they are.

    Raises:
        DataError: naming the sample, if its file cannot be read.
    """
    if isinstance(sample.image, bytes):
        return blake2b(sample.image, digest_size=16).digest()
    if isinstance(sample.image, Path):
        return blake2b(content_of(sample.image, sample.key), digest_size=16).digest()
    return blake2b(repr(sample.image.shape).encode() + sample.image.tobytes(), digest_size=16).digest()


def content_of(image: Path, key: str) -> bytes:
    """The encoded image in a sample's file.

    Raises:
        DataError: naming the sample, if it cannot be read.
    """
    try:
        with open_ordinary(image) as file:
            return file.read()
    except OSError as error:
        raise DataError(f"{image} cannot be read: {error.strerror}", key or "sample") from error


def clean_lines(samples: Sequence[Sample]) -> list[Sample]:
    """The samples whose texts have no editorial marks or uncertain letters."""
    return [sample for sample in samples if sample.clean]


def set_of(sample: Sample) -> str:
    """The set of a line."""
    return sample.set


def grouped(values: Iterable[Value], name: Callable[[Value], str]) -> dict[str, list[Value]]:
    """Values such as lines in groups such as sets, sorted by the name that each value has."""
    groups: dict[str, list[Value]] = defaultdict(list)
    for value in values:
        groups[name(value)].append(value)
    return dict(sorted(groups.items()))


def choose(samples: Sequence[Sample], lines: int, seed: int = 0) -> list[Sample]:
    """Draw at most `lines` of each set; sets are sorted by name, and lines keep their order."""
    chosen: list[Sample] = []
    for of_set in grouped(samples, set_of).values():
        drawn = np.random.default_rng(seed).permutation(len(of_set))[:lines]
        chosen.extend(of_set[place] for place in sorted(drawn.tolist()))
    return chosen
