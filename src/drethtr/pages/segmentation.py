"""Line segmentation as a user chooses it: given lines, a named finder, or whatever suits the page."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from drethtr.base.errors import DataError
from drethtr.layout.finder import Finder
from drethtr.layout.finders import finder_named
from drethtr.pages.source import Original


class Segmentation:
    """Where lines come from. Unless a subclass overrides it: given lines if there are any, else those found."""

    def prepare(self, original: Original) -> Original:
        """The original, without the lines it gives if those are not wanted.

        Raises:
            DataError: if it lacks lines that must be given.
        """
        return original

    def finder(self, original: Original) -> Finder:
        """What finds lines where none are given."""
        return finder_named(self.finder_name(original))

    def finder_name(self, original: Original) -> str:
        """The name of what finds lines where none are given."""
        return original.finder_name

    def is_line(self, original: Original) -> bool:
        """Whether an image is taken as a single line instead of a page."""
        return False


@dataclass(frozen=True)
class Automatic(Segmentation):
    """Given lines, or whatever suits the shape of the image: `auto`."""

    def is_line(self, original: Original) -> bool:
        return original.is_line


@dataclass(frozen=True)
class GivenLines(Segmentation):
    """Given lines only: `given`."""

    def prepare(self, original: Original) -> Original:
        if not original.has_lines:
            raise DataError(
                f"{original.name}: gives no lines; mark them out in PAGE or ALTO beside it, of the same name, or have "
                "them found"
            )
        return original


@dataclass(frozen=True)
class DetectedLines(Segmentation):
    """Lines found by the finder of this name, even if lines are given."""

    name: str

    def prepare(self, original: Original) -> Original:
        return replace(original, has_lines=False)

    def finder_name(self, original: Original) -> str:
        return self.name

    def is_line(self, original: Original) -> bool:
        return self.finder(original).whole and original.is_alone and original.description is None


WITHOUT_FINDER: Mapping[str, Segmentation] = {"auto": Automatic(), "given": GivenLines()}
"""Names of segmentations that are not names of finders."""


def segmentation_named(name: str) -> Segmentation:
    """The segmentation of a name: `auto`, `given` or that of a finder.

    Raises:
        ConfigError: naming all that are known.
    """
    if name in WITHOUT_FINDER:
        return WITHOUT_FINDER[name]
    finder_named(name, tuple(WITHOUT_FINDER))
    return DetectedLines(name)


def name_of(segmentation: Segmentation) -> str:
    """The name of a segmentation, as `segmentation_named` takes it; one without a name as Python shows it."""
    if isinstance(segmentation, DetectedLines):
        return segmentation.name
    return next((name for name, known in WITHOUT_FINDER.items() if known == segmentation), repr(segmentation))
