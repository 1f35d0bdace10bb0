"""`drethtr transcribe`: images of handwritten lines in, their text out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

READ_TOGETHER = 64
