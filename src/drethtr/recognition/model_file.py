"""A model on disk: one safetensors file whose header holds network, alphabet, preparation and card as JSON.

Nothing in it is executed: no pickle, no class paths, only names of known configs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from drethtr.base import config
from drethtr.base.atomic import atomic_write
from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.images.prepare import Preparation
from drethtr.language.ngrams import NGrams
from drethtr.network.network import DRetHTR
from drethtr.network.weights_file import fit
from drethtr.recognition.architecture import NetworkConfig
from drethtr.recognition.confidence.evidence import features_of
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.rounding import restored, rounded
from drethtr.text import Tokenizer
from drethtr.text.tokenizer import PAD

SHIPPED = Path(__file__).parent / "models" / "compact.safetensors"
"""The model inside the package."""

FORMAT = 1
"""Version of the header; raised when an older reader would misunderstand it."""

SENSELESS = (ConfigError, LookupError, TypeError, ValueError, ArithmeticError, RuntimeError)
"""What reading settings ends in that make no sense: a header may come from anybody."""

MODEL, ADAPTER = "drethtr", "drethtr-adapter"
"""Where the header of a model or of an adapter stands among the metadata of its file."""

NGRAMS = "ngrams."
"""How the names of tensors begin that are no weights of the network."""


@dataclass(frozen=True)
class Model:
    """Everything needed to read: the network and how to feed it, with its card.

    The card is free JSON: what the model was trained on, under which license, how well it reads. `trust` says when to
    believe it; as it is by default, confidences are not calibrated. `ngrams` know which texts are likely; a model may
    have none.
    """

    network: DRetHTR
    tokenizer: Tokenizer
    preparation: Preparation
    card: Mapping[str, Any] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)
    ngrams: NGrams | None = None

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that decides a reading: weights, n-grams, alphabet, preparation and trust, but not the card.

        Storing a model leaves it as it is, unless that rounds the weights, see `save_model`. It is computed when first
        asked for, so ask when training is over.
        """
        settings = (self.network.config, self.tokenizer, self.preparation, self.trust)
        language = [] if self.ngrams is None else [self.ngrams.hash]
        decides = [weights_hash(self), *map(config.essence, settings), *language]
        return sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def identity(self) -> str:
        """Its name, if the card has one, and the first 12 digits of its hash: what every output names it by.

        Of the name only what can be printed: a terminal obeys other characters.
        """
        name = " ".join("".join(c if c.isprintable() else " " for c in str(self.card.get("name", ""))).split())
        return f"{name} {self.hash[:12]}".lstrip()

    def check_trust(self) -> None:
        """Refuse trust that was learned from other features of a line than the network sees.

        Raises:
            CheckpointError: saying so; the model can be calibrated all the same.
        """
        known, seen = self.trust.unlike_training, features_of(self.network)
        if known is not None and len(known.alike.weights) != seen:
            raise CheckpointError(
                f"model {self.identity}: its check for unknown writing weighs {len(known.alike.weights)} features of a "
                f"line, but its network sees {seen}; calibrate it again"
            )


def build_model(
    network: NetworkConfig, tokenizer: Tokenizer, preparation: Preparation, card: Mapping[str, Any] | None = None
) -> Model:
    """A model with fresh weights."""
    return Model(DRetHTR(network, tokenizer.size, blank=PAD), tokenizer, preparation, card or {})


def save_model(model: Model, path: Path, *, small: bool = False) -> None:
    """Write a model in one atomic step; `small` rounds its weights to 8 and 16 bits, which makes it another model."""
    header = {
        "format": FORMAT,
        "network": config.to_dict(model.network.config),
        "tokenizer": config.to_dict(model.tokenizer),
        "preparation": config.to_dict(model.preparation),
        "card": dict(model.card),
        "trust": config.to_dict(model.trust),
    }
    weights = {name: weight.detach().cpu().contiguous() for name, weight in model.network.state_dict().items()}
    tensors = rounded(weights) if small else weights
    if model.ngrams is not None:
        header["ngrams"] = model.ngrams.order
        tensors |= named(model.ngrams)
    write_tensors(tensors, path, {MODEL: json.dumps(header, ensure_ascii=False)})


def save_trust(source: Path, trust: Trust, path: Path) -> None:
    """Copy a model file with another trust; its weights keep their bytes.

    Raises:
        CheckpointError: if `source` cannot be used.
    """
    tensors, metadata = read_tensors(source)
    header = read_header(source, metadata) | {"trust": config.to_dict(trust)}
    write_tensors(tensors, path, metadata | {MODEL: json.dumps(header, ensure_ascii=False)})


