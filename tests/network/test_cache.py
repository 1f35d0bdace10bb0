"""What a cache remembers stays, whatever is done with others that came from it; or it says that it is gone."""

import pytest
import torch

from drethtr.network import cache as module
from drethtr.network.attention import KeyValue
from drethtr.network.cache import ROOM, StaleCacheError, TextCache
from drethtr.network.network import select_rows

ROWS, HEADS, WIDTH = 3, 2, 4


def draw(tokens, rows=ROWS):
    return KeyValue(*torch.randn(2, rows, HEADS, tokens, WIDTH))


def joined(*pieces):
    return KeyValue(*(torch.cat(parts, dim=2) for parts in zip(*pieces, strict=True)))


def same(cache, expected):
    return all(torch.equal(a, b) for a, b in zip(cache.tokens, expected, strict=True))


def begun(text):
    return TextCache.empty(draw(1, text.keys.shape[0])).followed_by(text)


def test_begins_empty():
    cache = TextCache.empty(draw(5))
    assert cache.length == 0 and cache.tokens.keys.shape == (ROWS, HEADS, 0, WIDTH)


@pytest.mark.parametrize("first", [1, 7, ROOM - 1, ROOM, 3 * ROOM])
def test_remembers_what_was_written_in_any_pieces(first):
    text, pieces = draw(first), [draw(1), draw(1), draw(5), draw(ROOM), draw(1)]
    cache = begun(text)
    for piece in pieces:
        text, cache = joined(text, piece), cache.followed_by(piece)
        assert same(cache, text) and cache.length == text.keys.shape[2]


@pytest.mark.parametrize("at_once", [1, module.REORDERED_AT_ONCE], ids=["head by head", "together"])
def test_rows_may_change_places_at_any_step(at_once, monkeypatch):
    monkeypatch.setattr(module, "REORDERED_AT_ONCE", at_once)
    text = draw(2)
    cache, generator = begun(text), torch.Generator().manual_seed(0)
    for rows in (3, 3, 6, 6, 2, 1, 4):
        chosen = torch.randint(cache.rows.shape[0], (rows,), generator=generator)
        piece = draw(1, rows)
        text = joined(select_rows(text, chosen), piece)
        cache = select_rows(cache, chosen).followed_by(piece)
        assert same(cache, text)


def test_rows_that_changed_places_twice_before_a_step_are_where_they_should_be():
    text, piece = draw(2), draw(1)
    cache = select_rows(select_rows(begun(text), torch.tensor([2, 0, 1])), torch.tensor([1, 1, 0]))
    assert same(cache.followed_by(piece), joined(select_rows(text, torch.tensor([0, 0, 2])), piece))


def test_a_text_can_go_on_in_two_ways():
    start, middle, one, other = draw(2), draw(1), draw(1), draw(1)
    cache = begun(start).followed_by(middle)
    first, second = cache.followed_by(one), cache.followed_by(other)
    assert same(first, joined(start, middle, one)) and same(second, joined(start, middle, other))


def test_a_step_moves_nothing_while_there_is_room():
    cache = begun(draw(1)).followed_by(draw(1))
    place = cache.tokens.keys.data_ptr()
    for _ in range(ROOM - 2):
        cache = cache.followed_by(draw(1))
        assert cache.tokens.keys.data_ptr() == place
    assert cache.followed_by(draw(1)).tokens.keys.data_ptr() != place


def test_a_cache_whose_rows_have_changed_places_is_gone():
    cache = begun(draw(2)).followed_by(draw(1))
    select_rows(cache, torch.tensor([2, 0, 1])).followed_by(draw(1))
    with pytest.raises(StaleCacheError, match="reordered since"):
        cache.followed_by(draw(1))
    with pytest.raises(StaleCacheError, match="reordered since"):
        _ = cache.tokens


def test_changed_places_need_no_second_copy():
    cache = begun(draw(1)).followed_by(draw(1))
    place = cache.tokens.keys.data_ptr()
    cache = select_rows(cache, torch.tensor([1, 1, 0])).followed_by(draw(1))
    assert cache.tokens.keys.data_ptr() == place


def test_a_query_attends_to_itself_and_the_past():
    """Queries are at the last tokens."""
    cache = begun(draw(4))
    assert cache.distance(2).tolist() == [[2, 1, 0, -1], [3, 2, 1, 0]]
    assert cache.seen(2).tolist() == [[True, True, True, False], [True] * 4]
    assert cache.seen(1) is None, "the last one sees everything"
