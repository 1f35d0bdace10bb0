"""Give an older model the alphabet and n-grams of the shipped one, to compare the weights alone.

python recipes/weights_alone.py OLDER.safetensors older.safetensors
drethtr model compare older.safetensors:ctc :ctc lines/jls_en.test.parquet lines/csafe_en.test.parquet
"""

import argparse
from dataclasses import replace
from pathlib import Path

from drethtr.recognition.model.file import SHIPPED, Model, load_model, save_model
from drethtr.training.finetuning.interpolation import weights_at_start
from drethtr.training.start import FromModel


def with_weights_of(older: Path, model: Model) -> Model:
    """Replace the weights of a model by those of an older one, whose alphabet may lack characters."""
    return replace(model, weights=weights_at_start(FromModel(str(older), model.tokenizer.alphabet), model))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("older", type=Path)
    parser.add_argument("output", type=Path)
    wanted = parser.parse_args()
    save_model(with_weights_of(wanted.older, load_model(SHIPPED)), wanted.output)
