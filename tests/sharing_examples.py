"""A model with a complete card."""

from dataclasses import replace

from drethtr.recognition.confidence.calibration import CHARACTER_FEATURES, WORD_FEATURES, Calibration
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC
from drethtr.recognition.model.file import Model

RATES = {"lines": 120, "characters": 4200, "cer": 0.1, "cer_low": 0.05, "cer_high": 0.2}
RATES |= {"wer": 0.3, "wer_low": 0.25, "wer_high": 0.4}
CARD = {
    "name": "tiny",
    "license": "CC BY 4.0",
    "normalization": "NFC",
    "data": [{"set": "letters", "license": "CC0", "source": "Ada"}],
    "evaluation": {"convention": "by hand", "sets": [{"name": "letters", **RATES}], "overall": RATES},
}
WEIGHTS = (Logistic(0.0, (1.0,) * features) for features in (CHARACTER_FEATURES, WORD_FEATURES))
RECORD = CalibrationRecord((Calibration((CTC(),), *WEIGHTS),))


def complete(model: Model) -> Model:
    """The model with such a card."""
    return replace(model, card=CARD, record=RECORD)
