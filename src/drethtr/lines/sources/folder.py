"""Samples from a folder of line images, each beside a text file of the same name."""

from collections.abc import Iterator
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.documents.beside import IMAGES, is_hidden
from drethtr.lines.sample import Sample
from drethtr.text.normalize import Spelling, nfc

TRANSCRIPTIONS = (".gt.txt", ".txt")  # the first that exists is used


def read_folder(folder: Path, spelling: Spelling = nfc) -> Iterator[Sample | DataError]:
    """One sample per image, sorted by name, or the reason why it cannot be used; the set is the name of the folder.

    The text of `a.1.png` is in `a.1.gt.txt` or `a.1.txt`: only the last extension is replaced. An image without a text,
    a `.gt.txt` without an image, and a second image of the same text are errors.

    Raises:
        DataError: if there are no images.
    """
    names = {path.name for path in folder.iterdir() if not is_hidden(path)}
    images = sorted(name for name in names if Path(name).suffix.lower() in IMAGES)
    if not images:
        raise DataError(f"contains no line images ({', '.join(sorted(IMAGES))}) and no .tsv or .jsonl table", folder)
    owners: dict[str, str] = {}
    for name in images:
        stem = Path(name).stem
        found = [stem + ending for ending in TRANSCRIPTIONS if stem + ending in names]
        if not found:
            yield DataError(f"no transcription; expected {stem}.gt.txt or {stem}.txt beside it", folder / name)
        elif (owner := owners.setdefault(found[0], name)) != name:
            yield DataError(f"belongs to two images, {owner} and {name}", folder / found[0])
        else:
            yield sample_of(folder / name, folder / found[0], spelling)
    for lonely in sorted(name for name in names - owners.keys() if name.endswith(".gt.txt")):
        yield DataError("no image of that name beside it", folder / lonely)


def sample_of(image: Path, transcription: Path, spelling: Spelling) -> Sample | DataError:
    """The sample of an image and a text file, or the reason why it cannot be used."""
    try:
        text = read_transcription(transcription, spelling)
    except DataError as error:
        return error
    return Sample(image, text, set=image.parent.resolve().name, key=str(image), id=image.stem)


def read_transcription(path: Path, spelling: Spelling = nfc) -> str:
    """The one line of a text file, without its line ending.

    Raises:
        DataError: if it cannot be read, is not UTF-8 or has more than one line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig").rstrip("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: {error}", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    if "\n" in text:
        raise DataError(f"has {text.count(chr(10)) + 1} lines; expected one line, since the image shows one line", path)
    return spelling(text)
