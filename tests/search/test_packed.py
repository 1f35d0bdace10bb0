import numpy as np
import pytest

from drethtr.base.errors import DataError
from drethtr.images.prepare import Piece
from drethtr.recognition.posteriors import MIN_PROBABILITY, Posteriors, joined
from drethtr.search.packed import MAX_LINE_BYTES, ODDS, PackedLines

TEXTS = ["", "", "", "?", *"abcdefgh", "œ"]
RNG = np.random.default_rng(0)


def log_probs(steps):
    logits = 3 * RNG.normal(size=(steps, len(TEXTS)))
    logits[:, 1] += 4
    logits[:, [0, 2]] = -np.inf
    return (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)


def dense(posteriors, steps):
    """Probabilities by step and text."""
    found = {}
    for step in range(posteriors.steps):
        for entry in range(posteriors.firsts[step], posteriors.firsts[step + 1]):
            text = posteriors.texts[posteriors.tokens[entry]]
            found[int(posteriors.numbers[step]), text] = posteriors.probabilities[entry]
    assert all(0 <= step < steps for step, _ in found)
    return found


def test_what_is_possible_is_kept_and_the_rest_left_out():
    rows = log_probs(50)
    kept = dense(Posteriors.of(rows, TEXTS, 4.0), 50)
    wanted = {(s, TEXTS[t]): np.exp(rows[s, t]) for s in range(50) for t in range(3, len(TEXTS))}
    assert kept == pytest.approx({key: chance for key, chance in wanted.items() if chance > MIN_PROBABILITY})


def without_skirts(found):
    """What is left of probabilities by step and text, when a token is ten times likelier beside a step."""
    beside = {(s, t): max(found.get((s - 1, t), 0), found.get((s + 1, t), 0)) for s, t in found}
    return {key: chance for key, chance in found.items() if chance >= 0.1 * beside[key]}


def log_odds(chance):
    return np.log(chance / (1 - chance))


def test_lines_come_back_at_the_nearest_levels_without_skirts():
    rows = [log_probs(steps) for steps in (60, 1, 0, 35)]
    lines = [Posteriors.of(row, TEXTS, 4.5) for row in rows]
    packed = PackedLines.from_bytes(PackedLines.of(lines).content)
    assert len(packed) == 4
    for number, (row, line) in enumerate(zip(rows, lines, strict=True)):
        again = packed.line(number)
        assert again.step == pytest.approx(4.5)
        expected = without_skirts(dense(line, len(row)))
        found = dense(again, len(row))
        assert found.keys() == expected.keys()
        for place, chance in expected.items():
            bounded = np.clip(log_odds(chance), ODDS[-1], ODDS[0])
            assert log_odds(found[place]) == pytest.approx(bounded, abs=0.501 * (ODDS[0] - ODDS[1]))


def test_lines_are_packed_alike_whatever_the_order_of_their_texts():
    """Skirts were only found in some orders, not in that of a line joined from pieces."""
    chances = np.tile([[0.9, 0.05, 0.01, 0.005, 0.002], [0.05, 0.6, 0.02, 0.3, 0.001]], (5, 1))
    packed = [
        PackedLines.of(
            [
                Posteriors(
                    tuple("abcde"[place] for place in order),
                    np.arange(10),
                    np.arange(0, 51, 5),
                    np.tile(np.arange(5), 10),
                    chances[:, order].ravel(),
                    4.0,
                )
            ]
        )
        for order in ([0, 1, 2, 3, 4], [4, 2, 1, 3, 0])
    ]
    assert packed[0].content == packed[1].content


def test_a_step_keeps_its_likeliest_tokens():
    texts = [*map(chr, range(0x61, 0x61 + 20))]
    chances = np.linspace(0.09, 0.01, 20)
    line = Posteriors(tuple(texts), np.zeros(1, np.int64), np.array([0, 20]), np.arange(20), chances, 4.0)
    again = PackedLines.from_bytes(PackedLines.of([line]).content).line(0)
    assert [again.texts[token] for token in again.tokens] == texts[:15]


def test_a_page_takes_no_more_bytes_than_it_may():
    flat = np.full((400, len(TEXTS)), -np.inf, dtype=np.float32)
    flat[:, 3:] = np.log(RNG.dirichlet(np.ones(len(TEXTS) - 3), 400))
    lines = [Posteriors.of(flat, TEXTS, 4.0) for _ in range(3)]
    packed = PackedLines.of(lines)
    assert len(packed.entries) + len(packed.steps) <= MAX_LINE_BYTES * 3
    assert len(packed.entries) > 0.98 * (MAX_LINE_BYTES - 400) * 3  # each step of the lines may take a byte
    whole = without_skirts(dense(lines[0], 400))
    kept = dense(packed.line(0), 400).keys()
    assert min(whole[place] for place in kept) >= max(whole[place] for place in whole.keys() - kept)


def test_a_gap_wider_than_a_byte_is_kept():
    line = Posteriors.certain("ab", [0.0, 4000.0], 4.0)
    again = PackedLines.from_bytes(PackedLines.of([line]).content).line(0)
    places = {text: step for step, text in dense(again, 10_000)}
    assert places == {"a": 0, "b": 1000}


def test_known_texts_of_any_letters():
    line = Posteriors.certain("žluť kůň", [float(place) for place in range(8)], 4.0)
    again = PackedLines.from_bytes(PackedLines.of([line]).content).line(0)
    assert "".join(again.texts[token] for token in again.tokens) == "žluť kůň"


def test_pieces_of_a_line_are_joined_at_their_seam():
    """Both pieces see the overlap; each step is taken from one of them, in order."""
    rows = log_probs(80)
    whole = Posteriors.of(rows, TEXTS, 4.0)
    left, right = Posteriors.of(rows[:50], TEXTS, 4.0), Posteriors.of(rows[30:], TEXTS, 4.0)
    pieces = [(Piece(0, 200, -np.inf, 161.0), left), (Piece(120, 320, 161.0, np.inf), right)]
    assert dense(joined(pieces), 80) == pytest.approx(dense(whole, 80))


def test_no_letter_is_lost_at_a_seam():
    """Both pieces round the places of theirs to step 39: that of the right one was dropped."""
    left, right = Posteriors.certain("a", [156.0], 4.0), Posteriors.certain("b", [36.0], 4.0)
    pieces = [(Piece(0, 200, -np.inf, 158.5), left), (Piece(121, 321, 158.5, np.inf), right)]
    assert dense(joined(pieces), 80) == {(39, "a"): 1, (40, "b"): 1}


@pytest.mark.parametrize("damage", [lambda b: b[:-4], lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"x" * 40])
def test_damaged_bytes_are_refused(damage):
    content = PackedLines.of([Posteriors.of(log_probs(30), TEXTS, 4.0)]).content
    with pytest.raises(DataError, match="damaged"):
        PackedLines.from_bytes(damage(content))
