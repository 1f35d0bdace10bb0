"""Convert the line detector for the package: PP-OCRv6 small (Apache-2.0) from rapidocr, with weights in 8 and 16 bits.

    python recipes/detector.py src/drethtr/layout/models/lines.safetensors

Requires the packages rapidocr and onnx. `recipes/layout.toml` continues from it.
"""

import argparse
from pathlib import Path

from drethtr.layout.network import LineModel, save_lines
from drethtr.network.pretrained import detector_weights

CARD = {"name": "PP-OCRv6 small (text detection)", "license": "Apache-2.0", "source": "PaddleOCR, rapidocr 3.10"}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    weights = {name: tensor.numpy() for name, tensor in detector_weights().items()}
    save_lines(LineModel(weights, CARD), output, small=True)
