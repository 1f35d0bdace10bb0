"""Arguments and options shared by several commands."""

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from drethtr.base.errors import ConfigError

if TYPE_CHECKING:
    from drethtr.recognition.recognizer import LoadOptions, Recognizer


def offered(*names: str) -> Callable[[str], list[str]]:
    """What a shell offers as the value of an option: these names, alone or separated by commas."""

    def offer(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]

    return offer


def name_option(flag: str, names: Iterable[str], help: str) -> Any:
    """An option whose value is a name; a shell offers these."""
    return typer.Option(flag, metavar="NAME", help=help, autocompletion=offered(*names))


ModelFile = Annotated[Path | None, typer.Option(metavar="MODEL", help="Model file; default: the included model.")]
DecoderName = Annotated[
    str | None,
    name_option(
        "--decoder",
        ("ctc", "joint", "careful", "greedy", "verified"),
        "ctc (fastest), joint, careful (most accurate); greedy, verified, beam:N. Default: ctc or joint, as drethtr "
        "model calibrate chose.",
    ),
]
LanguageNames = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="NAMES",
        help="Comma-separated: languages of the model, such as en, .txt files with words to favor; auto: each line "
        "in its own language.",
    ),
]
PrecisionName = Annotated[
    str,
    name_option(
        "--precision",
        ("float32", "int8", "bfloat16"),
        "float32; int8: faster on a CPU, nearly as accurate; bfloat16: for GPUs.",
    ),
]
DeviceName = Annotated[
    str,
    name_option(
        "--device",
        ("auto", "cpu", "cuda", "mps"),
        "cpu, cuda, cuda:1, mps; auto: a CUDA GPU if there is one, else cpu.",
    ),
]


def threads_option(help: str) -> Any:
    """The option `--threads`, whose meaning depends on the command."""
    return typer.Option("--threads", "-j", metavar="N", min=1, help=help)


def output_option(metavar: str, help: str) -> Any:
    """The option `--output`, which names a file or a folder."""
    return typer.Option("--output", "-o", metavar=metavar, help=help)


def format_option(help: str, names: Iterable[str]) -> Any:
    """The option `--format`, with the names that a command knows."""
    return typer.Option("--format", "-f", metavar="NAMES", help=help, autocompletion=offered(*names))


Threads = Annotated[int | None, threads_option("Threads to compute with on a CPU; default: one per free processor.")]

PANEL = "Reading options"
"""The heading of these options in help."""


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """The options of every command that reads lines; `with_reading_options` gives them to a command."""

    model: ModelFile = None
    decoder: DecoderName = None
    language: LanguageNames = "auto"
    precision: PrecisionName = "float32"
    device: DeviceName = "auto"
    threads: Threads = None

    def load(self, **more: "Unpack[LoadOptions]") -> "Recognizer":
        """`Recognizer.load` with these options and `more`, which comes first; imported when it is called."""
        from drethtr.recognition.recognizer import Recognizer

        chosen: dict[str, Any] = {**vars(self), **more}
        return Recognizer.load(chosen.pop("model"), **chosen)

    def refuse_decoder(self) -> None:
        """Refuse an unknown decoder before anything is opened.

        Raises:
            ConfigError: listing the known ones.
        """
        from drethtr.recognition.decoding.strategies import strategy_named

        if self.decoder is not None:
            strategy_named(self.decoder)


READING = tuple(field.name for field in fields(ReadingOptions))
"""The names of these options."""


def refuse_unused(ctx: typer.Context, reason: str, *names: str) -> None:
    """Refuse options that would have no effect, by the names of their parameters.

    Values from a settings file or a variable are accepted, as they also serve other runs.

    Raises:
        ConfigError: with the reason, naming the options that were typed.
    """
    if typed := options_typed(ctx, names):
        raise ConfigError(f"{reason}; leave out {', '.join(typed)}")


def refuse_idle_layout(ctx: typer.Context, lines: str) -> None:
    """`refuse_unused` options about given lines if a finder finds the lines, and about found ones if they are given.

    Args:
        lines: The name of the segmentation.

    Raises:
        ConfigError: as `refuse_unused`.
    """
    if lines == "given":
        refuse_unused(ctx, "--lines given detects no tables", "order")
    elif lines != "auto":
        refuse_unused(ctx, f"--lines {lines} uses no given lines", "outlines")


WITHOUT_PAGES = "none of these are PAGE or ALTO files"


def refuse_without_pages(ctx: typer.Context, data: Sequence[str], *names: str) -> None:
    """`refuse_unused` options that say how PAGE and ALTO files are read, if there are none among the data.

    Raises:
        ConfigError: as `refuse_unused`.
        DataError: if options were typed and there are no such data.
    """
    from drethtr.datasets.open import have_pages

    if options_typed(ctx, names) and not have_pages(data):
        refuse_unused(ctx, WITHOUT_PAGES, *names)


