#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of the data sets coco and coco-micro (needs numpy).

    prepare.py micro FOLDER                    made-up pictures, from $FUMEHOOD_DATA_KEY
    prepare.py coco ANNOTATIONS_ZIP TRAIN_ZIP VAL_ZIP FOLDER
                                               photographs of COCO's site (needs pillow)

Either writes train_images.npy, train_captions.csv, test_images.npy, sample_submission.csv and
answers.csv. The grader alone sees the last file. The same input and key give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from arrays import Array, ArrayDraws, np
from making import data_key, main, write_rows

TRAIN, TEST = 1500, 1000  # numbers of pictures
CAPTIONS = 5  # captions of each picture, as in COCO

# --- making up a random language -----------------------------------------------------------------

OUTLINES, HUES = 6, 6
CANDIDATES = 60  # outlines that are drawn. Those that differ most are kept.

# For each kind of word in the made-up language: how many meanings it has, and how many words each
# meaning has.
WORDS = {
    "noun": (OUTLINES, 2),
    "hue": (HUES, 2),
    "size": (2, 1),
    "article": (2, 1),
    "relation": (3, 1),
    "scene": (2, 1),
    "particle": (2, 1),
}
SECOND = 0.35  # share of mentions that use the second of a meaning's two words

# Rules for the object that a caption names first: the upper or lower one, or the larger or smaller
# one.
RULES = ("y", "area")

# Templates of captions: the share of captions that follow it, and the part of the picture that it
# does not tell.
TEMPLATES = ((0.5, ""), (0.3, "size"), (0.2, "scene"))


@dataclass(frozen=True)
class Language:
    """All of it follows from the key."""

    outlines: Array  # [outline, 6]: coefficients of a radius, as a function of the angle
    hues: Array  # [hue], from 0 to 1
    words: dict[str, list[list[str]]]  # by kind of word and by meaning
    gender: list[int]  # the article of each outline's nouns
    rule: str
    sign: int  # 1: the object with the smaller number comes first
    axis: int  # the relation tells where the first object lies: 0 from left to right, 1 from above
    phrase: list[str]  # the order of article, size, hue and noun
    clauses: list[list[str]]  # each template's order of first, relation, second and scene


def radius(outline: Array, angle: Array) -> Array:
    """A Fourier series around 1. It lacks the first term, which is a shift."""
    sum_ = 1.0
    for k in range(3):
        sum_ = sum_ + outline[..., 2 * k] * np.cos((k + 2) * angle)
        sum_ = sum_ + outline[..., 2 * k + 1] * np.sin((k + 2) * angle)
    return sum_


def draw_outlines(draws: ArrayDraws) -> Array:
    """Outlines that differ, so that the pictures are equally hard in all languages."""
    u = draws.uniform("outlines", CANDIDATES, 2, 3)
    size, phase = np.array([0.4, 0.35, 0.3]) * u[:, 0], 2 * np.pi * u[:, 1]
    outlines = np.stack([size * np.cos(phase), size * np.sin(phase)], 2).reshape(CANDIDATES, 6)
    signs = radius(outlines[:, None], np.linspace(0, 2 * np.pi, 64, endpoint=False))
    size = np.sqrt((signs**2).mean(1, keepdims=True))
    chosen = [0]
    while len(chosen) < OUTLINES:
        distance = np.abs((signs / size)[:, None] - (signs / size)[chosen]).mean(2).min(1)
        chosen.append(int(distance.argmax()))
    return outlines[chosen]


def draw_words(draws: ArrayDraws) -> dict[str, list[list[str]]]:
    n = sum(meanings * words for meanings, words in WORDS.values())
    onsets = [("bdfghjklmnprstvwz")[i] for i in draws.order("onsets", 17)[:10]]
    vowels = ["aeiou"[i] for i in draws.order("vowels", 5)[:4]]
    syllables = [onset + vowel for onset in onsets for vowel in vowels]
    u = draws.uniform("words", 8 * n, 4)
    made: list[str] = []
    for row in u:
        word = "".join(syllables[int(x * len(syllables))] for x in row[: 2 + (row[3] < 0.3)])
        if word not in made:
            made.append(word)
    return {
        kind: [[made.pop() for _ in range(words)] for _ in range(meanings)]
        for kind, (meanings, words) in WORDS.items()
    }


