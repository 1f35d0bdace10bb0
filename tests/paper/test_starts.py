"""Weights of image classifiers find their place in our backbones."""

import hashlib
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from conftest import TINY
from safetensors.torch import save_file
from web_server import Reply, served

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.network.backbones import BACKBONES
from drethtr.network.backend import network_of
from drethtr.network.embedding import sinusoid
from drethtr.network.network import DRetHTR
from drethtr.paper.starts import FinishedImagePart, fetch, load_imagenet
from drethtr.paper.variants import ResNet50
from drethtr.recognition.model.architecture import EfficientNetV2S, Light
from drethtr.text.tokenizer import EOS, PAD, Characters

STEMS = {EfficientNetV2S(): ("features.0.0.weight", "classifier.1"), ResNet50(): ("conv1.weight", "fc")}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "drethtr"


def classifier(config):
    """A state dict as torchvision has it: three channels, and a classifier behind."""
    stem, head = STEMS[config]
    torch.manual_seed(1)
    state = BACKBONES.build(config).state_dict()
    state[stem] = torch.randn(state[stem].shape[0], 3, *state[stem].shape[2:])
    return state | {f"{head}.weight": torch.zeros(10, 4), f"{head}.bias": torch.zeros(10)}


@pytest.mark.parametrize("config", STEMS, ids=repr)
def test_weights_are_taken_and_the_stem_is_averaged(config, tmp_path):
    (stem, _), theirs = STEMS[config], classifier(config)
    torch.save(theirs, tmp_path / "weights.pth")
    backbone = BACKBONES.build(config)
    load_imagenet(backbone, str(tmp_path / "weights.pth"))
    for name, weight in backbone.state_dict().items():
        assert torch.equal(weight, theirs[name].mean(1, keepdim=True) if name == stem else theirs[name])


def test_a_url_is_fetched_once(tmp_path, cache):
    source = tmp_path / "weights.pth"
    torch.save(classifier(ResNet50()), source)
    backbone = BACKBONES.build(ResNet50())
    load_imagenet(backbone, source.as_uri())
    source.unlink()
    load_imagenet(backbone, source.as_uri())
    [kept] = cache.iterdir()
    assert kept.name.endswith("-weights.pth")


def test_files_of_one_name_are_told_apart(tmp_path):
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "weights.pth").write_text(folder)
    assert [fetch((tmp_path / folder / "weights.pth").as_uri()).read_text() for folder in ("one", "other")] == [
        "one",
        "other",
    ]


def test_a_connection_that_breaks_off_leaves_nothing(cache):
    with served() as host:
        host.replies["/weights.pth"] = Reply(content=bytes(10), length=1000)
        with pytest.raises(CheckpointError, match="only 10 of 1000 bytes arrived"):
            fetch(f"{host.address}/weights.pth")
    assert not list(cache.iterdir())


def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, cache):
    digest = hashlib.sha256(b"whole").hexdigest()[:8]
    (tmp_path / f"net-{digest}.pth").write_bytes(b"whole")
    kept = fetch((tmp_path / f"net-{digest}.pth").as_uri())
    assert kept.read_bytes() == b"whole"
    kept.unlink()
    (tmp_path / f"net-{digest}.pth").write_bytes(b"half")
    with pytest.raises(CheckpointError, match="damaged in transit"):
        fetch((tmp_path / f"net-{digest}.pth").as_uri())
    assert not list(cache.iterdir())


def test_a_date_is_no_hash(tmp_path):
    (tmp_path / "net-20240131.pth").write_text("whole")
    assert fetch((tmp_path / "net-20240131.pth").as_uri()).read_text() == "whole"


def test_what_cannot_be_fetched_is_named(tmp_path, cache):
    with pytest.raises(CheckpointError, match=r"gone\.pth: cannot be downloaded .*; download it yourself"):
        fetch((tmp_path / "gone.pth").as_uri())
    assert not list(cache.iterdir())


def test_a_cache_that_is_no_folder_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "weights.pth").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CheckpointError, match=r"weights\.pth: cannot be downloaded .*; download it yourself"):
        fetch((tmp_path / "weights.pth").as_uri())


