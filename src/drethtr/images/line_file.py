"""Line images in files that may come from anybody, decoded in a process of limited memory and time."""

from pathlib import Path

import numpy as np

from drethtr.base.sandbox import Answer, sandboxed
from drethtr.images.line import ImageSource, Line, load_line, name_of


def open_line(source: ImageSource) -> Line:
    """As `load_line` does, but encoded images are decoded in another process; pixels are taken as they are.

    Raises:
        DataError: as `load_line` does, or if decoding takes too much memory or time.
    """
    if not isinstance(source, str | Path | bytes):
        return load_line(source)
    plain = bytes(source) if isinstance(source, bytes) else source  # others may not be pickled
    shape, pixels = sandboxed(name_of(source), decoded, plain)
    return np.frombuffer(pixels, np.uint8).reshape(shape)


def decoded(source: str | Path | bytes) -> Answer:
    """Shape and pixels of a line."""
    line = load_line(source)
    return line.shape, np.ascontiguousarray(line).data
