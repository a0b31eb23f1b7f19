# SPDX-License-Identifier: Apache-2.0
"""naturalLanguageInferenceMNLI: a language generated from a key, and solutions that climb."""

from __future__ import annotations

import csv
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from conftest import KEY, PYTHON, ROOT, check_climb, lacks, make_data, run_maker

np = pytest.importorskip("numpy")

TASK = ROOT / "tasks/naturalLanguageInferenceMNLI"
DATA = "mnli-micro"

Load = Callable[[Path], ModuleType]


@pytest.fixture
def prepare(load: Load) -> ModuleType:
    return load(TASK / "prepare.py")


def read(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# --- tests of the generated data ----------------------------------------------------------------


def test_micro_is_split_cleanly(tmp_path: Path) -> None:
    made = make_data(DATA, tmp_path / "data", KEY)
    train, test, answers, sample = (
        read(made / f"{name}.csv") for name in ("train", "test", "answers", "sample_submission")
    )
    assert Counter(row["label"] for row in train) == {"0": 2000, "1": 2000, "2": 2000}
    assert Counter(row["label"] for row in answers) == {"0": 1000, "1": 1000, "2": 1000}
    assert list(test[0]) == ["premise", "hypothesis"] and len(test) == 3000
    assert [row["label"] for row in sample] == ["1"] * 3000
    shared = {tuple(row.values()) for row in test} & {tuple(row.values())[:2] for row in train}
    assert len(shared) < 30  # few pairs are equal by chance


def test_the_key_decides_all(prepare: ModuleType) -> None:
    def rows(key: bytes, label: str = "train") -> list:
        return prepare.draw_rows(
            prepare.Draws(key, f"inference\0{label}"), prepare.draw_language(key), 30
        )

    assert rows(b"a") == rows(b"a")
    assert [row[2] for row in rows(b"a")] != [row[2] for row in rows(b"a", "test")]
    words = [{w for row in rows(key) for w in row[0].split()} for key in (b"a", b"b")]
    assert len(words[0] & words[1]) < len(words[0]) / 10
    # Each key also draws another grammar, not only other words.
    languages = [prepare.draw_language(bytes([i])) for i in range(12)]
    assert len({tuple(language.order) for language in languages}) > 5
    assert len({language.negation_place for language in languages}) == 3
    shapes = {
        tuple(len(c.line()) * (-1) ** c.exclusive for part in lang.concepts.values() for c in part)
        for lang in languages
    }
    assert len(shapes) == 12


# --- tests with the data set of Hugging Face ----------------------------------------------------


@pytest.mark.skipif(not lacks("pyarrow"), reason="pyarrow is installed")
def test_missing_pyarrow_is_named(tmp_path: Path) -> None:
    done = run_maker("mnli", "mnli", "train", "validation", tmp_path / "out")
    assert done.stderr == "pyarrow is missing: it reads parquet files (pip install pyarrow)\n"
    assert done.returncode == 1 and not (tmp_path / "out").exists()


def test_parquet_is_laid_out(prepare: ModuleType, tmp_path: Path, monkeypatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, n in (("train", 6), ("validation", 3)):
        texts = [f'{name} says "{i}", é' for i in range(n)]
        labels = [i % 3 for i in range(n)]
        table = {"promptID": labels, "premise": texts, "hypothesis": texts, "label": labels}
        parquet.write_table(pyarrow.table(table), tmp_path / name)
    arguments = (str(tmp_path / "train"), str(tmp_path / "validation"), str(tmp_path / "out"))
    with pytest.raises(SystemExit, match="train is not a table of 392,702 rows"):
        prepare.prepare_mnli(*arguments)
    monkeypatch.setattr(prepare, "ROWS", (6, 3))
    prepare.prepare_mnli(*arguments)
    assert read(tmp_path / "out/train.csv")[5]["premise"] == 'train says "5", é'
    assert [row["label"] for row in read(tmp_path / "out/answers.csv")] == ["0", "1", "2"]


@pytest.mark.skipif(not lacks("torch"), reason="PyTorch is installed")
@pytest.mark.parametrize("program", ["starter/full/baseline.py", "solution/full/solve.py"])
def test_missing_pytorch_is_named(program: str) -> None:
    env = {"PYTHONPATH": str(TASK / "starter/full")}
    command = [PYTHON, TASK / program]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("PyTorch is missing: ") and done.stderr.count("\n") == 1


# Hypotheses by label: what follows from "a man sleeps", is neutral, or contradicts it.
SENTENCES = ["a man sleeps", "a dog runs", "a man not sleeps"]


@pytest.mark.parametrize("solution", [False, True], ids=["baseline", "solution"])
def test_bert_trains(
    tmp_path: Path, solution: bool, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tiny BERT in the files that Hugging Face's has, and three pairs over and over."""
    pytest.importorskip("torch").set_num_threads(1)  # idle threads spin, on a busy machine too
    transformers = pytest.importorskip("transformers")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *sorted(set(" ".join(SENTENCES).split())),
    ]
    size = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "initializer_range": 0.2,
    }
    config = transformers.BertConfig(vocab_size=len(words), intermediate_size=64, **size)
    transformers.BertForPreTraining(config).save_pretrained(tmp_path / "data/bert-base-uncased")
    (tmp_path / "data/bert-base-uncased/vocab.txt").write_text("".join(f"{w}\n" for w in words))
    rows = [(SENTENCES[0], SENTENCES[i % 3], i % 3) for i in range(960)]
    with open(tmp_path / "data/train.csv", "w") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    with open(tmp_path / "data/test.csv", "w") as file:
        csv.writer(file).writerows([("premise", "hypothesis"), *(row[:2] for row in rows[:30])])

    monkeypatch.chdir(tmp_path)
    program = baseline = load(TASK / "starter/full/baseline.py")
    if solution:
        program = load(TASK / "solution/full/solve.py")
    monkeypatch.setattr(program if solution else baseline, "RATE", 3e-3)
    monkeypatch.setattr(baseline, "BATCH", 8)
    program.main()
    labels = [int(row["label"]) for row in read(tmp_path / "submission.csv")]
    assert labels == [0, 1, 2] * 10


# --- tests that better solutions score better ---------------------------------------------------


def accuracy(folder: Path, labels) -> float:
    truth = [int(row["label"]) for row in read(folder / "answers.csv")]
    return float((np.array(truth) == labels).mean())


def solved(folder: Path, program: str) -> float:
    """The accuracy of a program, which is beside the baseline."""
    paths = {"PYTHONPATH": str(TASK / "starter/micro"), "OPENBLAS_NUM_THREADS": "1"}
    (folder / "data").symlink_to(folder)
    subprocess.run([PYTHON, TASK / program], cwd=folder, env=paths, check=True)
    (folder / "data").unlink()
    labels = [int(row["label"]) for row in read(folder / "submission.csv")]
    (folder / "submission.csv").unlink()
    return accuracy(folder, labels)


def climb(folder: Path, load: Load) -> list[float]:
    """The accuracy of the baseline, of three solutions between, and of the solution."""
    baseline = load(TASK / "starter/micro/baseline.py")
    solve = load(TASK / "solution/micro/solve.py")
    (pairs, labels), (asked, _) = (baseline.read(folder / f"{n}.csv") for n in ("train", "test"))
    words = sorted({word for pair in pairs for side in pair for word in side})
    alone = [
        baseline.make_features(words, [solve.left_over(pair) for pair in part])
        for part in (pairs, asked)
    ]
    scores = [solved(folder, "starter/micro/baseline.py")]
    likely = baseline.regress(alone[0], labels, alone[1])
    scores.append(accuracy(folder, likely.argmax(1)))

    (items, state), (items_asked, state_asked) = solve.prepare(pairs, labels, asked)
    states = np.eye(4, dtype=np.float32)
    likely = baseline.regress(
        np.hstack([items, states[state]]), labels, np.hstack([items_asked, states[state_asked]])
    )
    scores.append(accuracy(folder, likely.argmax(1)))
    for s in range(4):
        likely[state_asked == s] = baseline.regress(
            items[state == s], labels[state == s], items_asked[state_asked == s]
        )
    scores.append(accuracy(folder, likely.argmax(1)))
    return [*scores, solved(folder, "solution/micro/solve.py")]


def test_a_model_can_climb(tmp_path: Path, load: Load) -> None:
    check_climb(
        lambda number: climb(make_data(DATA, tmp_path / str(number), f"{number:064x}"), load),
        ends=(0.5, 0.8),
    )
