"""The compiled loops against their Python forms, on any input; and what they refuse."""

import math
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import log_probability
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as hypothesis_arrays

from drethtr.base.native import native
from drethtr.images.straighten import covered_in_python, nearest, nearest_in_python, positions
from drethtr.language.languages import NO_LANGUAGE_MODEL, WeightedNGrams
from drethtr.language.learn import Ingredient, learn
from drethtr.language.ngrams import STEP, NGrams, dtypes, log_probabilities
from drethtr.layout.outline import seam, seam_in_python
from drethtr.recognition.decoding.ctc_paths import CompiledSums, Paths
from drethtr.recognition.decoding.ctc_search import prefix_search, prefix_search_in_python, viterbi, viterbi_in_python
from drethtr.recognition.posteriors import Posteriors
from drethtr.search.automaton import automaton_of
from drethtr.search.packed import VALUES, PackedLines
from drethtr.search.query import Spelling, pattern_of
from drethtr.text.tokenizer import BLANK, BOS, EOS, Characters

compiled = pytest.mark.skipif(native is None, reason="not compiled")

LETTERS = Characters(" abcd")
MANY = Characters("".join(map(chr, range(0x4E00, 0x4E00 + 500))))
TEXTS = ["abba", "a bad cab", "dad", "a cab", "bad", "add a bad dad", "abcd"] * 3
NGRAMS = [
    learn([Ingredient(TEXTS)], LETTERS, order=order, most=most) for order, most in [(1, 99), (3, 20), (6, 10_000)]
]
WIDE = learn(
    [Ingredient(["".join(chr(0x4E00 + (a * b) % 500) for a in range(40)) for b in range(20)])],
    MANY,
    order=3,
    most=9_999,
)

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "drethtr" / "base" / "compiled"
BUILD = runpy.run_path(str(ROOT / "setup.py"))


def test_where_there_is_a_compiler_the_loops_are_compiled():
    """Otherwise all tests of them would be skipped without a word."""
    assert native is not None or shutil.which("cc") is None, "pip install -e ."


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
@pytest.mark.parametrize("limited", [["-DPy_LIMITED_API=0x030B0000"], []], ids=["stable ABI", "any"])
def test_it_compiles_without_warnings(limited):
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").is_file():
        pytest.skip("no Python.h")
    wary = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    wary += ["-Drestrict=unknown"]  # MSVC knows it only with /std:c11, and always `__restrict`
    numbers = [f"-D{name}={value}" for name, value in BUILD["macros"]()]
    subprocess.run(["cc", *wary, *limited, *numbers, "-isystem", include, *SOURCES.glob("*.c")], check=True)


def test_numbers_of_the_compiled_loops_are_those_of_their_modules():
    """setup.py reads them from the sources, without importing these."""
    for path, names in BUILD["SHARED"].items():
        module = import_module("drethtr." + path.removesuffix(".py").replace("/", "."))
        macros = {name: eval(value) for name, value in BUILD["macros"]()}
        assert [macros[f"{Path(path).stem.upper()}_{name}"] for name in names] == [getattr(module, n) for n in names]


def test_without_a_compiler_it_is_left_out(tmp_path):
    pytest.importorskip("setuptools")
    modules = (ROOT / "src" / "drethtr" / path for path in BUILD["SHARED"])
    for path in (ROOT / "setup.py", *modules, *SOURCES.iterdir()):
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    environment = os.environ | {"CC": str(tmp_path / "no-compiler")}
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert not [*tmp_path.rglob("*.so")]


