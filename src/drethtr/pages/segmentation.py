"""The line segmentation that a user chooses: given lines, a named finder, or automatic."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from drethtr.base.config import member_named
from drethtr.base.errors import DataError
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, Layout, Order
from drethtr.layout.finders import finder_named
from drethtr.layout.given import Outlines, outlines_named
from drethtr.pages.source import Original
from drethtr.recognition.recognizer import Recognizer


@dataclass(frozen=True)
class Segmentation:
    """How to get the lines of a page: given ones if there are any, else found ones.

    By default, by the finder that suits the shape of the image: `auto`.

    order     how found tables are read
    outlines  which outlines of given lines are used
    """

    order: Order = field(default=Order.AUTO, kw_only=True)
    outlines: Outlines = field(default=Outlines.AUTO, kw_only=True)

    def prepare(self, original: Original) -> Original:
        """The original, without given lines that are not used; an error if lines must be given and are not."""
        return original if original.outlines is self.outlines else replace(original, outlines=self.outlines)

    def finder_name(self, original: Original) -> str:
        """The name of the finder for pages without given lines."""
        return original.finder_name

    def finder(self, original: Original) -> Finder:
        """The finder for pages without given lines."""
        return finder_named(self.finder_name(original))

    def layout(self, original: Original, gray: Line, threads: int) -> Layout:
        """The layout found on a page, or a part of one, that has no given lines."""
        layout = Layout.of(self.finder(original).with_threads(threads).find(gray))
        return layout if self.order is Order.AUTO else replace(layout, order=self.order)

    def is_line(self, original: Original) -> bool:
        """Whether the image of a page is read as one line, neither straightened nor cropped.

        Raises:
            DataError: if it is damaged.
        """
        return not original.has_lines and self.finder(original).whole

    def is_line_image(self, original: Original) -> bool:
        """Whether a page is only the image of a line: neither one of several in a file nor described.

        Raises:
            DataError: if the image is damaged.
        """
        return original.description is None and original.is_alone and self.is_line(original)


@dataclass(frozen=True)
class FoundBy(Segmentation):
    """Given lines, else those that a finder finds."""

    by: Finder

    def finder(self, original: Original) -> Finder:
        return self.by


@dataclass(frozen=True)
class GivenLines(Segmentation):
    """Given lines only: `given`."""

    def prepare(self, original: Original) -> Original:
        if original.has_lines or original.error is not None:
            return super().prepare(original)
        advice = "put a PAGE or ALTO file of the same name beside it, or drop --lines given"
        return replace(original, error=DataError(f"no lines given: {advice}", original.name))


@dataclass(frozen=True)
class DetectedLines(Segmentation):
    """Lines found by the finder of this name, even if lines are given."""

    name: str

    def prepare(self, original: Original) -> Original:
        return replace(original, has_lines=False)

    def finder_name(self, original: Original) -> str:
        return self.name


WITHOUT_FINDER: Mapping[str, Segmentation] = {"auto": Segmentation(), "given": GivenLines()}
"""Segmentations that are not finders, by name."""


def segmentation_named(name: str, order: str = Order.AUTO, outlines: str = Outlines.AUTO.value) -> Segmentation:
    """The segmentation with a name: `auto`, `given`, or that of a finder; with its order and outlines by name.

    Raises:
        ConfigError: listing the known names.
    """
    by = member_named("order", order, Order)
    of = outlines_named(outlines)
    if name in WITHOUT_FINDER:
        return replace(WITHOUT_FINDER[name], order=by, outlines=of)
    finder_named(name, tuple(WITHOUT_FINDER))
    return DetectedLines(name, order=by, outlines=of)


def name_of(segmentation: Segmentation) -> str:
    """The name of a segmentation, with order and outlines if these were chosen; its `repr` if it has none."""
    plain = replace(segmentation, order=Order.AUTO, outlines=Outlines.AUTO)
    names = {known: name for name, known in WITHOUT_FINDER.items()}
    name = plain.name if isinstance(plain, DetectedLines) else names.get(plain, repr(plain))
    name = name if segmentation.order is Order.AUTO else f"{name}, tables by {segmentation.order}"
    return name if segmentation.outlines is Outlines.AUTO else f"{name}, outlines {segmentation.outlines.value}"


def made_with(recognizer: Recognizer, segmentation: Segmentation) -> dict[str, str]:
    """The settings that determine the text of a page, named as on the command line; stored with indexes and results."""
    return {"model": recognizer.model.identity, **recognizer.settings, "lines": name_of(segmentation)}
