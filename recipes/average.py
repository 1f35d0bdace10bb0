"""Average the weights of a run and of its start: two models, or two networks that find lines.

python recipes/average.py start.safetensors runs/long/latest.safetensors 0.85 averaged.safetensors

Means of the weights of several runs brought nothing (LOG.md, 2026-11-22, late night). 0.85 is the
share of the run; everything but the weights, such as the card and the n-grams, is the run's.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from drethtr.layout.network import load_lines, save_lines
from drethtr.recognition.model.file import LINES, load_model, save_model
from drethtr.recognition.model.weights import read_metadata
from drethtr.training.finetuning.interpolation import between, interpolate

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("share", type=float)
    parser.add_argument("output", type=Path)
    wanted = parser.parse_args()
    if LINES in read_metadata(wanted.run):
        lines = load_lines(wanted.run)
        weights = between(load_lines(wanted.start).weights, lines.weights, wanted.share)
        save_lines(replace(lines, weights=weights), wanted.output)
    else:
        save_model(interpolate(load_model(wanted.start).weights, load_model(wanted.run), wanted.share), wanted.output)
