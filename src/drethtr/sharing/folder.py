"""Shared models: folders with a safetensors file and a README, locally or on the Hugging Face Hub."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack

from drethtr.base.errors import CheckpointError, DataError, MissingExtraError
from drethtr.base.files import is_there, write_text
from drethtr.recognition.model.file import Model, in_8_bits, save_model
from drethtr.recognition.recognizer import LoadOptions, Recognizer
from drethtr.sharing.readme import readme

MODEL, README = "model.safetensors", "README.md"
OWN_README = re.compile(rb'---\n(?:(?!---).*\n)*?library_name: "?drethtr"?\n')
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def save_pretrained(model: Model, folder: str | Path, repository: str = "OWNER/NAME") -> None:
    """Write a model, in 8 and 16 bits if that is lossless, and a README generated from its card.

    Raises:
        DataError: if the folder has a foreign README, or a model without README, or the README cannot be written.
        CheckpointError: if the model cannot be written.
    """
    page, weights = Path(folder) / README, Path(folder) / MODEL
    try:
        if page.exists() and not OWN_README.match(page.read_bytes()):
            raise DataError("not a README written by drethtr, so it is not overwritten; choose another folder", page)
        if weights.exists() and not page.exists():
            raise DataError(
                f"has no {README} by drethtr beside it, so it is not overwritten; choose another folder", weights
            )
        # A model that was loaded from a quantized file is the same after another quantization.
        save_model(model, weights, bits=8 if in_8_bits(model).hash == model.hash else None)
        write_text(page, readme(model, repository))
    except OSError as error:
        raise DataError(f"cannot be read or written: {error.strerror}", page) from error


def from_pretrained(source: str | Path, *, revision: str | None = None, **choices: Unpack[LoadOptions]) -> Recognizer:
    """Load a model from a repository on the Hugging Face Hub, `OWNER/NAME`, or from a local folder or file.

    `choices` are the options of `Recognizer.load`.

    Raises:
        CheckpointError: if there is none, or it cannot be used; other errors as for `Recognizer.load`.
        MissingExtraError: if a repository is given and huggingface_hub is not installed.
    """
    return Recognizer.load(locate(source, revision), **choices)


def locate(source: str | Path, revision: str | None = None) -> Path:
    """Find a model file: `source` itself, or in the folder `source`, or in the repository `source` on the Hub.

    From a repository, only the safetensors file is downloaded; nothing in it is executed.

    Raises:
        CheckpointError: if there is no such file, folder or repository, or no model in it.
        MissingExtraError: if a repository is given and huggingface_hub is not installed.
    """
    path = Path(source)
    if not is_there(path):
        if not REPOSITORY.fullmatch(str(source)):
            raise CheckpointError("no such file or folder; name repositories on the Hub as OWNER/NAME", source)
        return fetch(str(source), revision)
    if revision is not None:
        raise CheckpointError("is local, but only repositories on the Hub have revisions", source)
    return in_folder(path) if path.is_dir() else path


def in_folder(folder: Path) -> Path:
    """The only model in a folder."""
    found = sorted(folder.glob("*.safetensors"))
    if folder / MODEL in found or len(found) == 1:
        return folder / MODEL if folder / MODEL in found else found[0]
    names = ", ".join(path.name for path in found) or "no safetensors file"
    raise CheckpointError(f"contains {names} but no {MODEL}; give the path of the file", folder)


def fetch(repository: str, revision: str | None) -> Path:
    """Download the model of a repository, unless it is cached."""
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise MissingExtraError("huggingface_hub", "hub") from error
    try:
        return Path(hf_hub_download(repository, MODEL, revision=revision))
    except Exception as error:  # the Hub's errors and those of its HTTP client have no common base
        reason = on_one_line(error)
        raise CheckpointError(
            f"not a local file or folder, nor available from the Hub: {reason}", repository
        ) from error


def push_to_hub(model: Model, repository: str, *, private: bool = False) -> str:
    """Upload a model to a repository of the Hub, created if missing; returns the URL of the commit.

    Raises:
        CheckpointError: if the Hub rejects it.
        MissingExtraError: if huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise MissingExtraError("huggingface_hub", "hub") from error
    api = HfApi()
    with TemporaryDirectory() as folder:
        save_pretrained(model, folder, repository)
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            return api.upload_folder(
                repo_id=repository, folder_path=folder, commit_message=f"Model {model.identity}"
            ).commit_url
        except Exception as error:  # as in `fetch`
            raise CheckpointError(f"the Hub rejected the upload: {on_one_line(error)}", repository) from error


def on_one_line(error: Exception) -> str:
    """The message of an error on one line."""
    return " ".join(str(error).split())
