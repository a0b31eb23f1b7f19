# SPDX-License-Identifier: Apache-2.0
"""Labels of images and of sentences, looked for elsewhere than in what they show and say.

A data set could tell them by the order of its rows, by lengths or by noise. A part of a row could
tell them that should mean nothing alone. They could lie in a file of the sandbox, or follow from a
key that can be guessed.
"""

import hashlib
import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import OURS

pytest.importorskip("numpy")  # it makes the pictures

KEY = "7" * 64  # the same data on all machines

# Predicts labels by ridge regression, from numbers that `features` gives for each row.
LEARN = """
import csv, zlib
import numpy as np

def learn(train, labels, test):
    scale = train.std(0) + 1e-6
    a, b = (np.c_[x / scale, np.ones(len(x))] for x in (train, test))
    ways = np.eye(labels.max() + 1)[labels]
    most = len(a) * a.shape[1] / 400 * np.eye(a.shape[1])
    return (b @ np.linalg.solve(a.T @ a + most, a.T @ ways)).argmax(1)

def places(n):
    at = np.outer(np.arange(n), 2 * np.pi / np.array([2, 3, 5, 7, 10, 20, 50, 100, 1000, 2 * n]))
    return np.c_[np.cos(at), np.sin(at), np.arange(n) / n]

def write(name, predicted):
    np.savetxt(f"{name}.csv", predicted, "%d", header="label", comments="")

def play(train, labels, test, tricks):
    write("order", np.resize(labels, len(test)))
    write("places", learn(places(len(train)), labels, places(len(test))))
    for name, trick in tricks.items():
        write(name, learn(trick(train), labels, trick(test)))
"""

SENTENCES = """
def read(name):
    with open(f"data/{name}.csv") as file:
        return list(csv.DictReader(file))

train, test = read("train"), read("test")
words = sorted({word for row in train for side in ("premise", "hypothesis") for word in row[side].split()})
number = {word: i for i, word in enumerate(words)}

def bag(rows, take):
    found = np.zeros((len(rows), len(words)))
    for i, row in enumerate(rows):
        for word in take(set(row["premise"].split()), set(row["hypothesis"].split())):
            found[i, number.get(word, 0)] = 1
    return found

def lengths(rows):
    sizes = [[len(row[side].split()) for side in ("premise", "hypothesis")] for row in rows]
    return np.eye(20)[np.minimum(sizes, 19)].reshape(len(rows), -1)

play(train, np.array([int(row["label"]) for row in train]), test, {
    "lengths": lengths,
    "premise": lambda rows: bag(rows, lambda premise, hypothesis: premise),
    "hypothesis": lambda rows: bag(rows, lambda premise, hypothesis: hypothesis),
    "honest": lambda rows: np.c_[bag(rows, set.__sub__), bag(rows, lambda a, b: b - a)],
})
"""

IMAGES = """
train, labels, test = (np.load(f"data/{n}.npy") for n in ("train_images", "train_labels", "test_images"))

def light(images):
    flat = images.reshape(len(images), -1)
    return np.c_[flat.mean(1), flat.std(1), np.percentile(flat, [0, 10, 50, 90, 100], axis=1).T]

play(train, labels.astype(int), test, {
    "light": light,
    "bits": lambda images: images.reshape(len(images), -1) % 2,
    "packed": lambda images: np.array([[len(zlib.compress(image.tobytes()))] for image in images]),
    "honest": lambda images: images.reshape(len(images), -1),
})
"""

# For each task: the program, the score that no trick reaches, and one that `honest` exceeds.
PROGRAMS = {
    "naturalLanguageInferenceMNLI": (SENTENCES, 0.41, 0.46),
    "imageClassificationFMnist": (IMAGES, 0.17, 0.3),
    "imageClassificationCifar10": (IMAGES, 0.17, 0.25),
}


@pytest.fixture
def agent(begin, monkeypatch):
    monkeypatch.setenv("FUMEHOOD_JUDGE_KEY", KEY)
    return lambda task: begin(f"{task}:micro")


def accuracy(agent, name: str) -> float:
    answer = agent.step(f"cp {name}.csv submission.csv; validate")
    return answer["info"]["score"]["accuracy"]


@pytest.mark.parametrize(
    "task",
    [pytest.param(t, marks=pytest.mark.long) if "Cifar10" in t else t for t in PROGRAMS],
)
def test_what_should_tell_nothing(agent, task):
    program, most, honest = PROGRAMS[task]
    episode = agent(task)
    episode.put("learn.py", LEARN + program)
    episode.sh("python3 learn.py")
    names = episode.sh("ls *.csv").split()
    scores = {name: accuracy(episode, name) for name in (n.removesuffix(".csv") for n in names)}
    assert len(scores) > 5
    assert scores.pop("honest") > honest, scores
    assert max(scores.values()) < most, scores


