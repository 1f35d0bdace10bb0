"""Negative log-likelihood of the right text: finer than an error rate, and no search stands between.

Each token is asked for after the right ones before it. A decoder that hardly reads yet makes as many errors as one that
does not read at all; the right text is likelier to it.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from drethtr.evaluation.evaluate import portions
from drethtr.images.line import Line
from drethtr.lines.sample import Sample
from drethtr.network.network import ImageMemory
from drethtr.recognition.model_file import Model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import PAD
from drethtr.training.feed.batch import encode_all
from drethtr.training.objective import teacher_forcing


def nats_of_lines(recognizer: Recognizer, samples: Sequence[Sample]) -> list[float | None]:
    """Nats of each line's text with its end; None for a line that is read in pieces, whose texts nobody knows."""
    found: list[float | None] = []
    for some in portions(recognizer, samples):
        found += nats_of_opened(recognizer, some)
    return found


def nats_of_opened(recognizer: Recognizer, samples: Sequence[tuple[Sample, Line]]) -> list[float | None]:
    """The same for so many lines as may be prepared at a time."""
    found: list[float | None] = [None] * len(samples)
    whole = recognizer.pieces.prepare_whole([line for _, line in samples])
    for group, memory in recognizer.pieces.encoded(whole):
        numbers = [whole[place].line for place in group]
        nats = nats_of(recognizer.model, memory, [samples[number][0].text for number in numbers])
        for number, of_line in zip(numbers, nats, strict=True):
            found[number] = of_line
    return found


@torch.inference_mode()
def nats_of(model: Model, memory: ImageMemory, texts: Sequence[str]) -> list[float]:
    """The same for the texts of some whole lines as one batch."""
    device = memory.layers[0].keys.device
    before, after = (tokens.to(device) for tokens in teacher_forcing(*encode_all(texts, model.tokenizer)))
    logits, _ = model.network.decode_text(before, memory, model.network.initial_state(memory))
    nats = F.cross_entropy(logits.mT.float(), after, ignore_index=PAD, reduction="none").sum(-1)
    return [float(of_line) for of_line in nats]
