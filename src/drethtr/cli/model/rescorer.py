"""`drethtr model rescorer`: train a retentive language model for rescoring, and add it to a model."""

from dataclasses import replace
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError, DataError, require
from drethtr.base.locks import claimed
from drethtr.cli.options import (
    ChangedModel,
    DeviceName,
    ForceModel,
    OutputModel,
    Seed,
    Texts,
    TrainingData,
    refuse_unused,
)
from drethtr.cli.outputs import refuse_results
from drethtr.cli.progress import CONTINUE, open_lines, stopping
from drethtr.cli.screen import echo
from drethtr.datasets.sample import clean_lines
from drethtr.recognition.backends import resolve_device
from drethtr.recognition.model.file import load_model, save_rescorer
from drethtr.synthesis.corpus import Corpus


def rescorer(
    ctx: typer.Context,
    model: ChangedModel,
    data: TrainingData,
    texts: Texts = None,
    share: Annotated[
        float, typer.Option(metavar="S", min=0, max=1, help="Share of the --text files; the lines get the rest.")
    ] = 0.65,
    characters: Annotated[
        int, typer.Option(metavar="N", min=1, help="Characters to train on; the default takes an hour on one core.")
    ] = 48_000_000,
    go_on: Annotated[
        bool, typer.Option("--continue", help="Start from the model's own rescorer, with smaller steps.")
    ] = False,
    output: OutputModel = None,
    seed: Seed = 0,
    device: DeviceName = "auto",
    force: ForceModel = False,
) -> None:
    """Train a language model that rescores the candidates of `joint` and `careful`; calibrate the model afterwards.

    Use training lines and other texts, never the texts you evaluate on. Repeat the command to resume.
    """
    require("torch", "train")
    from drethtr.training.rescorer import CONTINUED, RescorerRun, TrainingTexts, train_rescorer

    if not texts:
        refuse_unused(ctx, "there are no texts without --text", "share")
    target = output or model
    refuse_results(target, force=force, inputs=[*data, *map(str, texts or ())])
    loaded = load_model(model)
    if loaded.network.ctc is None:
        raise ConfigError("has no CTC head to propose texts for rescoring; train a model with one", model)
    start = loaded.rescorer if go_on else None
    if go_on and start is None:
        raise ConfigError("has no rescorer to continue; leave --continue out", model)
    lines = [sample.text for sample in clean_lines(open_lines(data)) if sample.text.strip()]
    if not lines:
        raise DataError("no line has a text without editorial marks; give other lines")
    corpus = Corpus(files=tuple(texts), alphabet=loaded.tokenizer.alphabet) if texts else None
    per_step = min(RescorerRun.per_step, characters)
    run = RescorerRun(characters=characters, per_step=per_step, share=share, seed=seed)
    if start is not None:
        run = replace(run, network=start.config, learning_rate=CONTINUED * run.learning_rate)
    snapshot = target.with_name(f"{target.name}.rescorer-run")
    bar = tqdm(total=run.steps, unit="step", disable=None)
    with claimed(target, replace=force), stopping(CONTINUE), bar:

        def advance(done: int, loss: float) -> None:
            bar.set_postfix(nats_per_character=f"{loss:.2f}", refresh=False)
            bar.update(done - bar.n)

        trained = train_rescorer(
            TrainingTexts(lines, corpus, loaded.tokenizer, run),
            snapshot,
            start=start,
            device=resolve_device(device),
            advance=advance,
        )
        save_rescorer(model, trained, target, of=loaded)
        snapshot.unlink(missing_ok=True)
    parameters = sum(weight.size for weight in trained.weights.values())
    echo(f"{target}: a rescorer of {parameters:,} parameters")
    echo(f"Calibrate the model to use it: drethtr model calibrate {target} VALIDATION_LINES --force")
