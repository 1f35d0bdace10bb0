"""What can go wrong, as a tree.

DrethtrError
├── ConfigError        a setting is missing, misspelt or out of range
├── DataError          a file, image or transcription cannot be used
├── CheckpointError    saved weights do not fit, or were written by another version
└── MissingExtraError  an optional package is not installed
"""


class DrethtrError(Exception):
    """Base of every error this package raises on purpose; the CLI prints it without a traceback."""


class ConfigError(DrethtrError):
    """A setting is missing, misspelt or out of range."""


class DataError(DrethtrError):
    """A file, image or transcription cannot be used."""


class CheckpointError(DrethtrError):
    """Saved weights do not fit the model they are loaded into."""


class MissingExtraError(DrethtrError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'drethtr[{extra}]'")
