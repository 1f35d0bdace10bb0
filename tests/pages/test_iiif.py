"""Manifests of IIIF: which pages they have, and which addresses are asked for their images."""

import json
from random import Random

import pytest
from iiif_examples import any_manifest, canvas_2, canvas_3, manifest_2, manifest_3, service_2, service_3

from drethtr.base.cache import name_of
from drethtr.base.errors import DataError
from drethtr.pages.inputs import stem_of
from drethtr.pages.source import open_originals
from drethtr.pages.volume import AbsentPage

LIBRARY = "https://library.example"


def opened(folder, manifest):
    path = folder / "manifest.json"
    path.write_text(json.dumps(manifest, indent=1))
    return [original.source for original in open_originals(path)]


def addresses(folder, manifest):
    [page] = opened(folder, manifest)
    return [address.removeprefix(LIBRARY) for address in page.addresses]


def test_pages_of_both_versions(tmp_path):
    for manifest in (
        manifest_3(canvas_3(f"{LIBRARY}/a.jpg"), canvas_3(f"{LIBRARY}/b.jpg")),
        manifest_2(canvas_2(f"{LIBRARY}/a.jpg"), canvas_2(f"{LIBRARY}/b.jpg")),
    ):
        pages = opened(tmp_path, manifest)
        assert [(page.number, page.pages, page.addresses) for page in pages] == [
            (1, 2, (f"{LIBRARY}/a.jpg",)),
            (2, 2, (f"{LIBRARY}/b.jpg",)),
        ]
        assert [page.image_name for page in pages] == ["a.jpg", "b.jpg"]
        assert pages[1].name == f"{tmp_path / 'manifest.json'} page 2"


def test_a_volume_of_too_many_pages_is_refused(tmp_path, monkeypatch):
    """Whether they are canvases or images of one."""
    monkeypatch.setattr("drethtr.pages.iiif.MAX_PAGES", 3)
    canvas = canvas_3(f"{LIBRARY}/a.jpg")
    assert len(opened(tmp_path, manifest_3(*[canvas] * 3))) == 3
    for pages in ([canvas] * 4, [canvas, canvas, canvas | {"items": canvas["items"] * 2}]):
        with pytest.raises(DataError, match="has more than 3 pages; split it"):
            opened(tmp_path, manifest_3(*pages))


@pytest.mark.parametrize(
    ("service", "size", "expected"),
    [
        (service_3("/i/x%2F1.jp2"), (4000, 5000), ["/i/x%2F1.jp2/full/max/0/default.jpg"]),
        (service_2("/i/1"), (4000, 5000), ["/i/1/full/full/0/default.jpg"]),
        (service_3("/i/1"), (8000, 10_000), ["/i/1/full/4000,/0/default.jpg", "/i/1/full/max/0/default.jpg"]),
        (service_2("/i/1/"), (10_000, 2000), ["/i/1/full/5000,/0/default.jpg", "/i/1/full/full/0/default.jpg"]),
        (service_3("/i/1", profile="level0"), (8000, 10_000), []),
        (service_2("/i/1", profile="http://iiif.io/api/image/2/level0.json"), (8000, 10_000), []),
        ({"@id": f"{LIBRARY}/login", "profile": "http://iiif.io/api/auth/1/login"}, (8000, 10_000), []),
    ],
)
def test_the_size_of_images(tmp_path, service, size, expected):
    """All pixels up to A3 at 300 dpi; a service that only has what it has made is asked for what the manifest names."""
    here = "/i/default.jpg"
    assert addresses(tmp_path, manifest_3(canvas_3(LIBRARY + here, service, size))) == [*expected, here]
    assert addresses(tmp_path, manifest_2(canvas_2(LIBRARY + here, service, size))) == [*expected, here]


@pytest.mark.parametrize("canvas", [canvas_2, canvas_3])
def test_a_part_of_an_image(tmp_path, canvas):
    service = (service_2 if canvas is canvas_2 else service_3)("/i/1")
    manifest = manifest_2 if canvas is canvas_2 else manifest_3
    [address] = addresses(tmp_path, manifest(canvas(f"{LIBRARY}/a.jpg", service, region="xywh=percent:0,0,33.3,50")))
    assert address.startswith("/i/1/pct:0,0,33.3,50/")
    for region in ("1,2,3.4.5,6", "0,0,.,1", "0,0,1," + "9" * 400):  # no part: the whole image
        *_, address = addresses(tmp_path, manifest(canvas(f"{LIBRARY}/a.jpg", service, region=region)))
        assert address == "/a.jpg"


