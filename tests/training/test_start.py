"""The weights a run starts from."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY, fresh_model, log_probability, written

from drethtr.base.config import from_dict
from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.images.prepare import Preparation
from drethtr.language.languages import Languages
from drethtr.language.learn import Ingredient, learn
from drethtr.network.backbones import BACKBONES
from drethtr.network.backend import network_of, rescorer_of, with_network
from drethtr.network.network import DRetHTR
from drethtr.network.rescorer import RescorerNetwork
from drethtr.paper.starts import FromImageNet, InPieces
from drethtr.paper.variants import ResNet50
from drethtr.recognition.model.architecture import PPOCR, CTCConfig, RescorerConfig
from drethtr.recognition.model.file import Rescorer, load_model, save_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS, SPECIALS, Characters
from drethtr.training.start import Fresh, FromModel, Start, with_vocabulary
from drethtr.training.teacher import TeacherConfig


def test_imagenet_weights_are_kept(tmp_path):
    """The published code loads them and then draws others; here a start comes last."""
    torch.manual_seed(0)
    config = replace(TINY, backbone=ResNet50())
    theirs = BACKBONES.build(config.backbone).state_dict() | {"fc.weight": torch.zeros(3, 4), "fc.bias": torch.zeros(3)}
    torch.save(theirs, tmp_path / "resnet.pth")
    network = DRetHTR(config, 12)
    decoder = {name: weight.clone() for name, weight in network.state_dict().items() if "backbone" not in name}
    FromImageNet(str(tmp_path / "resnet.pth")).apply(network, Characters("abc"))
    for name, weight in network.state_dict().items():
        expected = decoder[name] if name in decoder else theirs[name.removeprefix("backbone.")]
        assert torch.equal(weight, expected), name


def start_and_result(tiny_path, characters, config=TINY):
    before = load_model(tiny_path)
    start = FromModel(str(tiny_path), characters)
    tokenizer = start.tokenizer()
    assert tokenizer is not None
    network = DRetHTR(config, tokenizer.size)
    start.apply(network, tokenizer)
    return before, tokenizer, network


def test_a_model_starts_with_its_own_weights(tiny_path):
    before, tokenizer, network = start_and_result(tiny_path, None)
    assert tokenizer == before.tokenizer
    for name, weight in network_of(before).state_dict().items():
        assert network.state_dict()[name].equal(weight), name


@pytest.mark.parametrize("name", ["to_logits.weight", "backbone.norm.bias"])
@pytest.mark.parametrize("role", [FromModel, TeacherConfig])
def test_a_model_that_lacks_weights_is_refused(tiny_model, tmp_path, name, role):
    path = tmp_path / "damaged.safetensors"
    save_model(replace(tiny_model, weights={n: w for n, w in tiny_model.weights.items() if n != name}), path)
    with pytest.raises(CheckpointError, match=rf"damaged\.safetensors: the weights lack {name}"):
        _ = role(path=str(path)).model


def test_a_model_whose_rescorer_does_not_fit_is_refused(tiny_model, tmp_path):
    path = tmp_path / "damaged.safetensors"
    save_model(replace(tiny_model, rescorer=Rescorer(RescorerConfig(layers=1), {})), path)
    with pytest.raises(CheckpointError, match=r"damaged\.safetensors: the weights lack "):
        _ = FromModel(str(path)).model


def test_n_grams_are_converted_to_any_alphabet(tiny_model, tmp_path):
    ngrams = learn([Ingredient(["abc", "bad"])], tiny_model.tokenizer, order=2, most=99)
    path = tmp_path / "model.safetensors"
    save_model(replace(tiny_model, languages=Languages({"all": ngrams})), path)
    start = FromModel(str(path))
    kept = start.languages(tiny_model.tokenizer)
    assert kept.models["all"].hash == ngrams.hash
    assert not Fresh().languages(tiny_model.tokenizer)
    other = Characters("abcdz")
    found = start.languages(other)
    assert found.models["all"].size == other.size
    for text in ("abc", "bad", "dab"):
        here, there = (one.encode(text) for one in (other, tiny_model.tokenizer))
        assert log_probability(found, here) == pytest.approx(log_probability(ngrams, there))
    assert -20 < log_probability(found, other.encode("zab")) < 0


@torch.inference_mode()
def test_a_rescorer_is_converted_to_any_alphabet(tiny_model, tmp_path):
    """A character that is new is about as likely as the one that it looks like."""
    tokenizer, path = tiny_model.tokenizer, tmp_path / "ranked.safetensors"
    network = RescorerNetwork(RescorerConfig(layers=1, width=16, heads=2, hidden=8), tokenizer.size)
    torch.nn.init.normal_(network.to_logits.weight)
    weights = {name: weight.numpy() for name, weight in network.state_dict().items()}
    save_model(replace(tiny_model, rescorer=Rescorer(network.config, weights)), path)
    same = FromModel(str(path)).rescorer(tokenizer)
    assert same is not None and all(np.array_equal(same.weights[name], weight) for name, weight in weights.items())
    larger = Characters("".join(sorted(tokenizer.characters + "á")))
    grown = FromModel(str(path), larger.characters).rescorer(larger)
    assert grown is not None and Fresh().rescorer(larger) is None
    before, after = rescorer_of(same, tokenizer), rescorer_of(grown, larger)
    text = "a bad cab"
    [old], [new] = (
        of(torch.tensor([[BOS, *some.encode(text)]])) for of, some in ((before, tokenizer), (after, larger))
    )
    kept = [larger.encode(character)[0] for character in tokenizer.characters]
    torch.testing.assert_close(new[:, kept], old[:, SPECIALS:])


def test_a_model_of_a_larger_alphabet_reads_as_before(tiny_path):
    """What it knew is likelier than what is new and looks alike."""
    before, tokenizer, network = start_and_result(tiny_path, " abcdefghijklmnopäöő")
    line = written("bad pig, moon")
    known = Recognizer(before).read([line])[0].text
    larger = replace(with_network(before, network), tokenizer=tokenizer)
    assert known and Recognizer(larger).read([line])[0].text == known


def test_new_characters_start_like_their_look_alikes_and_dropped_ones_are_gone(tiny_path):
    before, tokenizer, network = start_and_result(tiny_path, "abcdoő")
    old, new = network_of(before).to_logits.weight, network.to_logits.weight
    a, o, ő = (tokenizer.encode(character)[0] for character in "aoő")
    old_a, old_o = (before.tokenizer.encode(character)[0] for character in "ao")
    assert len(new) == tokenizer.size and new[a].equal(old[old_a]) and new[o].equal(old[old_o])
    assert torch.cosine_similarity(new[ő], old[old_o], dim=0) > 0.98 and not new[ő].equal(old[old_o])


def test_without_a_path_it_is_the_model_in_the_package(tiny_path, monkeypatch):
    monkeypatch.setattr("drethtr.training.start.SHIPPED", tiny_path)
    start = from_dict(Start, {"kind": "FromModel"})
    assert start.tokenizer() == load_model(tiny_path).tokenizer
    with pytest.raises(ConfigError, match=rf"the network of {tiny_path} differs from this run's"):
        start.apply(DRetHTR(replace(TINY, hidden=48), start.tokenizer().size), start.tokenizer())


def test_a_run_starts_from_one_file_even_if_another_takes_its_place(tiny_path, tmp_path):
    """Each part was read for itself: weights of one model began with the alphabet of another."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(tiny_path.read_bytes())
    start = FromModel(str(path))
    tokenizer = start.tokenizer()
    save_model(fresh_model(replace(TINY, hidden=48), Characters("xyz"), Preparation(height=48), {}), path)
    start.apply(DRetHTR(TINY, tokenizer.size), tokenizer)
    assert start.digests() == FromModel(str(tiny_path)).digests() != FromModel(str(path)).digests()