def draw_clauses(draws: ArrayDraws, template: int, left_out: str) -> list[str]:
    """The first object is named before the second."""
    parts = ["first", "relation", "second", "scene"]
    order = [parts[i] for i in draws.order(f"clauses {template}", 4)]
    at = sorted([order.index("first"), order.index("second")])
    order[at[0]], order[at[1]] = "first", "second"
    return [part for part in order if part != left_out]


def draw_language(draws: ArrayDraws) -> Language:
    rule = RULES[draws.below("rule", 2)]
    return Language(
        outlines=draw_outlines(draws),
        hues=(draws.uniform("hue", 1) + np.arange(HUES) / HUES) % 1,
        words=draw_words(draws),
        gender=[i % 2 for i in draws.order("gender", OUTLINES)],
        rule=rule,
        sign=1 - 2 * draws.below("sign", 2),
        axis=0 if rule == "y" else draws.below("axis", 2),
        phrase=[["article", "size", "hue", "noun"][i] for i in draws.order("phrase", 4)],
        clauses=[draw_clauses(draws, i, part) for i, (_, part) in enumerate(TEMPLATES)],
    )


# --- painting random pictures -------------------------------------------------------------------

SIDE = 32
SMALL, LARGE = 4.0, 6.2  # radii of objects in pixels
TRIES = 40  # random places for two objects; the first good pair is taken
GRID = np.arange(SIDE) - (SIDE - 1) / 2
Y, X = np.meshgrid(GRID, GRID, indexing="ij")


@dataclass(frozen=True)
class Scenes:
    """Pictures' contents. All but `light` are [picture, object]."""

    outline: Array
    hue: Array
    large: Array  # 1 for a large object, else 0
    radius: Array
    x: Array
    y: Array
    light: Array  # [picture], 0 or 1: the background


def draw_places(draws: ArrayDraws, label: str, radii: Array) -> tuple[Array, Array]:
    """Places of both objects, apart from each other and inside the picture."""
    n = len(radii)
    room = (SIDE / 2 - 1.25 * radii)[:, None, :, None]
    at = (2 * draws.uniform(f"{label} places", n, TRIES, 2, 2) - 1) * room
    away = at[:, :, 0] - at[:, :, 1]
    good = np.hypot(away[..., 0], away[..., 1]) > 1.35 * radii.sum(1)[:, None] + 1
    good &= np.abs(away[..., 1]) > 2  # it is clear which object is higher
    chosen = at[np.arange(n), good.argmax(1)]
    return chosen[..., 0], chosen[..., 1]


def draw_scenes(draws: ArrayDraws, label: str, n: int) -> Scenes:
    u = draws.uniform(f"{label} scenes", 5, n, 2)
    large = (u[2] < 0.5).astype(int)
    radii = np.where(large == 1, LARGE, SMALL) * (0.9 + 0.2 * u[3])
    x, y = draw_places(draws, label, radii)
    return Scenes(
        outline=(u[0] * OUTLINES).astype(int),
        hue=(u[1] * HUES).astype(int),
        large=large,
        radius=radii,
        x=x,
        y=y,
        light=(u[4, :, 0] < 0.5).astype(int),
    )


def colours(hue: Array, strength: Array, value: Array) -> Array:
    """Colours as [picture, 1, 1, rgb]."""
    wave = 0.5 + 0.5 * np.cos(2 * np.pi * (hue[:, None] - np.arange(3) / 3))
    return (value[:, None] * (1 - strength[:, None] * wave))[:, None, None]


