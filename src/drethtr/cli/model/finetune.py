"""`drethtr model finetune`: adapt a model to your own lines."""

from pathlib import Path
from typing import Annotated

import typer

from drethtr.base.errors import NOTHING_BETTER, ConfigError, DataError, require
from drethtr.cli.options import DeviceName, ImagesFolder, Seed, TrainingThreads, Workers, output_option
from drethtr.cli.outputs import refuse_ending, refuse_existing, refuse_places
from drethtr.cli.progress import report_remarks, stopping_run
from drethtr.datasets.layouts.pages import Pages
from drethtr.pages.selection import images_in
from drethtr.recognition.backends import resolve_device


def finetune(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Your lines: files, folders, patterns.")],
    output: Annotated[Path, output_option("MODEL", "Output model (.safetensors).")],
    model: Annotated[
        Path | None, typer.Option(metavar="START", help="Model to start from; default: the included one.")
    ] = None,
    validation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILES", help="Validation lines for model selection; repeatable; default: a part of DATA."
        ),
    ] = None,
    old_data: Annotated[
        list[str] | None,
        typer.Option(metavar="FILES", help="Earlier training lines to mix in against forgetting; repeatable."),
    ] = None,
    adapter: Annotated[
        bool, typer.Option("--adapter", help="Train an adapter (LoRA) of at most 1 MB instead of a whole model.")
    ] = False,
    learning_curve: Annotated[
        bool,
        typer.Option(
            "--learning-curve",
            help="Also train on a quarter and on half of the lines, to estimate what more lines would gain.",
        ),
    ] = False,
    cross_fit: Annotated[
        bool,
        typer.Option(
            "--cross-fit",
            help="Measure on two thirds of the lines, read by models that learned from the others, and then train on "
            "all lines; for data with few lines; takes about twice as long.",
        ),
    ] = False,
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Lines seen in training, including repeats, or crops of pages; default: depends on DATA.",
        ),
    ] = None,
    minimum_count: Annotated[
        int, typer.Option(metavar="N", min=1, help="Occurrences after which a new character is added to the alphabet.")
    ] = 2,
    drop_unused: Annotated[
        bool, typer.Option("--drop-unused", help="Remove characters that occur in no line from the alphabet.")
    ] = False,
    images: ImagesFolder = None,
    layout: Annotated[
        bool,
        typer.Option("--layout", help="DATA are pages with corrected lines: fine-tune the network that finds lines."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be done, and how long it would take.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace MODEL, and an unfinished run beside it.")] = False,
    seed: Seed = 0,
    workers: Workers = 1,
    device: DeviceName = "auto",
    threads: TrainingThreads = None,
) -> None:
    """Fine-tune a model on your lines; 50 are enough to start. With --layout, on your pages; 20 are enough.

    If the model does not improve, nothing is written and the exit code is 3.
    """
    require("torch", "train")
    from drethtr.cli.model.finetune_report import layout_summary, material_text, nothing_better, summary, time_needed
    from drethtr.recognition.model.file import SHIPPED
    from drethtr.training import finetuning
    from drethtr.training.devices import limit_threads
    from drethtr.training.finetuning.finetune import folder_of, is_interrupted
    from drethtr.training.layout.finetune import finetune_layout

    refuse(output, model, force=force, resume=resume)
    if resume and not force and output.exists() and not (layout or is_interrupted(output)):
        typer.echo(f"{output} is finished, and stays as it is; --force starts over", err=True)
        return
    folder = images_in(images)
    if layout:
        given = {
            "--old-data": bool(old_data),
            "--adapter": adapter,
            "--learning-curve": learning_curve,
            "--cross-fit": cross_fit,
            "--drop-unused": drop_unused,
            "--dry-run": dry_run,
        }
        if names := [name for name, is_given in given.items() if is_given]:
            raise ConfigError(f"{', '.join(names)} cannot be combined with --layout, which trains on pages")
        limit_threads(threads)
        with stopping_run(folder_of(output)):
            found = finetune_layout(
                data,
                output,
                start=model,
                validation=validation or (),
                images=folder,
                samples=samples,
                seed=seed,
                resume=resume,
                force=force,
                device=resolve_device(device),
                workers=workers,
                report=report,
            )
        typer.echo(layout_summary(found, output), err=not found.better)
        if not found.better:
            raise typer.Exit(NOTHING_BETTER)
        return
    plan = finetuning.Plan(
        data=tuple(data),
        model=str(model or SHIPPED),
        validation=tuple(validation or ()),
        old_data=tuple(old_data or ()),
        adapter=adapter,
        minimum_count=minimum_count,
        drop_unused=drop_unused,
        learning_curve=learning_curve,
        cross_fit=cross_fit,
        samples=samples,
        seed=seed,
    )
    limit_threads(threads)
    chosen = resolve_device(device)
    material = finetuning.gather(plan, Pages(images=folder))
    report_remarks((*material.parts.train, *material.parts.validation))
    typer.echo(material_text(material))
    if dry_run:
        typer.echo(time_needed(finetuning.estimate(material, chosen, threads)))
        return
    with stopping_run(folder_of(output)):
        outcome = finetuning.finetune(
            material,
            output,
            resume=resume,
            force=force,
            device=chosen,
            threads=threads,
            workers=workers,
            report=report,
        )
    if not outcome.better:
        typer.echo(nothing_better(material, outcome, output), err=True)
        raise typer.Exit(NOTHING_BETTER)
    typer.echo(summary(material, outcome, output))


def report(words: str) -> None:
    """Report progress on stderr."""
    typer.echo(words, err=True)


def refuse(output: Path, model: Path | None, *, force: bool, resume: bool) -> None:
    """Refuse an unusable output path before any work is done."""
    from drethtr.training.finetuning.finetune import folder_of

    refuse_ending(output, ".safetensors")
    refuse_places(output)
    folder = folder_of(output)
    own = resume and folder.is_dir()  # the result is its own, finished or not
    refuse_existing(output, force=force or own, inputs=[str(model)] if model is not None else [])
    if folder.is_file():
        raise DataError(
            f"{folder} is a file, but the run needs a folder of that name; rename it, or choose another --output"
        )
