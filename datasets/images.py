#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of the data sets fashionMnist and cifar10, in both variants (needs numpy).

    images.py micro grey|colour FOLDER           images of made-up classes, from $FUMEHOOD_DATA_KEY
    images.py parquet fashionMnist|cifar10 TRAIN_PARQUET TEST_PARQUET FOLDER
                                                 Hugging Face's files (needs pyarrow and pillow)

Either writes train_images.npy, train_labels.npy, test_images.npy, sample_submission.csv and
answers.csv. The grader alone sees the last one. The same input and key give the same bytes.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arrays import Array, ArrayDraws, np
from making import data_key, main, read_parquet, write_rows

# --- choosing the classes at random --------------------------------------------------------------

CLASSES = 10
CANDIDATES = 40  # outlines and textures to draw; those that differ most are kept


@dataclass(frozen=True)
class Kind:
    """How images of a variant look. Lengths are in pixels, angles in radians."""

    outlines: int
    textures: int
    pairs: int  # how many pairs of outline and texture a class has
    size: float = 0.6  # radius of an object, as a share of half the image
    contrast: float = 0.2  # strength of a texture, in shades of grey
    noise: float = 0.08
    bar: float = 1.2  # half the width of the bar across an image


KINDS = {
    "grey": Kind(outlines=5, textures=5, pairs=1, size=0.55),
    "colour": Kind(outlines=5, textures=4, pairs=2, noise=0.05, bar=1.0),
}
TRAIN, TEST = 3000, 2000
SIDE = 20
SHIFT, TURN, SCALE = 2.5, 0.25, 0.2  # largest random changes, to either side
OWN_HUE = 0.5  # share of objects that have a hue of their class


@dataclass(frozen=True)
class World:
    """What the classes are: all of it follows from the key."""

    outlines: Array  # [outline, 10]: coefficients of a radius, as a function of the angle
    waves: Array  # [texture, wave, xy]: radians in a pixel
    mix: Array  # [texture]: 1 if it has both waves, 0 if it has the first alone
    pairs: Array  # [class, pair, (outline, texture)]
    hues: Array  # [class]: shared by two classes each


def far_apart(signs: Array, n: int) -> list[int]:
    """Chooses rows that differ, so that classes are equally hard in all worlds."""
    chosen = [0]
    while len(chosen) < n:
        distance = np.abs(signs[:, None] - signs[chosen]).mean(2).min(1)
        chosen.append(int(distance.argmax()))
    return chosen


def radius(outline: Array, angle: Array) -> Array:
    """A Fourier series of five terms around 1."""
    sum_ = 1.0
    for k in range(5):
        sum_ = sum_ + outline[..., 2 * k] * np.cos((k + 1) * angle)
        sum_ = sum_ + outline[..., 2 * k + 1] * np.sin((k + 1) * angle)
    return sum_


def draw_outlines(draws: ArrayDraws, n: int) -> Array:
    sizes = np.repeat([0.3, 0.7, 0.6, 0.5, 0.4], 2)
    outlines = (draws.uniform("outlines", CANDIDATES, 10) - 0.5) * sizes
    signs = radius(outlines[:, None], np.linspace(0, 2 * np.pi, 64, endpoint=False))
    signs /= np.sqrt((signs**2).mean(1, keepdims=True))
    return outlines[far_apart(signs, n)]


def draw_textures(draws: ArrayDraws, n: int) -> tuple[Array, Array]:
    u = draws.uniform("textures", CANDIDATES, 5)
    frequency = 2 * np.pi / (2.6 * (6.0 / 2.6) ** u[:, :2])
    waves = frequency[..., None] * np.stack(
        [np.cos(np.pi * u[:, 2:4]), np.sin(np.pi * u[:, 2:4])], axis=-1
    )
    mix = (u[:, 4] < 0.5).astype(float)

    at = np.stack(np.meshgrid(np.arange(16), np.arange(16)), axis=-1)
    both = np.cos(np.tensordot(waves, at, (2, 2)))  # [candidate, wave, 16, 16]
    window = np.hanning(16)[:, None] * np.hanning(16)
    spectra = np.abs(np.fft.fft2((both[:, 0] + mix[:, None, None] * both[:, 1]) * window))
    signs = spectra.reshape(CANDIDATES, -1)
    signs /= np.linalg.norm(signs, axis=1, keepdims=True)
    chosen = far_apart(signs, n)
    return waves[chosen], mix[chosen]


