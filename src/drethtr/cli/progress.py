"""How far a command is, while it reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drethtr.lines.sample import Sample
    from drethtr.recognition.reading import Reading
    from drethtr.recognition.recognizer import Recognizer


def read_with_bar(recognizer: "Recognizer", samples: "Sequence[Sample]", name: str | None = None) -> "list[Reading]":
    """What is read on some lines, showing how far it is, behind a name if there is one."""
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import read_lines

    with tqdm(total=len(samples), unit="line", desc=name, disable=None) as bar:
        return read_lines(recognizer, samples, bar.update)
