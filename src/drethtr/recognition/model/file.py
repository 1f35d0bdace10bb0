"""A model on disk: one safetensors file with network, alphabet, preparation and card as JSON in its header.

Nothing in it is executed: no pickle, no class paths, only names of known configs.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from drethtr.base import config
from drethtr.base.encoding import json_in
from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.images.prepare import Preparation
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.architecture import NetworkConfig, RescorerConfig
from drethtr.recognition.model.weights import Array, Weights, dequantize, quantize, read_file, write_tensors
from drethtr.text import Tokenizer

SHIPPED = Path(__file__).with_name("compact.safetensors")
"""The model inside the package."""

FORMAT = 4
"""Version of the header; raised when a reader of another version would misunderstand it."""

SETTINGS_ERRORS = (ConfigError, LookupError, TypeError, ValueError, ArithmeticError, RuntimeError)
"""Errors that invalid settings of an untrusted header may cause."""

MODEL, ADAPTER, LINES = "drethtr", "drethtr-adapter", "drethtr-lines"
"""Metadata keys of the header of a model, of an adapter, and of a model that finds lines."""

NAMES = {MODEL: "model", ADAPTER: "adapter", LINES: "model that finds lines"}
"""What messages call a file with each of these keys."""

NGRAMS, RESCORER = "ngrams.", "rescorer."
"""Prefixes of the names of tensors that are not weights of the network."""

IN_4_BITS = ("blocks.", RESCORER)
"""Prefixes of the weights of decoder and rescorer, which read as well in 4 bits as in 8; weights of the backbone do
not.

Only finished models are stored so: further training steps would be lost in the rounding (LOG.md, 2026-11-27)."""

HASHED_AS = {"stretches": "widths", "strategies": "decoders", "strategy": "decoder"}
"""Settings of the calibration record that the hash knows by other names, so that published hashes stay valid."""


class Rescorer(NamedTuple):
    """A language model of whole texts: its configuration, and its weights by name, in float32."""

    config: RescorerConfig
    weights: Weights


@dataclass(frozen=True, repr=False)
class Model:
    """Everything needed to read: network, preparation, alphabet, language models and calibration; and the card.

    network      the architecture, as data
    weights      by name, in float32
    card         free JSON: training data, license, accuracy
    record       what `drethtr model calibrate` found; by default confidences are not calibrated
    languages    the n-gram language models, if there are any
    rescorer     the language model that ranks the candidates of `joint`; by default n-grams do
    """

    network: NetworkConfig
    weights: Weights
    tokenizer: Tokenizer
    preparation: Preparation
    card: Mapping[str, Any] = field(default_factory=dict)
    record: CalibrationRecord = field(default_factory=CalibrationRecord)
    languages: Languages = NO_LANGUAGE
    rescorer: Rescorer | None = None

    def __repr__(self) -> str:
        return f"<Model: {self.identity}, {self.parameter_count:,} parameters>"

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that affects readings: weights, language models, alphabet, preparation, record; not the card.

        It does not change when the model is saved, unless weights are quantized, see `save_model`.
        """
        settings = [config.essence(part) for part in (self.network, self.tokenizer, self.preparation)]
        record = with_keys(config.essence(self.record), HASHED_AS)
        decides = [weights_hash(self.weights), *settings, record, *self.languages.hashes]
        if self.rescorer is not None:
            decides += [weights_hash(self.rescorer.weights), config.essence(self.rescorer.config)]
        return sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def identity(self) -> str:
        """Its name, if the card has one, and the first 12 digits of its hash: identifies the model in every output.

        Only printable characters of the name are kept, since a terminal interprets others.
        """
        name = " ".join("".join(c if c.isprintable() else " " for c in str(self.card.get("name", ""))).split())
        return f"{name} {self.hash[:12]}".lstrip()

    def check_height(self, height: int) -> None:
        """Refuse a backbone that needs lines of another height than the preparation makes."""
        if self.preparation.height != height:
            raise CheckpointError(
                f"the model prepares lines {self.preparation.height} pixels high, but its backbone needs {height}"
            )

    @property
    def parameter_count(self) -> int:
        """Number of parameters of network and rescorer, without running means and variances of batch norms."""
        learned = [w for name, w in self.weights.items() if not name.endswith(("_mean", "_var", "_tracked"))]
        if self.rescorer is not None:
            learned += self.rescorer.weights.values()
        return sum(weight.size for weight in learned)


