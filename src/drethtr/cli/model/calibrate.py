"""`drethtr model calibrate`: choose the decoder of a model and calibrate its confidences."""

from collections.abc import Sequence
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.errors import DataError
from drethtr.base.locks import claimed
from drethtr.cli.options import ChangedModel, DeviceName, ForceModel, Limit, OutputModel, Seed, Threads
from drethtr.cli.outputs import refuse_results
from drethtr.cli.progress import exit_if_left_out, open_lines, usable_samples
from drethtr.cli.reports import confidence_of_sets, figure, table
from drethtr.cli.screen import echo
from drethtr.evaluation import calibrate as fit
from drethtr.evaluation.confidence import measure_confidence, measure_sets
from drethtr.evaluation.predict import MIN_SETS, leave_one_set_out, mean_absolute_error
from drethtr.evaluation.reading import to_read
from drethtr.recognition.decoding.strategies import decoder_name, strategy_named
from drethtr.recognition.model.file import load_model, save_record
from drethtr.recognition.recognizer import Recognizer


def calibrate(
    model: ChangedModel,
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="Validation lines, used for neither training nor testing.")
    ],
    output: OutputModel = None,
    decoder: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Calibrate this decoder; repeatable; default: the common ones."),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    device: DeviceName = "auto",
    threads: Threads = None,
    force: ForceModel = False,
) -> None:
    """Choose the best decoder, and calibrate confidences and out-of-distribution detection, on validation lines.

    This needs at least 25 lines without editorial marks; out-of-distribution detection needs 100. Lines with
    damaged images are reported and left out; the exit code is then 1.
    """
    target = output or model
    refuse_results(target, force=force, inputs=data)
    chosen = list(dict.fromkeys((strategy_named(name),) for name in decoder or ()))
    wanted = to_read(open_lines(data), limit, seed)
    fits: list[fit.Fit] = []
    with claimed(target, replace=force):
        loaded = load_model(model)
        samples = usable_samples(Recognizer(loaded, device=device, threads=threads), wanted)
        if len(samples) < fit.TO_CALIBRATE:
            raise DataError(
                f"{', '.join(data)}: {len(samples)} usable lines; calibration needs at least {fit.TO_CALIBRATE}, "
                "preferably a few hundred: add lines used for neither training nor testing"
            )
        passes = fit.passes(loaded, len(samples), chosen, device=device)
        with tqdm(total=len(samples) * passes, unit="line", disable=None) as bar:
            calibrated = fit.calibrate(loaded, samples, chosen, bar.update, fits.append, device=device, threads=threads)
        save_record(model, calibrated.record, target, of=loaded)
    record = calibrated.record
    echo(f"{target}: calibrated on {len(samples):,} lines")
    if record.strategy is not None:
        echo(f"best decoder: {decoder_name(record.strategy)}")
    echo(reliability(fits))
    if fits and fits[0].held_out:
        echo(held_out_table(fits[0]))
    if any(rate.inherited for rate in record.error_rates):
        echo(f"Error-rate predictions are unchanged and marked as estimates: fitting them takes {MIN_SETS + 1} sets.")
    if len(samples) < fit.TO_KNOW_WRITING:
        known = "kept" if record.unlike_training is not None else "not fitted"
        echo(f"Out-of-distribution detection was {known}: it needs at least {fit.TO_KNOW_WRITING} lines.")
    exit_if_left_out(wanted, samples)


def held_out_table(held: fit.Fit) -> str:
    """The reliability of confidences on each set, calibrated on the other sets, and on all of them."""
    strategy, precision = held.calibration.strategies[0], held.calibration.precision
    together = measure_confidence(
        [sample.text for sample, _ in held.held_out], [reading for _, reading in held.held_out]
    )
    rates = leave_one_set_out(strategy, held.held_out)
    error, inside = 100 * mean_absolute_error(rates), sum(bool(rate.inside) for rate in rates)
    return "\n".join(
        [
            f"\nEach set calibrated on the others, {decoder_name(strategy)} ({precision}):",
            confidence_of_sets([*measure_sets(held.held_out).items(), ("all", together)]),
            f"CER of each set, predicted from the others: mean absolute error {error:.1f} points, "
            f"true CER inside the interval for {inside} of {len(rates)}.",
        ]
    )


def reliability(fits: Sequence[fit.Fit]) -> str:
    """How reliable the confidences of each decoder are, in percent."""
    rows = [
        [
            f"{', '.join(map(decoder_name, one.calibration.strategies))} ({one.calibration.precision})",
            *(
                cell
                for found in (one.characters, one.words)
                for cell in (f"{found.cases:,}", figure(found.right, 1), figure(found.ece, 1))
            ),
        ]
        for one in fits
    ]
    titles = ["", "characters", "right %", "ECE %", "words", "right %", "ECE %"]
    return (
        f"{table(titles, rows)}\nECE: expected calibration error on the lines used for calibration; "
        "drethtr evaluate --confidence measures it on other lines."
    )
