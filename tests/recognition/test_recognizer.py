"""What users rely on when they read lines."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import written
from PIL import Image
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import CheckpointError, ConfigError, DataError
from drethtr.network import precision
from drethtr.network.backend import TorchNetwork, network_of, open_network
from drethtr.paper.published_decoding import PublishedBeam
from drethtr.recognition import pieces as module
from drethtr.recognition import recognizer as recognizer_module
from drethtr.recognition.confidence.checks import OutOfDistribution
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.decoded import Decoded
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, Strategy, VerifiedDrafts
from drethtr.recognition.model.architecture import SMALL
from drethtr.recognition.model.file import SHIPPED, Model, load_model
from drethtr.recognition.protocol import Precision
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import UNK

SAMPLES = Path(__file__).parents[2] / "samples"
THREE_WIDTHS = Joint(stretches=(1.0, 0.8, 1.2))
LINES = [written("abc " * n) for n in (3, 1, 9, 2, 14, 5, 1, 7)]


def test_a_loaded_and_a_made_recognizer_choose_the_same_device(tiny_model, tiny_path, monkeypatch) -> None:
    asked = []

    def opened(model, device, *settings):
        asked.append(device)
        return open_network(model, "cpu", *settings)

    monkeypatch.setattr(recognizer_module, "open_network", opened)
    Recognizer(tiny_model)
    Recognizer.load(tiny_path)
    assert asked == ["auto", "auto"]


@pytest.mark.parametrize("strategy", [CTC(), Greedy(), VerifiedDrafts(), Beam(3), Joint(), THREE_WIDTHS], ids=repr)
def test_answers_do_not_depend_on_neighbors(strategy: Strategy, tiny_model) -> None:
    recognizer = Recognizer(tiny_model, strategy)
    check_neighbors(recognizer)
    check_neighbors(on_torch(tiny_model, strategy))


def on_torch(model: Model, strategy: Strategy | None = None, precision: Precision = Precision.FLOAT32) -> Recognizer:
    """A recognizer that computes with torch."""
    return Recognizer(model, strategy, network=open_network(model, "cpu", precision, 1), precision=precision)


def check_neighbors(recognizer: Recognizer) -> None:
    """Lines read together and alone have the same readings."""
    together = recognizer.read(LINES)
    alone = [recognizer.read([line])[0] for line in LINES]
    assert any(reading.text for reading in together)
    for one, other in zip(together, alone, strict=True):
        assert one.text == other.text
        np.testing.assert_allclose(
            [(c.confidence, c.left, c.right) for c in one.characters],
            [(c.confidence, c.left, c.right) for c in other.characters],
            atol=1e-3,
        )


def test_blank_paper_costs_no_network_and_has_nothing_to_find(tiny_model, monkeypatch) -> None:
    recognizer = Recognizer(tiny_model, CTC(), posteriors=True)
    blank = np.full((40, 300), 225, np.uint8)
    first, empty, last = recognizer.read([LINES[0], blank, LINES[1]])
    assert (first.text, last.text) == tuple(reading.text for reading in recognizer.read(LINES[:2]))
    assert (empty.text, [flag.kind for flag in empty.flags]) == ("", ["blank"])
    assert empty.posteriors is not None and empty.posteriors.steps == 0
    monkeypatch.setattr(recognizer.pieces, "view", None)  # what encodes images
    assert recognizer.read([blank, blank]) == [empty, empty]
    with pytest.raises(TypeError):
        recognizer.read(LINES[:1])


@pytest.mark.parametrize("strategy", [CTC(), Greedy(), VerifiedDrafts(), Beam(2), Joint(), THREE_WIDTHS], ids=repr)
def test_characters_stand_in_order_inside_the_line(strategy: Strategy, tiny_model) -> None:
    for line, reading in zip(LINES, Recognizer(tiny_model, strategy).read(LINES), strict=True):
        assert reading.text == "".join(character.text for character in reading.characters)
        assert 0 <= reading.confidence <= 1
        edges = [edge for character in reading.characters for edge in (character.left, character.right)]
        assert edges == sorted(edges)
        assert all(0 <= edge <= line.shape[1] for edge in edges)
        assert all(0 <= character.confidence <= 1 for character in reading.characters)


def test_without_ctc_head_characters_share_the_line(headless_model) -> None:
    """However much the decoder sees beyond its end: models with a canvas see all of that."""
    recognizer = Recognizer(headless_model, Greedy())
    [part] = recognizer.pieces.prepare(0, LINES[0])
    decoded = Decoded((4, 5), (0.5, 0.5), ((0.0, 200.0), (200.0, 400.0)))
    width = LINES[0].shape[1]
    assert recognizer.pieces.edges(decoded, part) == [(0, width / 2), (width / 2, width)]


@pytest.mark.parametrize("strategy", [CTC(), THREE_WIDTHS], ids=repr)
def test_long_line_is_read_in_pieces_not_cut(strategy: Strategy, tiny_model, monkeypatch) -> None:
    monkeypatch.setattr(module, "LONGEST_PIECE", 300)
    line, recognizer = written("abc " * 60), Recognizer(tiny_model, strategy)
    parts = recognizer.pieces.prepare(0, line)
    assert len(parts) > 3
    assert all(view.shape[1] <= 300 for part in parts for view in part.views)
    assert parts[0].piece.left == 0 and parts[-1].piece.right == line.shape[1]
    [reading] = recognizer.read([line])
    assert reading.characters[-1].right > 0.9 * line.shape[1]


@pytest.mark.parametrize("longest", [3600, 300])
def test_a_character_outside_the_alphabet_is_flagged(longest: int, tiny_model, monkeypatch) -> None:
    """It was written as nothing, with clean confidences around it."""
    monkeypatch.setattr(module, "LONGEST_PIECE", longest)
    steps = tiny_model.network.ctc.steps
    tiny_model.weights["ctc.refine.bias"].reshape(steps, -1)[:, UNK] = 1e4
    [reading] = Recognizer(tiny_model, CTC()).read([written("abc " * 60)])
    assert reading.text == ""
    [flag] = (flag for flag in reading.flags if flag.kind == "unwritten")
    assert 0 <= flag.left < flag.right <= written("abc " * 60).shape[1]
    assert ("characters" in flag.reason) == (longest == 300)


def test_a_line_is_seen_at_all_widths_of_the_strategy(tiny_model) -> None:
    [part] = Recognizer(tiny_model, Joint(stretches=(1.25, 0.5))).pieces.prepare(0, LINES[4])
    usual = Recognizer(tiny_model).pieces.prepare(0, LINES[4])[0].prepared.shape[1]
    assert [view.shape[1] for view in part.views] == pytest.approx([1.25 * usual, 0.5 * usual], abs=1)


def test_threads_may_share_a_recognizer(tiny_model) -> None:
    recognizer = Recognizer(tiny_model)
    lines = [written("abcdef"[: 1 + number % 6]) for number in range(24)]
    alone = [recognizer.read([line]) for line in lines]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda line: recognizer.read([line]), lines)) == alone


def test_one_image_is_no_list_of_images(tiny_model) -> None:
    for image in ("line.png", LINES[0]):
        with pytest.raises(ConfigError, match=r"read\(\[image\]\)"):
            Recognizer(tiny_model).read(image)


def test_images_may_come_from_a_generator(tiny_model) -> None:
    recognizer = Recognizer(tiny_model)
    assert recognizer.read(line for line in LINES) == recognizer.read(LINES)


def test_a_page_is_not_read_as_one_line(tiny_model) -> None:
    recognizer, page = Recognizer(tiny_model), np.full((300, 900), 255, np.uint8)
    with pytest.raises(DataError, match=r"images\[1\]: array of shape \(300, 900\) .* is a page, not a line: use .*"):
        recognizer.read([LINES[0], page])
    [(_, error)] = recognizer.read_each([("page", page)])
    assert isinstance(error, DataError) and "is a page, not a line" in str(error)


def test_a_bad_image_without_a_name_is_named_by_its_place(tiny_model) -> None:
    with pytest.raises(DataError, match=r"images\[2\]: image of 8 bytes: not an image"):
        Recognizer(tiny_model).read([LINES[0], LINES[1], b"no image"])


@pytest.mark.parametrize(
    "choice",
    [
        {"threads": 0},
        {"threads": "2"},
        {"threads": 2.5},
        {"decoder": 5},
        {"alternatives": -1},
        {"alternatives": 2.0},
        {"doubtful": 2},
        {"doubtful": "0.5"},
    ],
    ids=str,
)
def test_a_choice_that_makes_no_sense_is_refused_before_anything_is_loaded(choice, tiny_model, monkeypatch) -> None:
    monkeypatch.setattr(recognizer_module, "open_network", None)
    [(name, value)] = choice.items()
    with pytest.raises(ConfigError, match=f"{name} must be .*, not {value!r}"):
        Recognizer(tiny_model, **choice)


def test_a_file_is_no_model(tiny_path) -> None:
    with pytest.raises(ConfigError, match=r"takes a model from load_model, not '.*'; for a file: Recognizer\.load"):
        Recognizer(str(tiny_path))


@pytest.mark.parametrize("choice", [{"language": ["fr"]}, {"device": 0}, {"device": None}], ids=str)
def test_a_value_of_another_type_is_refused_by_name(choice, tiny_path) -> None:
    [(name, value)] = choice.items()
    with pytest.raises(ConfigError, match=f"{name} .*{re.escape(str(value))}"):
        Recognizer.load(tiny_path, **choice)


@pytest.mark.parametrize("together", [0, "2", 2.5])
def test_lines_are_read_together_in_whole_numbers(together, tiny_model) -> None:
    with pytest.raises(ConfigError, match=f"together must be .*, not {together!r}"):
        list(Recognizer(tiny_model).read_each(enumerate(LINES), together=together))


def test_a_recognizer_says_what_it_reads_with(tiny_model) -> None:
    assert (
        repr(Recognizer(tiny_model, "beam:3")) == f"<Recognizer: model {tiny_model.identity}, decoder beam:3, float32>"
    )


def test_each_process_loads_its_own(tiny_model) -> None:
    with pytest.raises(TypeError, match="load one in each process"):
        pickle.dumps(Recognizer(tiny_model))


def test_an_image_too_long_for_a_line_is_named(tiny_model, tmp_path) -> None:
    (tmp_path / "long.pgm").write_bytes(b"P5 5000 1 255\n" + b"\xff" * 5000)
    with pytest.raises(DataError, match=r"long\.pgm: a line image of 5000 x 1 pixels is too long"):
        Recognizer(tiny_model).read([LINES[0], tmp_path / "long.pgm"])


def test_each_image_has_its_reading_or_the_reason_why_there_is_none(tiny_model) -> None:
    images = [LINES[0], b"no image", DataError("no bytes"), LINES[1], LINES[2]]
    recognizer = Recognizer(tiny_model)
    found = list(recognizer.read_each(zip("abcde", images, strict=True), together=3))
    assert "".join(item for item, _ in found) == "abcde"
    first, unknown, missing, *others = (result for _, result in found)
    assert "image of 8 bytes: not an image" in str(unknown) and missing is images[2]
    assert [result.text for result in (first, *others)] == [reading.text for reading in recognizer.read(LINES[:3])]


@pytest.mark.parametrize("image", ["a1", "line.png", Path("line.png"), b"a1", LINES[0], LINES[0][:2]], ids=type)
def test_images_without_items_are_refused(image, tiny_model) -> None:
    """A name of two letters was a pair of them, and an image of two rows."""
    with pytest.raises(TypeError, match="read_each takes pairs"):
        list(Recognizer(tiny_model).read_each([image]))


def test_a_group_is_read_before_more_images_are_asked_for(tiny_model) -> None:
    opened: list[int] = []
    images = ((number, opened.append(number) or LINES[0]) for number in range(5))
    found = Recognizer(tiny_model).read_each(images, together=2)
    assert next(found)[0] == 0 and opened == [0, 1]
    assert len(list(found)) == 4


def test_large_images_are_not_all_in_memory_together(tiny_model, monkeypatch) -> None:
    monkeypatch.setattr("drethtr.recognition.batching.PIXELS_TOGETHER", 2 * LINES[0].size)
    opened: list[int] = []
    images = ((number, opened.append(number) or LINES[0]) for number in range(4))
    found = Recognizer(tiny_model).read_each(images)
    assert next(found)[0] == 0 and opened == [0, 1, 2]
    assert [number for number, _ in found] == [1, 2, 3]


@pytest.mark.parametrize("strategy", [CTC(), Greedy(), VerifiedDrafts(), Beam(3), Joint()], ids=repr)
@pytest.mark.parametrize("name", ["to_width", "ctc.refine", "to_logits", "embed.tokens"])
def test_a_model_whose_numbers_overflow_is_refused(name: str, strategy: Strategy, tiny_model) -> None:
    """Its weights are numbers, but what they make is none: that was read as silence, or broke a decoder."""
    tiny_model.weights[f"{name}.weight"].fill(3e38)
    if isinstance(strategy, CTC) and name in ("to_logits", "embed.tokens"):
        assert Recognizer(tiny_model, strategy).read(LINES[:1])[0].text
        return
    readers = [
        Recognizer(tiny_model, strategy),
        on_torch(tiny_model, strategy),
        on_torch(tiny_model, strategy, Precision.BFLOAT16),
    ]
    for recognizer in readers:
        with pytest.raises(CheckpointError, match=f"model tiny {tiny_model.hash[:12]}: non-finite activations"):
            recognizer.read(LINES[:1])


def test_trust_in_another_network_is_refused(tiny_model) -> None:
    """It may come from a version that looked at lines otherwise; the first line broke it."""
    record = CalibrationRecord(unlike_training=OutOfDistribution(Logistic(0.0, (1.0,)), 0.0))
    with pytest.raises(CheckpointError, match="expects 1 line features, but the network gives 35; recalibrate"):
        Recognizer(replace(tiny_model, record=record))


def test_a_strategy_must_suit_the_model(headless_model) -> None:
    with pytest.raises(ConfigError, match="no CTC head"):
        Recognizer(headless_model, CTC())


def test_names_do_as_well_as_values(tiny_model) -> None:
    assert Recognizer(tiny_model, "beam:3").strategy == Beam(3)
    assert Recognizer(tiny_model, precision="float32").precision is Precision.FLOAT32
    with pytest.raises(ConfigError, match="unknown decoder 'joined'; did you mean 'joint'"):
        Recognizer(tiny_model, "joined")
    with pytest.raises(ConfigError, match="unknown precision 'float33'"):
        Recognizer(tiny_model, precision="float33")
    with pytest.raises(ConfigError, match="unknown device 'gpu'"):
        Recognizer(tiny_model, device="gpu")
    with pytest.raises(ConfigError, match=r"int8 is for CPUs; .* or the device cpu"):
        Recognizer(tiny_model, device="cuda", precision="int8")


def test_a_model_that_needs_torch_is_not_computed_in_int8(tiny_model) -> None:
    """To install torch, as the error asked, would not have helped."""
    with pytest.raises(
        ConfigError, match=r"in int8, as only torch computes EfficientNetV2S, .*; use float32 or bfloat16$"
    ):
        Recognizer(replace(tiny_model, network=SMALL), precision="int8")


def test_files_are_opened_by_several_threads_in_order(tiny_model, tmp_path) -> None:
    images: list[object] = []
    for number, line in enumerate([*LINES, *LINES]):
        path = tmp_path / f"{number}.png"
        Image.fromarray(line).save(path)
        images += [path, path.read_bytes(), line] if number % 3 else [path, tmp_path / "none.png"]
    told = [
        [(item, str(found)) for item, found in Recognizer(tiny_model, threads=threads).read_each(enumerate(images))]
        for threads in (1, 3)
    ]
    assert told[0] == told[1] and [item for item, _ in told[0]] == list(range(len(images)))


def test_the_way_of_a_gpu_reads_the_same(tiny_model) -> None:
    """Several threads that feed one device: groups, queues and shapes, in torch on the processor."""
    network = network_of(tiny_model)
    lines = [*LINES, *(line[:, : line.shape[1] // 2] for line in LINES)] * 2
    for strategy in (CTC(), Joint()):
        alone, fed = (
            Recognizer(tiny_model, strategy, network=TorchNetwork(network, workers=workers)).read(lines)
            for workers in (1, 4)
        )
        assert fed == alone


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads: int, tiny_model) -> None:
    """Not a bit."""
    assert Recognizer(tiny_model, threads=threads).read(LINES) == Recognizer(tiny_model, threads=1).read(LINES)


def test_alternatives_are_texts_the_first_of_which_is_the_reading(tiny_model, monkeypatch) -> None:
    recognizer = Recognizer(tiny_model, alternatives=4)
    plain = Recognizer(tiny_model).read(LINES)
    for reading, without in zip(recognizer.read(LINES), plain, strict=True):
        texts = [other.text for other in reading.alternatives]
        assert reading.text == without.text == texts[0] and without.alternatives == ()
        assert len(set(texts)) == len(texts) and all(text == text.strip() for text in texts)
    monkeypatch.setattr(module, "LONGEST_PIECE", 300)
    assert recognizer.read([written("abc " * 60)])[0].alternatives == ()


@pytest.mark.parametrize(
    ("strategy", "most"), [(Beam(5), 4), (Beam(1), 0), (PublishedBeam(5), 0), (Greedy(), 99)], ids=repr
)
def test_more_alternatives_than_there_can_be_are_refused(strategy: Strategy, most: int, tiny_model) -> None:
    assert Recognizer(tiny_model, strategy, alternatives=most).pieces.alternatives == most
    with pytest.raises(
        ConfigError, match=rf"gives at most {most} alternatives, not|alternatives must be between 0 and {most}"
    ):
        Recognizer(tiny_model, strategy, alternatives=most + 1)


@pytest.mark.parametrize("model", ["tiny_model", "headless_model"])
def test_no_lines_have_no_features(model: str, request) -> None:
    recognizer = Recognizer(request.getfixturevalue(model), Greedy())
    assert recognizer.line_features([]).shape == (0, recognizer.line_features(LINES).shape[1])


def test_coarse_numbers_read_nearly_the_same() -> None:
    """All but two of a hundred characters."""
    model, lines = load_model(SHIPPED), sorted(SAMPLES.glob("*.png"))
    exact = Recognizer(model).read(lines)
    coarse = on_torch(model, precision=Precision.BFLOAT16).read(lines)
    edits = sum(Levenshtein.distance(a.text, b.text) for a, b in zip(exact, coarse, strict=True))
    assert edits <= 0.02 * sum(len(reading.text) for reading in exact)
    differences = [abs(a.confidence - b.confidence) for a, b in zip(exact, coarse, strict=True)]
    assert 0 < max(differences) < 0.03


@pytest.mark.parametrize("strategy", [CTC(), VerifiedDrafts(), Beam(3)], ids=repr)
@pytest.mark.parametrize("least", [0, precision.WORTHWHILE], ids=["text, too", "image"])
def test_coarse_answers_do_not_depend_on_neighbors(strategy: Strategy, least: int, tiny_model, monkeypatch) -> None:
    monkeypatch.setattr(precision, "WORTHWHILE", least)
    recognizer = on_torch(tiny_model, strategy, Precision.BFLOAT16)
    together = recognizer.read(LINES)
    alone = [recognizer.read([line])[0] for line in LINES]
    assert [reading.text for reading in together] == [reading.text for reading in alone]
    confidences = [[reading.confidence for reading in readings] for readings in (together, alone)]
    np.testing.assert_allclose(*confidences, atol=0.02)


def test_too_little_memory_means_smaller_batches(tiny_model, monkeypatch) -> None:
    network = TorchNetwork(network_of(tiny_model))
    recognizer = Recognizer(tiny_model, network=network)
    expected, encode, sizes = recognizer.read(LINES), network.image.encode_image, []

    def limited(images, widths):
        sizes.append(len(images))
        if len(images) > 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return encode(images, widths)

    monkeypatch.setattr(network.image, "encode_image", limited)
    assert [reading.text for reading in recognizer.read(LINES)] == [reading.text for reading in expected]
    assert max(sizes) == len(LINES)
