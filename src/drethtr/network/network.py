"""DRetHTR: encode an image once, then decode its text.

    encode_image  images → keys and values for the text, in every layer    once per line
    decode_text   tokens, image memory, state → logits, state              a whole text, or one token

Training decodes a whole text per call, a search one token per call, with the same code.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn

from drethtr.network.attention import KeyValue
from drethtr.network.backbones import BACKBONES
from drethtr.network.block import ARCHITECTURES, Block
from drethtr.network.ctc import CTCHead, CTCReading
from drethtr.network.embedding import POSITIONS, TextEmbedding
from drethtr.network.mixer import AttentionWeights, MixerState
from drethtr.network.padded import mask_of
from drethtr.network.tree import Tree
from drethtr.recognition.model.architecture import NetworkConfig

State = TypeVar("State")


class BatchMemory(NamedTuple):
    """The images of B lines in the form that the decoder needs.

    layers  keys and values (B, H, I, K) of the image tokens in every layer
    mask    (B, I), false for padding; None on a CPU if there is none
    ctc     the reading of the CTC head, if the network has one
    """

    layers: tuple[KeyValue, ...]
    mask: Tensor | None
    ctc: CTCReading | None


class DecoderState(NamedTuple):
    """The number of tokens so far, and the state of each layer's mixer."""

    length: int
    layers: tuple[MixerState, ...]


