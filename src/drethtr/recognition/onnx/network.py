"""A network computed by onnxruntime: each line alone, at its own width.

Sessions are made when they are first needed, so that reading by the CTC head alone never builds the text side. They
share the weights.

Shapes, everywhere in this file: B lines, R rows; H heads of K channels; I image tokens; V tokens of the vocabulary.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

COLUMNS_PER_TOKEN = 8
"""Of all backbones that are known here; a narrower line gets paper on the right."""

Numbers = NDArray[np.float32]


class KeyValue(NamedTuple):
    """Keys and values of the image tokens of a line in a layer, (H, I, K) each."""

    keys: Numbers
    values: Numbers


class TextState(NamedTuple):
    """So many tokens, and what each layer remembers of them, (R, H, K, K) each."""

    length: int
    memories: tuple[Numbers, ...]
