"""`drethtr finetune`: adapt a model to your own lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.errors import DataError, require
from drethtr.cli.choices import DeviceName, Seed, Workers, device_named
from drethtr.cli.outputs import refuse_existing, refuse_places
from drethtr.cli.progress import RESUME, stopping

if TYPE_CHECKING:
    from drethtr.evaluation.metrics import Rates
    from drethtr.recognition.model_file import Model
    from drethtr.training.finetuning import Estimate, Material, Outcome
    from drethtr.training.finetuning.learning_curve import LearningCurve

SHOWN = 30  # new characters

NOTHING_BETTER = 3
"""The exit code if the model did not become better."""


def finetune(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Your lines: files, folders, patterns.")],
    output: Annotated[Path, typer.Option(metavar="MODEL", help="The file to write, ending in .safetensors.")],
    model: Annotated[
        Path | None, typer.Option(metavar="START", help="The model to start from; default: the one in the package.")
    ] = None,
    validation: Annotated[
        list[str] | None,
        typer.Option(metavar="FILES", help="Lines to choose the best weights by; repeatable; default: a part of DATA."),
    ] = None,
    old_data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILES", help="Lines of earlier training to mix in, so that they are not forgotten; repeatable."
        ),
    ] = None,
    adapter: Annotated[
        bool, typer.Option("--adapter", help="Train an adapter (LoRA), a file of at most 1 MB beside the model.")
    ] = False,
    learning_curve: Annotated[
        bool,
        typer.Option(
            "--learning-curve", help="Also train on a quarter and a half, to estimate the gain of more lines."
        ),
    ] = False,
    samples: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Lines seen in training, repeats included; default: depends on DATA."),
    ] = None,
    minimum_count: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often a new character must occur to be added to the alphabet.")
    ] = 2,
    drop_unused: Annotated[
        bool, typer.Option("--drop-unused", help="Remove characters from the alphabet that no line has.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only print what would be done, and how long it takes.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace MODEL, and a run left beside it.")] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    device: DeviceName = "auto",
) -> None:
    """Fine-tune a model on your lines: 50 are enough to start, thousands are fine.

    If the model does not become better, nothing is written, and the exit code is 3.
    """
    require("torch", "train")
    from drethtr.recognition.model_file import SHIPPED
    from drethtr.training import finetuning

    refuse(output, model, force=force, resume=resume)
    plan = finetuning.Plan(
        data=tuple(data),
        model=str(model or SHIPPED),
        validation=tuple(validation or ()),
        old_data=tuple(old_data or ()),
        adapter=adapter,
        minimum_count=minimum_count,
        drop_unused=drop_unused,
        learning_curve=learning_curve,
        samples=samples,
        seed=seed,
    )
    chosen = device_named(device)
    material = finetuning.gather(plan)
    typer.echo(found(material))
    if check:
        typer.echo(time_needed(finetuning.estimate(material, chosen)))
        return
    if force and not resume:
        finetuning.forget(output)
    with stopping(RESUME):
        outcome = finetuning.finetune(material, output, resume=resume, device=chosen, workers=workers)
    if not outcome.better:
        typer.echo(nothing_better(material, outcome, output), err=True)
        raise typer.Exit(NOTHING_BETTER)
    typer.echo(summary(material, outcome, output))


def refuse(output: Path, model: Path | None, *, force: bool, resume: bool) -> None:
    """Refuse a place for the result that cannot be right, before any work is done."""
    from drethtr.training.finetuning.finetune import PLAN, folder_of

    if output.suffix != ".safetensors":
        raise DataError(f"{output}: the name of the file to write must end in .safetensors")
    refuse_places(output)
    own = resume and (folder_of(output) / PLAN).exists()  # a run that was stopped after it wrote its result
    refuse_existing(output, force=force or own, inputs=[str(model)] if model is not None else [])
    if (folder := folder_of(output)).is_file():
        raise DataError(f"{folder} is a file, and would be the folder of the run; rename it, or name another --output")


def found(material: "Material") -> str:
    """What there is to learn from, as text, before training."""
    parts, alphabet = material.parts, material.alphabet
    how = "other pages" if parts.by_page else "lines drawn by chance, as pages are too few or unknown"
    if material.plan.validation:
        how = "given, other pages" if parts.by_page else "given; whether they are of other pages is not known"
    lines = [f"{len(parts.train):,} lines to learn from, {len(parts.validation):,} to choose by ({how})."]
    if parts.left_out:
        lines.append(
            "Left out: " + ", ".join(f"{number:,} {reason}" for reason, number in parts.left_out.items()) + "."
        )
    if alphabet.added:
        new = [f"{c}×{n} ({begins_as(alphabet.origin(c))})" for c, n in list(alphabet.added.items())[:SHOWN]]
        more = f" and {len(alphabet.added) - SHOWN} more" if len(alphabet.added) > SHOWN else ""
        lines.append(f"New characters: {', '.join(new)}{more}.")
    if alphabet.rare:
        rare = " ".join(f"{c}×{n}" for c, n in list(alphabet.rare.items())[:SHOWN])
        why = "an adapter adds none" if material.plan.adapter else "too rare to be added"
        lines.append(f"Characters that stay unknown ({why}): {rare}")
    if alphabet.dropped:
        lines.append(f"Dropped from the alphabet, as no line has them: {alphabet.dropped}")
    return "\n".join(lines)


def time_needed(estimate: "Estimate") -> str:
    """How long fine-tuning takes, as text."""
    from drethtr.base.durations import in_words

    return (
        f"It takes about {in_words(estimate.training + estimate.measuring)} on this machine: at most "
        f"{in_words(estimate.training)} to train, until {estimate.lines:,} lines are seen, repeats included, and "
        f"{in_words(estimate.measuring)} to measure and calibrate."
    )


def begins_as(character: str | None) -> str:
    """What a new character begins as, in words."""
    return "like no other" if character is None else f"begins as {character}"


def summary(material: "Material", outcome: "Outcome", output: Path) -> str:
    """The result, as text."""
    from drethtr.training.finetuning.finetune import folder_of

    lines = [
        f"{output}: {output.stat().st_size / 1e6:.1f} MB, {outcome.model.card['fine_tuned']['minutes']:.1f} minutes",
        rates_of(outcome),
        "The best weights were chosen on these lines, so the rate is a little too good. For one to publish, measure "
        f"on pages that were not in DATA: drethtr evaluate OTHERS --model {output}",
    ]
    if outcome.curve is not None:
        lines += curve_table(outcome.curve)
    lines += trust_of(material, outcome.model)
    lines.append(f"{folder_of(output)} has the lines in their parts and the course of training; it can be deleted.")
    return "\n".join(lines)


def rates_of(outcome: "Outcome") -> str:
    """Error rates before and after, as text."""
    change = outcome.change
    interval = f" [{100 * change.low:+.2f}, {100 * change.high:+.2f}]" if change.sure else ""
    before, after = percent(outcome.before), percent(outcome.after)
    return f"CER {before} before, {after} after: {100 * change.difference:+.2f} points{interval}"


def nothing_better(material: "Material", outcome: "Outcome", output: Path) -> str:
    """Why nothing was written, and what may help."""
    return (
        f"drethtr: the model did not become better on the {len(material.parts.validation):,} lines to choose by "
        f"({rates_of(outcome)}); {output} was not written, keep using {material.plan.model}. More lines may help."
    )


def trust_of(material: "Material", model: "Model") -> list[str]:
    """What is calibrated in the result, and what is not."""
    from drethtr.evaluation.calibrate import TO_CALIBRATE, TO_KNOW_WRITING

    number, later = len(material.parts.validation), "" if material.plan.adapter else ": see drethtr calibrate"
    if not model.trust.calibrations:
        why = "nothing was wrong, or nothing right" if number >= TO_CALIBRATE else f"that takes {TO_CALIBRATE} lines"
        return [f"Confidences are not calibrated ({number:,} lines to choose by; {why}){later}."]
    told = [f"Confidences are calibrated on these {number:,} lines."]
    if model.trust.unlike_training is None:
        told.append(f"No line is flagged as unlike training: learning that takes {TO_KNOW_WRITING} lines{later}.")
    if material.start.trust.error_rates and not (model.trust.error_rates or material.plan.adapter):
        told.append("Expected error rates must be learned again: see drethtr predict-cer --learn.")
    return told


def percent(rates: "Rates") -> str:
    """A character error rate, with its interval unless there are too few pages."""
    interval = f" [{100 * rates.cer_low:.2f}, {100 * rates.cer_high:.2f}]" if rates.sure else ""
    return f"{100 * rates.cer:.2f} %{interval}"


def curve_table(curve: "LearningCurve") -> list[str]:
    """Error rates by number of lines, and what to expect of twice as many."""
    rows = [f"{lines:>9,}  {100 * cer:>6.2f}" for lines, cer in zip(curve.lines, curve.cers, strict=True)]
    return [
        f"{'lines':>9}  {'CER %':>6}",
        *rows,
        prospect(curve),
    ]


def prospect(curve: "LearningCurve") -> str:
    """What to expect of more lines."""
    if curve.gain <= 0:
        return "As far as these numbers of lines tell, more lines would not lower the CER."
    return (
        f"Twice the lines, {2 * curve.lines[-1]:,}, would lower the CER by about {100 * curve.gain:.1f} points "
        f"[{100 * curve.low:.1f}, {100 * curve.high:.1f}]."
    )
