"""Average the weights of a run and of its start.

python recipes/average.py start.safetensors runs/long/latest.safetensors 0.85 averaged.safetensors

0.85 is the share of the run; everything but the weights, such as the card and the n-grams, is the run's.
"""

import argparse
from pathlib import Path

from drethtr.recognition.model.file import load_model, save_model
from drethtr.training.finetuning.interpolation import interpolate

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("share", type=float)
    parser.add_argument("output", type=Path)
    wanted = parser.parse_args()
    save_model(interpolate(load_model(wanted.start).weights, load_model(wanted.run), wanted.share), wanted.output)