def paint(draws: ArrayDraws, language: Language, label: str, scenes: Scenes) -> Array:
    """Bytes [picture, y, x, rgb]."""
    n = len(scenes.light)
    u = draws.uniform(f"{label} looks", 10, n)
    ground = np.where(scenes.light == 1, 0.6, 0.15) + 0.25 * u[0]
    slope = (u[1, :, None, None] - 0.5) * X + (u[2, :, None, None] - 0.5) * Y
    pictures = np.repeat((ground[:, None, None] + 0.3 * slope / SIDE)[..., None], 3, axis=3)
    pictures += 0.04 * draws.normal(f"{label} tint", n, 1, 1, 3)
    for i in range(2):
        x, y = (X - scenes.x[:, i, None, None]), (Y - scenes.y[:, i, None, None])
        outline = language.outlines[scenes.outline[:, i]][:, None, None]
        turn = 0.3 * (u[3 + i, :, None, None] - 0.5)
        edge = scenes.radius[:, i, None, None] * radius(outline, np.arctan2(y, x) + turn)
        mask = 1 / (1 + np.exp(-np.clip(3 * (edge - np.hypot(x, y)), -30, 30)))
        hue = language.hues[scenes.hue[:, i]] + 0.07 * (u[5 + i] - 0.5)
        body = colours(hue, 0.7 + 0.25 * u[7], 0.5 + 0.45 * u[8 + i])
        pictures += mask[..., None] * (body - pictures)
    pictures += 0.05 * draws.normal(f"{label} noise", *pictures.shape)
    return np.clip(np.round(255 * pictures), 0, 255).astype(np.uint8)


# --- writing captions of the pictures -------------------------------------------------------------


def first_objects(language: Language, scenes: Scenes) -> Array:
    """The object of each picture that is named first, 0 or 1."""
    number = scenes.y if language.rule == "y" else scenes.radius
    return (language.sign * (number[:, 1] - number[:, 0]) < 0).astype(int)


def relation(language: Language, scenes: Scenes, i: int, first: int) -> int:
    at = scenes.y if language.axis else scenes.x
    away = at[i, first] - at[i, 1 - first]
    return 0 if away < -5 else 2 if away > 5 else 1


class Speaker:
    """Says captions of one set of pictures. Each draw is used once."""

    def __init__(self, draws: ArrayDraws, language: Language, label: str, scenes: Scenes) -> None:
        self.language, self.scenes = language, scenes
        self.first = first_objects(language, scenes)
        self.u = draws.uniform(f"{label} captions", len(scenes.light), CAPTIONS, 5)

    def word(self, kind: str, meaning: int, u: float = 1) -> str:
        words = self.language.words[kind][meaning]
        return words[1] if len(words) > 1 and u < SECOND else words[0]

    def thing(self, i: int, which: int, left_out: str, u: Array) -> list[str]:
        scenes = self.scenes
        outline = scenes.outline[i, which]
        words = {
            "article": self.word("article", self.language.gender[outline]),
            "size": self.word("size", scenes.large[i, which]),
            "hue": self.word("hue", scenes.hue[i, which], u[0]),
            "noun": self.word("noun", outline, u[1]),
        }
        return [words[part] for part in self.language.phrase if part != left_out]

    def caption(self, i: int, u: Array) -> str:
        ends = np.cumsum([share for share, _ in TEMPLATES])
        template = min(int(np.searchsorted(ends, u[4], "right")), len(TEMPLATES) - 1)
        left_out = TEMPLATES[template][1]
        first = self.first[i]
        particles = self.language.words["particle"]
        said = {
            "first": self.thing(i, first, left_out, u[:2]),
            "relation": [self.word("relation", relation(self.language, self.scenes, i, first))],
            "second": self.thing(i, 1 - first, left_out, u[2:4]),
            "scene": [particles[0][0], self.word("scene", self.scenes.light[i]), particles[1][0]],
        }
        return " ".join(word for part in self.language.clauses[template] for word in said[part])

    def captions(self) -> list[list[str]]:
        return [[self.caption(i, u) for u in rows] for i, rows in enumerate(self.u)]


