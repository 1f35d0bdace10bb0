"""The exceptions of this package.

DrethtrError
├── ConfigError        a setting is missing, misspelled or out of range
├── DataError          a file, image or transcription cannot be used
├── CheckpointError    a saved model is missing, damaged, of another version, or unsuitable
└── MissingExtraError  an optional package is not installed
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import ParamSpec, Self, TypeVar

from drethtr.base.credentials import without_credentials

Given = ParamSpec("Given")
Result = TypeVar("Result")

NOTHING_BETTER = 3
"""Exit code of `drethtr model finetune` if the model did not improve; the editor runs it as a command."""


class DrethtrError(Exception):
    """Base of every expected error; the command line prints it without a traceback.

    reason  what is wrong, and what to do about it
    source  the file, page or line at fault, which begins the message; None if the reason names it

    Addresses in both are kept without credentials, since messages end in logs and records.
    """

    def __init__(self, reason: str, source: object = None) -> None:
        self.reason = without_credentials(reason)
        self.source = without_credentials(source) if isinstance(source, str) else source
        super().__init__(self.reason, self.source)

    def __str__(self) -> str:
        return self.reason if self.source is None else f"{self.source}: {self.reason}"

    def of(self, source: object) -> Self:
        """The same error with another source; the previous one becomes part of the reason."""
        other = type(self)(self.reason, source)
        return other if str(self.source) == str(other.source) else type(self)(str(self), source)


class ConfigError(DrethtrError):
    """A setting is missing, misspelled or out of range."""


class DataError(DrethtrError):
    """A file, image or transcription cannot be used."""


class CheckpointError(DrethtrError):
    """A saved model is missing, damaged, of another version, or unsuitable."""


class MissingExtraError(DrethtrError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'drethtr[{extra}]'")
        self.args = (package, extra)  # pickle calls the constructor with these

    def of(self, source: object) -> Self:
        """The same error, whatever the source: a missing package is missing for every one."""
        return self


def or_error(work: Callable[Given, Result], *args: Given.args, **options: Given.kwargs) -> Result | DataError:
    """What a call returns, or the `DataError` that it raises."""
    try:
        return work(*args, **options)
    except DataError as error:
        return error


def require(package: str, extra: str) -> None:
    """Check that an optional package is installed, without importing it.

    Raises:
        MissingExtraError: if it is not, naming the extra that installs it.
    """
    if find_spec(package) is None:
        raise MissingExtraError(package, extra)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without an errno; the class name if it is empty."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]
