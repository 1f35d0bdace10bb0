"""The tree of errors that this package raises.

DrethtrError
├── ConfigError        a setting is missing, misspelled or out of range
├── DataError          a file, image or transcription cannot be used
├── CheckpointError    a saved model is missing, damaged, of another version, or unsuitable
└── MissingExtraError  an optional package is not installed
"""


class DrethtrError(Exception):
    """Base of all errors that this package raises on purpose; the command line prints them without a traceback."""


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


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without the error number of the system; its class name if it has none."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]
