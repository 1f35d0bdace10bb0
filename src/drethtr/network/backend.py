"""The torch backend: a `Network` for search and recognizer, and conversions between models and torch networks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from drethtr.base.arrays import Ints
from drethtr.images.prepare import Prepared
from drethtr.network.capture import NO_MEMORY
from drethtr.network.devices import allow_tf32, moved, open_device, torch_device
from drethtr.network.network import BatchMemory, DecoderState, DRetHTR, select_rows
from drethtr.network.precision import cast, in_float32, pays_for_steps
from drethtr.network.rescorer import RescorerNetwork
from drethtr.network.resident import ResidentSearches, can_stay
from drethtr.network.tree import Tree, of_similar_size, stack_trees
from drethtr.network.weights import fit
from drethtr.recognition import protocol
from drethtr.recognition.batching import group_by_width, in_parts_that_fit, padded_lines, padded_width
from drethtr.recognition.decoding.stepwise import BeamSearch, Hypothesis
from drethtr.recognition.model.file import Model, Rescorer, settings_errors
from drethtr.recognition.model.weights import Array, Weights
from drethtr.recognition.protocol import Precision, TextTree
from drethtr.text.tokenizer import Tokenizer

Built = TypeVar("Built", bound=nn.Module)

BATCH_LINES = 64
CPU_COLUMNS, GPU_COLUMNS = 8_000, 24_000
"""Image columns of a batch, over all views of its lines: few enough for the caches of a CPU, enough to fill a GPU.

On a CPU, 24,000 instead of 8,000 take 1.4 times as long (LOG.md, 2026-11-23).
"""

GPU_WORKERS = 8
"""Maximum number of threads that prepare, search and judge lines for one GPU; while one waits for it, the others feed
it. Python's lock lets hardly more work in parallel; several processes on one GPU, as in `drethtr batch`, do more."""

OUT_OF_MEMORY = (
    "DefaultCPUAllocator",
    "MPS backend out of memory",
    NO_MEMORY,
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "unable to find an engine",  # a message of cuDNN if no engine has enough memory
    "Triton Error [CUDA]: out of memory",
)
"""Parts of messages about failed allocations, for devices and libraries that have no exception class for them."""


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turn torch's errors about failed allocations into `MemoryError`."""
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise MemoryError(str(error)) from None
    except RuntimeError as error:
        if any(words in str(error) for words in OUT_OF_MEMORY):
            raise MemoryError(str(error)) from None
        raise


