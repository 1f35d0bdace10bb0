"""Benchmark the shipped model on real lines: its decoders, and beside other recognizers, as far as these are installed.

Each recognizer runs as its authors recommend. TrOCR has random weights of the published shapes, so nothing is
downloaded. It writes subword tokens, fewer than characters; here always as many as the lines' texts take, with
one beam.
"""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from drethtr.base.errors import ConfigError, DataError, MissingExtraError
from drethtr.images.line import Line
from drethtr.paper.speed.race import Contender, Rounds, Work, time_race
from drethtr.paper.speed.report import BenchmarkReport
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.file import SHIPPED, load_model
from drethtr.recognition.protocol import Precision
from drethtr.recognition.recognizer import Recognizer

Item = TypeVar("Item")

EXTRA = "bench"

TROCR, RAPIDOCR, TESSERACT = PEERS = ("trocr", "rapidocr", "tesseract")
"""Other recognizers by name; kraken takes part if a model is given."""

CHARACTERS_PER_PIECE = 4.0
"""Characters per GPT-2 token on the test lines of IAM, from the paper's counts."""

TROCR_PIXELS = 384
"""Side of the square that TrOCR sees."""

START, PAD, END = 2, 1, 2
"""Special tokens of TrOCR's decoder."""


def batches_of(lines: Sequence[Item], batch: int) -> list[Sequence[Item]]:
    """Split items into batches, in order."""
    return [lines[start : start + batch] for start in range(0, len(lines), batch)]


def prepare_reading(
    lines: Sequence[Line], batch: int, strategy: Strategy, device: torch.device, precision: Precision
) -> Work:
    """Prepare reading the lines in batches, on as many threads as torch has."""
    threads = torch.get_num_threads()
    recognizer = Recognizer(load_model(SHIPPED), strategy, precision=precision, device=str(device), threads=threads)
    groups = batches_of(lines, batch)

    def run() -> None:
        for group in groups:
            recognizer.read(group)

    return run


def measure_strategies(
    lines: Sequence[Line],
    strategies: Sequence[tuple[str, Strategy]],
    batches: Sequence[int],
    rounds: Rounds,
    device: torch.device,
    precision: Precision,
) -> BenchmarkReport:
    """Measure milliseconds per line, from image to reading, for named strategies."""
    races = []
    for batch in batches:
        contenders = [
            Contender(name, partial(prepare_reading, lines, batch, strategy, device, precision))
            for name, strategy in strategies
        ]
        work = f"COMPACT, {batch} at a time"
        races.append(time_race(work, contenders, rounds, device, unit="ms per line", per=len(lines) / 1000))
    notes = (f"The shipped model in {precision.value} on {len(lines)} real lines, from image to reading.",)
    return BenchmarkReport("Strategies: milliseconds per line", notes, races, device)


class KnownLine(NamedTuple):
    """A line and its text."""

    line: Line
    text: str


def measure(
    lines: Sequence[KnownLine],
    strategies: Sequence[tuple[str, Strategy]],
    batches: Sequence[int],
    rounds: Rounds,
    device: torch.device,
    precisions: Sequence[Precision],
    peers: Sequence[str] = PEERS,
    kraken_model: Path | None = None,
) -> BenchmarkReport:
    """Measure milliseconds per line, from image to text, of the shipped model and the installed `peers`.

    On a CPU, the shipped model gets all lines at once, and reads one per thread; the others get one batch at a time,
    and use the threads within it.
    """
    races = []
    pictures = [known.line for known in lines]
    with TemporaryDirectory() as folder:
        files = save(pictures, Path(folder))
        for batch in batches:
            together = len(pictures) if device.type == "cpu" else batch
            ours = [
                Contender(
                    f"COMPACT {precision.value}, {name}",
                    partial(prepare_reading, pictures, together, strategy, device, precision),
                )
                for precision in precisions
                for name, strategy in strategies
            ]
            others = [
                *(trocr_contenders(lines, batch, device) if TROCR in peers else ()),
                *(rapidocr_contenders(pictures, batch) if RAPIDOCR in peers else ()),
            ]
            commands = []
            if batch == batches[-1]:
                commands = command_contenders(files, kraken_model, tesseract=TESSERACT in peers)
            work = f"{batch} at a time"
            contenders = [*ours, *others, *commands]
            races.append(time_race(work, contenders, rounds, device, unit="ms per line", per=len(lines) / 1000))
    characters = sum(len(known.text) for known in lines) / len(lines)
    if device.type == "cpu":
        where = f"COMPACT reads one line on each of {torch.get_num_threads()} threads."
    else:
        where = f"COMPACT and TrOCR read batches on {device}, the others on the processor."
    notes = (
        f"{len(lines)} lines of {characters:.0f} characters on average, from image to text. {where} TrOCR: random "
        f"weights, greedy, one token per {CHARACTERS_PER_PIECE:.0f} characters. tesseract and kraken: one call of the "
        "command for all lines, including its startup.",
    )
    return BenchmarkReport("Peers: milliseconds per line", notes, races, device)