@pytest.mark.parametrize("strange", [torch.nan, 1j], ids=str)
def test_weights_that_are_no_finite_numbers_are_refused(strange, tmp_path):
    state = classifier(ResNet50())
    save_file(state | {"bn1.weight": state["bn1.weight"] * strange}, tmp_path / "weights")
    with pytest.raises(
        CheckpointError, match=r"weights: .*(non-finite numbers in bn1\.weight|bn1\.weight is of torch\.complex64)"
    ):
        load_imagenet(BACKBONES.build(ResNet50()), str(tmp_path / "weights"))


def test_weights_of_another_backbone_are_refused(tmp_path):
    path = tmp_path / "weights.pth"
    torch.save(classifier(ResNet50()), path)
    with pytest.raises(CheckpointError, match=r"weights\.pth: the weights lack .*; are they from such a network\?"):
        load_imagenet(BACKBONES.build(Light()), str(path))
    wider = classifier(ResNet50()) | {"conv1.weight": torch.zeros(64, 3, 5, 5)}
    torch.save(wider, path)
    with pytest.raises(CheckpointError, match=r"conv1\.weight is of shape \(64, 1, 5, 5\), in this network \(64, 1, 7"):
        load_imagenet(BACKBONES.build(ResNet50()), str(path))


def fresh(config, alphabet):
    tokenizer = Characters.learn([alphabet])
    return DRetHTR(config, tokenizer.size).eval(), tokenizer


def test_a_finished_image_part_is_taken_over(tiny_model, tiny_path):
    """Whether it learns is for the run's tuning to say."""
    network, tokenizer = fresh(replace(TINY, width=32), "abxyz")
    FinishedImagePart.of(tiny_path).apply(network, tokenizer)
    theirs, ours = network_of(tiny_model).backbone.state_dict(), network.backbone.state_dict()
    assert all(torch.equal(theirs[name], weight) for name, weight in ours.items())
    assert all(parameter.requires_grad for parameter in network.parameters())


@torch.inference_mode()
def test_at_first_image_tokens_are_their_place_and_what_the_draft_reads(tiny_path):
    network, tokenizer = fresh(replace(TINY, width=32), "abxyz")
    FinishedImagePart.of(tiny_path).apply(network, tokenizer)
    [b] = tokenizer.encode("b")
    draft = 50 * F.one_hot(torch.tensor([[PAD, b, PAD]]), tokenizer.size).float()
    seen = network.to_width(torch.randn(1, 3, network.backbone.width))
    tokens = network.ctc.add_draft(seen, draft)[0]
    told = network.ctc.inform.weight[:, b]
    expected = sinusoid(torch.tensor([0.0, 1.0, 1.0]), 32) + torch.stack([0 * told, told, 0 * told])
    torch.testing.assert_close(tokens, expected)


def test_the_draft_writes_what_it_wrote_before(tiny_model, tiny_path):
    """Characters keep their rows though their numbers change; an unknown one starts unlikely."""
    network, tokenizer = fresh(TINY, "abxyz")
    FinishedImagePart.of(tiny_path).apply(network, tokenizer)
    draft, theirs = network.ctc.draft, network_of(tiny_model).ctc.draft
    [ours_b], [their_b] = tokenizer.encode("b"), tiny_model.tokenizer.encode("b")
    assert ours_b == their_b - 1  # there is a space before it
    for ours, their in ((ours_b, their_b), (PAD, PAD), (EOS, EOS)):
        assert torch.equal(draft.weight[ours], theirs.weight[their]) and draft.bias[ours] == theirs.bias[their]
    assert draft.bias[tokenizer.encode("z")[0]] == -8


def test_another_backbone_is_refused(tiny_path):
    network, tokenizer = fresh(replace(TINY, backbone=Light(height=64)), "ab")
    with pytest.raises(ConfigError, match="differs from this run's"):
        FinishedImagePart.of(tiny_path).apply(network, tokenizer)


def test_two_versions_of_a_model_are_two_starts(tiny_path):
    before = FinishedImagePart.of(tiny_path)
    tiny_path.write_bytes(tiny_path.read_bytes() + b" ")
    assert FinishedImagePart.of(tiny_path) != before
    with pytest.raises(ConfigError, match="cannot be read"):
        FinishedImagePart.of(tiny_path.with_name("gone.safetensors"))
