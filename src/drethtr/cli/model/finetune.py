"""`drethtr model finetune`: adapt a model, or the line detector, to your own lines or pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.errors import NOTHING_BETTER, DataError, require
from drethtr.cli.options import (
    DeviceName,
    ImagesFolder,
    Seed,
    TrainingThreads,
    Workers,
    output_option,
    refuse_unused,
    refuse_without_pages,
    with_options,
)
from drethtr.cli.outputs import refuse_ending, refuse_results
from drethtr.cli.progress import open_untranscribed, report_remarks, stopping_run
from drethtr.cli.screen import echo
from drethtr.datasets.layouts.pages import Pages
from drethtr.pages.selection import image_folder
from drethtr.recognition.backends import resolve_device

if TYPE_CHECKING:
    from drethtr.training.finetuning import Material, Plan

ONLY_OF_LINES = (
    "old_data",
    "adapter",
    "learning_curve",
    "cross_fit",
    "minimum_count",
    "drop_unused",
    "dry_run",
    "own_readings",
)
"""Options that have no effect on the line detector."""


@dataclass(frozen=True, kw_only=True)
class FinetuneOptions:
    """The options of fine-tuning, on lines or on pages."""

    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Your lines: files, folders, patterns.")]
    output: Annotated[Path, output_option("MODEL", "Output model (.safetensors).")]
    model: Annotated[
        Path | None, typer.Option(metavar="START", help="Model to start from; default: the included one.")
    ] = None
    validation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILES",
            help="Validation lines, which select the model and are never learned; repeatable; default: a part of DATA.",
        ),
    ] = None
    old_data: Annotated[
        list[str] | None,
        typer.Option(metavar="FILES", help="Earlier training lines to mix in against forgetting; repeatable."),
    ] = None
    adapter: Annotated[
        bool, typer.Option("--adapter", help="Train an adapter (LoRA) of at most 1 MB instead of a whole model.")
    ] = False
    learning_curve: Annotated[
        bool,
        typer.Option(
            "--learning-curve",
            help="Also train on a quarter and on half of the lines, to estimate what more lines would gain.",
        ),
    ] = False
    cross_fit: Annotated[
        bool,
        typer.Option(
            "--cross-fit",
            help="For small data sets: measure on two thirds of the lines, each read by a model trained on the "
            "others, then train on all lines; takes about twice as long.",
        ),
    ] = False
    own_readings: Annotated[
        bool,
        typer.Option(
            "--own-readings",
            help="DATA need no transcriptions: learn the model's own careful readings of 200 to 500 lines of one hand "
            "or office.",
        ),
    ] = False
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Lines seen in training, including repeats, or crops of pages; default: depends on DATA.",
        ),
    ] = None
    minimum_count: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often a new character must occur to be added to the alphabet.")
    ] = 2
    drop_unused: Annotated[
        bool, typer.Option("--drop-unused", help="Remove characters that occur in no line from the alphabet.")
    ] = False
    images: ImagesFolder = None
    layout: Annotated[
        bool,
        typer.Option("--layout", help="DATA are pages with corrected lines: fine-tune the line detector."),
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be done, and how long it would take.")
    ] = False
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False
    force: Annotated[bool, typer.Option("--force", help="Replace MODEL, and an unfinished run beside it.")] = False
    seed: Seed = 0
    workers: Workers = 1
    device: DeviceName = "auto"
    threads: TrainingThreads = None

    def plan(self) -> "Plan":
        """The plan of fine-tuning on lines.

        Raises:
            ConfigError: if the options do not go together.
        """
        from drethtr.recognition.model.file import SHIPPED
        from drethtr.training.finetuning import Plan

        return Plan(
            data=tuple(self.data),
            model=str(self.model or SHIPPED),
            validation=tuple(self.validation or ()),
            old_data=tuple(self.old_data or ()),
            adapter=self.adapter,
            minimum_count=self.minimum_count,
            drop_unused=self.drop_unused,
            own_readings=self.own_readings,
            learning_curve=self.learning_curve,
            cross_fit=self.cross_fit,
            samples=self.samples,
            seed=self.seed,
        )

    def refuse_output(self) -> None:
        """Refuse an unusable output path before any work is done.

        Raises:
            DataError: saying why.
        """
        from drethtr.training.finetuning.finetune import folder_of

        folder = folder_of(self.output)
        own = self.resume and folder.is_dir()  # the result is its own, finished or not
        refuse_ending(self.output, ".safetensors")
        refuse_results(self.output, force=self.force or own, inputs=[str(self.model)] if self.model is not None else [])
        if folder.is_file():
            raise DataError(
                f"{folder} is a file, but the run needs a folder of that name; rename it, or choose another --output"
            )

    def is_finished(self) -> bool:
        """Whether a run that should be resumed has written its result."""
        from drethtr.training.finetuning.finetune import is_interrupted

        resumed = self.resume and not self.force and self.output.exists()
        return resumed and not (self.layout or is_interrupted(self.output))


@with_options("options", FinetuneOptions)
def finetune(ctx: typer.Context, *, options: FinetuneOptions) -> None:
    """Fine-tune a model on your lines; 50 are enough to start. With --layout, on your pages; 20 are enough.

    If the model does not improve, nothing is written and the exit code is 3.
    """
    require("torch", "train")
    from drethtr.training.devices import limit_threads

    options.refuse_output()
    if options.is_finished():
        echo(f"{options.output} is finished and was not changed; --force starts over", err=True)
        return
    if options.layout:
        refuse_unused(ctx, "--layout trains on pages", *ONLY_OF_LINES)
    else:
        data = options.data, options.validation, options.old_data
        refuse_without_pages(ctx, [name for names in data for name in names or ()], "images")
    limit_threads(options.threads)
    if not (finetune_on_pages if options.layout else finetune_on_lines)(options):
        raise typer.Exit(NOTHING_BETTER)


def finetune_on_lines(options: FinetuneOptions) -> bool:
    """Fine-tune a model on lines, and report; returns False if it did not improve."""
    from drethtr.cli.model.finetune_report import learned_text, material_text, nothing_better, summary, time_needed
    from drethtr.training import finetuning
    from drethtr.training.finetuning.finetune import folder_of

    device = resolve_device(options.device)
    material = gathered(options, device)
    echo(material_text(material))
    if options.dry_run:
        echo(time_needed(finetuning.estimate(material, device, options.threads)))
        return True
    opened = finetuning.open_trainer(
        material,
        options.output,
        resume=options.resume,
        force=options.force,
        device=device,
        threads=options.threads,
        workers=options.workers,
        report=report,
    )
    with stopping_run(folder_of(options.output)), opened as trainer:
        if options.own_readings:
            learned = finetuning.learn_own_readings(material, options.output, trainer)
            echo(learned_text(material, learned, options.output))
            return True
        outcome = finetuning.finetune(material, options.output, trainer)
    text = summary if outcome.better else nothing_better
    echo(text(material, outcome, options.output), err=not outcome.better)
    return outcome.better


def gathered(options: FinetuneOptions, device: str) -> "Material":
    """The material of fine-tuning on lines; reports how they were interpreted.

    Raises:
        ConfigError: if the options do not go together.
        DataError: if lines cannot be used, or there are too few.
    """
    from drethtr.training import finetuning

    plan, pages = options.plan(), Pages(images=image_folder(options.images))
    if plan.own_readings:
        material = finetuning.gather_readings(
            plan,
            open_untranscribed(plan.data, pages),
            pages,
            device=device,
            threads=options.threads,
            report=report,
        )
    else:
        material = finetuning.gather(plan, pages)
        report_remarks((*material.parts.train, *material.parts.validation))
    report_remarks((*material.old, *material.remembered))
    return material


def finetune_on_pages(options: FinetuneOptions) -> bool:
    """Fine-tune the line detector on pages, and report; returns False if it did not improve."""
    from drethtr.cli.model.finetune_report import layout_summary
    from drethtr.training.finetuning.finetune import folder_of
    from drethtr.training.layout.finetune import finetune_layout

    with stopping_run(folder_of(options.output)):
        outcome = finetune_layout(
            options.data,
            options.output,
            start=options.model,
            validation=options.validation or (),
            images=image_folder(options.images),
            samples=options.samples,
            seed=options.seed,
            resume=options.resume,
            force=options.force,
            device=resolve_device(options.device),
            workers=options.workers,
            report=report,
        )
    echo(layout_summary(outcome, options.output), err=not outcome.better)
    return outcome.better


def report(words: str) -> None:
    """Report progress on stderr."""
    echo(words, err=True)
