"""Generated pictures without writing, which a recognizer should not be confident about."""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter


def clouds(shape, spot, rng):
    """Smooth noise of unit variance, with spots `spot` pixels wide."""
    height, width = shape
    noise = rng.standard_normal((height // spot + 2, width // spot + 2)).astype(np.float32)
    smooth = np.asarray(Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC))
    return smooth / smooth.std()


def size(rng):
    height = int(rng.integers(48, 110))
    return height, int(height * rng.uniform(4, 12))


def blank_paper(rng):
    shape = size(rng)
    uneven, grain = rng.uniform(0.5, 6), rng.uniform(0.3, 4)
    return rng.uniform(150, 255) + uneven * clouds(shape, 48, rng) + grain * clouds(shape, 1, rng)


def ruled_paper(rng):
    picture, pen, ink, width = on_paper(rng)
    slope = rng.normal(0, 0.004)
    for y in rng.uniform(0, picture.height, int(rng.integers(1, 5))):
        pen.line((0, y, picture.width, y + slope * picture.width), fill=ink, width=width)
    if rng.random() < 0.4:
        step = rng.uniform(0.5, 3) * picture.height
        for x in np.arange(rng.uniform(0, step), picture.width, step):
            pen.line((x, 0, x, picture.height), fill=ink, width=width)
    return np.asarray(picture)


def noise(rng):
    shape = size(rng)
    kinds = (
        lambda: rng.uniform(0, 255, shape),
        lambda: 128 + 60 * rng.standard_normal(shape),
        lambda: np.where(rng.random(shape) < rng.uniform(0.01, 0.3), 20.0, 240.0),
        lambda: 150 + 60 * clouds(shape, int(rng.integers(2, 12)), rng),
    )
    return kinds[rng.integers(len(kinds))]()


def photo(rng):
    """Shaded objects on a cloudy background, slightly out of focus."""
    height, width = shape = size(rng)
    ground = sum(clouds(shape, spot, rng) * spot**0.9 for spot in (2, 4, 8, 16, 32, 64))
    picture = drawn_on(ground / ground.std() * rng.uniform(30, 60) + rng.uniform(90, 160))
    pen = ImageDraw.Draw(picture)
    for _ in range(int(rng.integers(3, 25))):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        a, b = rng.uniform(0.1, 1.2) * height, rng.uniform(0.1, 0.8) * height
        thing = (pen.ellipse, pen.rectangle)[rng.integers(2)]
        thing((x - a, y - b, x + a, y + b), fill=int(rng.uniform(0, 255)))
    blurred = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.6, 2.5)))
    return np.asarray(blurred) + 4 * rng.standard_normal(shape)


def drawing(rng):
    """Circles, polygons, strokes and curves."""
    picture, pen, ink, width = on_paper(rng)
    for _ in range(int(rng.integers(4, 30))):
        x, y, reach = rng.uniform(0, picture.width), rng.uniform(0, picture.height), picture.height
        reach *= rng.uniform(0.2, 1.5)
        form = rng.integers(3)
        if form == 0:
            pen.ellipse((x - reach, y - reach * 0.6, x + reach, y + reach * 0.6), outline=ink, width=width)
        elif form == 1:
            corners = rng.normal(0, 1, (int(rng.integers(3, 7)), 2)) * (reach, 0.6 * reach) + (x, y)
            pen.polygon([tuple(corner) for corner in corners], outline=ink, width=width)
        else:
            t = np.linspace(0, 1, 40)[:, None]
            bends = rng.normal(0, reach, (3, 2))
            curve = (x, y) + t * bends[0] + t**2 * bends[1] + np.sin(6 * t) * bends[2] / 2
            pen.line([tuple(point) for point in curve], fill=ink, width=width)
    return np.asarray(picture)


def on_paper(rng):
    picture = drawn_on(blank_paper(rng))
    ink = int(np.mean(picture) * rng.uniform(0.1, 0.6))
    return picture, ImageDraw.Draw(picture), ink, int(rng.integers(1, 5))


def drawn_on(pixels):
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


KINDS = (blank_paper, ruled_paper, noise, photo, drawing)


def odd_lines(kind, number, seed=0):
    """A number of pictures of one kind, reproducibly."""
    chances = (np.random.default_rng((seed, place)) for place in range(number))
    return [kind(rng).clip(0, 255).astype(np.uint8) for rng in chances]