class DRetHTR(nn.Module):
    """The network for a vocabulary of `vocabulary` tokens."""

    encoder: Sequence[nn.Module]
    blocks: Sequence[Block]

    def __init__(self, config: NetworkConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.backbone = BACKBONES.build(config.backbone)
        self.to_width = nn.Linear(self.backbone.width, config.width)
        self.positions = POSITIONS.build(config.positions, config.width)
        self.image_dropout = nn.Dropout(config.embedding_dropout)
        self.embed = TextEmbedding(vocabulary, config.width, config.embedding_dropout, placed=config.text_positions)
        encoder, blocks = ARCHITECTURES.build(config.architecture, config)
        self.encoder = nn.ModuleList(encoder)  # type: ignore[assignment]  # empty in DRetHTR
        self.blocks = nn.ModuleList(blocks)  # type: ignore[assignment]
        self.final_norm = nn.LayerNorm(config.width) if config.final_norm else nn.Identity()
        self.to_logits = nn.Linear(config.width, vocabulary, bias=False)
        self.ctc = CTCHead(config.ctc, self.backbone.draft_width, config.width, vocabulary) if config.ctc else None
        for name, part in self.named_children():
            if name != "backbone":  # it initializes itself
                initialize(part)
        if self.ctc is not None:
            self.ctc.reset_correction()

    @property
    def parameter_count(self) -> int:
        """The number of parameters, including frozen ones."""
        return sum(parameter.numel() for parameter in self.parameters())

    def encode_image(self, images: Tensor, widths: Tensor) -> BatchMemory:
        """Run line images through every layer, and keep their keys and values.

        Args:
            images: (B, 1, height, columns), ink +1, paper -1.
            widths: (B,) columns of each line, preferably in the host's memory; the rest is padding and has no effect.
        """
        features, counts = self.backbone(images, widths)
        tokens = self.positions(self.to_width(features), counts)
        if self.ctc is None:
            return self.encode_tokens(tokens, counts)
        draft = self.ctc.draft(features[..., -self.backbone.draft_width :])
        return self.encode_tokens(self.ctc.add_draft(tokens, draft), counts, draft)

    def encode_tokens(self, tokens: Tensor, counts: Tensor, draft: Tensor | None = None) -> BatchMemory:
        """Like `encode_image`, from image tokens (B, I, width) with positions; without `draft`, without CTC reading."""
        mask = mask_of(counts, tokens.shape[1])
        x, layers = self.image_dropout(tokens), []
        for layer in self.encoder:
            x = layer(x, mask)
        *blocks, last = self.blocks
        for block in blocks:
            x, kept = block.image(x, mask)
            layers.append(contiguous_copy(kept))
        # After the last layer only the CTC head reads image tokens; without one, their keys and values are enough.
        if self.ctc is None or draft is None:
            return BatchMemory((*layers, contiguous_copy(last.kept_of_image(x))), mask, None)
        x, kept = last.image(x, mask)
        return BatchMemory(
            (*layers, contiguous_copy(kept)), mask, CTCReading(draft, self.ctc.refined(x, draft), counts)
        )

    def without_image(self, lines: int) -> BatchMemory:
        """The memory of lines without image: one token each, without content or position.

        With it, the decoder is a language model, if trained as one.
        """
        nothing = self.to_width.weight.new_zeros(lines, 1, self.config.width)
        return self.encode_tokens(nothing, torch.ones(lines, dtype=torch.long, device=nothing.device))

    def initial_state(self, memory: BatchMemory, beams: int = 1) -> DecoderState:
        """The state before the first token, for `beams` rows per line."""
        layers = []
        for block, kept in zip(self.blocks, memory.layers, strict=True):
            # Only shape, type and device are taken from it, so beams do not copy the image.
            like = KeyValue(*(part[:1].expand(part.shape[0] * beams, -1, -1, -1) for part in kept))
            layers.append(block.initial_state(like))
        return DecoderState(0, tuple(layers))

    def decode_text(self, tokens: Tensor, memory: BatchMemory, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Logits (R, N, vocabulary) after each of N further tokens (R, N), and the state after them.

        R is B lines times any number of beams; the beams of a line are adjacent rows and share its image memory.
        """
        length = state.length + tokens.shape[1]
        places = torch.arange(state.length, length, device=tokens.device)
        logits, layers = self.decode_at(tokens, places, memory, state.layers)
        return logits, DecoderState(length, layers)

    def decode_at(
        self, tokens: Tensor, places: Tensor, memory: BatchMemory, layers: Sequence[MixerState]
    ) -> tuple[Tensor, tuple[MixerState, ...]]:
        """`decode_text` at positions (N,) of the text, from and to the states of the layers."""
        x, after = self.embed(tokens, places), []
        for block, kept, before in zip(self.blocks, memory.layers, layers, strict=True):
            x, layer_state = block.text(x, kept, memory.mask, before)
            after.append(layer_state)
        return self.to_logits(self.final_norm(x)), tuple(after)

    def decode_tree(self, tokens: Tensor, tree: Tree, memory: BatchMemory) -> Tensor:
        """Logits (B, N, vocabulary) after each node of a tree of texts per line, tokens (B, N), in one pass.

        They equal those of `decode_text` for each text alone, but shared prefixes are computed once.
        """
        x, start = self.embed(tokens, tree.place), self.initial_state(memory, tree.nodes.shape[1])
        for block, kept, empty in zip(self.blocks, memory.layers, start.layers, strict=True):
            x, _ = block.text(x, kept, memory.mask, empty, tree)
        logits: Tensor = self.to_logits(self.final_norm(x))
        return logits

    @torch.inference_mode()
    def weigh(self, tokens: Tensor, memory: BatchMemory) -> list[AttentionWeights]:
        """How each layer weighs image and text while it decodes a text (1, N) of one line, for pictures."""
        x, found = self.embed(tokens, torch.arange(tokens.shape[1], device=tokens.device)), []
        for block, kept, empty in zip(self.blocks, memory.layers, self.initial_state(memory).layers, strict=True):
            found.append(block.weigh(x, kept, memory.mask))
            x, _ = block.text(x, kept, memory.mask, empty)
        return found

    def forward(self, images: Tensor, widths: Tensor, tokens: Tensor) -> tuple[Tensor, CTCReading | None]:
        """Logits of whole texts (B, N, vocabulary) and the CTC reading in one call, for training."""
        memory = self.encode_image(images, widths)
        logits, _ = self.decode_text(tokens, memory, self.initial_state(memory))
        return logits, memory.ctc


def initialize(part: nn.Module) -> None:
    """Draw weights from N(0, 0.02) and zero biases; nothing on the meta device, where it would load a compiler."""
    for module in part.modules():
        if isinstance(module, nn.Linear | nn.Embedding) and not module.weight.is_meta:
            nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)


def contiguous_copy(kept: KeyValue) -> KeyValue:
    """Copy keys and values, unless gradients are needed: as views, they would also keep the queries in memory."""
    return kept if torch.is_grad_enabled() else KeyValue(*(part.contiguous() for part in kept))


def select_rows(state: State, rows: Tensor) -> State:
    """Keep, repeat or reorder rows of every tensor in a nested tuple, which keeps its type."""
    chosen: object = state
    if isinstance(state, Tensor):
        chosen = state.index_select(0, rows)
    elif isinstance(state, tuple):
        parts = [select_rows(part, rows) for part in state]
        chosen = type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    return cast(State, chosen)