def test_a_network_of_other_settings_is_refused(tiny_path):
    with pytest.raises(ConfigError, match=r"differs from this run's in network\.hidden$"):
        start_and_result(tiny_path, None, replace(TINY, hidden=48))


def test_how_much_is_dropped_out_may_differ(tiny_path):
    before, _, network = start_and_result(tiny_path, None, replace(TINY, dropout=0.5, embedding_dropout=0.0))
    assert network.to_logits.weight.equal(network_of(before).to_logits.weight)


def test_lines_may_become_higher_for_the_backbone_of_pp_ocr(tmp_path):
    """Its weights fit lines of any height; those of others do not."""
    path = tmp_path / "low.safetensors"
    low = replace(TINY, backbone=PPOCR())
    save_model(fresh_model(low, Characters("ab"), Preparation(height=48), {}), path)
    before, _, network = start_and_result(path, None, replace(low, backbone=PPOCR(height=64)))
    theirs = network_of(before).backbone.state_dict()
    assert network.backbone.height == 64
    assert all(weight.equal(theirs[name]) for name, weight in network.backbone.state_dict().items())
    with pytest.raises(ConfigError, match=r"differs from this run's in network\.backbone$"):
        start_and_result(path, None, TINY)


def test_pieces_of_words_are_learned_from_lines_and_the_rest_is_as_it_would_be(tmp_path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "lines.parquet"
    store_parquet([Sample(image=written("a"), text="the other weather") for _ in range(3)], path)
    start = from_dict(Start, {"kind": "InPieces", "paths": [str(path)], "size": 20})
    assert start == InPieces(paths=(str(path),), size=20, start=Fresh())
    tokenizer = start.tokenizer()
    assert tokenizer.size <= 20 and any(len(piece) > 1 for piece in tokenizer.vocabulary)
    assert tokenizer.decode(tokenizer.encode("the weather")) == "the weather" and start.tokenizer() == tokenizer


OLD, NEW = 12, 10
ROWS = torch.tensor([0, 1, 2, 3, 5, 7, 11, 5, 6, 8])
"""For each new token the old one that it is."""


def drawn(vocabulary, config=TINY):
    torch.manual_seed(0)
    network = DRetHTR(config, vocabulary).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return network


def both(config=TINY):
    old, new = drawn(OLD, config), drawn(NEW, config)
    new.load_state_dict(with_vocabulary(old.state_dict(), torch.eye(OLD)[ROWS]))
    return old, new


@torch.inference_mode()
def test_tokens_that_stay_are_written_as_before():
    config = replace(TINY, ctc=CTCConfig(steps=2, inform_decoder=False))
    old, new = both(config)
    images, widths = torch.rand(1, 1, 48, 160), torch.tensor([160])
    before, ctc_before = old(images, widths, ROWS[None, 4:7])
    after, ctc_after = new(images, widths, torch.tensor([[4, 5, 6]]))
    torch.testing.assert_close(after, before[..., ROWS])
    assert ctc_before is not None and ctc_after is not None
    torch.testing.assert_close(ctc_after.draft, ctc_before.draft[..., ROWS])
    torch.testing.assert_close(ctc_after.refined, ctc_before.refined[..., ROWS])


def test_the_draft_tells_the_decoder_the_same():
    old, new = both()
    assert old.ctc is not None and old.ctc.inform is not None and new.ctc is not None and new.ctc.inform is not None
    torch.testing.assert_close(new.ctc.inform.weight, old.ctc.inform.weight[:, ROWS])


def test_a_new_token_may_begin_as_a_blend():
    old = drawn(OLD)
    shares = torch.eye(OLD)[ROWS]
    shares[9] = 0
    shares[9, [4, 6]] = 0.5
    weight = old.state_dict()["embed.tokens.weight"]
    blended = with_vocabulary(old.state_dict(), shares)["embed.tokens.weight"][9]
    torch.testing.assert_close(blended, (weight[4] + weight[6]) / 2)


def test_what_is_not_told_of_tokens_stays():
    old, new = both()
    for name, weight in old.state_dict().items():
        if OLD not in weight.shape and 2 * OLD not in weight.shape:
            assert new.state_dict()[name].equal(weight), name
