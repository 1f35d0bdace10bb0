"""Marked pages to learn from: those of files, and synthetic ones; mixed like lines, see `training/feed/supply.py`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.documents.page import role_of
from drethtr.evaluation.whole_pages import collections_of, open_references
from drethtr.layout.finder import FoundLine, Layout, MarkedPage, Role
from drethtr.layout.given import GivenLine, complete
from drethtr.pages.source import Original
from drethtr.synthesis.pages import PageSynthesizer, SyntheticPages
from drethtr.training.feed.supply import Source, Supply, check_between, order

IN_MEMORY = 400
"""Maximum number of pages that are kept decoded; each takes about 2 MB."""


class MarkedSource(Source[MarkedPage]):
    """Base of the sources of marked pages."""


@dataclass(frozen=True, kw_only=True)
class Marked(MarkedSource):
    """Pages whose lines are in PAGE or ALTO files beside the images.

    images   a folder in which the images are looked for first
    balance  the share of a collection is its number of pages to this power: 1 weights pages equally, 0 collections
    without  collections to leave out, such as `lectaurep_fr`
    """

    paths: tuple[str, ...]
    images: str | None = None
    balance: float = 0.5
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("balance", self.balance, 1)

    def open(self) -> list[tuple[float, Supply[MarkedPage]]]:
        """One supply for each collection, sorted by name.

        Raises:
            DataError: if a file cannot be used, or no page is left.
        """
        supplies = [
            (len(pages) ** self.balance, MarkedSupply(name, tuple(pages)))
            for name, pages in sorted(pages_by_collection(self.paths, self.images).items())
            if name not in self.without
        ]
        if not supplies:
            raise DataError(f"no pages left in {', '.join(self.paths)}")
        total = sum(weight for weight, _ in supplies)
        return [(weight / total, supply) for weight, supply in supplies]


def pages_by_collection(paths: Sequence[str], images: str | None) -> dict[str, list[Original]]:
    """The pages with lines in PAGE and ALTO files, by collection, sorted by the names of their files."""
    found = {str(page.description): page for page in open_references(paths, texts=False, images=images)}
    return {name: [found[file] for file in sorted(files)] for name, files in collections_of(list(found)).items()}


@dataclass(frozen=True)
class MarkedSupply(Supply[MarkedPage]):
    """The pages of a collection, again and again, each time in another order."""

    name: str
    originals: tuple[Original, ...]

    def sample(self, number: int, seed: int) -> MarkedPage:
        turn, place = divmod(number, len(self.originals))
        return marked(self.originals[int(order(len(self.originals), turn, seed)[place])])

    def describe(self) -> str:
        return f"{self.name}: {len(self.originals)} pages"

    def digest(self) -> str:
        return pages_digest(self.originals)


@dataclass(frozen=True, kw_only=True)
class Drawn(MarkedSource):
    """Synthetic pages, each of them new."""

    pages: SyntheticPages

    def open(self) -> list[tuple[float, Supply[MarkedPage]]]:
        """A single supply.

        Raises:
            DataError: if there are no fonts.
        """
        return [(1.0, DrawnSupply(self.pages.build()))]


@dataclass(frozen=True)
class DrawnSupply(Supply[MarkedPage]):
    """Synthetic pages."""

    synthesizer: PageSynthesizer

    def sample(self, number: int, seed: int) -> MarkedPage:
        return self.synthesizer.render(number, seed)

    def describe(self) -> str:
        return f"synthetic: pages in fonts of {self.synthesizer.config.fonts}"

    def digest(self) -> str:
        return self.synthesizer.digest()


def pages_digest(originals: Sequence[Original]) -> str:
    """A digest of the names and sizes of the files that describe pages."""
    digest = sha256()
    for original in originals:
        assert original.description is not None
        digest.update(f"{original.description.name} {original.description.stat().st_size}\n".encode())
    return digest.hexdigest()[:12]


def place_of(original: Original) -> tuple[Path, int]:
    """The image of a page, the same by whatever name it is given, and the number of its frame."""
    return original.source.path.resolve(), original.source.frame


def check_apart(training: Iterable[Supply[MarkedPage]], validation: Iterable[Original]) -> None:
    """Check that no page is both learned from and validated on.

    Raises:
        DataError: naming the first one.
    """
    held = {place_of(original): original.name for original in validation}
    for supply in training:
        for original in supply.originals if isinstance(supply, MarkedSupply) else ():
            if (name := held.get(place_of(original))) is not None:
                raise DataError(
                    f"the same page is in 'training' ({original.name}) and in 'validation' ({name}); "
                    "metrics would be wrong; keep it in one split"
                )


@lru_cache(maxsize=IN_MEMORY)
def marked(original: Original) -> MarkedPage:
    """A page with the lines of its file and their roles.

    Raises:
        DataError: if a file cannot be used.
    """
    gray = original.source.gray()
    page = original.given_for(gray)
    placed = [] if page is None else [(line, r.kind) for r in page.regions for line in r.lines]
    placed = [(line, kind) for line, kind in placed if line.is_placed]
    lines = complete(gray, [GivenLine.of(line) for line, _ in placed])
    # If a file gives no kinds of lines, their roles are unknown.
    says = any(kind or line.kind for line, kind in placed)
    return MarkedPage(
        gray,
        Layout(
            tuple(
                FoundLine(found.baseline, found.polygon, Role(role_of(line.kind, kind) or Role.BODY) if says else None)
                for found, (line, kind) in zip(lines, placed, strict=True)
            )
        ),
    )