class TorchNetwork:
    """A `drethtr.recognition.protocol.Network` in torch; lines of similar width form a batch.

    Args:
        as_on_gpu: Whether batches have few shapes, and greedy and beam search stay on the device
            (`drethtr.network.resident`); by default on GPUs alone.
    """

    def __init__(
        self,
        network: DRetHTR,
        precision: Precision = Precision.FLOAT32,
        rescorer: RescorerNetwork | None = None,
        workers: int = 1,
        as_on_gpu: bool | None = None,
    ) -> None:
        self.workers = workers
        self.image = self.text = network
        self.rescorer = rescorer
        if precision is Precision.BFLOAT16:
            self.image = cast(network, torch.bfloat16)
            self.text = self.image if pays_for_steps(network.config) else network
        self.device = next(network.parameters()).device
        self.dtype = torch.bfloat16 if self.text is not network else torch.float32
        self.few_shapes = self.device.type == "cuda" if as_on_gpu is None else as_on_gpu
        self.searches = ResidentSearches(self.text) if self.few_shapes else None

    @classmethod
    def of(
        cls, model: Model, network: DRetHTR, precision: Precision = Precision.FLOAT32, workers: int = 1
    ) -> "TorchNetwork":
        """The backend of a network with the weights of a model, and of the model's rescorer beside it.

        Raises:
            CheckpointError: if the rescorer's weights do not fit its network, or its settings are invalid.
        """
        device = next(network.parameters()).device
        rescorer = None if model.rescorer is None else rescorer_of(model.rescorer, model.tokenizer, device)
        return cls(network, precision, rescorer, workers)

    @property
    def dimensions(self) -> protocol.Dimensions:
        network = self.text
        return protocol.Dimensions(
            vocabulary=network.to_logits.out_features,
            height=network.backbone.height,
            columns_per_token=network.backbone.columns_per_token,
            steps_per_token=None if network.ctc is None else network.ctc.steps,
            features=2 * network.config.width,
            widest=network.backbone.widest,
            epsilon=torch.finfo(self.dtype).eps,
            rescores=self.rescorer is not None,
        )

    def groups(self, columns: Sequence[int]) -> Iterator[list[int]]:
        return group_by_width(columns, CPU_COLUMNS if self.device.type == "cpu" else GPU_COLUMNS, BATCH_LINES)

    @torch.inference_mode()
    @memory_errors()
    def encode(self, images: Sequence[Prepared]) -> protocol.ImageMemory:
        # cuDNN tunes itself for up to seconds to each new number of lines, so only powers of two occur.
        blank = padded_lines(len(images)) - len(images) if self.few_shapes else 0
        batch, widths = stack(images, more=blank)
        memory = self.image.encode_image(moved(batch, self.device), widths)
        if blank:
            memory = select_lines(memory, torch.arange(len(images), device=self.device))
        # If the backbone is in bfloat16 and steps are not, only its result is converted, once.
        return self.to_image_memory(memory if self.image is self.text else in_float32(memory))

    def to_image_memory(self, memory: BatchMemory) -> protocol.ImageMemory:
        """The memory of a batch in the form that search and recognizer use."""
        lines, _, most, _ = memory.layers[-1].keys.shape
        tokens = (most,) * lines if memory.mask is None else tuple(memory.mask.sum(1).tolist())
        drafts = ctc = None
        if memory.ctc is not None:
            drafts = tuple(without_padding(memory.ctc.draft, tokens))
            ctc = tuple(without_padding(memory.ctc.refined, memory.ctc.steps.tolist()))
        return protocol.ImageMemory(tokens, drafts, ctc, mean_of_image(memory), memory)

    @torch.inference_mode()
    @memory_errors()
    def keep(self, memory: protocol.ImageMemory, lines: Sequence[int]) -> protocol.ImageMemory:
        chosen = torch.tensor(lines, dtype=torch.long, device=self.device)
        return memory.select(lines, select_lines(memory.kept, chosen))

    @torch.inference_mode()
    def score_trees(self, memory: protocol.ImageMemory, trees: Sequence[TextTree]) -> list[protocol.Logits]:
        def score(tokens: Tensor, tree: Tree, lines: Sequence[int]) -> Tensor:
            return self.text.decode_tree(
                tokens, tree, select_lines(memory.kept, torch.tensor(lines, device=self.device))
            )

        return self.score_batches(trees, score)

    @torch.inference_mode()
    def score_texts(self, trees: Sequence[TextTree]) -> list[protocol.Logits]:
        def score(tokens: Tensor, tree: Tree, lines: Sequence[int]) -> Tensor:
            if self.rescorer is not None:
                return self.rescorer(tokens, tree)  # type: ignore[no-any-return]
            return self.text.decode_tree(tokens, tree, self.text.without_image(len(lines)))

        return self.score_batches(trees, score)

    @memory_errors()
    def score_batches(
        self, trees: Sequence[TextTree], score: Callable[[Tensor, Tree, Sequence[int]], Tensor]
    ) -> list[protocol.Logits]:
        """Logits of each node; trees of similar size form a batch."""
        found: dict[int, protocol.Logits] = {}
        for lines in of_similar_size([len(tree.tokens) for tree in trees]):
            tokens, tree = stack_trees([trees[line] for line in lines])
            logits = score(moved(tokens, self.device), Tree(*(moved(part, self.device) for part in tree)), lines)
            found |= zip(lines, without_padding(logits, [len(trees[line].tokens) for line in lines]), strict=True)
        return [found[line] for line in range(len(trees))]

    @torch.inference_mode()
    @memory_errors()
    def begin(self, memory: protocol.ImageMemory) -> DecoderState:
        return self.text.initial_state(memory.kept)

    @torch.inference_mode()
    @memory_errors()
    def step(
        self, memory: protocol.ImageMemory, tokens: Ints, state: DecoderState
    ) -> tuple[protocol.Logits, DecoderState]:
        last = torch.from_numpy(tokens).to(self.device)[:, None]
        logits, state = self.text.decode_text(last, memory.kept, state)
        return logits[:, -1].float().cpu().numpy(), state

    @torch.inference_mode()
    @memory_errors()
    def reorder(self, state: DecoderState, rows: Ints) -> DecoderState:
        return select_rows(state, torch.from_numpy(rows).to(self.device))

    @torch.inference_mode()
    def search(self, memory: protocol.ImageMemory, wanted: BeamSearch) -> list[list[Hypothesis]] | None:
        searches = self.searches
        if searches is None or not can_stay(self.text, memory.kept):
            return None

        @memory_errors()
        def run(lines: Sequence[int]) -> list[list[Hypothesis]]:
            chosen = select_lines(memory.kept, torch.tensor(lines, device=self.device))
            return searches.run(chosen, wanted.keep(np.array(lines, dtype=np.int64)))

        return in_parts_that_fit(run, range(memory.lines))

    @torch.inference_mode()
    @memory_errors()
    def attend(self, memory: protocol.ImageMemory, tokens: Sequence[int]) -> protocol.Attention:
        layers = self.text.weigh(torch.tensor([list(tokens)], device=self.device), memory.kept)
        reach = [layer.reach for layer in layers if layer.reach is not None]
        return protocol.Attention(
            np.stack([layer.image[..., : memory.tokens[0]].float().cpu().numpy() for layer in layers]),
            np.stack([layer.text.float().cpu().numpy() for layer in layers]),
            np.stack([of_heads.cpu().numpy() for of_heads in reach]) if reach else None,
        )


