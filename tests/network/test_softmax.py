"""Both ways to the same attention."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from drethtr.network import softmax
from drethtr.network.softmax import softmax_attention

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
    monkeypatch.setattr(softmax.F, "scaled_dot_product_attention", None)
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
