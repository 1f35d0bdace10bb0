"""IIIF manifests (Presentation API 3 and 2): the pages of a volume in a library, with the addresses of their images."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from drethtr.base.cache import name_of
from drethtr.base.errors import DataError
from drethtr.documents.document import Canvas
from drethtr.documents.markup import MAX_BYTES, refuse_large
from drethtr.documents.read import first_bytes
from drethtr.images.page_file import MAX_PAGES
from drethtr.pages.catalog import MANIFEST
from drethtr.pages.volume import AbsentPage, RemotePage, VolumePage

Thing: TypeAlias = dict[str, Any]
"""An object of JSON."""

SIDE = 5000
"""Maximum pixels to request for the longer side of an image: A3 at 300 dpi."""

SHOWN = 3
"""Maximum number of manifests of a collection to list in an error."""


def is_manifest(path: Path) -> bool:
    """Whether a file is a IIIF manifest or collection.

    Raises:
        DataError: if it cannot be read.
    """
    return path.suffix.lower() == ".json" and MANIFEST in first_bytes(path)


def pages_of_manifest(path: Path) -> tuple[VolumePage, ...]:
    """The pages of a manifest in order; images are fetched when pages are read.

    Raises:
        DataError: if it cannot be read, is a collection, or has no pages.
    """
    manifest = read_manifest(path)
    canvases = list(canvases_of(manifest))
    if len(canvases) > MAX_PAGES:
        raise DataError(f"has more than {MAX_PAGES:,} pages; split it", path)
    if not canvases:
        raise DataError(f"a IIIF file without pages{advice(manifest)}", path)
    pages = [page_of(path, canvas) for canvas in canvases]
    return tuple(replace(page, number=number, pages=len(pages)) for number, page in enumerate(pages, start=1))


def read_manifest(path: Path) -> Thing:
    """The JSON object in a manifest.

    Raises:
        DataError: if the file is not a manifest.
    """
    data = first_bytes(path, MAX_BYTES + 1)
    refuse_large(data, str(path))
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"a damaged IIIF manifest: {error}", path) from error
    if not isinstance(content, dict):
        raise DataError("not a IIIF manifest", path)
    return content


def canvases_of(manifest: Thing) -> Iterator[Thing]:
    """The canvases; each is a page."""
    inside = things(manifest, "items") or things(next(iter(things(manifest, "sequences")), {}), "canvases")
    return (thing for thing in inside if kind_of(thing) == "Canvas")


def page_of(path: Path, canvas: Thing) -> VolumePage:
    """The page of a canvas: the first image on it."""
    for image in images_on(canvas):
        if addresses := tuple(addresses_of(image, canvas)):
            named = name_for(image, addresses[-1])
            return RemotePage(path, canvas=canvas_of(canvas), addresses=addresses, image_name=named)
    return AbsentPage(path, reason="the manifest has no image of it")


def canvas_of(canvas: Thing) -> Canvas | None:
    """The canvas that annotations of the page refer to; None if it has no id."""
    place = id_of(canvas)
    return Canvas(place, size_of(canvas, "width"), size_of(canvas, "height")) if place else None


def images_on(canvas: Thing) -> Iterator[Thing]:
    """The images on a canvas, with the first of a choice first."""
    annotations = [note for page in things(canvas, "items") for note in things(page, "items")]
    for annotation in [*annotations, *things(canvas, "images")]:
        for body in (*things(annotation, "body"), *things(annotation, "resource")):
            if kind_of(body) == "Choice":
                yield from (*things(body, "items"), *things(body, "default"))
            elif kind_of(body) == "Image":
                yield body


def addresses_of(image: Thing, canvas: Thing) -> Iterator[str]:
    """The addresses of an image: the best size first, the address in the manifest last.

    An image service is asked for all pixels, or for `SIDE` of them, by width: even the simplest services support that.
    """
    for service in (*things(image, "service"), *things(image, "services")):
        version, place = version_of(service), id_of(service).rstrip("/")
        # Services of level 0 are folders of tiles: they scale nothing, so only the address in the manifest is left.
        if version and place and "level0" not in json.dumps(service.get("profile")):
            width, height = (size_of(image, side) or size_of(canvas, side) for side in ("width", "height"))
            if max(width, height) > SIDE:
                yield f"{place}/full/{round(width * SIDE / max(width, height))},/0/default.jpg"
            yield f"{place}/full/{'max' if version == 3 else 'full'}/0/default.jpg"
            break
    if place := id_of(image):
        yield place


def version_of(service: Thing) -> int:
    """The version of the Image API of a service; 0 for other services, such as a login."""
    told = json.dumps([service.get(key) for key in ("type", "@type", "@context", "profile")])
    if "ImageService3" in told or "api/image/3" in told:
        return 3
    return 2 if "ImageService" in told or "api/image" in told or "image-api" in told else 0


def name_for(image: Thing, address: str) -> str:
    """A file name for an image: from its service, which names the scan, else from its address."""
    service = next(filter(version_of, things(image, "service")), None)
    name = name_of(address if service is None else id_of(service))
    return name if service is None else f"{Path(name).stem}.jpg"


def advice(manifest: Thing) -> str:
    """Advice for the error, if the file is a collection."""
    manifests = [*things(manifest, "items"), *things(manifest, "manifests"), *things(manifest, "members")]
    known = [place for place in map(id_of, manifests) if place]
    if kind_of(manifest) != "Collection" or not known:
        return ""
    more = ", …" if len(known) > SHOWN else ""
    return f": a collection; give one of its manifests: {', '.join(known[:SHOWN])}{more}"


def things(thing: Thing, key: str) -> Sequence[Thing]:
    """The objects under a key, which may be one or several."""
    value = thing.get(key)
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def kind_of(thing: Thing) -> str:
    """The type of an object, without the prefix of version 2: `Canvas` for `sc:Canvas`."""
    kind = thing.get("type", thing.get("@type"))
    return kind.rpartition(":")[2] if isinstance(kind, str) else ""


def id_of(thing: Thing) -> str:
    """The id of an object, which is an address; empty if it has none."""
    value = thing.get("id", thing.get("@id"))
    return value if isinstance(value, str) else ""


def size_of(thing: Thing, side: str) -> int:
    """Its width or height in pixels; 0 if unknown."""
    value = thing.get(side)
    return int(value) if isinstance(value, int | float) and 0 < value < 1e6 else 0
