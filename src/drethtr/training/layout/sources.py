"""Where marked pages to learn from come from: files, and generators.

A `PageSource` is the configuration; it opens into `PageSupply`s, endless sequences of pages.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.page import role_of
from drethtr.evaluation.whole_pages import collections_of, open_references
from drethtr.layout.finder import FoundLine, Layout, MarkedPage, Role
from drethtr.layout.given import GivenLine, complete
from drethtr.pages.source import Original
from drethtr.synthesis.pages import PageSynthesizer, SyntheticPages
from drethtr.training.feed.supply import order

IN_MEMORY = 400
"""Maximum number of pages that are kept decoded; each takes about 2 MB."""


class PageSupply(ABC):
    """An endless sequence of marked pages."""

    @abstractmethod
    def page(self, number: int, seed: int) -> MarkedPage:
        """The page with this number, counted from 0; it depends only on the seed."""

    @abstractmethod
    def describe(self) -> str:
        """A description for the log."""

    @abstractmethod
    def digest(self) -> str:
        """A digest that changes with the pages, as far as can be checked quickly."""


@dataclass(frozen=True, kw_only=True)
class PageSource(ABC):
    """Base of the sources of pages; `weight` is its share of the crops, relative to the others'."""

    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.weight < float("inf"):
            raise ConfigError(f"the weight of a source must be positive, not {self.weight}")

    @abstractmethod
    def open(self) -> list[tuple[float, PageSupply]]:
        """Its supplies, each with its share of this source; the shares sum to 1."""


@dataclass(frozen=True, kw_only=True)
class Marked(PageSource):
    """Pages whose lines are in PAGE or ALTO files beside the images.

    images   a folder in which the images are looked for first
    balance  the share of a collection is its number of pages to this power: 1 weights pages equally, 0 collections
    without  collections to leave out, such as `lectaurep_fr`
    """

    paths: tuple[str, ...]
    images: str | None = None
    balance: float = 0.5
    without: tuple[str, ...] = ()

    def open(self) -> list[tuple[float, PageSupply]]:
        """One supply for each collection, sorted by name.

        Raises:
            DataError: if a file cannot be used, or no page is left.
        """
        originals = open_references(self.paths, texts=False, images=self.images)
        found = {str(original.description): original for original in originals}
        supplies = [
            (len(names) ** self.balance, MarkedPages(name, tuple(found[key] for key in sorted(names))))
            for name, names in sorted(collections_of(list(found)).items())
            if name not in self.without
        ]
        if not supplies:
            raise DataError(f"no pages left in {', '.join(self.paths)}")
        total = sum(weight for weight, _ in supplies)
        return [(weight / total, supply) for weight, supply in supplies]


@dataclass(frozen=True)
class MarkedPages(PageSupply):
    """The pages of a collection, again and again, each time in another order."""

    name: str
    originals: tuple[Original, ...]

    def page(self, number: int, seed: int) -> MarkedPage:
        turn, place = divmod(number, len(self.originals))
        return marked(self.originals[int(order(len(self.originals), turn, seed)[place])])

    def describe(self) -> str:
        return f"{self.name}: {len(self.originals)} pages"

    def digest(self) -> str:
        return pages_digest(self.originals)


@dataclass(frozen=True, kw_only=True)
class Drawn(PageSource):
    """Synthetic pages, each of them new."""

    pages: SyntheticPages

    def open(self) -> list[tuple[float, PageSupply]]:
        """A single supply.

        Raises:
            DataError: if there are no fonts.
        """
        return [(1.0, DrawnPages(self.pages.build()))]


@dataclass(frozen=True)
class DrawnPages(PageSupply):
    """Synthetic pages."""

    synthesizer: PageSynthesizer

    def page(self, number: int, seed: int) -> MarkedPage:
        return self.synthesizer.render(number, seed)

    def describe(self) -> str:
        return f"synthetic: pages in fonts of {self.synthesizer.config.fonts}"

    def digest(self) -> str:
        return self.synthesizer.digest()


def pages_digest(originals: Sequence[Original]) -> str:
    """A digest of the names of pages and of their descriptions."""
    digest = sha256()
    for original in originals:
        assert original.description is not None
        digest.update(f"{original.description.name} {original.description.stat().st_size}\n".encode())
    return digest.hexdigest()[:12]


@lru_cache(maxsize=IN_MEMORY)
def marked(original: Original) -> MarkedPage:
    """A page with the lines of its file and their roles.

    Raises:
        DataError: if a file cannot be used.
    """
    gray = original.source.gray()
    page = original.given_for(gray)
    placed = [] if page is None else [(line, r.kind) for r in page.regions for line in r.lines]
    placed = [(line, kind) for line, kind in placed if line.baseline or line.polygon]
    lines = complete(gray, [GivenLine.of(line) for line, _ in placed])
    # A file that has no words for what its lines are says nothing of their roles.
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
