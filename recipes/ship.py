r"""Put a trained model into the package, quantized and with its card, then evaluate it as shipped.

drethtr model language runs/compact/best.safetensors lines/*.train.parquet --text text/eltec_eng.txt.xz --name en \
    --share 0.5 --order 7 --size 200000 --force    # then --name fr and --name de; without csafe_en, which is one text
drethtr model rescorer runs/compact/best.safetensors lines/*.train.parquet --text text/eltec_eng.txt.xz \
    --text text/eltec_fra.txt.xz --text text/eltec_deu.txt.xz --force                         # again without csafe_en
drethtr model calibrate runs/compact/best.safetensors 'lines/*.val.parquet' --force
python recipes/ship.py runs/compact/best.safetensors
drethtr evaluate 'lines/*.test.parquet' --json evaluation.json
drethtr model info src/drethtr/recognition/model/compact.safetensors --add evaluation.json
"""

import argparse
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

from drethtr.recognition.model.file import SHIPPED, load_model, save_model


def ship(model_path: Path) -> None:
    """Write the shipped model and print its size."""
    model = load_model(model_path)
    if not model.record.calibrations:
        sys.exit(f"{model_path} is not calibrated; run `drethtr model calibrate --force` first")
    card = tomllib.loads(Path(__file__).with_name("card.toml").read_text(encoding="utf-8"))
    # card.toml has the totals of all runs; the model's own card is about its last run only.
    save_model(replace(model, card={**model.card, **card}), SHIPPED, bits=4)
    print(f"{SHIPPED}: {SHIPPED.stat().st_size / 1e6:.1f} MB")  # noqa: T201


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    ship(parser.parse_args().model)
