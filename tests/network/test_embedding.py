import numpy as np
import pytest
import torch

from drethtr.base.errors import ConfigError
from drethtr.network.embedding import POSITIONS, TextEmbedding, sinusoid
from drethtr.recognition.model.architecture import Learned, Sinusoidal


def test_the_sinusoid_is_the_published_one():
    """m = d/2, f_k = 10000^(-k/(m-1)); sines, then cosines."""
    frequencies = 10_000.0 ** (-np.arange(8) / 7)
    angles = np.array([0, 1, 2.5, 93])[:, None] * frequencies
    expected = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    ours = sinusoid(torch.tensor([0, 1, 2.5, 93], dtype=torch.float64), 16)
    np.testing.assert_allclose(ours.numpy(), expected, atol=1e-12)


def test_text_knows_where_it_begins():
    embed, tokens = TextEmbedding(11, 16, dropout=0.0), torch.randint(11, (2, 9))
    whole, places = embed(tokens, torch.arange(9)), torch.arange(9).split([4, 5])
    parts = [embed(*part) for part in zip(tokens.split([4, 5], dim=1), places, strict=True)]
    assert torch.equal(torch.cat(parts, dim=1), whole)
    torch.testing.assert_close(whole - embed.tokens(tokens), sinusoid(torch.arange(9.0), 16).expand(2, -1, -1))


def test_dropout_leaves_the_position_whole():
    embed = TextEmbedding(11, 16, dropout=1.0)
    torch.testing.assert_close(
        embed(torch.zeros(1, 5, dtype=torch.long), torch.arange(5))[0], sinusoid(torch.arange(5.0), 16)
    )


def test_half_precision_counts_beyond_256():
    embed = TextEmbedding(11, 16, dropout=1.0).bfloat16()
    places = embed(torch.zeros(1, 2, dtype=torch.long), torch.tensor([300, 301]))[0].float()
    torch.testing.assert_close(places, sinusoid(torch.tensor([300.0, 301.0]), 16), rtol=0, atol=0.004)


@pytest.mark.parametrize(("tokens", "places"), [(3, [0, 1, 2]), (5, [0, 1, 2, 3, 4])])
def test_a_line_that_fits_takes_the_first_learned_places(tokens, places):
    positions = POSITIONS.build(Learned(5), 4)
    added = positions(torch.zeros(1, tokens, 4), torch.tensor([tokens]))
    assert torch.equal(added, positions.table[:, places])


def test_a_line_that_does_not_fit_stretches_the_table():
    """Its ends keep the ends of the table, between them it is interpolated; its neighbor, which fits, is not moved."""
    positions = POSITIONS.build(Learned(3), 1)
    positions.table.data = torch.tensor([[[0.0], [10.0], [30.0]]])
    added = positions(torch.zeros(2, 5, 1), torch.tensor([5, 3]))[..., 0]
    assert added[0].tolist() == [0, 5, 10, 20, 30]
    assert added[1, :3].tolist() == [0, 10, 30]


def test_a_table_of_one_place_says_only_that_there_is_an_image():
    positions = POSITIONS.build(Learned(1), 4)
    added = positions(torch.zeros(2, 3, 4), torch.tensor([3, 1]))
    assert torch.equal(added, positions.table.expand(2, 3, 4))
    with pytest.raises(ConfigError, match="places must be at least 1, not 0"):
        Learned(0)


def test_sinusoidal_places_of_the_image():
    added = POSITIONS.build(Sinusoidal(), 16)(torch.zeros(2, 7, 16), torch.tensor([7, 2]))
    torch.testing.assert_close(added, sinusoid(torch.arange(7.0), 16).expand(2, 7, 16))
