"""IIIF manifests (Presentation API 3 and 2): the pages of a volume in a library, with the addresses of their images.

Each image painted on a canvas is a page. An image that cannot be requested, and a canvas without any, is an
`AbsentPage` with its reason.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from drethtr.base.cache import name_of
from drethtr.base.errors import DataError
from drethtr.documents.document import Canvas
from drethtr.documents.markup import MAX_BYTES, refuse_large
from drethtr.documents.read import first_bytes
from drethtr.images.page_file import MAX_PAGES
from drethtr.pages.volume import AbsentPage, RemotePage, VolumePage

JSONObject: TypeAlias = dict[str, Any]
"""An object of JSON."""

SIDE = 5000
"""Maximum pixels to request for the longer side of an image: A3 at 300 dpi."""

SHOWN = 3
"""Maximum number of manifests of a collection to list in an error."""

OF_IMAGE_API = re.compile(r"/(full|square|(pct:)?[\d.,]+)/[^/]+/!?[\d.]+/\w+\.\w+$")
"""The end of an address of the Image API, which names region, size, rotation and quality."""

NUMBER = r"\d{1,9}(?:\.\d+)?"

REGION = re.compile(rf"(?:xywh=)?(?:pixel:)?((?:pct:|percent:)?{NUMBER}(?:,{NUMBER}){{3}})")
"""A region in a selector: of the Image API, or a fragment."""


class Painted(NamedTuple):
    """An image painted on a canvas, or the part of one that a selector names, turned by `rotation` degrees."""

    image: JSONObject
    region: str = "full"
    rotation: str = "0"
    address: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole image, not rotated."""
        return self.region == "full" and self.rotation == "0"


def pages_of_manifest(path: Path) -> tuple[VolumePage, ...]:
    """The pages of a manifest in order; images are fetched when pages are read.

    Raises:
        DataError: if it cannot be read, is a collection, or has no pages.
    """
    manifest = read_manifest(path)
    # Version 3 has the canvases themselves, version 2 those of its first sequence; others only reorder them.
    inside = objects(manifest, "items") or objects(next(iter(objects(manifest, "sequences")), {}), "canvases")
    canvases = [item for item in inside if kind_of(item) == "Canvas"]
    if not canvases:
        raise DataError(f"a IIIF file without pages{advice(manifest)}", path)
    pages = list(islice((page for canvas in canvases for page in pages_of(path, canvas)), MAX_PAGES + 1))
    if len(pages) > MAX_PAGES:
        raise DataError(f"has more than {MAX_PAGES:,} pages; split it", path)
    return tuple(replace(page, number=number, pages=len(pages)) for number, page in enumerate(pages, start=1))


def read_manifest(path: Path) -> JSONObject:
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


def pages_of(path: Path, canvas: JSONObject) -> Iterator[VolumePage]:
    """The pages of a canvas: one for each image painted on it, else one that cannot be read."""
    bodies = list(painted_on(canvas))
    images = [next(filter(None, map(painted, choices(body))), None) for body in bodies]
    # Text and sound beside an image are ignored; without an image, they are named in the reason.
    shown = [(body, image) for body, image in zip(bodies, images, strict=True) if image or says_image(body)]
    if not shown:
        kinds = ", ".join(dict.fromkeys(kind_of(body) or "something without a type" for body in bodies))
        yield AbsentPage(path, reason=f"the manifest has no image of this page{kinds and f', only {kinds}'}")
    for body, image in shown:
        addresses = tuple(addresses_of(image, canvas)) if image is not None else ()
        if image is None or not addresses:
            part = (
                "" if image is None or image.is_whole else "; no image service gives the part that the manifest names"
            )
            yield AbsentPage(path, reason=f"its {kind_of(body)} {id_of(body)} has no image address{part}")
            continue
        # Positions on one of several images, or on a part, are not positions on the canvas.
        place = canvas_of(canvas) if len(shown) == 1 and image.is_whole else None
        yield RemotePage(path, canvas=place, addresses=addresses, image_name=name_for(image.image, addresses[-1]))


def canvas_of(canvas: JSONObject) -> Canvas | None:
    """The canvas that annotations of the page refer to; None if it has no id."""
    place = id_of(canvas)
    return Canvas(place, size_of(canvas, "width"), size_of(canvas, "height")) if place else None


def painted_on(canvas: JSONObject) -> Iterator[JSONObject]:
    """The bodies of the annotations that paint on a canvas."""
    annotations = [note for page in objects(canvas, "items") for note in objects(page, "items")]
    for annotation in [*annotations, *objects(canvas, "images")]:
        # A word, `sc:painting` in version 2, or a list of such words.
        if "painting" in json.dumps(annotation.get("motivation", "painting")):
            yield from (*objects(annotation, "body"), *objects(annotation, "resource"))


