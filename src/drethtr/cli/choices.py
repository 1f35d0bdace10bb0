"""What several commands let a person choose, from its name to the object."""

from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.config import hint
from drethtr.errors import ConfigError

if TYPE_CHECKING:
    import torch

    from drethtr.decoding.strategies import Decoder

DecoderName = Annotated[
    str | None,
    typer.Option("--decoder", metavar="NAME", help="ctc, greedy, beam or beam:N; the model's usual one if left out."),
]
DeviceName = Annotated[
    str, typer.Option("--device", help="cpu, cuda, cuda:1, mps; auto is a GPU that CUDA can use, else cpu.")
]


def decoder_named(text: str) -> "Decoder":
    """The decoder a person means by `ctc`, `greedy`, `beam` or `beam:5`.

    Raises:
        ConfigError: for any other name or number.
    """
    from drethtr.decoding.strategies import CTC, Beam, Greedy

    known: dict[str, type[Decoder]] = {"ctc": CTC, "greedy": Greedy, "beam": Beam}
    name, colon, number = text.partition(":")
    if name not in known:
        raise ConfigError(f"unknown decoder {text!r}{hint(name, known)}; known: {', '.join(known)}, beam:5")
    if not colon:
        return known[name]()
    if known[name] is not Beam or not number.isdecimal():
        raise ConfigError(f"decoder {text!r} is not understood; only beam takes a number, as in beam:5")
    return Beam(int(number))


def device_named(name: str) -> "torch.device":
    """The device to compute on, and the processor made ready.

    Numbers next to zero are rounded to it: arithmetic with denormal ones is many times slower. Threads inherit this
    from the one that starts them, so it must come before all else.

    Raises:
        ConfigError: if there is no such device.
    """
    import torch

    torch.set_flush_denormal(True)
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"unknown device {name!r}; known: cpu, cuda, cuda:N, mps, auto") from error
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f"device {name!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device
