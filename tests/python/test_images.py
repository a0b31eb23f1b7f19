# SPDX-License-Identifier: Apache-2.0
"""The tasks about images: classes that a key draws, solutions that climb, Hugging Face's files."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from conftest import KEY, PYTHON, ROOT, check_climb, lacks, make_data, run_maker

np = pytest.importorskip("numpy")

PREPARE = ROOT / "datasets/images.py"
FMNIST = ROOT / "tasks/imageClassificationFMnist"
SOLVE = FMNIST / "solution/micro/solve.py"
COLOURS = ROOT / "tasks/imageClassificationCifar10/solution/colours.py"
DATA = {"grey": "fashionMnist-micro", "colour": "cifar10-micro"}

Load = Callable[[Path], ModuleType]


def labels_of(path: Path) -> list[int]:
    name, *labels = path.read_text().splitlines()
    assert name == "label"
    return [int(label) for label in labels]


# --- tests of the generated data ----------------------------------------------------------------


@pytest.mark.parametrize(("kind", "shape"), [("grey", (20, 20)), ("colour", (20, 20, 3))])
def test_micro_is_split_cleanly(tmp_path: Path, kind: str, shape: tuple[int, ...]) -> None:
    folder = make_data(DATA[kind], tmp_path / "data", KEY)
    train, labels, test = (
        np.load(folder / f"{name}.npy") for name in ("train_images", "train_labels", "test_images")
    )
    assert (train.shape, test.shape) == ((3000, *shape), (2000, *shape))
    assert train.dtype == test.dtype == np.uint8
    assert np.bincount(labels).tolist() == [300] * 10
    assert np.bincount(labels_of(folder / "answers.csv")).tolist() == [200] * 10
    assert labels_of(folder / "sample_submission.csv") == [0] * 2000


def test_wrong_arguments() -> None:
    assert (
        "'red' is neither grey nor colour"
        in run_maker("cifar10-micro", "micro", "red", "x", key=KEY).stderr
    )
    assert "'mnist' is neither" in run_maker("cifar10", "parquet", "mnist", "a", "b", "c").stderr


# --- tests with data sets of Hugging Face -------------------------------------------------------


def only_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.skipif(not lacks("pyarrow"), reason="pyarrow is installed")
def test_missing_packages_are_named(tmp_path: Path) -> None:
    line = only_line(run_maker("cifar10", "parquet", "cifar10", "train", "test", tmp_path / "out"))
    assert line == "pyarrow is missing: it reads parquet files (pip install pyarrow)"
    assert not (tmp_path / "out").exists()


def parquet(path: Path, column: str, images) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    image = pytest.importorskip("PIL.Image")
    rows = []
    for pixels in images:
        file = io.BytesIO()
        image.fromarray(pixels).save(file, "PNG")
        rows.append({"bytes": file.getvalue(), "path": None})
    labels = [i % 10 for i in range(len(images))]
    parquet.write_table(pyarrow.table({column: rows, "label": labels}), path)
    return path


@pytest.mark.parametrize("name", ["fashionMnist", "cifar10"])
def test_parquet_is_laid_out(
    tmp_path: Path, name: str, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = load(PREPARE)
    column, shape, _ = made.PARQUET[name]
    images = np.random.default_rng(0).integers(0, 256, (30, *shape), dtype=np.uint8)
    train = parquet(tmp_path / "train.parquet", column, images[:20])
    test = parquet(tmp_path / "test.parquet", column, images[20:])
    with pytest.raises(SystemExit, match="train.parquet is not a table of"):
        made.prepare_parquet(name, str(train), str(test), str(tmp_path / "out"))

    monkeypatch.setitem(made.PARQUET, name, (column, shape, (20, 10)))
    made.prepare_parquet(name, str(train), str(test), str(tmp_path / "out"))
    assert (np.load(tmp_path / "out/train_images.npy") == images[:20]).all()
    assert (np.load(tmp_path / "out/test_images.npy") == images[20:]).all()
    assert np.load(tmp_path / "out/train_labels.npy").tolist() == [*range(10), *range(10)]
    assert labels_of(tmp_path / "out/answers.csv") == [*range(10)]
    train.write_bytes(b"nothing")
    with pytest.raises(SystemExit, match="train.parquet can't be read"):
        made.prepare_parquet(name, str(train), str(test), str(tmp_path / "out"))


FULL = [FMNIST / "starter/full/baseline.py", FMNIST / "solution/full/solve.py"]


@pytest.mark.parametrize("program", FULL, ids=lambda path: path.stem)
@pytest.mark.skipif(not lacks("torch"), reason="PyTorch is installed")
def test_missing_pytorch_is_named(program: Path) -> None:
    done = subprocess.run([PYTHON, program], capture_output=True, text=True, check=False)
    assert only_line(done).startswith("PyTorch is missing: ")


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3)], ids=["grey", "colour"])
@pytest.mark.parametrize("program", FULL, ids=lambda path: path.stem)
def test_pytorch_trains(
    tmp_path: Path,
    program: Path,
    shape: tuple[int, ...],
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An image of each class, over and over: anything that learns knows them."""
    pytest.importorskip("torch").set_num_threads(1)  # idle threads spin, on a busy machine too
    labels = (np.arange(320) % 10).astype(np.uint8)
    images = np.random.default_rng(0).integers(0, 256, (10, *shape), dtype=np.uint8)[labels]
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data/train_images.npy", images)
    np.save(tmp_path / "data/train_labels.npy", labels)
    np.save(tmp_path / "data/test_images.npy", images[:50])
    monkeypatch.chdir(tmp_path)
    made = load(program)
    monkeypatch.setattr(made, "EPOCHS", 6)
    monkeypatch.setattr(made, "BATCH", 32)
    monkeypatch.setattr(made, "WARM_UP", 1, raising=False)
    monkeypatch.setattr(made, "RATE", 0.003)
    made.main()
    right = np.array(labels_of(tmp_path / "submission.csv")) == labels[:50]
    assert right.mean() > 0.5


