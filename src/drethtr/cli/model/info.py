"""`drethtr model info`: describe a model, and check or extend its model card."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from drethtr.base.errors import CheckpointError, DataError
from drethtr.base.locks import claimed
from drethtr.base.wording import counted
from drethtr.cli.reports import between, error_rates
from drethtr.cli.screen import echo, shown
from drethtr.layout.network import MAPS, LineModel, load_lines
from drethtr.recognition.backends import check_weights
from drethtr.recognition.decoding.strategies import decoder_name
from drethtr.recognition.model.adapter import holds_adapter, load_named
from drethtr.recognition.model.file import LINES, SHIPPED, Model, save_card
from drethtr.recognition.model.weights import read_metadata
from drethtr.sharing.card import (
    RATE,
    alphabet,
    figures_of,
    has_rate,
    is_own,
    maker_of,
    missing_entries,
    read_additions,
    refuse_fewer,
    refuse_foreign,
    with_entries,
)

VALIDATION, RUN = "validation_cer", "run"
LABELS = {"samples": "lines seen", "hours": "hours of training"}
"""Labels of entries that training writes; other entries are labeled by their names."""


def info(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="A model, adapter or line detector; default: the included model."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only print what the model card lacks for sharing.")] = False,
    settings: Annotated[
        bool,
        typer.Option(
            "--settings", help="Only print the training settings that differ from the defaults, in the form of --set."
        ),
    ] = False,
    add: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Add entries of a TOML file, or metrics from evaluate --json, to the model card."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With --add, also replace metrics with ones measured on fewer lines.")
    ] = False,
) -> None:
    """Describe a model: size, alphabet, training data, error rates and license.

    With --check the exit code is 1 if the model card is incomplete.
    """
    if add and model is None:
        raise DataError("--add changes a model; name it, as in drethtr model info MODEL --add card.toml")
    if force and not add:
        raise DataError("--force replaces metrics in a card; give new ones with --add, or leave out --force")
    if settings and (check or add):
        raise DataError("--settings only prints; leave it out with --check or --add")
    path = model if model is not None else SHIPPED
    if path.is_file() and LINES in read_metadata(path):
        if check or add:
            raise DataError("--check and --add are for recognition models, not line detectors", path)
        finder = load_lines(path)
        echo_all(settings_of(finder.card, path) if settings else lines_description(finder, path))
        return
    found = load_named(path, None)
    try:
        check_weights(found)
    except CheckpointError as error:
        raise error.of(path) from error
    if add:
        found = extend_card(path, add, force=force)
    if check:
        report_gaps(found, path)
        return
    echo_all(settings_of(found.card, path) if settings else description(found, path))


def echo_all(lines: Iterable[str]) -> None:
    """Print lines of a card, which may contain anything."""
    for line in lines:
        echo(shown(line))


def settings_of(card: Mapping[str, Any], path: Path) -> Sequence[str]:
    """The settings of a run that differ from the defaults, in the form of `--set`.

    Raises:
        DataError: if the card has none.
    """
    if RUN not in card:
        raise DataError("its card records no training settings", path)
    return list(settings_in(card[RUN]))


def extend_card(path: Path, files: Sequence[Path], *, force: bool) -> Model:
    """Add the entries of files to the card of the model in `path`; metrics only if they are of this model.

    Metrics on fewer lines than those they replace, in the card or in a file before theirs, need `force`.
    """
    with claimed(path):
        model = load_named(path, None)  # again, since another program may have changed it
        for entries in map(read_additions, files):
            if "evaluation" in entries:
                refuse_foreign(entries["evaluation"], model)
                if not force:
                    refuse_fewer(entries["evaluation"], model)
            model = replace(model, card=with_entries(model.card, entries))
        save_card(path, model.card)
    return model


def report_gaps(model: Model, path: Path) -> None:
    """Print what a card lacks and how to add it; the exit code is 1 if it is incomplete."""
    found = missing_entries(model, is_adapter=holds_adapter(path))
    if not found:
        echo(f"{path}: the card is complete")
        return
    echo(f"{path}: the card lacks")
    for gap in found:
        echo(shown(f"- {gap.what}: {gap.remedy}"))
    echo(f"Add entries from a TOML file: drethtr model info {path} --add card.toml")
    raise typer.Exit(1)


def description(model: Model, path: Path) -> list[str]:
    """The description of a model, line by line."""
    config, tokenizer = model.network, model.tokenizer
    lines = [
        f"{path}: {path.stat().st_size / 1e6:.1f} MB, {model.parameter_count:,} parameters",
        f"hash: {model.hash}",
        f"network: {type(config.architecture).__name__}, {config.layers} layers of width {config.width}, "
        f"{config.hidden} hidden channels, "
        f"{config.heads} heads, backbone {type(config.backbone).__name__}, {type(config.mixer).__name__} text, "
        f"{'with' if config.ctc else 'without'} CTC head",
        *(
            f"  {name.replace('_', ' ')}: {value}"
            for name, value in vars(config).items()
            if type(value) not in (int, float)
        ),
        f"lines: {model.preparation.height} pixels high",
        f"alphabet: {tokenizer.size} tokens: {alphabet(model)}",
    ]
    lines += [f"language {name}: {ngrams}" for name, ngrams in model.languages.models.items()]
    if model.rescorer is not None:
        ranks = model.rescorer.config
        lines.append(f"rescorer: retention, {ranks.layers} layers of width {ranks.width}, {ranks.heads} heads")
    card = dict(model.card)
    evaluation = figures_of(card)
    if evaluation is not None:
        del card["evaluation"]
    for name, value in card.items():
        if name == VALIDATION and (rates := percentages(value)):
            lines += validation(rates, alone=evaluation is None)
        elif name == RUN:
            lines.append(number_of_settings(value))
        else:
            lines += entry(LABELS.get(name, name.replace("_", " ")), value)
    if evaluation is not None:
        lines += [measured(evaluation, model), error_rates(evaluation), evaluation["convention"]]
    return lines


def lines_description(model: LineModel, path: Path) -> list[str]:
    """The description of a line detector, line by line."""
    lines = [
        f"{path}: {path.stat().st_size / 1e6:.1f} MB, {model.parameter_count:,} parameters; finds lines, see --lines",
        f"hash: {model.hash}",
        f"maps: cores of lines{''.join(f', {name}' for name in MAPS) if model.has_maps else ''}",
    ]
    for name, value in model.card.items():
        if name == RUN:
            lines.append(number_of_settings(value))
        elif rates := percentages(value):
            lines += [f"{name}:", *(f"  {key.replace('_', ' ')}: {text}" for key, text in rates.items())]
        else:
            lines += entry({**LABELS, "samples": "crops seen"}.get(name, name.replace("_", " ")), value)
    return lines


def names_of_strategies(model: Model) -> dict[str, str]:
    """The names of calibrated decoders by their `repr`, which metrics of drethtr 0.1 contain."""
    return {repr(known): decoder_name(known) for found in model.record.calibrations for known in found.strategies}


def measured(evaluation: Mapping[str, Any], model: Model) -> str:
    """How the metrics were measured, as far as they say; the model may have been trained on those lines."""
    on = f"measured on {evaluation['overall']['lines']:,} lines"
    if (maker := maker_of(evaluation)) and not is_own(evaluation, model):
        return f"{on} with another model, {maker}:"
    names = names_of_strategies(model)
    given = {key: str(evaluation[key]) for key in ("decoder", "precision") if key in evaluation}
    return f"{on}{''.join(f', {key} {names.get(value, value)}' for key, value in given.items())}:"


def percentages(value: Any) -> dict[str, str]:
    """Fractions by name in percent; empty unless all values are numbers, since a card may contain anything."""
    if not isinstance(value, Mapping) or not all(isinstance(rate, float) for rate in value.values()):
        return {}
    return {name: f"{100 * rate:.1f} %" for name, rate in value.items()}


def validation(rates: Mapping[str, str], *, alone: bool) -> list[str]:
    """The validation CER that selected the weights; per set only if no evaluation follows."""
    overall = f" CER {rates['all']}" if "all" in rates else ""
    sets = [f"  {name}: {rate}" for name, rate in rates.items() if name != "all"]
    return [f"validation, for model selection:{overall}", *(sets if alone or not overall else [])]


def entry(name: str, value: Any) -> list[str]:
    """An entry of the card; a list or table has a line per item."""
    if isinstance(value, Mapping):
        texts = {key: words(item) for key, item in value.items()}
        return [f"{name}:", *(f"  {key.replace('_', ' ')}: {text}" for key, text in texts.items() if text)]
    if isinstance(value, list):
        return [f"{name}:", *(f"  {row(item)}" for item in value)]
    return [f"{name}: {value}"]


def number_of_settings(run: Any) -> str:
    """How many settings of a run differ from the defaults, and how to see them."""
    return f"run: {counted(len(list(settings_in(run))), 'setting')} other than the defaults; --settings prints them"


def settings_in(value: Any, name: str = "") -> Iterator[str]:
    """Nested settings in the form of `--set`, one per line."""
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        value = dict(enumerate(value))
    if not isinstance(value, Mapping):
        yield f"{name} = {json.dumps(False if value is None else value, ensure_ascii=False)}"
        return
    for key, item in value.items():
        yield from settings_in(item, f"{name}.{key}".lstrip("."))


def words(value: Any) -> str:
    """A value of a table as text: rates in percent, lists with commas; "" for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return rate(value) or change(value) or row(value)
    return "" if value is None else str(value)


def rate(value: Mapping[str, Any]) -> str:
    """A CER with its interval, if there is one, and the number of lines; "" if the table is not a CER."""
    lines = value.get("lines")
    if not has_rate(value, RATE) or not isinstance(lines, int):
        return ""
    low, high = value.get("cer_low"), value.get("cer_high")
    interval = "" if low is None or high is None else f" [{100 * low:.2f}, {100 * high:.2f}]"
    return f"CER {100 * value['cer']:.2f} %{interval} on {counted(lines, 'line')}"


def change(value: Mapping[str, Any]) -> str:
    """Changes of CER and WER in points, with intervals if there are any; "" if the table is something else."""
    found = []
    for name in ("cer", "wer"):
        middle, low, high = (value.get(key) for key in (name, f"{name}_low", f"{name}_high"))
        if "lines" in value or not isinstance(middle, float):
            return ""
        if isinstance(low, float) and isinstance(high, float):
            found.append(f"{name.upper()} {between(middle, low, high, sign='+')}")
        else:
            found.append(f"{name.upper()} {100 * middle:+.2f}")
    return f"{', '.join(found)} points"


def row(item: Any) -> str:
    """One item on one line."""
    return "; ".join(map(str, item.values())) if isinstance(item, Mapping) else str(item)
