"""The network by onnxruntime equals the one by torch, which is the law."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import numpy as np
import pytest
import torch
from conftest import TINY
from PIL import Image

from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.network.backend import mean_of_image, network_of
from drethtr.network.network import DRetHTR
from drethtr.network.rescorer import RescorerNetwork
from drethtr.network.tree import stack_trees
from drethtr.paper.variants import RETHTR_SMALL, Gated, Sigmoid
from drethtr.recognition.model.architecture import (
    BASE,
    PPOCR,
    Added,
    CTCConfig,
    Light,
    NoPrior,
    RescorerConfig,
    Retentive,
    Unplaced,
)
from drethtr.recognition.model.decay import Scheduled
from drethtr.recognition.model.file import SHIPPED, Rescorer, load_model
from drethtr.recognition.onnx.network import OnnxNetwork, supports
from drethtr.recognition.protocol import TextTree

VOCABULARY = 13
WRITTEN = Path(__file__).parents[3] / "samples" / "000000.png"
TEXTS = [(5, 6, 7, 8), (5, 6, 9), (5, 6, 7, 8, 8, 4), (), (11,), (5, 6, 7)]

VARIANTS = {
    "tiny": TINY,
    "light-16, one step, one layer": replace(TINY, backbone=Light(height=16), ctc=CTCConfig(steps=1), layers=1),
    "light-64, not normalized": replace(TINY, backbone=Light(height=64), mixer=Retentive(normalize=False)),
    "ppocr-48": replace(TINY, backbone=PPOCR()),
    "ppocr-32, original, three steps": replace(
        TINY, backbone=PPOCR(height=32), mixer=Retentive(Scheduled("original")), ctc=CTCConfig(steps=3)
    ),
    "ppocr-80, uninformed": replace(TINY, backbone=PPOCR(height=80), ctc=CTCConfig(inform_decoder=False)),
    "no prior, final norm": replace(TINY, prior=NoPrior(), final_norm=True),
    "other prior, unplaced": replace(TINY, prior=Added(Scheduled("headwise", 0.5)), positions=Unplaced()),
    "no CTC, text unplaced": replace(TINY, ctc=None, text_positions=False),
    "ppocr, no CTC, one layer": replace(TINY, backbone=PPOCR(), ctc=None, layers=1),
    "wide": replace(TINY, layers=3, width=48, heads=6, hidden=100),
}
"""Each value of each setting, at least once."""


def random_network(config):
    """A network with random weights, none of them zero."""
    torch.manual_seed(3)
    network = DRetHTR(config, VOCABULARY).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not name.startswith("backbone"):
                parameter.add_(torch.randn_like(parameter) * 0.15)
    return network


def weights_of(network):
    return {name: weight.detach().contiguous().numpy() for name, weight in network.state_dict().items()}


def made(network, **options):
    return OnnxNetwork(network.config, weights_of(network), network.to_logits.out_features, **options)


def line(height, columns, seed=0):
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, (height, columns)).astype(np.float32)


@pytest.fixture(scope="module")
def shipped():
    return network_of(load_model(SHIPPED))


@pytest.fixture(scope="module", params=["shipped", *VARIANTS])
def both(request, shipped):
    network = shipped if request.param == "shipped" else random_network(VARIANTS[request.param])
    return network, made(network)


def encoded(network, *lines):
    """What torch remembers of each line alone."""
    tensors = [torch.from_numpy(x)[None, None].to(network.to_width.weight.dtype) for x in lines]
    with torch.inference_mode():
        return [network.encode_image(x, torch.tensor([x.shape[3]])) for x in tensors]


def exact(network):
    """The network in float64: on noise, torch in float32 is off by up to 4e-4, and onnxruntime by 3e-5."""
    return deepcopy(network).double()


def equal(found, expected, tolerance=1e-4):
    expected = np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def equal_memory(memory, number, expected):
    """One of the lines of a memory is as torch remembers it."""
    for kept, parts in zip(memory.kept[number], expected.layers, strict=True):
        for found, wanted in zip(kept, parts, strict=True):
            equal(found, wanted[0])
    assert memory.tokens[number] == expected.layers[0].keys.shape[2]
    equal(memory.mean[number].astype(np.float32), mean_of_image(expected)[0].astype(np.float32))
    if expected.ctc is None:
        assert memory.ctc is None and memory.drafts is None
    else:
        equal(memory.drafts[number], expected.ctc.draft[0])
        equal(memory.ctc[number], expected.ctc.refined[0])


def test_memory_equals_torch_at_all_widths(both):
    network, own = both
    lines = [line(network.backbone.height, columns) for columns in (1, 7, 8, 9, 14, 101, 300)]
    for x, expected in zip(lines, encoded(exact(network), *lines), strict=True):
        equal_memory(own.encode([x]), 0, expected)


def test_several_lines_are_remembered_as_each_alone(both):
    network, own = both
    lines = [line(network.backbone.height, columns, seed=columns) for columns in (70, 5, 133)]
    memory = own.encode(lines)
    assert memory.lines == 3
    for number, expected in enumerate(encoded(exact(network), *lines)):
        equal_memory(memory, number, expected)
    swapped = own.keep(memory, [2, 0, 2])
    assert swapped.tokens == tuple(memory.tokens[number] for number in (2, 0, 2))
    for number, before in enumerate((2, 0, 2)):
        assert np.array_equal(swapped.mean[number], memory.mean[before])
        assert swapped.kept[number] is memory.kept[before]


def test_trees_equal_torch(both):
    network, own = both
    lines = [line(network.backbone.height, columns) for columns in (120, 64)]
    trees = [TextTree.of(TEXTS), TextTree.of([])]
    found = own.score_trees(own.encode(lines), trees)
    for logits, tree, memory in zip(found, trees, encoded(network, *lines), strict=True):
        tokens, texts = stack_trees([tree])
        with torch.inference_mode():
            equal(logits, network.decode_tree(tokens, texts, memory)[0])


def test_a_tree_says_what_steps_say(both):
    network, own = both
    memory = own.encode([line(network.backbone.height, 90), line(network.backbone.height, 40)])
    text = TEXTS[2]
    trees = own.score_trees(memory, [TextTree.of([text]), TextTree.of([text])])
    state = own.begin(memory)
    for place, token in enumerate((0, *text)):
        logits, state = own.step(memory, np.array([token, token]), state)
        equal(logits, np.stack([tree[place] for tree in trees]))


def test_steps_equal_torch_with_beams_that_change_places(both):
    network, own = both
    lines = [line(network.backbone.height, columns) for columns in (90, 40)]
    memory, expected = own.encode(lines), encoded(network, *lines)
    state, theirs = own.begin(memory), [network.initial_state(part) for part in expected]
    moves = [(0, 0, 0, 1, 1, 1), (2, 0, 1, 3, 3, 5), (0, 1, 2, 4, 5, 3), (1, 1, 1, 3, 4, 4)]
    tokens = np.array([4, 5, 6, 7, 8, 9])
    logits, state = own.step(memory, np.array([0, 0]), state)
    whole = [[0], [0]]
    for rows in moves:
        state = own.reorder(state, np.array(rows))
        whole = [[*whole[row], int(token)] for row, token in zip(rows, tokens, strict=True)]
        logits, state = own.step(memory, tokens, state)
        for row, text in enumerate(whole):
            with torch.inference_mode():
                of_line = row // 3
                wanted, _ = network.decode_text(torch.tensor([text]), expected[of_line], theirs[of_line])
            equal(logits[row], wanted[0, -1])
        tokens = np.roll(tokens, 1)


def test_many_steps_equal_torch(both):
    """Longer than torch lets tokens wait before they enter its memory."""
    network, own = both
    x = line(network.backbone.height, 60)
    memory, [theirs] = own.encode([x]), encoded(network, x)
    state = own.begin(memory)
    text = [0, *np.random.default_rng(1).integers(4, VOCABULARY, 80).tolist()]
    with torch.inference_mode():
        wanted, _ = network.decode_text(torch.tensor([text]), theirs, network.initial_state(theirs))
    for place, token in enumerate(text):
        logits, state = own.step(memory, np.array([token]), state)
        equal(logits[0], wanted[0, place])


def test_without_image_equals_torch(both):
    network, own = both
    trees = [TextTree.of(TEXTS), TextTree.of([])]
    for tree, found in zip(trees, own.score_texts(trees), strict=True):
        tokens, texts = stack_trees([tree])
        with torch.inference_mode():
            equal(found, network.decode_tree(tokens, texts, network.without_image(1))[0])
    assert not own.dimensions.rescores


RESCORERS = {
    "small": RescorerConfig(layers=2, width=16, heads=2, hidden=24),
    "as shipped": RescorerConfig(),
    "not normalized": RescorerConfig(layers=1, width=16, heads=4, hidden=8, mixer=Retentive(normalize=False)),
}


@pytest.mark.parametrize("config", RESCORERS.values(), ids=RESCORERS)
def test_rescorers_equal_torch(config):
    """A tree of texts, and each of them alone."""
    torch.manual_seed(3)
    network = RescorerNetwork(config, VOCABULARY).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    rescorer = Rescorer(config, weights_of(network))
    own, bytes_ = (made(random_network(TINY), rescorer=rescorer, int8=int8) for int8 in (False, True))
    tree = TextTree.of(TEXTS)
    [found] = own.score_texts([tree])
    assert own.dimensions.rescores
    with torch.inference_mode():
        tokens, texts = stack_trees([tree])
        equal(found, network(tokens, texts)[0])
        for path in tree.paths:
            equal(found[path], network(torch.tensor([[tree.tokens[node] for node in path]]))[0])
    near(bytes_.score_texts([tree])[0], found)


def test_a_rescorer_of_other_weights_is_refused():
    rescorer = Rescorer(RESCORERS["small"], {})
    with pytest.raises(CheckpointError, match=r"the weights lack embed\.tokens\.weight"):
        made(random_network(TINY), rescorer=rescorer)
    weights = weights_of(RescorerNetwork(RESCORERS["small"], VOCABULARY))
    with pytest.raises(CheckpointError, match="does not use the weights more"):
        made(random_network(TINY), rescorer=rescorer._replace(weights=weights | {"more": np.zeros(1, np.float32)}))


def test_attention_equals_torch(both):
    network, own = both
    x = line(network.backbone.height, 100)
    tokens = [0, 5, 6, 7, 5]
    found = own.attend(own.encode([x]), tokens)
    expected = network.weigh(torch.tensor([tokens]), encoded(network, x)[0])
    for image, text, reach, layer in zip(found.image, found.text, found.reach, expected, strict=True):
        equal(image, layer.image)
        equal(text, layer.text)
        equal(reach, layer.reach, 1e-5)
    np.testing.assert_allclose(found.image.sum(-1), 1, rtol=1e-5)


def test_long_lines_equal_torch_in_float64(shipped):
    """Of writing: on noise, thousands of half-seen characters add up to a place in the text that rounding moves."""
    with Image.open(WRITTEN) as image:
        written = np.asarray(image.convert("L").resize((round(image.width * 48 / image.height), 48)), np.float32)
    x = np.tile(written / 127.5 - 1, (1, 20))[:, :3600]
    exact = deepcopy(shipped).double()
    with torch.inference_mode():
        expected = exact.encode_image(torch.from_numpy(x).double()[None, None], torch.tensor([3600]))
    memory = made(shipped).encode([x])
    equal(memory.ctc[0], expected.ctc.refined[0], 5e-4)
    for kept, parts in zip(memory.kept[0], expected.layers, strict=True):
        for found, wanted in zip(kept, parts, strict=True):
            equal(found, wanted[0], 2e-4)


@pytest.mark.parametrize("variant", ["tiny", "ppocr-48", "no prior, final norm", "no CTC, text unplaced"])
@pytest.mark.parametrize("columns", [121, 128, 135, 300])
def test_few_queries_at_once_change_nothing(variant, columns, monkeypatch):
    monkeypatch.setattr("drethtr.recognition.onnx.network.LONG", 120)
    monkeypatch.setattr("drethtr.recognition.onnx.image.QUERIES_AT_ONCE", 16)
    network = random_network(VARIANTS[variant])
    x = line(48, columns)
    equal_memory(made(network).encode([x]), 0, *encoded(exact(network), x))


def test_the_longest_line_is_encoded():
    network = random_network(replace(TINY, layers=1, ctc=None))
    memory = made(network).encode([line(48, 65_536)])
    assert memory.tokens == (8192,) and np.isfinite(memory.mean).all()


@pytest.mark.parametrize("int8", [False, True])
def test_threads_and_other_lines_change_nothing(shipped, int8):
    """Bit by bit."""
    alone, own = made(shipped, int8=int8), made(shipped, threads=2, int8=int8)
    assert own.workers == 2
    lines = [line(48, columns, seed=columns) for columns in (300, 301, 80, 555, 9, 300, 620, 128)]
    fresh = made(shipped, int8=int8)
    expected = [fresh.encode([x]).ctc[0] if n == 3 else alone.encode([x]).ctc[0] for n, x in enumerate(lines)]
    tree = TextTree.of(TEXTS)
    with ThreadPoolExecutor(2) as pool:
        memories = list(pool.map(own.encode, ([x] for x in lines)))
        trees = list(pool.map(lambda memory: own.score_trees(memory, [tree])[0], memories))
    for memory, wanted, x, scores in zip(memories, expected, lines, trees, strict=True):
        assert np.array_equal(memory.ctc[0], wanted)
        assert np.array_equal(alone.score_trees(alone.encode([x]), [tree])[0], scores)


def test_bytes_are_near_float32(both):
    network, exact = both
    own = made(network, int8=True)
    for columns in (1, 24, 400):
        x = line(network.backbone.height, columns)
        found, memory = own.encode([x]), exact.encode([x])
        assert found.tokens == memory.tokens
        near(found.mean, memory.mean)
        for kept, parts in zip(found.kept[0], memory.kept[0], strict=True):
            near(np.concatenate(kept), np.concatenate(parts))
        if memory.ctc is not None:
            near(found.ctc[0], memory.ctc[0])


def near(found, expected):
    """Within a few hundredths of what varies."""
    assert found.shape == expected.shape and found.dtype == np.float32
    assert np.sqrt(((found - expected) ** 2).mean()) < 0.08 * expected.std()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_forked_while_a_session_is_built_can_read(tiny_model):
    network = OnnxNetwork(tiny_model.network, tiny_model.weights, tiny_model.tokenizer.size)
    image, graph = np.zeros((48, 64), dtype=np.float32), network._graphs["image"]
    begun, go_on = Event(), Event()
    network._graphs["image"] = lambda: begun.set() or (go_on.wait() and graph())
    with ThreadPoolExecutor(1) as other:
        parent = other.submit(network.encode, [image])
        begun.wait()
        Timer(0.5, go_on.set).start()
        assert reads_in_a_child(network, image)
        go_on.set()
        assert parent.result().lines == 1


def reads_in_a_child(network, image):
    """Whether a process that is forked now reads an image, within a minute."""
    if (pid := os.fork()) == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # a handler in Python would wait for onnxruntime
        signal.alarm(60)
        try:
            os._exit(network.encode([image]).lines - 1)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_forked_while_a_thread_reads_its_first_lines_can_read(tiny_model):
    """Without waiting for the thread, every third of these children waited for ever."""
    image = np.zeros((48, 640), dtype=np.float32)
    for _ in range(12):
        network, begun = OnnxNetwork(tiny_model.network, tiny_model.weights, tiny_model.tokenizer.size), Event()
        graph = network._graphs["image"]
        network._graphs["image"] = lambda begun=begun, graph=graph: begun.set() or graph()
        with ThreadPoolExecutor(1) as other:
            parent = other.submit(lambda network=network: [network.encode([image]) for _ in range(3)])
            begun.wait()
            assert reads_in_a_child(network, image)
            assert len(parent.result()) == 3


def test_groups_are_lines_alone():
    own = made(random_network(TINY))
    assert list(own.groups([10, 30, 20])) == [[1], [2], [0]]


def test_dimensions():
    own = made(random_network(replace(TINY, ctc=CTCConfig(steps=3))))
    dimensions = own.dimensions
    assert (dimensions.vocabulary, dimensions.columns_per_token, dimensions.steps_per_token) == (VOCABULARY, 8, 3)
    assert dimensions.features == own.encode([line(48, 50)]).mean.shape[1] and dimensions.widest is None
    assert made(random_network(replace(TINY, ctc=None))).dimensions.steps_per_token is None


def test_lines_of_another_height_are_refused():
    with pytest.raises(DataError, match="40 rows, but this network needs 48"):
        made(random_network(TINY)).encode([line(40, 50)])


@pytest.mark.parametrize(
    ("config", "part"),
    [
        (BASE, "EfficientNetV2S"),
        (replace(RETHTR_SMALL, backbone=PPOCR()), "EncoderDecoder, Learned, SwishGate"),
        (replace(TINY, mixer=Retentive(Gated())), "Gated decay"),
        (replace(TINY, output=Sigmoid()), "Sigmoid"),
    ],
)
def test_what_needs_torch_says_so(config, part):
    assert part in (supports(config) or "")
    with pytest.raises(ConfigError, match=r"pip install 'drethtr\[train\]'"):
        OnnxNetwork(config, {}, VOCABULARY)


def test_what_is_supported_says_nothing():
    assert not any(map(supports, VARIANTS.values()))