# --- tests that better solutions score better ---------------------------------------------------


class Set:
    """A generated data set. It scores predictions with its correct answers."""

    def __init__(self, folder: Path) -> None:
        self.train, self.test = (
            np.load(folder / f"{name}_images.npy") / np.float32(255) for name in ("train", "test")
        )
        self.labels = np.load(folder / "train_labels.npy")
        self.answers = np.array(labels_of(folder / "answers.csv"))

    def right(self, labels) -> float:
        return float((self.answers == labels).mean())

    def accuracy(self, scores) -> float:
        return self.right(scores.argmax(1))


def gradients(images, bins: int, regions: int):
    """Histograms of the gradients' directions, in regions that overlap."""
    dy, dx = np.gradient(images, axis=(1, 2))
    angle = np.arctan2(dy, dx) % np.pi / np.pi * bins
    away = (angle[..., None] - np.arange(bins, dtype="f") + bins / 2) % bins - bins / 2
    maps = np.maximum(0, 1 - np.abs(away)) * np.hypot(dy, dx)[..., None]
    size = images.shape[1]
    centres = (np.arange(regions) + 0.5) * size / regions - 0.5
    near = np.maximum(0, 1 - np.abs(np.arange(size) - centres[:, None]) * regions / size)
    rows = np.tensordot(maps, near.astype("f"), (1, 1))
    return np.sqrt(np.tensordot(rows, near.astype("f"), (1, 1)).reshape(len(images), -1) + 1e-3)


def baseline(made: Set, load: Load) -> float:
    program = load(FMNIST / "starter/micro/baseline.py")
    flat = [images.reshape(len(images), -1) for images in (made.train, made.test)]
    return made.accuracy(program.ridge(flat[0], made.labels, flat[1], program.PENALTY))


def by_gradients(solve: ModuleType, made: Set, grey, bins: int, regions: int) -> float:
    known, asked = (gradients(images, bins, regions) for images in grey)
    return made.accuracy(solve.ridge(known, made.labels, asked, 0.3))


def by_patches(solve: ModuleType, made: Set, grey, n: int) -> float:
    filters, mean = solve.learn_patches(grey[0], n, np.random.default_rng(0))
    known, asked = (solve.features(images, filters, mean) for images in grey)
    return made.accuracy(solve.ridge(known, made.labels, asked, solve.PENALTY))


def climb_grey(made: Set, load: Load) -> list[float]:
    """The accuracy of the baseline, and of three solutions between it and ours."""
    solve, grey = load(SOLVE), (made.train, made.test)
    return [
        baseline(made, load),
        by_gradients(solve, made, grey, 4, 3),
        by_gradients(solve, made, grey, 8, 5),
        by_patches(solve, made, grey, 16),
    ]


def climb_colour(made: Set, load: Load) -> list[float]:
    """The accuracy of the baseline, and of three solutions that see the images in grey."""
    solve, grey = load(SOLVE), (made.train.mean(-1), made.test.mean(-1))
    return [
        baseline(made, load),
        by_gradients(solve, made, grey, 8, 5),
        by_patches(solve, made, grey, 16),
        by_patches(solve, made, grey, 64),
    ]


def solved(programs: list[Path], data: Path, folder: Path) -> float:
    """The accuracy of the last program, beside the others."""
    folder.mkdir()
    (folder / "data").symlink_to(data)
    for program in programs:
        shutil.copy(program, folder)
    subprocess.run([PYTHON, programs[-1].name], cwd=folder, check=True)
    return Set(data).right(labels_of(folder / "submission.csv"))


LADDERS = {
    "grey": (climb_grey, [SOLVE], (0.5, 0.75)),
    "colour": (climb_colour, [SOLVE, COLOURS], (0.45, 0.55)),
}


@pytest.mark.parametrize("kind", LADDERS)
def test_a_model_can_climb(tmp_path: Path, kind: str, load: Load) -> None:
    climb, programs, ends = LADDERS[kind]

    def with_key(number: int) -> list[float]:
        data = make_data(DATA[kind], tmp_path / f"data{number}", f"{number:064x}")
        return [*climb(Set(data), load), solved(programs, data, tmp_path / f"run{number}")]

    check_climb(with_key, ends)
