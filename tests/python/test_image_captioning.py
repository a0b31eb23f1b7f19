# SPDX-License-Identifier: Apache-2.0
"""imageCaptioningCOCO: pictures and a language generated from a key, and solutions that climb."""

from __future__ import annotations

import csv
import json
import math
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from conftest import KEY, PYTHON, ROOT, check_climb, lacks, make_data

np = pytest.importorskip("numpy")

TASK = ROOT / "tasks/imageCaptioningCOCO"
DATA = "coco-micro"

Load = Callable[[Path], ModuleType]


@pytest.fixture
def prepare(load: Load) -> ModuleType:
    return load(TASK / "prepare.py")


def captions_of(path: Path) -> list[str]:
    with open(path, newline="") as file:
        return [row["caption"] for row in csv.DictReader(file)]


# --- tests of the generated data ----------------------------------------------------------------


def test_micro_is_split_cleanly(tmp_path: Path) -> None:
    made = make_data(DATA, tmp_path / "data", KEY)
    train, test = (np.load(made / f"{name}_images.npy") for name in ("train", "test"))
    assert train.shape == (1500, 32, 32, 3) and test.shape == (1000, 32, 32, 3)
    assert train.dtype == test.dtype == np.uint8
    assert len(captions_of(made / "train_captions.csv")) == 5 * 1500
    references = [text.split(" ||| ") for text in captions_of(made / "answers.csv")]
    assert [len(said) for said in references] == [5] * 1000
    sample = captions_of(made / "sample_submission.csv")
    assert len(sample) == 1000 and set(sample) <= set(captions_of(made / "train_captions.csv"))
    assert not {p.tobytes() for p in train} & {p.tobytes() for p in test}


def test_the_key_decides_all(prepare: ModuleType) -> None:
    def drawn(key: bytes, label: str = "train") -> tuple[bytes, list[list[str]]]:
        draws = prepare.ArrayDraws(key, "captions")
        pictures, captions = prepare.draw_set(draws, prepare.draw_language(draws), label, 20)
        return pictures.tobytes(), captions

    assert drawn(b"a") == drawn(b"a")
    assert drawn(b"a")[1] != drawn(b"a", "test")[1]
    words = [{w for said in drawn(key)[1] for w in said[0].split()} for key in (b"a", b"b")]
    assert len(words[0] & words[1]) < len(words[0]) / 5
    # Each key also draws another grammar, not only other words.
    languages = [
        prepare.draw_language(prepare.ArrayDraws(bytes([i]), "captions")) for i in range(12)
    ]
    assert len({(lang.rule, lang.sign) for lang in languages}) == 4
    assert len({tuple(lang.phrase) for lang in languages}) > 5
    assert len({str(lang.clauses) for lang in languages}) > 5
    assert len({lang.outlines.tobytes() for lang in languages}) == 12
    assert len({lang.axis for lang in languages}) == 2


def test_captions_follow_the_picture(prepare: ModuleType) -> None:
    draws = prepare.ArrayDraws(b"a", "captions")
    language = prepare.draw_language(draws)
    scenes = prepare.draw_scenes(draws, "train", 200)
    said = prepare.Speaker(draws, language, "train", scenes).captions()
    meanings = {
        word: (kind, meaning)
        for kind, words in language.words.items()
        for meaning, same in enumerate(words)
        for word in same
    }
    for i, captions in enumerate(said):
        number = scenes.y[i] if language.rule == "y" else scenes.radius[i]
        first = int((language.sign * number).argmin())
        for caption in captions:
            told = [meanings[word] for word in caption.split()]
            nouns = [meaning for kind, meaning in told if kind == "noun"]
            hues = [meaning for kind, meaning in told if kind == "hue"]
            assert nouns == [scenes.outline[i, first], scenes.outline[i, 1 - first]]
            assert hues == [scenes.hue[i, first], scenes.hue[i, 1 - first]]
            assert {meaning for kind, meaning in told if kind == "scene"} <= {scenes.light[i]}


# --- tests of the photographs of COCO -----------------------------------------------------------


def pack_coco(folder: Path, n: int) -> list[str]:
    """Zip files in the form of COCO, with n tiny photographs each. A shade tells the caption."""
    image = pytest.importorskip("PIL.Image")
    with zipfile.ZipFile(folder / "told.zip", "w") as told:
        for part in ("train", "val"):
            images, annotations = [], []
            with zipfile.ZipFile(folder / f"{part}.zip", "w") as archive:
                archive.mkdir(f"{part}2014")
                for i in range(n):
                    images.append({"id": i, "file_name": f"{i}.jpg"})
                    said = ["A dark Night.", "It's white, as snow!"][i % 2]
                    for k in range(6):
                        text = f"{said} {k}"
                        annotations.append({"id": 6 * i + k, "image_id": i, "caption": text})
                    with archive.open(f"{part}2014/{i}.jpg", "w") as file:
                        image.new("RGB", (40, 30), (255 * (i % 2),) * 3).save(file, "JPEG")
            record = json.dumps({"images": images, "annotations": annotations})
            told.writestr(f"annotations/captions_{part}2014.json", record)
    return [str(folder / name) for name in ("told.zip", "train.zip", "val.zip")]


