"""IIIF manifests like those of libraries."""

import json

LIBRARY = "https://library.example"
SIZE = (400, 180)


def service_3(path, profile="level1", host=LIBRARY):
    return {"id": host + path, "type": "ImageService3", "profile": profile}


def service_2(path, profile="http://iiif.io/api/image/2/level1.json", host=LIBRARY):
    return {"@context": "http://iiif.io/api/image/2/context.json", "@id": host + path, "profile": [profile]}


def canvas_3(image, service=None, size=SIZE, region=None):
    width, height = size
    body = {"id": image, "type": "Image", "format": "image/jpeg", "width": width, "height": height}
    if service is not None:
        body["service"] = [service]
    if region is not None:
        body = {"type": "SpecificResource", "source": body, "selector": {"region": region}}
    note = {"type": "Annotation", "motivation": "painting", "body": body}
    where = {"id": f"{image}/canvas", "type": "Canvas", "width": 2 * width, "height": 2 * height}
    return {**where, "items": [{"type": "AnnotationPage", "items": [note]}]}


def canvas_2(image, service=None, size=SIZE, region=None):
    width, height = size
    resource = {"@id": image, "@type": "dctypes:Image"}
    if service is not None:
        resource["service"] = service
    if region is not None:
        resource = {"@type": "oa:SpecificResource", "full": resource, "selector": {"region": region}}
    note = {"@type": "oa:Annotation", "motivation": "sc:painting", "resource": resource}
    return {"@type": "sc:Canvas", "width": width, "height": height, "images": [note]}


def manifest_3(*canvases):
    context = "http://iiif.io/api/presentation/3/context.json"
    return {"@context": context, "id": f"{LIBRARY}/m", "type": "Manifest", "items": list(canvases)}


def manifest_2(*canvases):
    context = "http://iiif.io/api/presentation/2/context.json"
    sequence = {"@type": "sc:Sequence", "canvases": list(canvases)}
    return {"@context": context, "@id": f"{LIBRARY}/m", "@type": "sc:Manifest", "sequences": [sequence]}


WAYS = ("image", "service", "choice", "part", "source", "nothing", "sound", "nameless")


def body_of(way, name, version):
    """A body of an annotation, and the text that its address or the reason against it must contain."""
    id, type, prefix = ("@id", "@type", "dctypes:") if version == 2 else ("id", "type", "")
    image = {id: f"{LIBRARY}/{name}.jpg", type: f"{prefix}Image"}
    context = f"http://iiif.io/api/image/{version}/context.json"
    service = {"@context": context, id: f"{LIBRARY}/{name}", "profile": "level1"}
    whole = "oa:SpecificResource" if version == 2 else "SpecificResource"
    full = "full" if version == 2 else "source"
    match way:
        case "image":
            return image, f"/{name}.jpg"
        case "service":
            return {**image, "service": [service]}, f"/{name}/full/"
        case "choice" if version == 2:
            return {type: "oa:Choice", "default": image, "item": [{type: "dctypes:Image", id: "x"}]}, f"/{name}.jpg"
        case "choice":
            return {type: "Choice", "items": [image, {type: "Image", id: "x"}]}, f"/{name}.jpg"
        case "part":
            selector = {type: "ImageApiSelector", "region": "1,2,30,40", "rotation": "90"}
            return {type: whole, full: {**image, "service": service}, "selector": selector}, f"/{name}/1,2,30,40/"
        case "source":
            return {id: f"{LIBRARY}/part", type: whole, full: image}, f"/{name}.jpg"
        case "sound":
            return {id: f"{LIBRARY}/{name}.mp3", type: "Sound"}, "only Sound"
        case _:
            return {type: f"{prefix}Image"}, "no image address"


def any_manifest(random):
    """A manifest of some canvases, each with up to three bodies, and what its pages must say in order."""
    version = random.choice([2, 3])
    canvases, expected = [], []
    for number in range(random.randint(1, 6)):
        ways = random.choices(WAYS, k=random.choice([1, 1, 2, 3]))
        bodies = [body_of(way, f"c{number}b{at}", version) for at, way in enumerate(ways) if way != "nothing"]
        told = [text for _, text in bodies if text != "only Sound"] or [text for _, text in bodies[:1]]
        expected += told or ["the manifest has no image of this page"]
        if version == 2:
            notes = [{"@type": "oa:Annotation", "motivation": "sc:painting", "resource": body} for body, _ in bodies]
            canvases.append({"@type": "sc:Canvas", "@id": f"{LIBRARY}/c{number}", "images": notes})
        else:
            notes = [{"type": "Annotation", "motivation": "painting", "body": body} for body, _ in bodies]
            pages = [{"type": "AnnotationPage", "items": notes}]
            canvases.append({"type": "Canvas", "id": f"{LIBRARY}/c{number}", "items": pages})
    context = f"http://iiif.io/api/presentation/{version}/context.json"
    pages = {"sequences": [{"canvases": canvases}]} if version == 2 else {"items": canvases}
    content = {"label": "x" * random.choice([1, 5000]), **pages, "@context": random.choice([context, [context]])}
    indent, encoding = random.choice([None, 1]), random.choice(["utf-8", "utf-8-sig", "utf-16"])
    return json.dumps(content, indent=indent).encode(encoding), expected
