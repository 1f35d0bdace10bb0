"""What is fuzzed: for every reader, files that are nearly right, and what must hold of them.

A file is refused with a `DrethtrError`, or read; what was read can be used.
"""

from pathlib import Path

from fuzzing import indexes, line_tables, models, page_files, scans, settings, texts, volumes
from fuzzing.files import Target


def targets(folder: Path) -> dict[str, Target]:
    """All targets; `folder` is for files that are made once."""
    return {
        **page_files.TARGETS,
        **scans.TARGETS,
        **line_tables.TARGETS,
        **models.targets(folder),
        **settings.TARGETS,
        **indexes.targets(folder),
        **texts.TARGETS,
        **volumes.TARGETS,
    }
