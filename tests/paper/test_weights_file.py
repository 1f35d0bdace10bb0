"""Files of others are read, and nothing in them is run."""

import pickle
import struct
import tracemalloc
import zipfile
from collections import OrderedDict
from contextlib import suppress
from copy import copy
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from drethtr.base.errors import CheckpointError
from drethtr.paper.weights_file import read_weights

TENSORS = {
    "scalar": torch.tensor(7),
    "whole": torch.arange(6.0).view(2, 3),
    "half": torch.ones(3).half(),
    "brain": torch.ones(2, 2).bfloat16(),
    "empty": torch.zeros(0, 4),
    "yes": torch.tensor([True, False]),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weights"


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype and torch.equal(found[name], tensor)


def test_safetensors(path):
    save_file(TENSORS, path)
    assert_same(read_weights(path), TENSORS)


def test_a_torch_file(path):
    torch.save(TENSORS, path)
    assert_same(read_weights(path), TENSORS)


def test_a_state_dict_with_shared_and_transposed_tensors_and_parameters(path):
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    state = network.state_dict()
    state["0.transposed"] = network[0].weight.detach().T
    state["0.row"] = network[0].weight.detach()[1]
    state["0.parameter"] = network[0].bias
    torch.save(state, path)
    found = read_weights(path)
    assert_same(found, {name: tensor.detach() for name, tensor in state.items()})
    assert not any(tensor.requires_grad for tensor in found.values())


def test_a_storage_is_read_once_however_many_tensors_share_it(path):
    """A small file of many tensors with one large storage would else fill any memory."""
    whole = torch.arange(1000.0)
    torch.save({f"tensor {number}": whole for number in range(100)}, path)
    assert len({tensor.data_ptr() for tensor in read_weights(path).values()}) == 1


class Mischief:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_code_in_a_torch_file_is_not_run(path, tmp_path):
    trace = tmp_path / "was here"
    torch.save({"weight": torch.ones(1), "more": Mischief(trace)}, path)
    with pytest.raises(CheckpointError, match=r"weights: it references \S+, which no state dict does"):
        read_weights(path)
    assert not trace.exists()
    torch.load(path, weights_only=False)
    assert trace.exists()


def rewritten(path, change):
    """The torch file with the entries that `change` returns."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in change(entries).items():
            archive.writestr(name, content)


def with_index(path, code):
    """A torch file whose pickle is this code."""
    torch.save({}, path)
    rewritten(path, lambda entries: {n: code if n.endswith("data.pkl") else c for n, c in entries.items()})


@pytest.mark.parametrize("name", ["builtins.eval", "os.system", "torch.load", "collections.defaultdict"])
def test_nothing_but_tensors_can_be_named(path, name):
    module, function = name.split(".")
    with_index(path, b"\x80\x02c" + f"{module}\n{function}\n".encode() + b".")
    with pytest.raises(
        CheckpointError, match=f"it references {name.removeprefix('builtins.')}, which no state dict does"
    ):
        read_weights(path)


DAMAGES = {
    "a storage cut short": lambda entries: {n: c[:4] if n.endswith("data/1") else c for n, c in entries.items()},
    "a storage lost": lambda entries: {n: c for n, c in entries.items() if not n.endswith("data/1")},
    "no index": lambda entries: {n: c for n, c in entries.items() if not n.endswith("data.pkl")},
    "an index cut short": lambda entries: {n: c[:99] if n.endswith("data.pkl") else c for n, c in entries.items()},
    "numbers of another order": lambda entries: {n: b"?" if n.endswith("byteorder") else c for n, c in entries.items()},
    "a list": lambda entries: {n: pickle.dumps([1], 2) if n.endswith("data.pkl") else c for n, c in entries.items()},
    "a number": lambda entries: {
        n: pickle.dumps(OrderedDict(a=1), 2) if n.endswith("data.pkl") else c for n, c in entries.items()
    },
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damages_are_named(path, damage):
    torch.save(TENSORS, path)
    rewritten(path, damage)
    with pytest.raises(CheckpointError, match="weights: "):
        read_weights(path)


def test_a_file_of_a_big_endian_machine(path):
    torch.save({"weight": torch.tensor([1.0, 2.0])}, path)
    big = {"byteorder": b"big", "data/0": struct.pack(">2f", 3.0, 4.0)}
    rewritten(path, lambda entries: {n: big.get(n.partition("/")[2], c) for n, c in entries.items()})
    assert read_weights(path)["weight"].tolist() == [3.0, 4.0]


def test_an_index_that_is_cut_short_anywhere_is_refused(path):
    torch.save({"weight": torch.ones(2)}, path)
    with zipfile.ZipFile(path) as archive:
        [index] = [name for name in archive.namelist() if name.endswith("data.pkl")]
        whole = archive.read(index)
    for length in range(len(whole)):
        rewritten(path, lambda entries, length=length: entries | {index: whole[:length]})
        with pytest.raises(CheckpointError, match="weights: "):
            read_weights(path)


def test_a_file_cannot_claim_more_than_it_holds(path):
    """One number, spread over a terabyte."""
    torch.save({"weight": torch.zeros(1).expand(1 << 38)}, path)
    with pytest.raises(CheckpointError, match="has 1 values, too few"):
        read_weights(path)


CLAIMS = {
    "a memo of 1.4 GB": b"\x80\x02}r" + struct.pack("<I", 100_000_000) + b".",
    "more bytes than fit": b"\x80\x04\x8e" + struct.pack("<Q", 2**63) + b".",
    "a buffer of 16 GB": b"\x80\x05\x96" + struct.pack("<Q", 2**34) + b".",
    "more digits than memory": b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b".",
}


@pytest.mark.parametrize("index", CLAIMS.values(), ids=CLAIMS)
def test_an_index_cannot_claim_more_than_it_holds(index, path):
    """Nor end in an error of Python's own."""
    with_index(path, index)
    tracemalloc.start()
    try:
        with suppress(CheckpointError):
            read_weights(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1 << 20


def test_entries_that_overlap_are_refused(path):
    """Else a small file could hold the same bytes many times."""
    torch.save({"weight": torch.ones(1000)}, path)
    with zipfile.ZipFile(path, "a") as archive:
        [entry] = [entry for entry in archive.infolist() if entry.filename.endswith("data/0")]
        for number in range(3):
            again = copy(entry)
            again.filename = f"{entry.filename}{number}"
            archive.filelist.append(again)
        archive._didModify = True
    with pytest.raises(CheckpointError, match="its entries overlap"):
        read_weights(path)


def test_an_archive_without_index_says_so(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data/0", bytes(8))
    with pytest.raises(CheckpointError, match=r"weights: not written by torch\.save: data\.pkl is missing"):
        read_weights(path)


def test_a_compressed_archive_is_refused(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(1000))
    with pytest.raises(CheckpointError, match=r"data\.pkl is compressed"):
        read_weights(path)


def test_other_files_are_named(path):
    with pytest.raises(CheckpointError, match="weights: cannot be read: No such file"):
        read_weights(path)
    torch.save(TENSORS, path, _use_new_zipfile_serialization=False)
    with pytest.raises(CheckpointError, match=r"a torch file from before version 1\.6; if you trust it, load it"):
        read_weights(path)
    path.write_text("a letter", encoding="utf-8")
    with pytest.raises(CheckpointError, match="neither a torch file nor safetensors"):
        read_weights(path)
    path.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(CheckpointError, match="damaged, or"):
        read_weights(path)
