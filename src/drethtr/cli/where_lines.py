"""Where the lines of a page come from: what a person can mean by `--lines`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drethtr.base.errors import DataError

if TYPE_CHECKING:
    from drethtr.layout.finder import Finder
    from drethtr.pages.source import Original


class Lines:
    """Where lines come from: if a variant does not say otherwise, those given, else those found as suits the image."""

    def takes(self, original: "Original") -> "Original":
        """The original, with the lines it gives if they are wanted."""
        return original

    def finder(self, original: "Original") -> "Finder":
        """What finds lines where none are given."""
        from drethtr.layout.finders import finder_named

        return finder_named(self.finder_name(original))

    def finder_name(self, original: "Original") -> str:
        """What a person calls it."""
        return original.finder_name

    def is_line(self, original: "Original") -> bool:
        """Whether an image is one line, and no page."""
        return False


@dataclass(frozen=True)
class Auto(Lines):
    """As the file and its shape suggest."""

    def is_line(self, original: "Original") -> bool:
        return original.is_line


@dataclass(frozen=True)
class Given(Lines):
    """Lines that are given, and no others."""

    def takes(self, original: "Original") -> "Original":
        if not original.has_lines:
            raise DataError(
                f"{original.name}: gives no lines; mark them out in PAGE or ALTO beside it, of the same name, or leave "
                "out --lines to have them found"
            )
        return original


@dataclass(frozen=True)
class Named(Lines):
    """Lines found by the finder of this name, whatever is given."""

    name: str

    def takes(self, original: "Original") -> "Original":
        return replace(original, has_lines=False)

    def finder_name(self, original: "Original") -> str:
        return self.name

    def is_line(self, original: "Original") -> bool:
        return self.finder(original).whole and original.is_alone and original.description is None


NOT_FOUND: Mapping[str, Lines] = {"auto": Auto(), "given": Given()}
"""Values of `--lines` that name no finder."""


def lines_named(name: str) -> Lines:
    """What a person calls so.

    Raises:
        ConfigError: naming all that is known.
    """
    from drethtr.layout.finders import finder_named

    if name in NOT_FOUND:
        return NOT_FOUND[name]
    finder_named(name, tuple(NOT_FOUND))
    return Named(name)
