"""`drethtr info`: what a model is, what it was trained on, how well it reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.cli.tables import table_of

if TYPE_CHECKING:
    from drethtr.checkpoint import Model


def info(
    model: Annotated[
        Path | None, typer.Argument(help="A model or adapter; the model inside the package if left out.")
    ] = None,
) -> None:
    """Describe a model: its size, alphabet, training data, measured error rates and licence."""
    from drethtr.recognizer import SHIPPED, Recognizer

    path = model if model is not None else SHIPPED
    for line in description(Recognizer.load(path).model, path):
        typer.echo(line)


def description(model: "Model", path: Path) -> list[str]:
    """What is known of a model, line by line."""
    config, tokenizer = model.network.config, model.tokenizer
    parameters = sum(parameter.numel() for parameter in model.network.parameters())
    lines = [
        f"{path}: {path.stat().st_size / 1e6:.1f} MB, {parameters:,} parameters",
        f"network: {type(config.architecture).__name__}, {config.layers} layers of width {config.width}, "
        f"{config.heads} heads, backbone {type(config.backbone).__name__}, {type(config.mixer).__name__} text, "
        f"{'with' if config.ctc else 'without'} CTC head",
        f"lines: {model.preparation.height} pixels high",
        f"alphabet: {tokenizer.size} tokens: {alphabet(model)}",
    ]
    card = dict(model.card)
    evaluation = card.pop("evaluation", None)
    for name, value in card.items():
        lines += entry(name.replace("_", " "), value)
    if evaluation is not None:
        lines += ["measured on lines it never saw:", table_of(evaluation), evaluation["convention"]]
    return lines


def alphabet(model: "Model") -> str:
    """Everything that the model writes, token after token."""
    return model.tokenizer.decode(range(model.tokenizer.size))


def entry(name: str, value: Any) -> list[str]:
    """An entry of the card; a list or table of several things gets a line for each."""
    if isinstance(value, Mapping):
        return [f"{name}:", *(f"  {key}: {item}" for key, item in value.items())]
    if isinstance(value, list):
        return [f"{name}:", *(f"  {row(item)}" for item in value)]
    return [f"{name}: {value}"]


def row(item: Any) -> str:
    """One of several things on one line."""
    return "; ".join(map(str, item.values())) if isinstance(item, Mapping) else str(item)