@st.composite
def rows(draw, most_steps=40, tokens=LETTERS.size):
    """Log-probabilities, sharp or flat, with impossible tokens, certain blanks and ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = draw(st.integers(0, most_steps))
    logits = draw(st.sampled_from([0.5, 2.0, 6.0])) * rng.normal(size=(steps, tokens))
    if draw(st.booleans()):
        logits = logits.round()
    logits[rng.random(logits.shape) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = -np.inf
    logits[rng.random(steps) < draw(st.sampled_from([0.0, 0.5])), BLANK] = 12.0
    logits[np.isneginf(logits).all(1), BLANK] = 0.0
    return (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)


language_models = st.one_of(
    st.just(NO_LANGUAGE_MODEL),
    st.builds(WeightedNGrams, st.sampled_from(NGRAMS), st.sampled_from([0.0, 0.1, 0.4, 1.0, 3.0])),
)


def assert_same_texts(log_probs, beams, tokens_per_step, margin, language_model):
    found = prefix_search(
        log_probs, beams=beams, tokens_per_step=tokens_per_step, margin=margin, language_model=language_model
    )
    expected = prefix_search_in_python(log_probs, beams, tokens_per_step, margin, language_model)
    assert [text.tokens for text in found] == [text.tokens for text in expected]
    for name in ("log_probability", "score"):
        values, others = ([getattr(text, name) for text in texts] for texts in (found, expected))
        assert values == pytest.approx(others, abs=1e-9, rel=1e-12)


@compiled
@given(
    rows(),
    st.sampled_from([1, 2, 5, 10, 200]),
    st.integers(1, 10),
    st.sampled_from([0.0, 0.5, 6.0, 50.0, np.inf]),
    language_models,
)
def test_prefix_search(log_probs, beams, tokens_per_step, margin, language_model):
    assert_same_texts(log_probs, beams, tokens_per_step, margin, language_model)


@compiled
@pytest.mark.parametrize("language_model", [NO_LANGUAGE_MODEL, WeightedNGrams(WIDE, 0.4)], ids=["alone", "n-grams"])
def test_prefix_search_of_a_long_line_with_many_tokens(language_model):
    rng = np.random.default_rng(0)
    logits = 2 * rng.normal(size=(900, MANY.size))
    logits[:, BLANK] += 7
    logits[np.arange(0, 900, 3), rng.integers(4, MANY.size, 300)] += 9
    log_probs = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)
    assert len(prefix_search(log_probs, beams=5, language_model=language_model)[0].tokens) > 150
    for margin in (6.0, np.inf):
        assert_same_texts(log_probs, 5, 8, margin, language_model)


@compiled
@given(rows(), st.lists(st.integers(0, LETTERS.size - 1), max_size=12))
@example(np.zeros((0, LETTERS.size), np.float32), [])
@example(np.zeros((0, LETTERS.size), np.float32), [4])
def test_viterbi(log_probs, tokens):
    text = np.array(tokens, dtype=np.int64)
    found, expected = viterbi(log_probs, text), viterbi_in_python(log_probs, text)
    assert (found is None) == (expected is None)
    assert found is None or found.tolist() == expected.tolist()


@compiled
@given(rows(), st.lists(st.sampled_from([0, 2, 3, 4, 5]), max_size=12), st.integers(0, 12))
def test_sums_over_all_paths(log_probs, text, place):
    law, fast = Paths(log_probs, np.logaddexp), CompiledSums(log_probs)
    beginnings, endings = [law.empty, fast.empty], [law.end, fast.end]
    for token in text[:place]:
        beginnings = [paths.longer(one, token) for paths, one in zip((law, fast), beginnings, strict=True)]
    for token in reversed(text[place:]):
        endings = [paths.earlier(token, one) for paths, one in zip((law, fast), endings, strict=True)]
    expected, found = beginnings
    for logs, numbers in zip(
        (expected.in_token, expected.in_blank, endings[0].entered),
        (found.in_token, found.in_blank, endings[1].entered),
        strict=True,
    ):
        mantissas, exponents = numbers.T
        values = [
            math.log(m) + e * 256 * math.log(2) if m else -math.inf for m, e in zip(mantissas, exponents, strict=True)
        ]
        np.testing.assert_allclose(values, logs, rtol=1e-10, atol=1e-9)
    assert fast.whole(found, endings[1]) == pytest.approx(law.whole(expected, endings[0]), rel=1e-10, abs=1e-9)


@compiled
def test_sums_smaller_than_any_double():
    """A flat line of 126 tokens and 900 steps: all paths of a text together are some e^-2000 likely."""
    log_probs = np.log(np.random.default_rng(0).dirichlet(np.ones(126), 900)).astype(np.float32)
    law, fast = Paths(log_probs, np.logaddexp), CompiledSums(log_probs)
    text = np.random.default_rng(1).integers(2, 126, 200).tolist()
    values = []
    for paths in (law, fast):
        beginning, ending = paths.empty, paths.end
        for token in text[:100]:
            beginning = paths.longer(beginning, token)
        for token in reversed(text[100:]):
            ending = paths.earlier(token, ending)
        values.append(paths.whole(beginning, ending))
    assert values[0] < -2000 and values[1] == pytest.approx(values[0], rel=1e-12)


@compiled
@given(st.sampled_from([*NGRAMS, WIDE]), st.lists(st.integers(-5, MANY.size + 5), max_size=30))
def test_surprises(ngrams, tokens):
    assert ngrams.surprises(tokens) == ngrams.surprises_in_python(tokens)


@compiled
@given(st.lists(st.integers(4, LETTERS.size), max_size=20), st.data())
def test_texts_like_another_have_the_scores_that_they_have_alone(base, data):
    places = st.integers(0, len(base))
    texts = [base]
    for first, last in data.draw(st.lists(st.tuples(places, places), max_size=5)):
        texts.append([*base[:first], *data.draw(st.lists(st.integers(4, LETTERS.size), max_size=3)), *base[last:]])
    expected = [[-sum(ngrams.surprises_in_python((*text, EOS))) for ngrams in NGRAMS] for text in texts]
    assert log_probabilities(NGRAMS, texts).tolist() == expected


@compiled
@given(st.data(), st.integers(1, 30), st.integers(1, 10))
def test_no_tree_of_ngrams_is_dangerous(data, nodes, order):
    """Numbers that `NGrams.check` would refuse change the results, and nothing else."""
    contexts = data.draw(st.integers(1, nodes))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    firsts = rng.integers(-3, nodes + 3, contexts + 1)
    if data.draw(st.booleans()):
        firsts.sort()
    tokens, losses = rng.integers(0, 8, (2, nodes), dtype=np.uint8)
    table = (order, tokens, losses, firsts.astype(np.int64).data, rng.integers(-9, 9, contexts, dtype=np.int8))
    lines = tuple(array("i", rng.integers(0, 8, length).tolist()) for length in (20, 1, 20, 30))
    found, lost = np.full((4, 2), np.nan), np.full(29, np.nan)
    native.log_probabilities(lines, (table, table), found)
    native.surprises(lines[3], table, lost)
    assert np.isfinite(found).all() and np.isfinite(lost).all()
    log_probs = np.log(rng.dirichlet(np.ones(8), 20)).astype(np.float32)
    for text, *scores in native.prefix_search(log_probs, 8, BLANK, 5, 4, 6.0, 0.4, 2.0, (BOS, EOS), table):
        assert len(text) <= 20 and np.isfinite(scores).all()


@compiled
def test_what_is_no_number_is_impossible():
    log_probs = np.full((6, 4), np.nan, np.float32)
    log_probs[:, 2], log_probs[:, 3] = -0.5, np.inf
    [text] = prefix_search(log_probs)
    assert text == ((2,), -3.0, -3.0)


SEARCH = (np.zeros((5, 4), np.float32), 4, BLANK, 5, 4, 6.0, 0.4, 2.0, (BOS, EOS), None)


@compiled
@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((1, tokens) for tokens in (-4, 0, 3)),
        *((2, blank) for blank in (-1, 4)),
        *((3, beams) for beams in (0, 2**40)),
        (4, 0),
        *((5, margin) for margin in (-1.0, np.nan)),
        (6, np.inf),
        (7, np.nan),
        (0, np.zeros(6, np.uint8)),
        (0, np.zeros(81, np.uint8)[1:]),
        *((9, (order, *NGRAMS[0].table[1:])) for order in (0, 11)),
        (9, (1, *NGRAMS[1].table[1:4], NGRAMS[0].table[4])),
    ],
)
def test_wrong_sizes_are_refused(place, value):
    native.prefix_search(*SEARCH)
    with pytest.raises(ValueError, match=r"rows \(S, V\)|no tree"):
        native.prefix_search(*SEARCH[:place], value, *SEARCH[place + 1 :])


@compiled
def test_wrong_sizes_are_refused_by_the_others():
    log_probs, path = np.zeros((5, 4), np.float32), np.zeros(5, np.int32)
    with pytest.raises(ValueError, match="less than V"):
        native.viterbi(log_probs, 4, np.array([4], np.int32), BLANK, path)
    with pytest.raises(ValueError, match="less than V"):
        native.viterbi(log_probs, 4, np.array([-1], np.int32), BLANK, path)
    with pytest.raises(ValueError, match="less than V"):
        native.viterbi(log_probs, 4, np.array([2], np.int32), BLANK, path[:4])
    five, six = np.zeros((5, 2)), np.zeros((6, 2))
    native.longer(five, five, False, six, six, six.copy(), six.copy())
    native.earlier(five, five, False, six, six.copy())
    for wrong in range(5):
        arrays = [five, five, six, six, six.copy()]
        arrays[wrong] = np.zeros((7, 2))
        with pytest.raises(ValueError, match="lengths"):
            native.longer(arrays[0], arrays[1], False, *arrays[2:], six.copy())
    with pytest.raises(ValueError, match="lengths"):
        native.earlier(five, five, False, six, five)
    with pytest.raises(ValueError, match="lengths"):
        native.whole(False, six, five, six)
    with pytest.raises(ValueError, match="contiguous"):
        native.whole(False, six, np.zeros((12, 2))[::2], six)
    with pytest.raises(ValueError, match="lengths"):
        native.numbers(np.zeros(5), six)


@compiled
def test_texts_without_a_place_for_each_are_refused():
    text, table = array("i", [BOS, 5, EOS]), NGRAMS[0].table
    for lines, found in (((text,), np.empty(2)), ((array("b", b"abc"),), np.empty(1))):
        with pytest.raises(ValueError, match="a place for each"):
            native.log_probabilities(lines, (table,), found)
    with pytest.raises(ValueError, match="a place for each"):
        native.surprises(text, table, np.empty(3))
    with pytest.raises(TypeError):
        native.log_probabilities((1,), (table,), np.empty(1))


# Without subnormal numbers, which torch turns off for a process that has trained before.
COORDINATES = st.floats(-50, 50, width=16, allow_subnormal=False)
points = hypothesis_arrays(np.float64, st.tuples(st.integers(1, 30), st.just(2)), elements=COORDINATES)


@compiled
@given(hypothesis_arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 40)), elements=st.integers(0, 9)))
def test_seams(cost):
    """Also where several are equally cheap."""
    assert seam(cost).tolist() == seam_in_python(cost).tolist()


@compiled
@given(points, points)
def test_nearest_points(some, others):
    assert nearest(some, others).tolist() == nearest_in_python(some, others).tolist()


@compiled
@given(
    hypothesis_arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9))),
    points,
    st.integers(-9, 9),
    st.integers(-9, 9),
    st.integers(1, 9),
)
def test_strips_are_covered_alike(table, places, left, top, above):
    """Wherever they lie on the page."""
    downs = np.stack((np.sin(places[:, 0]), np.cos(places[:, 0])), axis=1)
    mask = np.empty((above + 5, len(places)), dtype=np.bool_)
    native.covered(table, table.shape[1], left, top, places, downs, above, mask)
    assert (mask == covered_in_python(table, left, top, *positions(places, downs, above, 5))).all()


@compiled
def test_a_position_that_is_no_number_is_at_the_edge():
    table = np.array([[True, False], [False, False]])
    places, mask = np.full((4, 2), np.nan), np.zeros((6, 4), dtype=np.bool_)
    native.covered(table, 2, 0, 0, places, places, 3, mask)
    assert mask.all()


@compiled
def test_other_shapes_of_strips_are_refused():
    two, cost = np.zeros((4, 2)), np.full((3, 4), np.nan)
    native.seam(cost, np.zeros(4, dtype=np.int64))  # of costs that are no numbers any path will do
    for wrong in (np.zeros(5, dtype=np.int64), np.zeros(0, dtype=np.int64)):
        with pytest.raises(ValueError, match="column for each place"):
            native.seam(cost, wrong)
    with pytest.raises(ValueError, match="pairs"):
        native.nearest(two, two[:0].copy(), np.zeros(4, dtype=np.int64))
    for table, width in ((np.zeros((3, 3), np.bool_), 2), (np.zeros((3, 3), np.bool_), 0), (np.zeros(0, np.bool_), 3)):
        with pytest.raises(ValueError, match="one strip"):
            native.covered(table, width, 0, 0, two, two, 1, np.zeros((2, 4), np.bool_))


@compiled
def test_threads_read_one_line_each():
    lines = [
        np.log(np.random.default_rng(n).dirichlet(np.ones(LETTERS.size), 200)).astype(np.float32) for n in range(16)
    ]
    language_model = WeightedNGrams(NGRAMS[2], 0.4)
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda line: prefix_search(line, language_model=language_model), lines))
    assert together == [prefix_search(line, language_model=language_model) for line in lines]


def test_numbers_of_the_compiled_module_are_those_of_ngrams():
    """A model of one token: what it loses, and what an unknown one does."""
    arrays = {name: np.zeros(2 if name in ("tokens", "losses") else 1, dtype) for name, dtype in dtypes(8).items()}
    arrays["children"][0], arrays["losses"][1], arrays["tokens"][1] = 1, 7, EOS
    ngrams = NGrams(8, 1, **arrays)
    assert log_probability(ngrams, []) == -7 * STEP and log_probability(ngrams, [5]) == -(7 + 255) * STEP


@compiled
def test_a_page_that_is_none_is_refused():
    """Whatever the sizes, places and classes are, nothing outside the arrays is read."""
    lines = PackedLines.of([Posteriors.certain("a cab", [0.0, 9.0, 18.0, 27.0, 36.0], 4.0)] * 2)
    automaton = automaton_of(pattern_of("cab", Spelling()), Spelling())
    classes, content = automaton.classes_of(lines.texts), lines.content
    tables = [*automaton.known(), automaton.breaks, VALUES, automaton.pieces]
    good = [[content] * 2, [classes] * 2, *tables, automaton.found, automaton.dead, 1e-10, 1e-8, np.empty((4, 2))]
    native.word_on_pages(*good)
    assert good[-1].tolist() == [[1, 0]] * 4
    steps = 16 + 6 * len(lines)
    wrong = [
        (0, [content, content[:-1]]),
        (0, [content, b""]),
        (0, [content, b"\xff" * len(content)]),
        (0, [content, content[:24] + b"\xff\xff" + content[26:]]),
        (0, [content, content[:steps] + b"\x1f" + content[steps + 1 :]]),
        (0, [content]),
        (1, [classes, b"\xff" * len(classes)]),
        (1, [classes, classes[1:]]),
        (2, automaton.classes + np.uint16(500)),
        (3, b""),
        (4, automaton.breaks + np.uint16(500)),
        (5, VALUES[1:]),
        (6, bytes([3, 0, 0, 4, 5])),
        (7, 500),
        (8, -1),
        (11, np.empty((3, 2))),
        (11, np.empty((5, 2))),
    ]
    for place, value in wrong:
        with pytest.raises(ValueError, match=r"such pages|content and its classes"):
            native.word_on_pages(*good[:place], value, *good[place + 1 :])
    with pytest.raises(TypeError):
        native.word_on_pages([1, 2], *good[1:])


def damaged(content: bytes, draw: Callable[[st.SearchStrategy], Any]) -> bytes:
    """Bytes of which some are others, missing, or new."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(changed)))
        changed[place : place + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(changed)


@compiled
@given(st.data())
def test_no_page_is_dangerous(data):
    """Damaged pages are refused, or read as others; so are damaged automata."""
    lines = PackedLines.of([Posteriors.certain("a cab", [0.0, 9.0, 18.0, 27.0, 36.0], 4.0)] * 2)
    automaton = automaton_of(
        pattern_of(data.draw(st.sampled_from(["cab", "a*", "?ab", "bad cab"])), Spelling()), Spelling()
    )
    contents = [damaged(lines.content, data.draw) for _ in range(2)]
    classes = [damaged(automaton.classes_of(lines.texts), data.draw) for _ in range(2)]
    after, kinds = automaton.known()
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    wrong = rng.random(after.shape) < data.draw(st.sampled_from([0, 0.1]))
    states = np.where(wrong, rng.integers(0, after.shape[1] + 1, after.shape), after).astype(np.uint16)
    pieces = damaged(automaton.pieces, data.draw)
    found = np.full((data.draw(st.integers(3, 5)), 2), np.nan)
    tables = (states, damaged(kinds, data.draw), automaton.breaks, VALUES, pieces, automaton.found, automaton.dead)
    with suppress(ValueError):
        native.word_on_pages(contents, classes, *tables, 1e-10, 1e-8, found)
        assert np.isfinite(found).all()