# --- files ----------------------------------------------------------------------------------------

# Names files that contain one of the texts. Each text is turned, so that this program holds none.
SEARCH = """
import os, sys
texts = [bytes(255 - byte for byte in bytes.fromhex(word)) for word in sys.argv[1:]]
for top, folders, files in os.walk("/"):
    if top == "/":
        folders[:] = [name for name in folders if name not in ("usr", "opt", "proc", "sys")]
    for path in (os.path.join(top, name) for name in files):
        try:
            if os.path.isfile(path) and any(text in open(path, "rb").read() for text in texts):
                print(path)
        except OSError:
            pass
"""


def hidden_runs(state: Path, data: str) -> list[bytes]:
    """A run of hidden labels as lines, and as integers of one, four and eight bytes."""
    runs = []
    for path in state.glob(f"data/{data}/*/answers.csv"):
        labels = list(map(int, path.read_text().split()[100:124]))
        runs += [b"".join(n.to_bytes(size, "little") for n in labels) for size in (1, 4, 8)]
        runs.append("".join(f"{label}\n" for label in labels).encode())
    assert runs
    return runs


def test_labels_lie_in_no_file(agent, state):
    episode = agent("imageClassificationFMnist")
    runs = hidden_runs(state, "fashionMnist-micro")
    search = f"python3 search.py {' '.join(bytes(255 - b for b in run).hex() for run in runs)}"
    episode.put("search.py", SEARCH)
    assert episode.sh(search) == ""
    episode.put("/dev/shm/told", runs[-1].decode())
    assert episode.sh(search) == "/dev/shm/told"


# --- keys from which data is generated ------------------------------------------------------------


def guesses(times: set[int]) -> list[bytes]:
    """Keys that someone could try: plain ones, hashes of words, and random ones of small seeds."""
    numbers = [*range(32), *times]
    words = ["", "fumehood", "mnli-micro", "fashionMnist-micro", *map(str, numbers)]
    plain = [bytes([byte]) * 32 for byte in (*range(0, 256, 17), 0x5E, 0x5F)]
    plain += [n.to_bytes(32, order) for n in numbers for order in ("little", "big")]
    hashed = [hashlib.sha256(word.encode()).digest() for word in words]
    return plain + hashed + [random.Random(seed).randbytes(32) for seed in numbers]


def words_of(prepare: ModuleType, key: bytes) -> set[str]:
    """Words that a text of this key's language may have."""
    concepts = prepare.draw_language(key).concepts.values()
    return {word for part in concepts for concept in part for word in concept.words}


def labels_of(images: ModuleType, key: bytes) -> set[str]:
    order = images.ArrayDraws(key, "images").order("train labels", images.TRAIN)
    return {f"{place}:{label % images.CLASSES}" for place, label in enumerate(order)}


# For each task: the program that makes its data, and its arguments. A function tells facts that
# follow from a key, and a command prints those of the data.
MADE = {
    "naturalLanguageInferenceMNLI": (
        "tasks/naturalLanguageInferenceMNLI/prepare.py",
        ["data"],
        words_of,
        "cut -d, -f1 data/train.csv | tr ' ' '\\n' | sort -u",
    ),
    "imageClassificationFMnist": (
        "datasets/images.py",
        ["grey", "data"],
        labels_of,
        "python3 -c \"import numpy as np; print(*(f'{i}:{n}' for i, n in"
        " enumerate(np.load('data/train_labels.npy'))))\"",
    ),
}


@pytest.mark.parametrize("task", MADE)
def test_a_key_that_is_guessed(begin, tmp_path, monkeypatch, task):
    """The guesses find the key of data that was made with one of them, and no key of a machine."""
    path, arguments, facts, command = MADE[task]
    monkeypatch.syspath_prepend(OURS.parent / "datasets")
    spec = importlib.util.spec_from_file_location("guessed", OURS.parent / path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "guessed", module)  # dataclasses look there
    spec.loader.exec_module(module)

    agent = begin(f"{task}:micro")
    keys = guesses(set(map(int, agent.sh("stat -c '%Y %W' data/*").split())))
    monkeypatch.setenv("FUMEHOOD_DATA_KEY", keys[-1].hex())
    monkeypatch.chdir(tmp_path)
    module.prepare_micro(*arguments)
    weak = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    guessed = [facts(module, key) for key in keys]
    for output, found in ((weak.stdout, [keys[-1]]), (agent.sh(command), [])):
        seen = set(output.split())
        assert [
            k for k, g in zip(keys, guessed, strict=True) if len(seen & g) > len(g) / 2
        ] == found
