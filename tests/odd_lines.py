"""Pictures that hold no writing, made here: what a recognizer should not believe it can read."""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter


def clouds(shape, spot, chance):
    """Smooth noise of unit spread, its spots so many pixels wide."""
    height, width = shape
    noise = chance.standard_normal((height // spot + 2, width // spot + 2)).astype(np.float32)
    smooth = np.asarray(Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC))
    return smooth / smooth.std()


def size(chance):
    height = int(chance.integers(48, 110))
    return height, int(height * chance.uniform(4, 12))


def blank_paper(chance):
    shape = size(chance)
    uneven, grain = chance.uniform(0.5, 6), chance.uniform(0.3, 4)
    return chance.uniform(150, 255) + uneven * clouds(shape, 48, chance) + grain * clouds(shape, 1, chance)


def ruled_paper(chance):
    picture, pen, ink, width = on_paper(chance)
    slope = chance.normal(0, 0.004)
    for y in chance.uniform(0, picture.height, int(chance.integers(1, 5))):
        pen.line((0, y, picture.width, y + slope * picture.width), fill=ink, width=width)
    if chance.random() < 0.4:
        step = chance.uniform(0.5, 3) * picture.height
        for x in np.arange(chance.uniform(0, step), picture.width, step):
            pen.line((x, 0, x, picture.height), fill=ink, width=width)
    return np.asarray(picture)


def noise(chance):
    shape = size(chance)
    kinds = (
        lambda: chance.uniform(0, 255, shape),
        lambda: 128 + 60 * chance.standard_normal(shape),
        lambda: np.where(chance.random(shape) < chance.uniform(0.01, 0.3), 20.0, 240.0),
        lambda: 150 + 60 * clouds(shape, int(chance.integers(2, 12)), chance),
    )
    return kinds[chance.integers(len(kinds))]()


def photo(chance):
    """Shaded things before a cloudy ground, a little out of focus."""
    height, width = shape = size(chance)
    ground = sum(clouds(shape, spot, chance) * spot**0.9 for spot in (2, 4, 8, 16, 32, 64))
    picture = drawn_on(ground / ground.std() * chance.uniform(30, 60) + chance.uniform(90, 160))
    pen = ImageDraw.Draw(picture)
    for _ in range(int(chance.integers(3, 25))):
        x, y = chance.uniform(0, width), chance.uniform(0, height)
        a, b = chance.uniform(0.1, 1.2) * height, chance.uniform(0.1, 0.8) * height
        thing = (pen.ellipse, pen.rectangle)[chance.integers(2)]
        thing((x - a, y - b, x + a, y + b), fill=int(chance.uniform(0, 255)))
    blurred = picture.filter(ImageFilter.GaussianBlur(chance.uniform(0.6, 2.5)))
    return np.asarray(blurred) + 4 * chance.standard_normal(shape)


def drawing(chance):
    """Circles, polygons, strokes and curves."""
    picture, pen, ink, width = on_paper(chance)
    for _ in range(int(chance.integers(4, 30))):
        x, y, reach = chance.uniform(0, picture.width), chance.uniform(0, picture.height), picture.height
        reach *= chance.uniform(0.2, 1.5)
        form = chance.integers(3)
        if form == 0:
            pen.ellipse((x - reach, y - reach * 0.6, x + reach, y + reach * 0.6), outline=ink, width=width)
        elif form == 1:
            corners = chance.normal(0, 1, (int(chance.integers(3, 7)), 2)) * (reach, 0.6 * reach) + (x, y)
            pen.polygon([tuple(corner) for corner in corners], outline=ink, width=width)
        else:
            t = np.linspace(0, 1, 40)[:, None]
            bends = chance.normal(0, reach, (3, 2))
            curve = (x, y) + t * bends[0] + t**2 * bends[1] + np.sin(6 * t) * bends[2] / 2
            pen.line([tuple(point) for point in curve], fill=ink, width=width)
    return np.asarray(picture)


def on_paper(chance):
    picture = drawn_on(blank_paper(chance))
    ink = int(np.mean(picture) * chance.uniform(0.1, 0.6))
    return picture, ImageDraw.Draw(picture), ink, int(chance.integers(1, 5))


def drawn_on(pixels):
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


KINDS = (blank_paper, ruled_paper, noise, photo, drawing)


def odd_lines(kind, number, seed=0):
    """So many pictures of one kind, always the same."""
    chances = (np.random.default_rng((seed, place)) for place in range(number))
    return [kind(chance).clip(0, 255).astype(np.uint8) for chance in chances]