def open_network(model: Model, device: str, precision: Precision, threads: int) -> TorchNetwork:
    """Open a model as a torch network.

    Raises:
        CheckpointError: if the weights do not fit the network, or its settings are invalid.
        ConfigError: if there is no such device.
    """
    where = open_device(device, threads)
    if where.type == "cuda":
        allow_tf32(False)  # confidences are calibrated in float32
    workers = 1 if where.type == "cpu" else min(threads, GPU_WORKERS)
    return TorchNetwork.of(model, network_of(model, where), precision, workers)


def network_of(model: Model, device: str | torch.device = "cpu") -> DRetHTR:
    """The torch network of a model, ready for reading.

    Raises:
        CheckpointError: if the weights do not fit the network, or its settings are invalid.
        ConfigError: if there is no such device.
    """
    where = torch_device(device)
    network = with_weights(model.weights, lambda: DRetHTR(model.network, model.tokenizer.size))
    model.check_height(network.backbone.height)
    network.to(where).eval()
    network.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on CPUs
    return network


def rescorer_of(rescorer: Rescorer, tokenizer: Tokenizer, device: str | torch.device = "cpu") -> RescorerNetwork:
    """The torch network of a rescorer, ready for scoring.

    Raises:
        CheckpointError: if the weights do not fit the network, or its settings are invalid.
    """
    network = with_weights(rescorer.weights, lambda: RescorerNetwork(rescorer.config, tokenizer.size))
    return network.to(torch_device(device)).eval()


def with_weights(weights: Weights, build: Callable[[], Built]) -> Built:
    """Build a network with these weights.

    It is first built without weights, so that untrusted settings cannot claim memory.

    Raises:
        CheckpointError: if the weights do not fit the network, or its settings are invalid.
    """
    with settings_errors(), torch.device("meta"):
        network = build()
    arrays = {name: torch.from_numpy(np.array(weight)) for name, weight in weights.items()}
    network.load_state_dict(fit(arrays, network.state_dict()), assign=True)
    return network


def weights_of(network: DRetHTR) -> dict[str, Array]:
    """The weights of a torch network in the form that a model stores."""
    return {name: weight.detach().cpu().contiguous().numpy() for name, weight in network.state_dict().items()}


def with_network(model: Model, network: DRetHTR) -> Model:
    """A model with a copy of the weights of a torch network."""
    return replace(model, network=network.config, weights={n: w.copy() for n, w in weights_of(network).items()})


def stack(lines: Sequence[Prepared], *, columns: int = 0, more: int = 0) -> tuple[Tensor, Tensor]:
    """Stack prepared lines of one height as (B, 1, H, W), padded with paper on the right; also their widths (B,).

    Args:
        columns: Pad to at least this many.
        more: Number of blank lines to add, as wide as the widest.
    """
    widths = [line.shape[1] for line in lines]
    widths += [max(widths)] * more
    # Padded to a multiple of columns, so that a GPU meets few shapes; −1 is paper, which no layer takes for ink.
    images = torch.full((len(widths), 1, lines[0].shape[0], padded_width(max(*widths, columns))), -1.0)
    for image, line in zip(images[: len(lines)], lines, strict=True):
        image[0, :, : line.shape[1]] = torch.from_numpy(line)
    return images, torch.tensor(widths)


def select_lines(memory: BatchMemory, lines: Tensor) -> BatchMemory:
    """The memory of the given lines."""
    return BatchMemory(
        select_rows(memory.layers, lines),
        None if memory.mask is None else memory.mask[lines],
        None if memory.ctc is None else select_rows(memory.ctc, lines),
    )


def mean_of_image(memory: BatchMemory) -> NDArray[np.float32]:
    """The mean key and value of each line's image tokens in the last layer, (B, 2 x H x K)."""
    kept = torch.cat(memory.layers[-1], dim=-1).float()
    mask = kept.new_ones(kept.shape[0], kept.shape[2]) if memory.mask is None else memory.mask.to(kept.dtype)
    shares = (mask / mask.sum(1, keepdim=True))[:, None, :, None]
    means: NDArray[np.float32] = (kept * shares).sum(2).flatten(1).cpu().numpy()
    return means


def without_padding(rows: Tensor, lengths: Sequence[int]) -> list[protocol.Logits]:
    """The rows (B, N, V) of each line without padding, in float32."""
    return [line[:length] for line, length in zip(rows.float().cpu().numpy(), lengths, strict=True)]