def save(lines: Sequence[Line], folder: Path) -> list[Path]:
    """Save the lines as image files, for commands."""
    files = [folder / f"{number:05}.png" for number in range(len(lines))]
    for file, line in zip(files, lines, strict=True):
        Image.fromarray(line).save(file)
    return files


def trocr_contenders(lines: Sequence[KnownLine], batch: int, device: torch.device) -> list[Contender]:
    """TrOCR, small and base.

    Raises:
        MissingExtraError: if transformers is not installed.
    """
    check_transformers()
    return [
        Contender("TrOCR small", partial(prepare_trocr, trocr_small, lines, batch, device)),
        Contender("TrOCR base", partial(prepare_trocr, trocr_base, lines, batch, device)),
    ]


def check_transformers() -> None:
    """Check that the transformers package is installed.

    Raises:
        MissingExtraError: if it is not installed.
    """
    if find_spec("transformers") is None:
        raise MissingExtraError("transformers", EXTRA)


def trocr_small(image_layers: int = 12, text_layers: int = 6) -> Any:
    """The network of trocr-small-handwritten, 62 million parameters."""
    from transformers import DeiTConfig, TrOCRConfig

    encoder = DeiTConfig(
        num_hidden_layers=image_layers,
        hidden_size=384,
        num_attention_heads=6,
        intermediate_size=1536,
        image_size=TROCR_PIXELS,
        qkv_bias=True,
    )
    decoder = TrOCRConfig(
        vocab_size=64_044,
        d_model=256,
        decoder_layers=text_layers,
        decoder_attention_heads=8,
        decoder_ffn_dim=1024,
        cross_attention_hidden_size=384,
        activation_function="relu",
        scale_embedding=True,
        tie_word_embeddings=False,
    )
    return trocr(encoder, decoder)


def trocr_base(image_layers: int = 12, text_layers: int = 12) -> Any:
    """The network of trocr-base-handwritten, 334 million parameters."""
    return trocr_with(768, 12, image_layers, text_layers)


def trocr_large(image_layers: int = 24, text_layers: int = 12) -> Any:
    """The network of trocr-large-handwritten, 558 million parameters."""
    return trocr_with(1024, 16, image_layers, text_layers)


def trocr_with(width: int, heads: int, image_layers: int, text_layers: int) -> Any:
    """A TrOCR with an image transformer of this width, and the decoder that base and large share."""
    from transformers import TrOCRConfig, ViTConfig

    encoder = ViTConfig(
        num_hidden_layers=image_layers,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        image_size=TROCR_PIXELS,
        qkv_bias=False,
    )
    decoder = TrOCRConfig(
        decoder_layers=text_layers, cross_attention_hidden_size=width, use_learned_position_embeddings=True
    )
    return trocr(encoder, decoder)


def trocr(encoder: Any, decoder: Any) -> Any:
    """A TrOCR network with random weights."""
    from transformers import VisionEncoderDecoderConfig, VisionEncoderDecoderModel

    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    network: Any = VisionEncoderDecoderModel(config=config)
    network.eval()
    generation = network.generation_config
    generation.decoder_start_token_id, generation.pad_token_id, generation.eos_token_id = START, PAD, END
    return network


