"""Starts of the paper's runs: a backbone from an image classifier, and word pieces in the place of characters.

Weights of classifiers are in torchvision's format, for the backbones of the same name. The three color channels of the
first convolution are averaged into one, and the classifier is left out.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from torch import Tensor

from drethtr.base.cache import cache_folder
from drethtr.base.errors import CheckpointError
from drethtr.base.files import atomic_write
from drethtr.datasets.open import open_all
from drethtr.network.backbones import Backbone
from drethtr.network.network import DRetHTR
from drethtr.network.weights import fit
from drethtr.paper.byte_pairs import BytePairs
from drethtr.paper.weights_file import read_weights
from drethtr.text.tokenizer import Tokenizer
from drethtr.training.start import Fresh, Start

CLASSIFIERS = ("classifier.", "fc.")
HASH = re.compile(r"-(?!\d+\.)([0-9a-f]{8,64})\.")
"""The hash in a file name; digits alone may be a date."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class FromImageNet(Start):
    """The backbone from an image classifier in torchvision's naming, from a file or URL; the rest is random.

    The published run loaded such weights too, but reinitialized all but the batch norms before training.
    """

    weights: str

    def tokenizer(self) -> Tokenizer | None:
        return None

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
            weights[name] = weight.mean(1, keepdim=True)
    return weights


def fetch(url: str) -> Path:
    """Download a file to the user's cache folder, atomically, unless it is there.

    Raises:
        CheckpointError: if it cannot be downloaded, or does not match the hash in its name.
    """
    name = Path(urlsplit(url).path).name
    path = (
        cache_folder() / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{name}"
    )  # other URLs may have files of this name
    if path.is_file():
        return path
    digest = hashlib.sha256()
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
