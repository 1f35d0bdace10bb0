import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from drethtr.network.attention import PRIORS, KeyValue, attend_image, fold_beams, softmax_attention, unfold_beams
from drethtr.recognition.model.architecture import Added, Multiplied, NoPrior
from drethtr.recognition.model.decay import LayerPosition, Scheduled

PLACE = LayerPosition(layer=0, layers=4, heads=4)
KINDS = [NoPrior(), Multiplied(), Added(), Added(Scheduled("original"))]
every_prior = pytest.mark.parametrize("prior", KINDS, ids=repr)


def draw(lines=2, tokens=9, dtype=torch.float64):
    torch.manual_seed(0)
    q, k, v = (torch.randn(lines, 4, tokens, 8, dtype=torch.float64).to(dtype) for _ in range(3))
    return q, KeyValue(k, v)


def numpy_softmax(scores):
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def by_hand(q, image, mix):
    """Σ_j weight(i, j) v_j for each line and head, its weights `mix(scores, distances, γ)`."""
    gamma = Scheduled().gamma(PLACE)
    out = np.zeros(tuple(image.values.shape))
    places = np.arange(q.shape[2])
    distances = np.abs(places[:, None] - places[None, :])
    for line, head in np.ndindex(*q.shape[:2]):
        scores = q[line, head].numpy() @ image.keys[line, head].numpy().T / np.sqrt(q.shape[-1])
        out[line, head] = mix(scores, distances, gamma[head]) @ image.values[line, head].numpy()
    return torch.from_numpy(out)


