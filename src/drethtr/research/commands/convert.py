"""`drethtr convert`: convert the authors' weights to a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.errors import CheckpointError, DataError
from drethtr.cli.outputs import refuse_existing, refuse_places

if TYPE_CHECKING:
    from drethtr.research.conversion import Conversion


NEEDS = {"torch": "train"}


def convert(
    weights: Annotated[Path, typer.Argument(metavar="WEIGHTS", help="A state dict: .pt, .pth or safetensors.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The model file to write.")],
    preset: Annotated[str, typer.Option(metavar="NAME", help="base or small: the published settings to start from.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change a setting, such as network.prior.kind=NoPrior; repeatable."
        ),
    ] = None,
    alphabet: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text file with the characters of the alphabet; default: those of IAM."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Convert the authors' weights to a model. Nothing in the file is executed; every weight must be used.

    The weights do not reveal decay, prior, normalization, or retention versus softmax: the published ones are assumed.
    """
    refuse_places(output)
    refuse_existing(output, force=force, inputs=[str(weights)])
    from drethtr.network.weights_file import read_weights
    from drethtr.recognition.model_file import save_model
    from drethtr.research.conversion import convert as make_model

    conversion = wanted(preset, settings or [], alphabet)
    card = {"name": weights.stem, "description": f"The DRetHTR authors' weights of {weights.name}, converted."}
    found = read_weights(weights)
    try:
        model = make_model(found, conversion, card)
    except CheckpointError as error:
        raise error.of(weights) from error
    save_model(model, output)
    size = f"{model.parameter_count:,} parameters, {model.tokenizer.size} tokens"
    typer.echo(f"{output}: {size}, every weight used")
    typer.echo("check that the settings are those of training: drethtr evaluate LINES --model OUT")


def wanted(preset: str, settings: list[str], alphabet: Path | None) -> "Conversion":
    """Build the settings of a conversion.

    Raises:
        ConfigError: for an unknown preset or setting.
        DataError: if the alphabet cannot be read.
    """
    from drethtr.base import config
    from drethtr.research.conversion import PRESETS, Conversion

    default = config.named("preset", preset, PRESETS)
    data: dict[str, object] = {}
    config.set_values(data, settings)
    if alphabet is not None:
        data["alphabet"] = characters_of(alphabet)
    return config.from_dict(Conversion, data, default=default)


def characters_of(path: Path) -> str:
    """The distinct characters in a text file, without line breaks."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as UTF-8 text: {error}", path) from error
    return "".join(sorted(set(text) - {"\n", "\r"}))
