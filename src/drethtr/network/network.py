"""DRetHTR and its relatives: encode an image once, then decode its text.

    encode_image  images → what every layer's text may look at        once per line
    decode_text   tokens, image memory, state → logits, state         a whole text, or one token

Training writes the whole text in one call, decoding one token per call: the same code. Which system of the paper a
network is, decoder-only or encoder-decoder, retentive or softmax, is a matter of its config alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from drethtr.base.errors import ConfigError
from drethtr.network.architecture import MAX_LAYERS, ArchitectureConfig, DecoderOnly, EncoderDecoder
from drethtr.network.attention import Added, KeyValue, Multiplied, NoPrior, PriorConfig
from drethtr.network.backbones import PPOCR, BackboneConfig, EfficientNetV2S
from drethtr.network.block import Block, EncoderLayer, Shape
from drethtr.network.ctc import CTCConfig, CTCHead, CTCReading
from drethtr.network.embedding import ImagePositionsConfig, Learned, Sinusoidal, TextEmbedding
from drethtr.network.mixer import JointSoftmax, MixerConfig, Retentive
from drethtr.network.output import OutputConfig, Plain, SwishGate
from drethtr.network.padded import valid
from drethtr.network.tree import Tree

MAX_WIDTH, MAX_HEADS = 2**16, 1024
"""More channels or heads can only be a mistake, or a file made to exhaust memory."""


class ImageMemory(NamedTuple):
    """What is kept of B lines once their images are read.

    layers  keys and values (B, H, I, K) of the image tokens in every layer
    mask    (B, I), true where an image token is; None where all are
    ctc     the reading of the CTC head, if the network has one
    """

    layers: tuple[KeyValue, ...]
    mask: Tensor | None
    ctc: CTCReading | None


class DecoderState(NamedTuple):
    """Tokens written so far, and what each layer's mixer remembers of them."""

    length: int
    layers: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Shape of the network (paper, Sec. 5.4); the defaults are DRetHTR-SMALL as published.

    `weight_dropout` falls on single weights of attention and retention. Without `text_positions` only the decay says
    where a text token stands.
    """

    layers: int = 4
    width: int = 1024
    heads: int = 8
    hidden: int = 4096
    dropout: float = 0.3
    weight_dropout: float = 0.3
    embedding_dropout: float = 0.1
    final_norm: bool = False
    backbone: BackboneConfig = field(default_factory=EfficientNetV2S)
    positions: ImagePositionsConfig = field(default_factory=Learned)
    prior: PriorConfig = field(default_factory=Multiplied)
    mixer: MixerConfig = field(default_factory=Retentive)
    output: OutputConfig = field(default_factory=Plain)
    architecture: ArchitectureConfig = field(default_factory=DecoderOnly)
    text_positions: bool = True
    ctc: CTCConfig | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.layers <= MAX_LAYERS:
            raise ConfigError(f"a network has 1 to {MAX_LAYERS} layers, not {self.layers}")
        if not (4 <= self.width <= MAX_WIDTH and 1 <= self.hidden <= MAX_WIDTH):
            raise ConfigError(
                f"a network is 4 to {MAX_WIDTH} channels wide and 1 to {MAX_WIDTH} hidden ones, "
                f"not {self.width} and {self.hidden}"
            )
        if not 1 <= self.heads <= MAX_HEADS:
            raise ConfigError(f"a network has 1 to {MAX_HEADS} heads, not {self.heads}")
        if self.width % self.heads or self.width % 2:
            raise ConfigError(f"width {self.width} must be even and divide into {self.heads} heads")
        for name in ("dropout", "weight_dropout", "embedding_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} {getattr(self, name)}: must be in [0, 1)")

    @property
    def shape(self) -> Shape:
        """What all layers have in common."""
        return Shape(*(getattr(self, name) for name in Shape._fields))


SMALL = NetworkConfig()
BASE = NetworkConfig(layers=12, width=768, heads=12, hidden=3072)
COMPACT = NetworkConfig(
    layers=6,
    width=256,
    heads=4,
    hidden=960,
    dropout=0.1,
    weight_dropout=0.0,
    embedding_dropout=0.1,
    final_norm=True,
    backbone=PPOCR(),
    positions=Sinusoidal(),
    prior=Added(),
    ctc=CTCConfig(),
)
DTRHTR_SMALL = replace(SMALL, mixer=JointSoftmax(), prior=NoPrior())
"""The softmax baseline."""
RETHTR_SMALL = replace(SMALL, architecture=EncoderDecoder(), output=SwishGate(), prior=NoPrior())
"""The encoder-decoder with retention; with RetNet's gate, which alone makes up the paper's 136 million parameters."""
TRHTR_SMALL = replace(RETHTR_SMALL, mixer=JointSoftmax(), output=Plain())
"""The encoder-decoder with softmax."""
PRESETS = {"compact": COMPACT, "small": SMALL, "base": BASE}


class DRetHTR(nn.Module):
    """The network for `vocabulary` tokens; `blank` is the token that the CTC head uses as its blank."""

    encoder: Sequence[EncoderLayer]
    blocks: Sequence[Block]

    def __init__(self, config: NetworkConfig, vocabulary: int, *, blank: int = 1) -> None:
        super().__init__()
        self.config = config
        self.backbone = config.backbone.build()
        self.to_width = nn.Linear(self.backbone.width, config.width)
        self.positions = config.positions.build(config.width)
        self.image_dropout = nn.Dropout(config.embedding_dropout)
        self.embed = TextEmbedding(vocabulary, config.width, config.embedding_dropout, placed=config.text_positions)
        architecture, shape = config.architecture, config.shape
        self.encoder = nn.ModuleList(architecture.encoder(shape))  # type: ignore[assignment]
        self.blocks = nn.ModuleList(architecture.block(shape, n) for n in range(config.layers))  # type: ignore[assignment]
        self.final_norm = nn.LayerNorm(config.width) if config.final_norm else nn.Identity()
        self.to_logits = nn.Linear(config.width, vocabulary, bias=False)
        self.ctc = (
            CTCHead(config.ctc, self.backbone.draft_width, config.width, vocabulary, blank) if config.ctc else None
        )
        if not self.to_width.weight.is_meta:  # on the meta device there is nothing to set, and trying loads a compiler
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights of the decoder from N(0, 0.02), biases zero; the backbone keeps its own start."""
        for name, module in self.named_modules():
            if name.startswith("backbone"):
                continue
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        if self.ctc is not None:
            self.ctc.reset_correction()

    @property
    def parameter_count(self) -> int:
        """How many numbers the network has, frozen ones included."""
        return sum(parameter.numel() for parameter in self.parameters())

    def encode_image(self, images: Tensor, widths: Tensor) -> ImageMemory:
        """Run line images through every layer and keep their keys and values there.

        Args:
            images: (B, 1, height, columns), ink +1, paper -1.
            widths: (B,) columns of each line; what lies beyond changes nothing.
        """
        features, counts = self.backbone(images, widths)
        return self.encode_features(features, counts)

    def encode_features(self, features: Tensor, counts: Tensor) -> ImageMemory:
        """The same from backbone tokens (B, I, backbone width), of which `counts` (B,) are not padding."""
        tokens = self.positions(self.to_width(features), counts)
        if self.ctc is None:
            return self.encode_tokens(tokens, counts)
        draft = self.ctc.draft(features[..., -self.backbone.draft_width :])
        return self.encode_tokens(self.ctc.informed(tokens, draft), counts, draft)

    def encode_tokens(self, tokens: Tensor, counts: Tensor, draft: Tensor | None = None) -> ImageMemory:
        """The same from image tokens (B, I, width) that know their place; no draft, no CTC reading."""
        mask = valid(counts, tokens.shape[1]) if bool((counts < tokens.shape[1]).any()) else None
        x, layers = self.image_dropout(tokens), []
        for layer in self.encoder:
            x = layer(x, mask)
        *blocks, last = self.blocks
        for block in blocks:
            x, kept = block.image(x, mask)
            layers.append(alone(kept))
        if self.ctc is None or draft is None:
            return ImageMemory((*layers, alone(last.kept_of_image(x))), mask, None)
        x, kept = last.image(x, mask)
        return ImageMemory((*layers, alone(kept)), mask, CTCReading(draft, self.ctc.refined(x, draft), counts))

    def blank(self, lines: int) -> ImageMemory:
        """The memory of so many lines that have no image: one token each, without content or place.

        What the decoder then writes, it writes by language alone, if it was trained to.
        """
        nothing = self.to_width.weight.new_zeros(lines, 1, self.config.width)
        return self.encode_tokens(nothing, torch.ones(lines, dtype=torch.long, device=nothing.device))

    def initial_state(self, memory: ImageMemory, beams: int = 1) -> DecoderState:
        """The state before the first token, for `beams` rows per line."""
        layers = []
        for block, kept in zip(self.blocks, memory.layers, strict=True):
            like = KeyValue(*(part[:1].expand(part.shape[0] * beams, -1, -1, -1) for part in kept))
            layers.append(block.initial_state(like))
        return DecoderState(0, tuple(layers))

    def decode_text(self, tokens: Tensor, memory: ImageMemory, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Logits (R, N, vocabulary) after each of N further tokens (R, N), and the state after them.

        R is B lines times any number of beams, the beams of a line next to each other; they share its image memory.
        """
        length = state.length + tokens.shape[1]
        x, after = self.embed(tokens, torch.arange(state.length, length, device=tokens.device)), []
        for block, kept, before in zip(self.blocks, memory.layers, state.layers, strict=True):
            x, layer_state = block.text(x, kept, memory.mask, before)
            after.append(layer_state)
        return self.to_logits(self.final_norm(x)), DecoderState(length, tuple(after))

    def decode_tree(self, tokens: Tensor, tree: Tree, memory: ImageMemory) -> Tensor:
        """Logits (B, N, vocabulary) after each node of a tree of texts for each line, tokens (B, N), in one pass.

        They are what `decode_text` gives for each text alone; what texts share is computed once.
        """
        x, start = self.embed(tokens, tree.place), self.initial_state(memory, tree.nodes.shape[1])
        for block, kept, empty in zip(self.blocks, memory.layers, start.layers, strict=True):
            x, _ = block.text(x, kept, memory.mask, empty, tree)
        logits: Tensor = self.to_logits(self.final_norm(x))
        return logits

    def forward(self, images: Tensor, widths: Tensor, tokens: Tensor) -> tuple[Tensor, CTCReading | None]:
        """Logits of whole texts (B, N, vocabulary) and the CTC reading at once, for training."""
        memory = self.encode_image(images, widths)
        logits, _ = self.decode_text(tokens, memory, self.initial_state(memory))
        return logits, memory.ctc


def alone(kept: KeyValue) -> KeyValue:
    """The same for keeping long: as parts of a larger tensor, keys and values would keep the queries beside them."""
    return kept if torch.is_grad_enabled() else KeyValue(*(part.contiguous() for part in kept))