def draw_set(
    draws: ArrayDraws, language: Language, label: str, n: int
) -> tuple[Array, list[list[str]]]:
    """Pictures, and the captions of each."""
    scenes = draw_scenes(draws, label, n)
    captions = Speaker(draws, language, label, scenes).captions()
    return paint(draws, language, label, scenes), captions


def write_captions(folder: Path, known: Iterable[list[str]], hidden: list[list[str]]) -> None:
    """Writes captions of training pictures, and those of test pictures for the grader."""
    rows = [(i, caption) for i, said in enumerate(known) for caption in said]
    write_rows(folder / "train_captions.csv", ["image", "caption"], rows)
    write_rows(folder / "answers.csv", ["caption"], [[" ||| ".join(said)] for said in hidden])
    write_rows(folder / "sample_submission.csv", ["caption"], [[rows[0][1]]] * len(hidden))


def prepare_micro(path: str) -> None:
    folder = Path(path)
    draws = ArrayDraws(data_key(), "captions")
    language = draw_language(draws)
    train, captions = draw_set(draws, language, "train", TRAIN)
    test, references = draw_set(draws, language, "test", TEST)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "train_images.npy", train)
    np.save(folder / "test_images.npy", test)
    write_captions(folder, captions, references)


# --- laying out the photographs of COCO -----------------------------------------------------------

# MLGym has as many photographs for training and for the test.
PHOTOGRAPHS = {"train": 37_609, "val": 9_435}
PIXELS = 224  # length of a side


def words(caption: str) -> str:
    """Lower case without punctuation. So the score tells of words alone."""
    return " ".join(re.findall(r"[a-z0-9']+", caption.lower()))


def read_captions(annotations: zipfile.ZipFile, part: str) -> list[tuple[str, list[str]]]:
    """File names of chosen photographs, and five captions of each. The order tells nothing."""
    told = json.loads(annotations.read(f"annotations/captions_{part}2014.json"))
    said: dict[int, list[str]] = {}
    for each in sorted(told["annotations"], key=lambda each: each["id"]):
        said.setdefault(each["image_id"], []).append(words(each["caption"]))
    names = {each["id"]: each["file_name"] for each in told["images"]}
    chosen = sorted(said, key=lambda i: hashlib.sha256(f"{i}".encode()).digest())
    return [(names[i], said[i][:CAPTIONS]) for i in chosen[: PHOTOGRAPHS[part]]]


def write_photographs(path: Path, photographs: zipfile.ZipFile, names: list[str]) -> None:
    """Writes the middle squares, scaled to PIXELS x PIXELS pixels."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        sys.exit("pillow is missing: it reads the photographs (pip install pillow)")
    folder = Path(photographs.namelist()[0]).parts[0]
    shape = (len(names), PIXELS, PIXELS, 3)
    pixels = np.lib.format.open_memmap(path, "w+", np.uint8, shape)
    for i, name in enumerate(names):
        with photographs.open(f"{folder}/{name}") as file:
            pixels[i] = np.asarray(ImageOps.fit(Image.open(file).convert("RGB"), (PIXELS, PIXELS)))
    pixels.flush()


def prepare_coco(annotations_zip: str, train_zip: str, val_zip: str, path: str) -> None:
    folder, captions = Path(path), []
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(annotations_zip) as annotations:
            for part, name, archive in (("train", "train", train_zip), ("val", "test", val_zip)):
                chosen = read_captions(annotations, part)
                with zipfile.ZipFile(archive) as photographs:
                    names = [name for name, _ in chosen]
                    write_photographs(folder / f"{name}_images.npy", photographs, names)
                captions.append([said for _, said in chosen])
    except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        sys.exit(f"these are not MS COCO's files of 2014: {error}")
    write_captions(folder, *captions)


if __name__ == "__main__":
    main(micro=prepare_micro, coco=prepare_coco)
