"""What several commands let a person choose, from its name to the object."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import hint, named
from drethtr.base.errors import ConfigError

if TYPE_CHECKING:
    import torch

    from drethtr.network.precision import Precision
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.recognition.search.decoder import Decoder

DecoderName = Annotated[
    str | None,
    typer.Option(
        "--decoder",
        metavar="NAME",
        help="ctc, greedy, verified, beam, beam:N, joint, careful or published, published:N (as the authors' code "
        "scores); the model's usual one if left out.",
    ),
]
ModelFile = Annotated[
    Path | None, typer.Option(metavar="MODEL", help="A model file; the one inside the package if left out.")
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="At most this many lines per set, drawn by --seed.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The same seed draws the same lines.")]
Workers = Annotated[
    int, typer.Option(metavar="N", min=0, help="Processes that load lines; they do not change results.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the run file; repeatable.")
]
ForceResults = Annotated[bool, typer.Option("--force", help="Replace result files that exist.")]
JSONFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures here.")]
PrecisionName = Annotated[
    str,
    typer.Option(
        "--precision", metavar="NAME", help="float32, or bfloat16: nearly the same, faster where the processor has it."
    ),
]
DeviceName = Annotated[
    str,
    typer.Option("--device", metavar="NAME", help="cpu, cuda, cuda:1, mps; auto is a GPU that CUDA can use, else cpu."),
]


def decoder_named(text: str) -> "Decoder":
    """The decoder a person means by `ctc`, `greedy`, `verified`, `beam`, `beam:5`, `joint` or `careful`.

    `careful` is `joint` for lines seen at three widths; `published` and `published:5` are greedy and beam search as the
    DRetHTR authors' code scores them.

    Raises:
        ConfigError: for any other name or number.
    """
    from drethtr.recognition.search.decoders import Beam, PublishedBeam

    known = known_decoders()
    numbered: dict[str, Callable[[int], Decoder]] = {"beam": Beam, "published": PublishedBeam}
    name, colon, number = text.partition(":")
    if name not in known:
        raise ConfigError(f"unknown decoder {text!r}{hint(name, known)}; known: {', '.join(known)}, beam:5")
    if not colon:
        return known[name]()
    if name not in numbered or not number.isdecimal():
        raise ConfigError(f"decoder {text!r} is not understood; only beam and published take a number, as in beam:5")
    return numbered[name](int(number))


def known_decoders() -> "dict[str, Callable[[], Decoder]]":
    """All decoders that have a name."""
    from drethtr.recognition.search.decoders import CTC, Beam, Greedy, Joint, PublishedGreedy, VerifiedDrafts
    from drethtr.recognition.search.strategies import THREE_WIDTHS

    return {
        "ctc": CTC,
        "greedy": Greedy,
        "verified": VerifiedDrafts,
        "beam": Beam,
        "joint": Joint,
        "careful": partial(Joint, widths=THREE_WIDTHS),
        "published": PublishedGreedy,
    }


def decoder_name(decoder: "Decoder") -> str:
    """What a person types for a decoder, whatever weights a model gives it; one without a name as Python shows it."""
    from drethtr.recognition.search.decoders import Beam, PublishedBeam

    numbered = [
        f"{name}:{decoder.beams}" for name in ("beam", "published") if isinstance(decoder, Beam | PublishedBeam)
    ]
    for name in (*numbered, *known_decoders()):
        if decoder_named(name).fitted(decoder) == decoder.fitted(decoder):
            return name
    return repr(decoder)


def precision_named(text: str) -> "Precision":
    """The precision of a name.

    Raises:
        ConfigError: if there is none.
    """
    from drethtr.network.precision import Precision

    known = {precision.label: precision for precision in Precision}
    return named("precision", text, known)


def load_recognizer(
    model: Path | None, decoder: str | None, device: str, precision: str = "float32", alternatives: int = 0
) -> "Recognizer":
    """A recognizer from what a person typed, in any process.

    Raises:
        ConfigError: for an unknown decoder, device or precision.
        CheckpointError: if the model cannot be used.
    """
    from drethtr.recognition.recognizer import Recognizer

    chosen = decoder_named(decoder) if decoder is not None else None
    exactness, where = precision_named(precision), device_named(device)
    return Recognizer.load(model, decoder=chosen, device=where, precision=exactness, alternatives=alternatives)


def device_named(name: str) -> "torch.device":
    """The device that a person means, `auto` included, in a process that is made ready to compute.

    Raises:
        ConfigError: if there is no such device.
    """
    import torch

    from drethtr.network.device import device_called, prepare_process

    prepare_process()
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return device_called(name)