def save_model(model: Model, path: Path, *, bits: Literal[4, 8] | None = None) -> None:
    """Write a model atomically, which changes its hash if weights are quantized.

    Args:
        bits: Quantize matrices to 8 bits, or those of decoder and rescorer to 4 and the others to 8; all other weights
            to 16.

    Raises:
        CheckpointError: if the file cannot be written.
    """
    header = {
        "format": FORMAT,
        "network": config.to_dict(model.network),
        "tokenizer": config.to_dict(model.tokenizer),
        "preparation": config.to_dict(model.preparation),
        "card": dict(model.card),
        "trust": config.to_dict(model.record),
        "languages": model.languages.facts(),
    }
    weights = dict(model.weights)
    if model.rescorer is not None:
        header["rescorer"] = config.to_dict(model.rescorer.config)
        weights |= {f"{RESCORER}{name}": weight for name, weight in model.rescorer.weights.items()}
    stored = weights if bits is None else quantize(weights, IN_4_BITS if bits == 4 else ())
    write_tensors(stored | tensors_of(model.languages), path, {MODEL: json.dumps(header, ensure_ascii=False)})


def in_8_bits(model: Model) -> Model:
    """The model with the weights that `save_model` leaves in its file if they have 8 bits."""
    rescorer = model.rescorer
    if rescorer is not None:
        rescorer = rescorer._replace(weights=dequantize(quantize(rescorer.weights)))
    return replace(model, weights=dequantize(quantize(model.weights)), rescorer=rescorer)


def save_record(source: Path, record: CalibrationRecord, path: Path, *, of: Model) -> None:
    """Copy a model file with another calibration record; see `save_changed`.

    Raises:
        CheckpointError: also if `source` no longer contains the language models of that model, which were measured too.
    """
    if without_record(load_model(source)) != without_record(of):
        raise replaced_meanwhile(source)
    save_changed(source, path, of, {"trust": config.to_dict(record)})


def without_record(model: Model) -> str:
    """The hash of a model without its calibration record."""
    return replace(model, record=CalibrationRecord()).hash


def save_languages(source: Path, languages: Languages, path: Path, *, of: Model) -> None:
    """Copy a model file with other n-grams; the copy must be recalibrated. See `save_changed`."""
    header = {"trust": {}, "languages": languages.facts()}
    save_changed(source, path, of, header, NGRAMS, tensors_of(languages))


def save_rescorer(source: Path, rescorer: Rescorer, path: Path, *, of: Model) -> None:
    """Copy a model file with another rescorer, in 8 bits; the copy must be recalibrated. See `save_changed`."""
    header = {"trust": {}, "rescorer": config.to_dict(rescorer.config)}
    weights = {f"{RESCORER}{name}": weight for name, weight in rescorer.weights.items()}
    save_changed(source, path, of, header, RESCORER, quantize(weights))


def save_changed(
    source: Path,
    path: Path,
    of: Model,
    changes: Mapping[str, Any],
    prefix: str | None = None,
    replaced: Weights | None = None,
) -> None:
    """Copy a model file with changes; all other tensors keep their bytes.

    Args:
        of: The model on which the changes are based.
        changes: Entries of the header.
        prefix: Prefix of the tensors that `replaced` replaces.

    Raises:
        CheckpointError: if `source` cannot be used, or no longer contains the weights of that model.
    """
    tensors, metadata, header = read_parts(source)
    weights = {name: tensor for name, tensor in tensors.items() if not name.startswith((NGRAMS, RESCORER))}
    if weights_hash(dequantize(weights)) != weights_hash(of.weights):
        raise replaced_meanwhile(source)
    kept = {name: tensor for name, tensor in tensors.items() if prefix is None or not name.startswith(prefix)}
    changed = json.dumps(header | dict(changes), ensure_ascii=False)
    write_tensors({**kept, **(replaced or {})}, path, metadata | {MODEL: changed})


def replaced_meanwhile(source: Path) -> CheckpointError:
    """The error if a file is no longer the model on which changes are based."""
    return CheckpointError("was replaced by another model meanwhile; start again", source)


def tensors_of(languages: Languages) -> dict[str, Array]:
    """The n-grams as tensors of a model file."""
    return {f"{NGRAMS}{name}": packed for name, packed in languages.packed()}


