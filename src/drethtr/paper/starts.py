"""Starts of the paper's runs: a backbone from an image classifier or a finished model, word pieces for characters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from http.client import HTTPException
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit
from urllib.request import urlopen

import torch
from torch import Tensor, nn

from drethtr.base.cache import cache_folder
from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.base.files import atomic_write
from drethtr.datasets.open import open_all
from drethtr.network.backbones import Backbone
from drethtr.network.backend import network_of
from drethtr.network.ctc import CTCHead
from drethtr.network.network import DRetHTR
from drethtr.network.weights import fit
from drethtr.paper.byte_pairs import BytePairs
from drethtr.paper.weights_file import read_weights
from drethtr.recognition.model.file import load_model
from drethtr.text.tokenizer import BLANK, SPECIALS, UNK, Tokenizer
from drethtr.training.start import Fresh, Start

CLASSIFIERS = ("classifier.", "fc.")
HASH = re.compile(r"-(?!\d+\.)([0-9a-f]{8,64})\.")
"""The hash in a file name; digits alone may be a date."""

CHUNK = 1 << 20
"""Bytes that are downloaded at once."""

UNKNOWN_LOGIT = -8.0
"""The initial logit of a token that the image encoder does not know."""

DRAFT_STD = 0.5
"""Standard deviation of a draft character's contribution to an image token; that of a sinusoid is 0.7."""


@dataclass(frozen=True)
class FromImageNet(Start):
    """The backbone from an image classifier in torchvision's naming, from a file or URL; the rest is random.

    The published run loaded such weights too, but reinitialized all but the batch norms before training.
    """

    weights: str

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        load_imagenet(network.backbone, self.weights)


@dataclass(frozen=True)
class InPieces(Start):
    """The weights of `start`, with a tokenizer of `size` word pieces, learned from the lines of `paths`."""

    paths: tuple[str, ...]
    size: int = 500
    start: Start = field(default_factory=Fresh)

    def tokenizer(self) -> Tokenizer:
        return BytePairs.learn((sample.text for sample in open_all(self.paths)), self.size)

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        self.start.apply(network, tokenizer)


def load_imagenet(backbone: Backbone, source: str) -> None:
    """Load the weights of a classifier, from a file or URL, into a backbone.

    Raises:
        CheckpointError: if they cannot be read or downloaded, or do not fit this backbone.
    """
    path = fetch(source) if urlsplit(source).scheme in {"http", "https", "file"} else Path(source)
    try:
        backbone.load_state_dict(fit(gray_weights(read_weights(path)), backbone.state_dict()))
    except CheckpointError as error:
        raise CheckpointError(str(error), source) from error


def gray_weights(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert a classifier's weights for a backbone that takes gray images."""
    weights = {name: weight for name, weight in theirs.items() if not name.startswith(CLASSIFIERS)}
    for name, weight in weights.items():
        if weight.ndim == 4 and weight.shape[1] == 3 and weight.is_floating_point():
            # The mean, not the sum: gray pixels are as large as those of each color were.
            weights[name] = weight.mean(1, keepdim=True)
    return weights


def fetch(url: str) -> Path:
    """Download a file to the user's cache folder, atomically, unless it is there.

    Raises:
        CheckpointError: if it cannot be downloaded, or does not match the hash in its name.
    """
    name = Path(urlsplit(url).path).name
    # With a digest, as other URLs may have files of this name.
    path = cache_folder() / f"{sha256(url.encode()).hexdigest()[:16]}-{name}"
    if path.is_file():
        return path
    digest = sha256()
    try:
        with atomic_write(path) as unfinished, urlopen(url, timeout=60) as answer, unfinished.open("wb") as file:
            promised, size = answer.headers["Content-Length"], 0
            while piece := answer.read(CHUNK):
                size += file.write(piece)
                digest.update(piece)
            if promised not in (None, str(size)):  # urllib takes a broken connection for the end
                raise CheckpointError(f"only {size:,} of {promised} bytes arrived; try again", url)
            if (named := HASH.search(name)) and not digest.hexdigest().startswith(named[1]):
                raise CheckpointError(
                    "damaged in transit: its hash differs from the one in its name; try again, or download "
                    "the file yourself and give its path",
                    url,
                )
    except (HTTPException, OSError) as error:
        raise CheckpointError(f"cannot be downloaded ({error}); download it yourself and give its path", url) from error
    return path


@dataclass(frozen=True)
class FinishedImagePart(Start):
    """Backbone and CTC draft from a model; all other weights are random.

    Image tokens start as the characters of the draft plus their reading positions on the scale of text positions, so
    that the decoder need not discover them; it learns to use other features of the backbone. `digest` is that of the
    model file, to distinguish versions of it.
    """

    path: str
    digest: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Use the model in a file.

        Raises:
            ConfigError: if it cannot be read.
        """
        try:
            return cls(str(path), blake2b(path.read_bytes(), digest_size=8).hexdigest())
        except OSError as error:
            raise ConfigError(f"the model for the image encoder cannot be read: {error.strerror}", path) from error

    def apply(self, network: DRetHTR, tokenizer: Tokenizer) -> None:
        model = load_model(Path(self.path))
        if model.network.backbone != network.config.backbone:
            raise ConfigError(f"start: the backbone of {self.path} differs from this run's")
        finished = network_of(model)
        network.backbone.load_state_dict(finished.backbone.state_dict())
        if network.ctc is not None:
            copy_draft(network.ctc.draft, finished.ctc, model.tokenizer, tokenizer)
            init_image_tokens(network, network.ctc)


@torch.no_grad()
def init_image_tokens(network: DRetHTR, ctc: CTCHead) -> None:
    """Initialize image tokens from their reading positions and the characters of the draft."""
    if ctc.place is not None and ctc.inform is not None:
        nn.init.eye_(ctc.place.weight)
        nn.init.normal_(ctc.inform.weight, std=DRAFT_STD)
        ctc.inform.weight[:, BLANK] = 0
        nn.init.zeros_(network.to_width.weight)


@torch.no_grad()
def copy_draft(draft: nn.Linear, finished: CTCHead | None, known: Tokenizer, tokenizer: Tokenizer) -> None:
    """Initialize the draft from a trained head with another vocabulary; unknown tokens start as improbable.

    Raises:
        ConfigError: if there is no trained head.
    """
    if finished is None:
        raise ConfigError("start: the model has no CTC head to take the draft from")
    own = finished.draft
    nn.init.normal_(draft.weight, std=0.02)
    draft.bias.fill_(UNKNOWN_LOGIT)
    same = {token: token for token in range(SPECIALS)}
    for token in range(SPECIALS, tokenizer.size):
        match known.encode(tokenizer.decode([token])):
            case [row] if row != UNK:
                same[token] = row
    tokens, rows = list(same), list(same.values())
    draft.weight[tokens], draft.bias[tokens] = own.weight[rows], own.bias[rows]