def draw_pairs(draws: ArrayDraws, kind: Kind) -> Array:
    """Pairs of all classes. Neither an outline nor a texture tells the class."""
    outlines, textures = draws.order("of", kind.outlines), draws.order("by", kind.textures)
    if kind.pairs == 1:  # use each outline and each texture in two classes
        pairs = [(o, textures[(i + 2 * j) % 5]) for i, o in enumerate(outlines) for j in (0, 1)]
        return np.array(pairs)[draws.order("classes", CLASSES)][:, None]
    cells = np.array([(o, t) for o in outlines for t in textures])
    attempt = 0
    while True:
        pairs = cells[draws.order(f"classes {attempt}", len(cells))].reshape(CLASSES, 2, 2)
        if (pairs[:, 0] != pairs[:, 1]).all():
            return pairs
        attempt += 1


def draw_world(draws: ArrayDraws, kind: Kind) -> World:
    waves, mix = draw_textures(draws, kind.textures)
    hues = draws.uniform("hue", 1) + np.arange(5) / 5
    return World(
        outlines=draw_outlines(draws, kind.outlines),
        waves=waves,
        mix=mix,
        pairs=draw_pairs(draws, kind),
        hues=hues[draws.order("hues", CLASSES) % 5],
    )


# --- painting the images ------------------------------------------------------------------------

GRID = np.arange(SIDE) - (SIDE - 1) / 2
Y, X = np.meshgrid(GRID, GRID, indexing="ij")


def between(u: Array, low: float, high: float) -> Array:
    """Numbers of [image], as [image, y, x]."""
    return (low + (high - low) * u)[:, None, None]


def draw_objects(world: World, kind: Kind, labels: Array, u: Array) -> tuple[Array, Array]:
    """Where the objects are, from 0 to 1, and their textures, from -1 to 1: [image, y, x]."""
    pair = (u[:, 0] * kind.pairs).astype(int)
    outline, texture = world.pairs[labels, pair].T
    x = X - between(u[:, 1], -SHIFT, SHIFT)
    y = Y - between(u[:, 2], -SHIFT, SHIFT)
    turn = between(u[:, 3], -TURN, TURN)
    scale = SIDE / 2 * kind.size * np.exp(between(u[:, 4], -SCALE, SCALE))
    x, y = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x

    edge = scale * radius(world.outlines[outline][:, None, None], np.arctan2(y, x))
    mask = 1 / (1 + np.exp(-np.clip(2.5 * (edge - np.hypot(x, y)), -30, 30)))

    def wave(number: int, phase: Array) -> Array:
        ahead = world.waves[texture, number][:, None, None]
        return np.cos(ahead[..., 0] * x + ahead[..., 1] * y + between(phase, 0, 2 * np.pi))

    mix = world.mix[texture][:, None, None]
    waves = (wave(0, u[:, 5]) + mix * wave(1, u[:, 6])) / np.sqrt(1 + mix)
    return mask, np.clip(1.5 * waves, -1, 1)


def draw_bars(kind: Kind, u: Array) -> Array:
    """Where a bar hides the image: [image, y, x]."""
    angle, offset = between(u[:, 0], 0, np.pi), between(u[:, 1], -0.45 * SIDE, 0.45 * SIDE)
    width = kind.bar * between(u[:, 2], 0.5, 1.5)
    return np.abs(np.cos(angle) * X + np.sin(angle) * Y - offset) < width


def paint_grey(world: World, kind: Kind, labels: Array, u: Array, clutter: Array) -> Array:
    mask, texture = draw_objects(world, kind, labels, u)
    back = between(u[:, 7], 0, 0.25)
    body = between(u[:, 8], 0.45, 0.8) + kind.contrast * between(u[:, 9], 0.7, 1.3) * texture
    light = (between(u[:, 10], -0.15, 0.15) * X + between(u[:, 11], -0.15, 0.15) * Y) / SIDE
    images = back + mask * (body - back) + light
    return np.where(draw_bars(kind, u[:, 12:15]), between(u[:, 15], 0, 1), images)


def colours(hue: Array, strength: Array, value: Array) -> Array:
    """Colours as [image, 1, 1, rgb]."""
    wave = 0.5 + 0.5 * np.cos(2 * np.pi * (hue[:, None] - np.arange(3) / 3))
    return (value[:, None] * (1 - strength[:, None] * wave))[:, None, None]


