"""Translate the settings of the published command lines to ours (docs/paper.md).

The released code looks for words in one string, `mode`, and some only count together with others: with `RetNet`,
`with_gamma` and `split_softmax` have no effect; with `Transformer`, nothing is gated or normed. The same holds here.
"""

import re
from dataclasses import dataclass

from drethtr.base.errors import ConfigError
from drethtr.paper.variants import Fade, Gated, HeadNorm, JointSoftmax, Sigmoid, SplitSoftmax, SwishGate
from drethtr.recognition.model.architecture import (
    MixerConfig,
    Multiplied,
    NoPrior,
    OutputConfig,
    Plain,
    PriorConfig,
    Retentive,
)
from drethtr.recognition.model.decay import DecayConfig, Scheduled

WORDS = {
    "Transformer": "softmax over image and text",
    "RetNet": "softmax over the image, retention over the text",
    "RetNet3": "as RetNet, its decay gated by the text",
    "Sinusoidal": "text positions, which a Transformer has anyway",
    "Bi_ret": "a prior on image tokens",
    "no_lwgs": "no layer-wise decay in that prior",
    "with_gamma": "a Transformer's text weights fade",
    "split_softmax": "a Transformer weighs image and text apart",
    "to_out": "RetNet without norm and gate",
    "group_norm": "RetNet with normed heads, ungated",
    "group_split_norm": "as group_norm, for text only",
    "split_out": "RetNet's norm and gate for text only",
    "sigmoid": "a sigmoid of the output of the heads",
}
MODE = re.compile("|".join(sorted(WORDS, key=len, reverse=True)))


@dataclass(frozen=True, kw_only=True)
class PublishedSettings:
    """The settings that published weights lack, named as on the published command lines.

    mode       words of `WORDS`
    layerwise  γ grows from layer to layer (`increase_gamma_along_layers`)
    various    γ grows from head to head instead (`various_gamma_in_heads`)
    """

    mode: str = "Bi_ret_RetNet_Sinusoidal_to_out"
    D_norm: bool = True
    ret_norm: bool = False
    gamma_subtracter: float = 0.86
    layerwise: bool = True
    various: bool = False

    def __post_init__(self) -> None:
        if strange := MODE.sub("", self.mode).strip("_").replace("__", "_"):
            raise ConfigError(f"mode {self.mode!r}: unknown word {strange!r}; known: {', '.join(WORDS)}")
        if not self.retentive and "Transformer" not in self.words:
            raise ConfigError(f"mode {self.mode!r} contains neither RetNet, RetNet3 nor Transformer")
        if self.ret_norm and self.retentive:
            raise ConfigError(
                "ret_norm is not supported: it divides by the sum of all past scores, which retention with a memory "
                "of fixed size does not keep; the published runs did not use it"
            )

    @property
    def words(self) -> frozenset[str]:
        """The words of the mode."""
        return frozenset(MODE.findall(self.mode))

    @property
    def retentive(self) -> bool:
        """Whether text is mixed by retention."""
        return not self.words.isdisjoint({"RetNet", "RetNet3"})

    @property
    def schedule(self) -> Scheduled:
        """The schedule of γ for the text; flags take precedence as in the released code."""
        name = "headwise" if self.various else "layerwise" if self.layerwise else "small"
        return Scheduled(name, self.gamma_subtracter)

    @property
    def mixer(self) -> MixerConfig:
        """The mixer of the text."""
        if self.retentive:
            decay: DecayConfig = Gated() if "RetNet3" in self.words else self.schedule
            return Retentive(decay, self.D_norm)
        fade = Fade(self.schedule, self.D_norm) if "with_gamma" in self.words else None
        return SplitSoftmax(fade) if "split_softmax" in self.words else JointSoftmax(fade)

    @property
    def prior(self) -> PriorConfig:
        """The image prior; the subtracter applies only to a layer-wise decay."""
        if "Bi_ret" not in self.words:
            return NoPrior()
        layerwise = self.layerwise and "no_lwgs" not in self.words
        return Multiplied(Scheduled("layerwise", self.gamma_subtracter) if layerwise else Scheduled("original"))

    @property
    def output(self) -> OutputConfig:
        """The output of the heads; words take precedence as in the released code."""
        words = self.words if self.retentive else self.words | {"to_out"}
        if "to_out" in words:
            return Sigmoid() if "sigmoid" in words else Plain()
        if "group_norm" in words:
            return HeadNorm()
        if "group_split_norm" in words:
            return HeadNorm(on_image=False)
        return SwishGate(on_image="split_out" not in words)

    @property
    def text_positions(self) -> bool:
        """Whether text tokens have positions; otherwise, the released code erroneously adds them in decoding alone."""
        return not self.words.isdisjoint({"Transformer", "Sinusoidal"})


PUBLISHED = PublishedSettings()
"""The published DRetHTR."""
