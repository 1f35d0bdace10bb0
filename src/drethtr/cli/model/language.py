"""`drethtr model language`: add a character n-gram language model to a model."""

from typing import Annotated

import numpy as np
import typer

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.locks import claimed
from drethtr.base.wording import counted
from drethtr.cli.options import ChangedModel, ForceModel, OutputModel, Seed, Texts, TrainingData, refuse_unused
from drethtr.cli.outputs import refuse_results
from drethtr.cli.progress import open_lines
from drethtr.cli.screen import echo
from drethtr.datasets.sample import clean_lines
from drethtr.language.languages import UNSPECIFIED
from drethtr.language.learn import Ingredient, learn, with_share
from drethtr.recognition.model.file import load_model, save_languages
from drethtr.synthesis.corpus import Corpus

ORDER = 6  # up to seven characters lower the CER by a tenth of a point, and take more space (LOG.md, 2026-11-25)


# Other texts weigh 0.4: hands outside the training sets are then read better, too; 800,000 lines of them are a little
# better than 150,000. Half known n-grams and half new lines is within 0.15 nats per character of mixtures from 0.3 to
# 0.7 (LOG.md, 2026-11-24).
def language(
    ctx: typer.Context,
    model: ChangedModel,
    data: TrainingData,
    texts: Texts = None,
    share: Annotated[
        float,
        typer.Option(
            metavar="S",
            min=0,
            max=1,
            help="Weight of the --text files; the lines get the rest; 1 if no line is in the language.",
        ),
    ] = 0.4,
    lines: Annotated[int, typer.Option(metavar="N", min=1, help="Number of lines drawn from the texts.")] = 800_000,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Language, such as nl; lines in other languages are left out. Default: the known one that fits best.",
        ),
    ] = None,
    keep: Annotated[
        float,
        typer.Option(metavar="S", min=0, max=1, help="Weight of the n-grams the model already has for this language."),
    ] = 0.5,
    order: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=10, help="Length of the longest n-grams; default: 6, or as before."),
    ] = None,
    size: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Number of n-grams to keep, not counting prefixes; about 2 bytes each."),
    ] = 700_000,
    output: OutputModel = None,
    seed: Seed = 0,
    force: ForceModel = False,
) -> None:
    """Add a character n-gram language model to a model; run calibrate afterwards.

    Use training lines and other texts, never the texts you evaluate on.
    """
    if not texts:
        refuse_unused(ctx, "there are no texts without --text", "share", "lines")
    target = output or model
    refuse_results(target, force=force, inputs=[*data, *map(str, texts or ())])
    with claimed(target, replace=force):
        loaded = load_model(model)
        if name is not None:
            loaded.languages.check_name(name)
        if loaded.network.ctc is None:
            raise ConfigError("has no CTC head, so n-grams cannot guide its search; train a model with one", model)
        tokenizer = loaded.tokenizer
        usable = [sample for sample in clean_lines(open_lines(data)) if sample.text.strip()]
        if not (usable or (texts and name)):
            raise DataError(
                "no line has a text without editorial marks; give other lines, or texts with --text and --name"
            )
        known = [sample.text for sample in usable if name is None or sample.language in (None, name)]
        if not (known or texts):
            raise DataError(f"no line is in the language {name}; give texts in it with --text")
        ingredients = [Ingredient(known, name=counted(len(known), "line"))] if known else []
        if texts:
            corpus, rng = Corpus(files=tuple(texts), alphabet=tokenizer.alphabet), np.random.default_rng(seed)
            drawn = (corpus.draw(rng).text for _ in range(lines))
            ingredients = with_share(ingredients, Ingredient(drawn, share, f"{lines:,} lines drawn from texts"))
        chosen = name or (loaded.languages.of_texts(map(tokenizer.encode, known)) if loaded.languages else UNSPECIFIED)
        before = loaded.languages.models.get(chosen)
        if before is not None and keep:
            ingredients = with_share(ingredients, Ingredient(before, keep, "its existing n-grams"))
            order = order or before.order
        ngrams = learn(ingredients, tokenizer, order=order or ORDER, most=size)
        save_languages(model, loaded.languages.with_model(chosen, ngrams), target, of=loaded)
    echo(f"{target}: language {chosen}: {ngrams}, from {' and '.join(one.name for one in ingredients)}")
    echo(f"Calibrate the model to use them: drethtr model calibrate {target} VALIDATION_LINES --force")
