"""`drethtr calibrate`: teach a model how to be read with, and when to be believed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.cli.choices import DeviceName, decoder_named, device_named
from drethtr.cli.files import refuse_places

if TYPE_CHECKING:
    from drethtr.trust.trust import Trust


def calibrate(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help="Validation lines: never trained or tested on.")],
    output: Annotated[Path | None, typer.Option(help="The model file to write; MODEL itself if left out.")] = None,
    decoder: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Calibrate this decoder, repeatable; the usual ones if left out."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many lines of each set, drawn by --seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same lines.")] = 0,
    device: DeviceName = "auto",
) -> None:
    """Choose a decoder, fit confidences and the check for unknown writing on validation lines; save all of it."""
    from tqdm import tqdm

    from drethtr.checkpoint import load_model, save_trust
    from drethtr.data.sources import open_all
    from drethtr.evaluation import calibrate as fit
    from drethtr.evaluation.evaluate import to_read

    target = output or model
    refuse_places(target)
    chosen = [(decoder_named(name),) for name in decoder or ()]
    loaded = load_model(model, device_named(device))
    samples = to_read(open_all(data), limit, seed)
    with tqdm(total=len(samples) * fit.passes(loaded, chosen), unit="line", disable=None) as bar:
        trust = fit.calibrate(loaded, samples, chosen, bar.update).trust
    save_trust(model, trust, target)
    typer.echo(summary(trust, len(samples), target))


def summary(trust: "Trust", lines: int, target: Path) -> str:
    """What was learned, for people."""
    rows = [f"{target}: calibrated on {lines:,} lines"]
    if trust.decoder is not None:
        rows.append(f"reads best with {trust.decoder!r}")
    for calibration in trust.calibrations:
        rows.append(
            f"{', '.join(map(repr, calibration.decoders))}: characters {numbers(calibration.characters.weights)}, "
            f"words {numbers(calibration.words.weights)}"
        )
    return "\n".join(rows)


def numbers(values: tuple[float, ...]) -> str:
    """Weights in a row."""
    return " ".join(f"{value:+.3g}" for value in values)
