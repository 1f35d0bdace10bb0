"""What can go wrong, as a tree.

DrethtrError
├── ConfigError        a setting is missing, misspelt or out of range
├── DataError          a file, image or transcription cannot be used
├── CheckpointError    a saved model is missing, damaged, of another version, or unfit for what is asked of it
└── MissingExtraError  an optional package is not installed
"""


class DrethtrError(Exception):
    """Base of every error this package raises on purpose; the CLI prints it without a traceback."""


class ConfigError(DrethtrError):
    """A setting is missing, misspelt or out of range."""


class DataError(DrethtrError):
    """A file, image or transcription cannot be used."""


class CheckpointError(DrethtrError):
    """A saved model is missing, damaged, of another version, or unfit for what is asked of it."""


class MissingExtraError(DrethtrError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'drethtr[{extra}]'")


def first_line(error: BaseException) -> str:
    """The first line of an error's text, without the number of the system; its kind when it has none."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]