def save_card(path: Path, card: Mapping[str, Any]) -> None:
    """Replace the card in the file of a model, an adapter, or a model that finds lines; its weights keep their bytes.

    Raises:
        CheckpointError: if the file cannot be used.
    """
    tensors, metadata = read_file(path)
    kind = next((key for key in (ADAPTER, LINES) if key in metadata), MODEL)
    changed = json.dumps(parse_header(path, metadata, kind) | {"card": dict(card)}, ensure_ascii=False)
    write_tensors(tensors, path, metadata | {kind: changed}, pack=kind == LINES)


def read_parts(path: Path) -> tuple[dict[str, Array], dict[str, str], dict[str, Any]]:
    """Tensors, metadata and header of a model.

    Raises:
        CheckpointError: if the file cannot be used.
    """
    tensors, metadata = read_file(path)
    if ADAPTER in metadata:
        raise CheckpointError("this is an adapter; give its base model instead", path)
    return tensors, metadata, parse_header(path, metadata, MODEL)


def parse_header(path: Path, metadata: Mapping[str, str], kind: str) -> dict[str, Any]:
    """The JSON header of a file of this kind, a key of `NAMES`, which may be untrusted; with its version checked."""
    what = NAMES[kind]
    if kind not in metadata and (other := next((NAMES[key] for key in NAMES if key in metadata), None)):
        raise CheckpointError(f"this is not a {what}, but a drethtr {other}", path)
    try:
        header = json_in(metadata[kind])
    except (KeyError, ValueError, RecursionError) as error:
        raise CheckpointError(f"not a drethtr {what}: its header is missing or damaged", path) from error
    found = header.get("format") if isinstance(header, dict) else None
    if found != FORMAT:
        older = isinstance(found, int) and found < FORMAT
        cure = "use drethtr 0.1, or train the model again" if older else "install the drethtr version that wrote it"
        raise CheckpointError(f"{what} format {found!r}, but this version reads format {FORMAT}; {cure}", path)
    if not isinstance(header.get("card"), dict):
        raise CheckpointError(f"the card of this {what} is not a table; the file is damaged", path)
    return {"trust": {}, **header}


def load_model(path: Path | str) -> Model:
    """Read a model file.

    Memory use depends on the size of the file, whatever its header claims.

    Raises:
        CheckpointError: if the file cannot be used, saying why. Whether the weights fit the network is checked when a
            backend builds it.
    """
    path = Path(path)
    tensors, _, header = read_parts(path)
    counted = {name.removeprefix(NGRAMS): tensors.pop(name) for name in sorted(tensors) if name.startswith(NGRAMS)}
    try:
        network = config.from_dict(NetworkConfig, header["network"])
        tokenizer = config.from_dict(Tokenizer, header["tokenizer"])  # type: ignore[type-abstract]
        preparation = config.from_dict(Preparation, header["preparation"])
        record = config.from_dict(CalibrationRecord, header["trust"])
        rescoring = config.from_dict(RescorerConfig, header["rescorer"]) if "rescorer" in header else None
    except SETTINGS_ERRORS as error:
        raise CheckpointError(f"invalid settings in the header of this model: {error}", path) from error
    try:
        languages = Languages.of_packed(tokenizer.size, header.get("languages", {}), counted)
        known = dequantize(tensors)
    except (CheckpointError, *SETTINGS_ERRORS) as error:
        raise CheckpointError(str(error), path) from error
    # The weights of the rescorer share the file, under a prefix of their own.
    weights = {name: weight for name, weight in known.items() if not name.startswith(RESCORER)}
    apart = {name.removeprefix(RESCORER): known[name] for name in known.keys() - weights.keys()}
    rescorer = None if rescoring is None else Rescorer(rescoring, apart)
    return Model(network, weights, tokenizer, preparation, header["card"], record, languages, rescorer)


@contextmanager
def settings_errors() -> Iterator[None]:
    """Turn errors of invalid settings while a network is built into `CheckpointError`."""
    try:
        yield
    except SETTINGS_ERRORS as error:
        raise CheckpointError(f"the model's settings are invalid: {error}") from error


def with_keys(value: Any, names: Mapping[str, str]) -> Any:
    """Nested dicts and lists with some keys renamed."""
    if isinstance(value, list):
        return [with_keys(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    return {names.get(key, key): with_keys(item, names) for key, item in value.items()}


def weights_hash(weights: Weights) -> str:
    """SHA-256 of all weights: equal for files that differ only in card and record."""
    digest = sha256()
    for name, weight in sorted(weights.items()):
        digest.update(f"{name} torch.{weight.dtype} {list(weight.shape)}\n".encode())
        digest.update(np.ascontiguousarray(weight).data)
    return digest.hexdigest()