def choices(body: JSONObject) -> Iterator[JSONObject]:
    """The alternatives of a body, the first of them first; only itself, if it is no choice."""
    if kind_of(body) == "Choice":
        yield from (*objects(body, "items"), *objects(body, "default"), *objects(body, "item"))
    else:
        yield body


def says_image(body: JSONObject) -> bool:
    """Whether a body is meant to show an image."""
    return any(kind_of(one) in ("Image", "SpecificResource") for one in choices(body))


def painted(body: JSONObject) -> Painted | None:
    """The image of a body, or the part of it that a SpecificResource selects; None if it is no image."""
    if kind_of(body) != "SpecificResource":
        return Painted(body) if kind_of(body) == "Image" else None
    source = body.get("source", body.get("full"))
    shown: JSONObject = source if isinstance(source, dict) else {"id": source, "type": "Image"}
    image = next((one for one in choices(shown) if kind_of(one) in ("Image", "")), None)
    if image is None or not (id_of(image) or objects(image, "service")):
        return None
    region, rotation = "full", "0"
    for selector in objects(body, "selector"):
        value = selector.get("region", selector.get("value", ""))
        region = found[1].replace("percent:", "pct:") if (found := REGION.fullmatch(str(value))) else region
        rotation = str(selector.get("rotation", rotation))
    return Painted(image, region, rotation, id_of(body) if OF_IMAGE_API.search(id_of(body)) else "")


def addresses_of(painted: Painted, canvas: JSONObject) -> Iterator[str]:
    """The addresses of an image: the best size first, the address in the manifest last.

    An image service is asked for the full size, or for a width that limits the longer side to `SIDE`: even the simplest
    services support that.
    """
    image, region, rotation = painted.image, painted.region, painted.rotation
    for service in (*objects(image, "service"), *objects(image, "services")):
        version, place = version_of(service), id_of(service).rstrip("/")
        # Services of level 0 are folders of tiles and cannot scale, so only the address in the manifest is left.
        if version and place and "level0" not in json.dumps(service.get("profile")):
            width, height = (size_of(image, side) or size_of(canvas, side) for side in ("width", "height"))
            if region[0].isdigit():
                width, height = (round(float(side)) for side in region.split(",")[2:])
            if max(width, height) > SIDE:
                yield f"{place}/{region}/{round(width * SIDE / max(width, height))},/{rotation}/default.jpg"
            yield f"{place}/{region}/{'max' if version == 3 else 'full'}/{rotation}/default.jpg"
            break
    if place := painted.address or (id_of(image) if painted.is_whole else ""):
        yield place


def version_of(service: JSONObject) -> int:
    """The version of the Image API of a service; 0 for other services, such as a login."""
    # The version stands in any of these, by type, context or profile.
    words = json.dumps([service.get(key) for key in ("type", "@type", "@context", "profile")])
    if "ImageService3" in words or "api/image/3" in words:
        return 3
    return 2 if "ImageService" in words or "api/image" in words or "image-api" in words else 0


def name_for(image: JSONObject, address: str) -> str:
    """A file name for an image: from its service, which names the scan, else from its address."""
    service = next(filter(version_of, objects(image, "service")), None)
    name = name_of(address if service is None else id_of(service))
    return name if service is None else f"{Path(name).stem}.jpg"


def advice(manifest: JSONObject) -> str:
    """Advice for the error, if the file is a collection."""
    manifests = [*objects(manifest, "items"), *objects(manifest, "manifests"), *objects(manifest, "members")]
    known = [place for place in map(id_of, manifests) if place]
    if kind_of(manifest) != "Collection" or not known:
        return ""
    more = ", …" if len(known) > SHOWN else ""
    return f": a collection; give one of its manifests: {', '.join(known[:SHOWN])}{more}"


def objects(owner: JSONObject, key: str) -> Sequence[JSONObject]:
    """The objects under a key, which may be one or several."""
    value = owner.get(key)
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def kind_of(item: JSONObject) -> str:
    """The type of an object, without the prefix of version 2: `Canvas` for `sc:Canvas`."""
    kind = item.get("type", item.get("@type"))
    return kind.rpartition(":")[2] if isinstance(kind, str) else ""


def id_of(item: JSONObject) -> str:
    """The id of an object, which is an address; empty if it has none."""
    value = item.get("id", item.get("@id"))
    return value if isinstance(value, str) else ""


def size_of(item: JSONObject, side: str) -> int:
    """Its width or height in pixels; 0 if unknown."""
    value = item.get(side)
    return int(value) if isinstance(value, int | float) and 0 < value < 1e6 else 0
