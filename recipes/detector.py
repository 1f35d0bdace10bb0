"""Convert the line detector for the package: PP-OCRv6 small (Apache-2.0) from rapidocr, with weights in 8 and 16 bits.

    python recipes/detector.py src/drethtr/layout/models/lines.safetensors

Requires the packages rapidocr and onnx. `recipes/layout.toml` continues from it.
"""

import sys
from pathlib import Path

from drethtr.layout.network import LineModel, save_lines
from drethtr.network.weights import detector_weights

CARD = {"name": "PP-OCRv6 small (text detection)", "license": "Apache-2.0", "source": "PaddleOCR, rapidocr 3.10"}

if __name__ == "__main__":
    [path] = sys.argv[1:]
    weights = {name: tensor.numpy() for name, tensor in detector_weights().items()}
    save_lines(LineModel(weights, CARD), Path(path), small=True)