def paint_colour(world: World, kind: Kind, labels: Array, u: Array, clutter: Array) -> Array:
    mask, texture = draw_objects(world, kind, labels, u)
    near = world.hues[labels] + 0.06 * (u[:, 8] - 0.5)
    hue = np.where(u[:, 7] < OWN_HUE, near, u[:, 9])
    strength, value = 0.5 + 0.4 * u[:, 10], 0.55 + 0.45 * u[:, 11]
    light = colours(hue, strength, value)
    dark = colours(hue + 0.15 * (u[:, 16] - 0.5), strength, 0.55 * value)
    back = [colours(v[0], 0.6 * v[1], 0.3 + 0.6 * v[2]) for v in (u[:, 17:20].T, u[:, 20:23].T)]

    body = dark + (light - dark) * (0.5 + 0.5 * texture)[..., None]
    ground = back[0] + (back[1] - back[0]) * clutter[..., None]
    images = ground + mask[..., None] * (body - ground)
    bars = draw_bars(kind, u[:, 12:15])[..., None]
    return np.where(bars, colours(u[:, 15], u[:, 23], u[:, 24]), images)


def draw_clutter(draws: ArrayDraws, label: str, n: int) -> Array:
    """Soft blobs from 0 to 1: [image, y, x]."""
    near = np.maximum(0, 1 - np.abs(np.arange(SIDE)[:, None] * 4 / (SIDE - 1) - np.arange(5)))
    coarse = draws.normal(f"{label} clutter", n, 5, 5)
    return 1 / (1 + np.exp(-2 * (near @ coarse @ near.T)))


def draw_images(
    draws: ArrayDraws, world: World, name: str, label: str, n: int
) -> tuple[Array, Array]:
    """As many images of each class, in an order that the key draws."""
    kind, paint = KINDS[name], {"grey": paint_grey, "colour": paint_colour}[name]
    labels = (np.arange(n) % CLASSES)[draws.order(f"{label} labels", n)]
    u, clutter = draws.uniform(label, n, 25), draw_clutter(draws, label, n)
    images = paint(world, kind, labels, u, clutter)
    images = images + kind.noise * draws.normal(f"{label} noise", *images.shape)
    return np.clip(np.round(255 * images), 0, 255).astype(np.uint8), labels.astype(np.uint8)


# --- writing the generated data set ---------------------------------------------------------------


def write_labels(path: Path, labels: Sequence[int]) -> None:
    write_rows(path, ["label"], [[label] for label in labels])


def write_split(folder: Path, train: tuple[Array, Array], test: tuple[Array, Array]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "train_images.npy", train[0])
    np.save(folder / "train_labels.npy", train[1])
    np.save(folder / "test_images.npy", test[0])
    write_labels(folder / "sample_submission.csv", [0] * len(test[1]))
    write_labels(folder / "answers.csv", test[1])


def prepare_micro(name: str, folder: str) -> None:
    if name not in KINDS:
        sys.exit(f"'{name}' is neither grey nor colour")
    draws = ArrayDraws(data_key(), "images")
    world = draw_world(draws, KINDS[name])
    train = draw_images(draws, world, name, "train", TRAIN)
    write_split(Path(folder), train, draw_images(draws, world, name, "test", TEST))


# --- converting the data sets of Hugging Face -----------------------------------------------------

# For each data set of Hugging Face: the column that has the images, the shape of an image, and the
# numbers of training and test images.
PARQUET = {
    "fashionMnist": ("image", (28, 28), (60000, 10000)),
    "cifar10": ("img", (32, 32, 3), (50000, 10000)),
}


def read_images(path: str, column: str, shape: tuple[int, ...], n: int) -> tuple[Array, Array]:
    table = read_parquet(path, n, [column, "label"])
    try:
        from PIL import Image
    except ImportError:
        sys.exit("pillow is missing: it reads the images (pip install pillow)")
    images = np.empty((n, *shape), np.uint8)
    for i, image in enumerate(table[column]):
        images[i] = np.asarray(Image.open(io.BytesIO(image["bytes"].as_py())))
    return images, table["label"].to_numpy().astype(np.uint8)


def prepare_parquet(name: str, train_parquet: str, test_parquet: str, folder: str) -> None:
    if name not in PARQUET:
        sys.exit(f"'{name}' is neither fashionMnist nor cifar10")
    column, shape, (n_train, n_test) = PARQUET[name]
    train = read_images(train_parquet, column, shape, n_train)
    write_split(Path(folder), train, read_images(test_parquet, column, shape, n_test))


if __name__ == "__main__":
    main(micro=prepare_micro, parquet=prepare_parquet)
