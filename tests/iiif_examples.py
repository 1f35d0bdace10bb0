"""IIIF manifests like those of libraries."""

LIBRARY = "https://library.example"
SIZE = (400, 180)


def service_3(path, profile="level1", host=LIBRARY):
    return {"id": host + path, "type": "ImageService3", "profile": profile}


def service_2(path, profile="http://iiif.io/api/image/2/level1.json", host=LIBRARY):
    return {"@context": "http://iiif.io/api/image/2/context.json", "@id": host + path, "profile": [profile]}


def canvas_3(image, service=None, size=SIZE):
    width, height = size
    body = {"id": image, "type": "Image", "format": "image/jpeg", "width": width, "height": height}
    if service is not None:
        body["service"] = [service]
    note = {"type": "Annotation", "motivation": "painting", "body": body}
    where = {"id": f"{image}/canvas", "type": "Canvas", "width": 2 * width, "height": 2 * height}
    return {**where, "items": [{"type": "AnnotationPage", "items": [note]}]}


def canvas_2(image, service=None, size=SIZE):
    width, height = size
    resource = {"@id": image, "@type": "dctypes:Image"}
    if service is not None:
        resource["service"] = service
    note = {"@type": "oa:Annotation", "motivation": "sc:painting", "resource": resource}
    return {"@type": "sc:Canvas", "width": width, "height": height, "images": [note]}


def manifest_3(*canvases):
    context = "http://iiif.io/api/presentation/3/context.json"
    return {"@context": context, "id": f"{LIBRARY}/m", "type": "Manifest", "items": list(canvases)}


def manifest_2(*canvases):
    context = "http://iiif.io/api/presentation/2/context.json"
    sequence = {"@type": "sc:Sequence", "canvases": list(canvases)}
    return {"@context": context, "@id": f"{LIBRARY}/m", "@type": "sc:Manifest", "sequences": [sequence]}