def test_the_multiplied_prior_is_the_published_formula():
    """A[i,j] g^|i-j| / sqrt(Σ_j g^|i-j|), not renormalized."""

    def published(scores, distances, gamma):
        prior = gamma**distances
        return numpy_softmax(scores) * prior / np.sqrt(prior.sum(-1, keepdims=True))

    q, image = draw()
    out = PRIORS.build(Multiplied(), PLACE).double()(q, image, None, 0.0)
    torch.testing.assert_close(out, by_hand(q, image, published), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tokens", [9, 300])
def test_the_added_prior_is_a_bias_of_the_scores(tokens):
    """softmax(scores + |i-j| log γ): attention is moved, not lost."""

    def added(scores, distances, gamma):
        return numpy_softmax(scores + distances * np.log(gamma))

    q, image = draw(tokens=tokens)
    out = PRIORS.build(Added(), PLACE).double()(q, image, None, 0.0)
    torch.testing.assert_close(out, by_hand(q, image, added), rtol=1e-6, atol=1e-6)
    everywhere = KeyValue(image.keys, torch.ones_like(image.values))
    torch.testing.assert_close(PRIORS.build(Added(), PLACE).double()(q, everywhere, None, 0.0), everywhere.values)


def test_without_a_prior_distance_does_not_matter():
    q, image = draw()
    out = PRIORS.build(NoPrior(), PLACE)(q, image, None, 0.0)
    torch.testing.assert_close(out, by_hand(q, image, lambda scores, distances, gamma: numpy_softmax(scores)))


@every_prior
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_a_padded_line_is_the_line_alone(prior, dtype):
    """Also beside a line so much longer that γ^|i-j| from the padding to the line underflows."""
    (q, image), long = draw(tokens=300, dtype=dtype), torch.tensor([300, 7])
    mask = torch.arange(300) < long[:, None]
    prior = PRIORS.build(prior, PLACE).to(dtype)
    together = prior(q, image, mask, 0.0)
    alone = prior(q[1:, :, :7], KeyValue(*(part[1:, :, :7] for part in image)), None, 0.0)
    torch.testing.assert_close(together[1:, :, :7], alone, rtol=1e-5, atol=1e-5)
    assert together.isfinite().all()


@every_prior
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_close(prior, dtype):
    q, image = draw(tokens=150, dtype=dtype)
    mask = torch.arange(150) < torch.tensor([[150], [40]])
    expected = PRIORS.build(prior, PLACE).double()(q.double(), KeyValue(*(part.double() for part in image)), mask, 0.0)
    out = PRIORS.build(prior, PLACE)(q, image, mask, 0.0)
    assert out.dtype == dtype
    assert (out.double() - expected)[mask[:, None].expand(2, 4, 150)].norm() < 0.02 * expected.norm()


@every_prior
def test_dropout_thins_out_the_weights(prior):
    q, image = draw()
    prior = PRIORS.build(prior, PLACE).double()
    whole = prior(q, image, None, 0.0)
    many = torch.stack([prior(q, image, None, 0.5) for _ in range(300)])
    assert not torch.equal(many[0], many[1])
    assert (many.mean(0) - whole).norm() < 0.2 * whole.norm()


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
def test_beams_share_the_image_of_their_line(beams, masked):
    """The beams of a line, side by side, get what each would get from a copy of the image."""
    _, image = draw(lines=2)
    torch.manual_seed(1)
    q = torch.randn(2 * beams, 4, 5, 8, dtype=torch.float64)
    mask = torch.arange(9) < torch.tensor([[9], [4]]) if masked else None
    copies = KeyValue(*(part.repeat_interleave(beams, 0) for part in image))
    copied = None if mask is None else mask.repeat_interleave(beams, 0)
    torch.testing.assert_close(attend_image(q, image, mask), attend_image(q, copies, copied))


def test_unfolding_undoes_folding():
    q = torch.randn(6, 4, 5, 8)
    folded = fold_beams(q, 2)
    assert folded.shape == (2, 4, 15, 8)
    assert torch.equal(folded[1, :, 5:10], q[4])
    assert torch.equal(unfold_beams(folded, 6), q)


SEEN = torch.arange(9) < torch.tensor([9, 4])[:, None, None, None]
MASKS = {
    "none": None,
    "boolean": SEEN,
    "causal": torch.ones(6, 9, dtype=torch.bool).tril(3),
    "additive": torch.randn(2, 4, 6, 9, generator=torch.Generator().manual_seed(1)).masked_fill(~SEEN, -torch.inf),
}


def drawn(dtype: torch.dtype) -> list[Tensor]:
    rng = torch.Generator().manual_seed(0)
    return [torch.randn(2, 4, n, 16, generator=rng).to(dtype).requires_grad_() for n in (6, 9, 9)]


def with_gradients(out: Tensor, parts: list[Tensor]) -> tuple[Tensor, ...]:
    """What attention gives, and what its queries, keys and values learn."""
    taught = torch.randn(out.shape, generator=torch.Generator().manual_seed(2)).to(out.dtype)
    return out, *torch.autograd.grad(out, parts, taught)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_the_plain_formula_is_the_kernel(dtype: torch.dtype, mask: Tensor | None, monkeypatch) -> None:
    """In half precision, where a gradient is wanted on a CPU, no kernel is asked."""
    parts = drawn(dtype)
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(dtype)
    expected = with_gradients(F.scaled_dot_product_attention(*parts, attn_mask=mask), parts)
    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", None)
    found = with_gradients(softmax_attention(*parts, mask), parts)
    coarse = torch.finfo(dtype).eps
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one, other, rtol=4 * coarse, atol=4 * coarse)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_in_other_numbers_the_kernel_is_asked(mask: Tensor | None) -> None:
    parts = drawn(torch.float32)
    assert torch.equal(softmax_attention(*parts, mask), F.scaled_dot_product_attention(*parts, attn_mask=mask))


def test_the_plain_formula_drops_single_weights() -> None:
    q, k, v = drawn(torch.bfloat16)
    torch.manual_seed(0)
    whole = softmax_attention(q, k, v)
    many = torch.stack([softmax_attention(q, k, v, dropout=0.5) for _ in range(300)]).float()
    assert not torch.equal(many[0], many[1])
    assert (many.mean(0) - whole).norm() < 0.2 * whole.norm()
