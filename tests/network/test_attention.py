import numpy as np
import pytest
import torch

from drethtr.network.attention import KeyValue, attend_image, build_prior, fold_beams, unfold_beams
from drethtr.recognition.model.architecture import Added, Multiplied, NoPrior
from drethtr.recognition.model.decay import LayerPosition, Scheduled

PLACE = LayerPosition(layer=0, layers=4, heads=4)
PRIORS = [NoPrior(), Multiplied(), Added(), Added(Scheduled("original"))]
every_prior = pytest.mark.parametrize("prior", PRIORS, ids=repr)


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
    out = build_prior(Multiplied(), PLACE).double()(q, image, None, 0.0)
    torch.testing.assert_close(out, by_hand(q, image, published), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tokens", [9, 300])
def test_the_added_prior_is_a_bias_of_the_scores(tokens):
    """softmax(scores + |i-j| log γ): attention is moved, not lost."""

    def added(scores, distances, gamma):
        return numpy_softmax(scores + distances * np.log(gamma))

    q, image = draw(tokens=tokens)
    out = build_prior(Added(), PLACE).double()(q, image, None, 0.0)
    torch.testing.assert_close(out, by_hand(q, image, added), rtol=1e-6, atol=1e-6)
    everywhere = KeyValue(image.keys, torch.ones_like(image.values))
    torch.testing.assert_close(build_prior(Added(), PLACE).double()(q, everywhere, None, 0.0), everywhere.values)


def test_without_a_prior_distance_does_not_matter():
    q, image = draw()
    out = build_prior(NoPrior(), PLACE)(q, image, None, 0.0)
    torch.testing.assert_close(out, by_hand(q, image, lambda scores, distances, gamma: numpy_softmax(scores)))


@every_prior
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_a_padded_line_is_the_line_alone(prior, dtype):
    """Also beside a line so much longer that γ^|i-j| from the padding to the line underflows."""
    (q, image), long = draw(tokens=300, dtype=dtype), torch.tensor([300, 7])
    mask = torch.arange(300) < long[:, None]
    prior = build_prior(prior, PLACE).to(dtype)
    together = prior(q, image, mask, 0.0)
    alone = prior(q[1:, :, :7], KeyValue(*(part[1:, :, :7] for part in image)), None, 0.0)
    torch.testing.assert_close(together[1:, :, :7], alone, rtol=1e-5, atol=1e-5)
    assert together.isfinite().all()


@every_prior
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_close(prior, dtype):
    q, image = draw(tokens=150, dtype=dtype)
    mask = torch.arange(150) < torch.tensor([[150], [40]])
    expected = build_prior(prior, PLACE).double()(q.double(), KeyValue(*(part.double() for part in image)), mask, 0.0)
    out = build_prior(prior, PLACE)(q, image, mask, 0.0)
    assert out.dtype == dtype
    assert (out.double() - expected)[mask[:, None].expand(2, 4, 150)].norm() < 0.02 * expected.norm()


@every_prior
def test_dropout_thins_out_the_weights(prior):
    q, image = draw()
    prior = build_prior(prior, PLACE).double()
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
