"""All fuzz targets: almost valid files for every reader, and what must hold for them.

A file is either refused with a `DrethtrError`, or read, and then it must be usable.
"""

from pathlib import Path

from fuzzing import indexes, line_tables, models, page_files, scans, settings, texts, volumes
from fuzzing.files import Target


def targets(folder: Path) -> dict[str, Target]:
    """All targets; `folder` is for files generated once."""
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
