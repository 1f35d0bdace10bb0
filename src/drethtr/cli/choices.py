"""Arguments and options shared by several commands."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

if TYPE_CHECKING:
    from drethtr.recognition.recognizer import LoadOptions, Recognizer

DecoderName = Annotated[
    str | None,
    typer.Option(
        "--decoder",
        metavar="NAME",
        help="ctc (fastest), joint, careful (most accurate); greedy, verified, beam, beam:N. Default: the one "
        "that drethtr calibrate chose for the model, ctc or joint.",
    ),
]
LanguageNames = Annotated[
    str,
    typer.Option(
        "--language",
        metavar="NAMES",
        help="Comma-separated: languages of the model (en, fr, de), text files (.txt) with words to favor. "
        "auto: each line in its own language.",
    ),
]
ModelFile = Annotated[Path | None, typer.Option(metavar="MODEL", help="A model file; default: the included model.")]
Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="At most this many lines per set, drawn by --seed.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed for drawing lines.")]
Workers = Annotated[
    int, typer.Option(metavar="N", min=0, help="Number of processes that load data; it does not affect results.")
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
OutputModel = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Output model; default: MODEL itself, with --force.")
]
ForceModel = Annotated[bool, typer.Option("--force", help="Replace an existing model.")]
TrainingData = Annotated[list[str], typer.Argument(metavar="DATA", help="Transcribed lines: its training data.")]
Texts = Annotated[
    list[Path] | None,
    typer.Option("--text", metavar="FILE", help="UTF-8 text, .txt or .txt.xz, a paragraph per line; repeatable."),
]
ForceResults = Annotated[bool, typer.Option("--force", help="Replace existing result files.")]
JSONFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write the metrics to this file.")]
PrecisionName = Annotated[
    str,
    typer.Option(
        "--precision",
        metavar="NAME",
        help="float32; int8: faster on a CPU, nearly as accurate; bfloat16: for GPUs, needs drethtr\\[train].",
    ),
]
DeviceName = Annotated[
    str,
    typer.Option(
        "--device", metavar="NAME", help="cpu, cuda, cuda:1, mps; auto is a CUDA GPU if there is one, else cpu."
    ),
]


def threads_option(help: str) -> Any:
    """The option `--threads`, which means something else in each kind of command."""
    return typer.Option("--threads", "-j", metavar="N", min=1, help=help)


Threads = Annotated[int | None, threads_option("Lines to read in parallel on a CPU; default: one per free processor.")]
TrainingThreads = Annotated[
    int | None, threads_option("Threads to compute with on a CPU, beside --workers; default: one per processor.")
]


def load_recognizer(model: Path | None, **options: "Unpack[LoadOptions]") -> "Recognizer":
    """`Recognizer.load`, imported when it is called."""
    from drethtr.recognition.recognizer import Recognizer

    return Recognizer.load(model, **options)


def refuse_decoder(name: str | None) -> None:
    """Refuse an unknown decoder before anything is loaded.

    Raises:
        ConfigError: listing the known ones.
    """
    from drethtr.recognition.decoding.names import strategy_named

    if name is not None:
        strategy_named(name)