def test_photographs_are_laid_out(
    prepare: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "PHOTOGRAPHS", {"train": 8, "val": 5})
    monkeypatch.setattr(prepare, "PIXELS", 16)
    packed = pack_coco(tmp_path, 10)
    prepare.prepare_coco(*packed, str(tmp_path))
    known = captions_of(tmp_path / "train_captions.csv")
    hidden = [text.split(" ||| ") for text in captions_of(tmp_path / "answers.csv")]
    assert len(known) == 5 * 8 and [len(said) for said in hidden] == [5] * 5
    for name, said in (("train", known[::5]), ("test", [said[0] for said in hidden])):
        pixels = np.load(tmp_path / f"{name}_images.npy")
        assert pixels.shape == (len(said), 16, 16, 3) and pixels.dtype == np.uint8
        assert [text == "it's white as snow 0" for text in said] == [p.mean() > 128 for p in pixels]
    assert captions_of(tmp_path / "sample_submission.csv") == [known[0]] * 5
    with pytest.raises(SystemExit, match="these are not MS COCO's files of 2014: "):
        prepare.prepare_coco(packed[1], *packed[1:], str(tmp_path))


@pytest.mark.skipif(not lacks("torch"), reason="PyTorch is installed")
@pytest.mark.parametrize("program", ["starter/full/baseline.py", "solution/full/solve.py"])
def test_missing_pytorch_is_named(program: str) -> None:
    env = {"PYTHONPATH": str(TASK / "starter/full")}
    command = [PYTHON, TASK / program]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("PyTorch is missing: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("program", ["starter/full/baseline.py", "solution/full/solve.py"])
def test_a_network_learns_captions(
    tmp_path: Path, program: str, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch").set_num_threads(1)  # idle threads spin, on a busy machine too
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    shades = np.arange(64) % 2
    for name in ("train", "test"):
        pixels = np.broadcast_to(255 * shades[:, None, None, None], (64, 32, 32, 3))
        np.save(f"data/{name}_images.npy", pixels.astype(np.uint8))
    said = ["a dark night", "white"]
    with open("data/train_captions.csv", "w") as file:
        csv.writer(file).writerows([("image", "caption"), *((i, said[i % 2]) for i in range(64))])
    baseline = load(TASK / "starter/full/baseline.py")
    monkeypatch.setattr(baseline, "BATCH", 8)
    load(TASK / program).main()
    assert captions_of(tmp_path / "submission.csv") == said * 32


# --- tests that better solutions score better ---------------------------------------------------


def ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


def bleu(folder: Path, captions: list[list[str]]) -> float:
    """Corpus BLEU-4, as the grader counts it."""
    matched, total, length, nearest = [0] * 4, [0] * 4, 0, 0
    answers = captions_of(folder / "answers.csv")
    for words, text in zip(captions, answers, strict=True):
        references = [reference.split() for reference in text.split(" ||| ")]
        length += len(words)
        nearest += min((abs(len(r) - len(words)), len(r)) for r in references)[1]
        for n in range(4):
            most: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                most |= ngrams(reference, n + 1)
            found = ngrams(words, n + 1)
            matched[n] += sum((found & most).values())
            total[n] += sum(found.values())
    precision = sum(math.log(m / t) for m, t in zip(matched, total, strict=True)) / 4
    return math.exp(precision + min(0, 1 - nearest / length))


def solved(data: Path, folder: Path, program: str) -> float:
    """The score of a program beside the baseline."""
    folder.mkdir(exist_ok=True)
    if not (folder / "data").exists():
        (folder / "data").symlink_to(data)
    for path in ("starter/micro/baseline.py", "solution/micro/solve.py"):
        shutil.copy(TASK / path, folder)
    subprocess.run([PYTHON, program], cwd=folder, check=True)
    return bleu(data, [text.split() for text in captions_of(folder / "submission.csv")])


def climb(data: Path, folder: Path, load: Load, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The score of the baseline, of three solutions between, and of the solution."""
    scores = [solved(data, folder, "baseline.py")]
    baseline = load(TASK / "starter/micro/baseline.py")
    solve = load(TASK / "solution/micro/solve.py")
    monkeypatch.chdir(folder)
    pictures = np.concatenate([baseline.read_pictures(name) for name in ("train", "test")])
    captions = baseline.read_captions()
    n, rows = len(captions), np.arange(len(captions))
    objects, ground = solve.describe(pictures)

    # Copy a caption from the picture with the most similar objects, comparing the upper objects
    # first.
    upper = solve.in_order(objects, 1, 1)
    left = solve.in_order(objects, 0, 1)
    features = solve.make_features(upper, ground, rows, 0)
    chosen = baseline.nearest(features[:n], features[n:])
    scores.append(bleu(data, [captions[row][0] for row in chosen]))

    template = solve.Template(captions)
    features = solve.make_features(left, ground, rows, 0)
    scores.append(bleu(data, template.fill(features[:n], features[n:])))
    found = solve.find_order(objects, ground, template, n)
    coarse = [(place, colour, outline[:, ::4]) for place, colour, outline in objects]
    features = solve.make_features(solve.in_order(coarse, *found), ground, rows, 0)
    scores.append(bleu(data, template.fill(features[:n], features[n:])))
    return [*scores, solved(data, folder, "solve.py")]


def test_a_model_can_climb(tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_key(number: int) -> list[float]:
        data = make_data(DATA, tmp_path / f"data{number}", f"{number:064x}")
        return climb(data, tmp_path / f"run{number}", load, monkeypatch)

    check_climb(with_key, ends=(0.4, 0.7))