def prepare_trocr(build: Callable[[], Any], lines: Sequence[KnownLine], batch: int, device: torch.device) -> Work:
    """Prepare scaling and encoding images, and decoding with TrOCR's own cache."""
    network = build().to(device)
    groups = batches_of(lines, batch)

    def run() -> None:
        for group in groups:
            pixels = torch.stack([trocr_image(known.line) for known in group]).to(device)
            write_pieces(network, pixels, max(len(known.text) for known in group))

    return run


@torch.inference_mode()
def write_pieces(network: Any, pixels: Tensor, characters: int, beams: int = 1) -> None:
    """Encode images (B, 3, 384, 384), and decode as many tokens as a text of this length takes."""
    pieces = max(1, round(characters / CHARACTERS_PER_PIECE))
    network.generate(pixels, min_new_tokens=pieces, max_new_tokens=pieces, num_beams=beams, do_sample=False)


def trocr_image(line: Line) -> Tensor:
    """Scale a line to (3, 384, 384) in [-1, 1]."""
    size = (TROCR_PIXELS, TROCR_PIXELS)
    scaled = np.asarray(Image.fromarray(line).resize(size, Image.Resampling.BILINEAR), dtype=np.float32)
    return torch.from_numpy(scaled / 127.5 - 1).expand(3, -1, -1)


def rapidocr_contenders(lines: Sequence[Line], batch: int) -> list[Contender]:
    """The recognizer of rapidocr, if it is installed."""
    if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
        return []
    return [Contender("rapidocr", partial(prepare_rapidocr, lines, batch))]


def prepare_rapidocr(lines: Sequence[Line], batch: int) -> Work:
    """Prepare the recognizer alone, without line detection, with as many threads as torch."""
    from rapidocr import RapidOCR
    from rapidocr.ch_ppocr_rec.typings import TextRecInput

    threads = {"EngineConfig.onnxruntime.intra_op_num_threads": torch.get_num_threads()}
    engine: Any = RapidOCR(params={"Rec.rec_batch_num": batch, "Global.log_level": "error", **threads})
    engine(np.zeros((48, 320, 3), np.uint8), use_det=False, use_cls=False, use_rec=True)  # loads the model
    colored = [np.repeat(line[:, :, None], 3, axis=2) for line in lines]
    groups = batches_of(colored, batch)

    def run() -> None:
        for group in groups:
            engine.text_rec(TextRecInput(img=list(group)))

    return run


def check_kraken(model: Path) -> None:
    """Check that kraken can run.

    Raises:
        DataError: if there is no such model.
        ConfigError: if kraken is not installed.
    """
    if not model.is_file():
        raise DataError("no such file; give a kraken model", model)
    if shutil.which("kraken") is None:
        raise ConfigError("the kraken command is not installed; run: pip install kraken")


def command_contenders(files: Sequence[Path], kraken_model: Path | None, *, tesseract: bool) -> list[Contender]:
    """Recognizers run as commands; kraken ships no model, so it needs one.

    kraken gets as many threads as torch, and fails rather than skip a line.
    """
    found = []
    if tesseract and shutil.which("tesseract"):
        listed = files[0].with_name("files.txt")
        listed.write_text("\n".join(map(str, files)))
        command = ["tesseract", str(listed), str(files[0].with_name("tesseract")), "--psm", "7"]
        found.append(Contender("tesseract", partial(prepare_command, command)))
    if kraken_model is not None:
        pattern = str(files[0].with_name("*.png"))
        command = ["kraken", "-r", "--threads", str(torch.get_num_threads()), "-I", pattern, "-o", ".kraken"]
        command += ["ocr", "-m", str(kraken_model), "--no-segmentation"]
        found.append(Contender("kraken", partial(prepare_command, command)))
    return found


def prepare_command(command: Sequence[str]) -> Work:
    """Prepare running a command silently."""
    return partial(subprocess.run, command, check=True, capture_output=True)
