"""Which networks onnxruntime can compute: those like the shipped one."""

from drethtr.recognition.architecture import (
    Added,
    DecoderOnly,
    NetworkConfig,
    NoPrior,
    Plain,
    Retentive,
    Sinusoidal,
    Unplaced,
)
from drethtr.recognition.backbones import PPOCR, Light
from drethtr.recognition.decay import Scheduled

KNOWN = {
    "architecture": DecoderOnly,
    "backbone": PPOCR | Light,
    "positions": Sinusoidal | Unplaced,
    "prior": Added | NoPrior,
    "mixer": Retentive,
    "output": Plain,
}
"""The supported variants of each part of a network."""


def supports(config: NetworkConfig) -> str | None:
    """Why a network needs torch; None if it does not."""
    unknown = [
        type(part).__name__ for name, known in KNOWN.items() if not isinstance(part := getattr(config, name), known)
    ]
    if isinstance(config.mixer, Retentive) and not isinstance(config.mixer.decay, Scheduled):
        unknown.append(f"{type(config.mixer.decay).__name__} decay")
    if not unknown:
        return None
    return f"{', '.join(unknown)}: this network needs torch; run: pip install 'drethtr[train]'"