def test_images_are_named_after_their_scans(tmp_path):
    manifest = manifest_3(canvas_3(f"{LIBRARY}/i/1/full/max/0/default.jpg", service_3("/i/ms%2Ff%2017r.jp2")))
    [page] = opened(tmp_path, manifest)
    assert page.image_name == "f_17r.jpg"


def test_the_first_of_several_images_to_choose_from(tmp_path):
    canvas = canvas_3(f"{LIBRARY}/a.jpg")
    note = canvas["items"][0]["items"][0]
    note["body"] = {"type": "Choice", "items": [note["body"], {"type": "Image", "id": f"{LIBRARY}/b.jpg"}]}
    assert addresses(tmp_path, manifest_3(canvas)) == ["/a.jpg"]
    canvas = canvas_2(f"{LIBRARY}/a.jpg")
    image = canvas["images"][0]["resource"]
    canvas["images"][0]["resource"] = {"@type": "oa:Choice", "default": image, "item": [image]}
    assert addresses(tmp_path, manifest_2(canvas)) == ["/a.jpg"]


def test_a_canvas_without_an_image_is_missed_alone(tmp_path):
    first, second = opened(tmp_path, manifest_3({"type": "Canvas"}, canvas_3(f"{LIBRARY}/b.jpg")))
    with pytest.raises(DataError, match=r"manifest\.json page 1: the manifest has no image of this page"):
        first.gray()
    assert second.addresses


@pytest.mark.parametrize("address", ["http://[", "https://a/\ud800", "file:///etc/passwd"])
def test_what_is_no_address_of_the_web_is_not_asked(tmp_path, address):
    [page] = opened(tmp_path, manifest_3(canvas_3(address)))
    assert page.file is None
    with pytest.raises(DataError, match=r"manifest\.json page 1: .*is not a web address"):
        page.gray()


def test_what_has_no_pages_is_refused(tmp_path):
    collection = {
        **manifest_3(),
        "type": "Collection",
        "items": [{"type": "Manifest", "id": f"{LIBRARY}/m/{n}"} for n in range(5)],
    }
    with pytest.raises(
        DataError, match=r"a collection; give one of its manifests: https://library\.example/m/0, .*, …"
    ):
        opened(tmp_path, collection)
    with pytest.raises(DataError, match="a IIIF file without pages"):
        opened(tmp_path, manifest_3())
    (tmp_path / "manifest.json").write_text('{"@context": "http://iiif.io/api/presentation/3/context.json",')
    with pytest.raises(DataError, match="a damaged IIIF manifest"):
        open_originals(tmp_path / "manifest.json")
    for odd in ({"items": [3]}, {"items": 3}, {"sequences": "x"}, {"items": [{"type": 7}]}):
        with pytest.raises(DataError, match="a IIIF file without pages"):
            opened(tmp_path, {**manifest_3(), **odd})


@pytest.mark.parametrize(
    ("address", "stem"),
    [
        ("https://gallica.example/iiif/ark:/12148/btv1b8449691v/manifest.json", "btv1b8449691v"),
        ("https://bodleian.example/iiif/manifest/e32a277e.json", "e32a277e"),
        ("https://digi.example/diglit/cpg148/mets", "cpg148"),
        ("https://digi.example/mets.php?id=17&x=/", "id_17_x"),
        ("https://digi.example/", "digi.example"),
    ],
)
def test_results_are_named_after_the_volume(address, stem):
    assert stem_of(address) == stem


def test_a_name_fits_into_a_folder():
    """Whatever its script is."""
    for name in (name_of, stem_of):
        for part, most in (("書" * 120, 200), ("é" * 120, 200), ("a" * 120, 100)):
            found = name(f"https://library.example/{part}")
            assert found == found[-1] * len(found) and most - 3 < len(found.encode()) <= most


def test_every_painted_image_is_a_page_or_named(tmp_path):
    for seed in range(240):
        content, expected = any_manifest(Random(seed))
        path = tmp_path / f"manifest{seed}.json"
        path.write_bytes(content)
        found = [original.source for original in open_originals(path)]
        told = [page.reason if isinstance(page, AbsentPage) else page.addresses[0] for page in found]
        assert len(told) == len(expected), path.name
        for text, part in zip(told, expected, strict=True):
            assert part in text, path.name
