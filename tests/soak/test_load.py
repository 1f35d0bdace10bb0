"""Make every kind of request once, and test what counts as growth; `make load` goes on."""

import random
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_a_server_takes_all_kinds_of_requests_and_ends(tmp_path, tiny_path):
    from soak.load import Soaked

    soaked = Soaked("edit", tmp_path, ["--model", str(tiny_path), "--decoder", "ctc"], random.Random(0))
    statuses = {visit.__name__: visit() for visit in dict.fromkeys(soaked.visitor.visits)}
    soaked.counts.update(f"{name} {status}" for name, status in statuses.items())
    soaked.measure()
    assert soaked.end() == []
    assert statuses["correct"] == statuses["a_book"] == statuses["export"] == statuses["compared"] == "200"
    assert statuses["alternatives"] == statuses["layout"] == statuses["preview"] == "200"
    assert (statuses["outdated"], statuses["bad_change"], statuses["foreign"]) == ("409", "400", "403")


def test_what_a_server_holds_must_not_grow():
    from soak.measures import Held, grown

    flat = [Held(300 + minute % 2, 40 + minute % 5, 3, 0) for minute in range(30)]
    assert grown(flat) == [] == grown(flat[:2])
    leaking = [
        one._replace(megabytes=300 + 5 * minute, temporary=2 * minute, descriptors=40 + minute)
        for minute, one in enumerate(flat)
    ]
    assert [fault.partition(":")[0] for fault in grown(leaking)] == ["megabytes", "descriptors", "temporary"]