def options_typed(ctx: typer.Context, names: tuple[str, ...]) -> list[str]:
    """The options that were typed on the command line, of those whose parameters have these names."""

    def is_typed(name: str) -> bool:
        source = ctx.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    return [one.opts[0] for one in ctx.command.params if one.name in names and is_typed(one.name)]


def with_reading_options(*, without: Collection[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace the parameter `reading: ReadingOptions` of a command by one parameter for each option.

    Args:
        without: Options that the command lacks; they keep their defaults.
    """
    return with_options("reading", ReadingOptions, without=without, panel=PANEL)


def with_options(
    parameter: str, values_of: type, *, without: Collection[str] = (), panel: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a parameter of a command, a dataclass of options, by one parameter for each of them."""
    types = get_type_hints(values_of, include_extras=True)
    options = []
    for one in inspect.signature(values_of).parameters.values():
        if one.name not in without:
            kind, option = get_args(types[one.name])
            shown = copy(option)
            shown.rich_help_panel = panel
            options.append(one.replace(annotation=Annotated[kind, shown]))

    def replace(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(*arguments: Any, **values: Any) -> Any:
            chosen = values_of(**{one.name: values.pop(one.name) for one in options if one.name in values})
            return command(*arguments, **{parameter: chosen}, **values)

        signature = inspect.signature(command, eval_str=True)
        given = signature.parameters.values()
        parameters = [
            shown.replace(kind=shown.KEYWORD_ONLY)
            for one in given
            for shown in (options if one.name == parameter else [one])
        ]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return replace


LineData = Annotated[
    list[str],
    typer.Argument(metavar="DATA", help="Transcribed lines: Parquet, TSV, JSONL, PAGE, ALTO, folders, patterns."),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="At most this many lines per set, drawn at random with --seed.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed for drawing lines.")]
Workers = Annotated[
    int, typer.Option(metavar="N", min=0, help="Number of processes that load data; it does not affect results.")
]
TrainingThreads = Annotated[
    int | None, threads_option("Threads that compute on a CPU, in addition to --workers; default: one per processor.")
]
SEGMENTATIONS = "auto", "given", "whole", "rapid", "projection", "kraken"
"""Segmentations that a shell offers; plug-ins and networks of your own have further ones."""

Lines = Annotated[str, name_option("--lines", SEGMENTATIONS, "Line segmentation of pages, as in drethtr transcribe.")]
TableOrder = Annotated[
    str,
    name_option(
        "--order",
        ("auto", "rows", "columns"),
        "Reading order of detected tables: rows, columns, or auto (rows).",
    ),
]
OutlinesName = Annotated[
    str,
    name_option(
        "--outlines",
        ("auto", "given", "own"),
        "Outlines of given lines: given (by the file), own (redrawn from the baselines), or auto: given, unless they "
        "are slivers or bands of a fixed height.",
    ),
]
ImagesFolder = Annotated[
    Path | None,
    typer.Option(
        "--images",
        metavar="FOLDER",
        help="Look here first for the images that PAGE and ALTO files name; default: beside them.",
    ),
]
Pages = Annotated[
    str | None,
    typer.Option(
        "--pages",
        metavar="RANGES",
        help="Only these pages of a PDF or TIFF, or files of a folder in order, such as 1-20,25,30-.",
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the run file; repeatable.")
]
ChangedModel = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
OutputModel = Annotated[Path | None, output_option("FILE", "Output model; default: MODEL itself, with --force.")]
ForceModel = Annotated[bool, typer.Option("--force", help="Replace an existing model.")]
TrainingData = Annotated[
    list[str], typer.Argument(metavar="DATA", help="Transcribed lines: the training data of MODEL.")
]
Texts = Annotated[
    list[Path] | None,
    typer.Option("--text", metavar="FILE", help="UTF-8 text, .txt or .txt.xz, a paragraph per line; repeatable."),
]
ForceResults = Annotated[bool, typer.Option("--force", help="Replace existing result files.")]
JSONFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write the metrics to this file.")]

USUAL_DOUBT = 0.5
"""The threshold of `--doubts` without a number."""

Doubts = Annotated[
    float | None,
    typer.Option(
        "--doubts",
        metavar="P",
        min=0,
        max=1,
        help=f"Mark words whose probability of being right is below P (default: {USUAL_DOUBT}): in txt as \\[word?], "
        "and flagged lines as \\[!kind: reason]; other formats have their own marks.",
    ),
]


class WithDoubts(TyperCommand):
    """A command that accepts `--doubts` without a number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(completed(args)))


def completed(arguments: Sequence[str]) -> Iterator[str]:
    """Insert the default number where `--doubts` is not followed by one; the next argument may be a file."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for place, argument in enumerate(arguments):
        following = arguments[place + 1] if place + 1 < end else ""
        bare = place < end and argument == "--doubts" and not is_number(following)
        yield f"--doubts={USUAL_DOUBT}" if bare else argument


def is_number(text: str) -> bool:
    """Whether a text is a number, valid for the option or not."""
    try:
        float(text)
    except ValueError:
        return False
    return True