def save_ngrams(source: Path, ngrams: NGrams, path: Path) -> None:
    """Copy a model file with other n-grams; its weights keep their bytes, and it has to be calibrated again.

    Raises:
        CheckpointError: if `source` cannot be used.
    """
    tensors, metadata = read_tensors(source)
    header = read_header(source, metadata) | {"trust": {}, "ngrams": ngrams.order}
    weights = {name: tensor for name, tensor in tensors.items() if not name.startswith(NGRAMS)}
    write_tensors(weights | named(ngrams), path, metadata | {MODEL: json.dumps(header, ensure_ascii=False)})


def named(ngrams: NGrams) -> dict[str, Tensor]:
    """N-grams by their names in a model file."""
    return {f"{NGRAMS}{name}": tensor for name, tensor in ngrams.tensors().items()}


def save_card(path: Path, card: Mapping[str, Any]) -> None:
    """Give the model or adapter in a file another card; its weights keep their bytes.

    Raises:
        CheckpointError: if the file cannot be used.
    """
    tensors, metadata = read_tensors(path)
    kind = ADAPTER if ADAPTER in metadata else MODEL
    header = parse_header(path, metadata, kind) | {"card": dict(card)}
    write_tensors(tensors, path, metadata | {kind: json.dumps(header, ensure_ascii=False)})


def write_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str]) -> None:
    """Write a safetensors file that is either whole or not there.

    Raises:
        CheckpointError: if it cannot be written.
    """
    try:
        with atomic_write(path) as unfinished:
            save_file(dict(tensors), unfinished, dict(metadata))
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot write {path}: {error}") from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file.

    Raises:
        CheckpointError: if it is missing, truncated or no safetensors file.
    """
    if path.is_dir():
        raise CheckpointError(f"{path}: is a folder; name the model file in it, such as {path / 'model.safetensors'}")
    if not path.is_file():
        raise CheckpointError(f"{path}: no such model file")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path}: not a whole safetensors file ({error})") from error


def read_header(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    """The JSON header of a model file, its version checked."""
    if ADAPTER in metadata:
        raise CheckpointError(f"{path}: an adapter, which cannot do without its model; give the model here")
    return parse_header(path, metadata, MODEL)


def parse_header(path: Path, metadata: Mapping[str, str], place: str) -> dict[str, Any]:
    """The JSON header of a model or adapter, whoever may have made the file; its version checked."""
    what = "adapter" if place == ADAPTER else "model"
    try:
        header = json.loads(metadata[place])
    except (KeyError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: not a drethtr {what}: its header is missing") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else None
        raise CheckpointError(
            f"{path}: {what} format {found!r}, but this drethtr reads {FORMAT}; "
            "install the drethtr version that wrote it, or train it again"
        )
    if not isinstance(header.get("card"), dict):
        raise CheckpointError(f"{path}: the {what}'s card is not understood: it is not a table")
    return header


def load_model(path: Path, device: torch.device | str = "cpu") -> Model:
    """Read a model, in float32 and ready to read.

    Memory is taken for what the file holds, not for what its header claims: the network is first built without any.

    Raises:
        CheckpointError: if the file cannot be used, saying why.
    """
    tensors, metadata = read_tensors(path)
    header = read_header(path, metadata)
    try:
        with torch.device("meta"):
            model = build_model(
                config.from_dict(NetworkConfig, header["network"]),
                config.from_dict(Tokenizer, header["tokenizer"]),  # type: ignore[type-abstract]
                config.from_dict(Preparation, header["preparation"]),
                header["card"],
            )
        trust = config.from_dict(Trust, header.get("trust", {}))  # models of earlier versions have none
    except SENSELESS as error:
        raise CheckpointError(f"{path}: the model's settings are not understood: {error}") from error
    counted = {name.removeprefix(NGRAMS): tensors.pop(name) for name in sorted(tensors) if name.startswith(NGRAMS)}
    try:
        ngrams = NGrams.of_tensors(model.tokenizer.size, header["ngrams"], counted) if "ngrams" in header else None
    except (CheckpointError, *SENSELESS) as error:
        raise CheckpointError(f"{path}: {error}") from error
    rows, height = model.preparation.height, model.network.backbone.height
    if rows != height:
        raise CheckpointError(f"{path}: its lines are prepared {rows} pixels high, but its backbone takes {height}")
    try:
        model.network.load_state_dict(fit(restored(tensors), model.network.state_dict()), assign=True)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    model.network.to(device).eval()
    model.network.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on CPUs
    return replace(model, trust=trust, ngrams=ngrams)


def weights_hash(model: Model) -> str:
    """SHA-256 of all weights as they read: the same for files that differ in card and trust only."""
    digest = sha256()
    for name, tensor in sorted(model.network.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()
