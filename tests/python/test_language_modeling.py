# SPDX-License-Identifier: Apache-2.0
"""The task languageModelingFineWeb: a language from a key, its judge, solutions that climb."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import KEY, PYTHON, ROOT, check_climb, make_data
from test_duel import LIBRARY, run_duel

np = pytest.importorskip("numpy")

TASK = ROOT / "tasks/languageModelingFineWeb"
Load = Callable[[Path], ModuleType]


def tokens_of(path: Path) -> Any:
    header = np.fromfile(path, "<i4", 256)
    tokens = np.fromfile(path, "<u2", offset=1024)
    assert header[:3].tolist() == [20240520, 1, len(tokens)]
    return tokens.astype(np.int64)


def make_workspace(folder: Path, key: str) -> Path:
    """An agent's workspace, with our solution and the hidden tokens."""
    folder.mkdir()
    for part in ("starter/micro", "solution/micro"):
        shutil.copytree(TASK / part, folder, dirs_exist_ok=True)
    make_data("fineweb-micro", folder / "data", key)
    return folder


def run(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([PYTHON, "-B", *arguments], cwd=folder, check=True, env=environment)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_workspace(tmp_path_factory.mktemp("made") / "workspace", KEY)
    run(folder, "baseline.py")
    return folder


# --- tests of the generated data ----------------------------------------------------------------


def test_texts_are_split_cleanly(workspace: Path) -> None:
    texts = {
        name: tokens_of(workspace / f"data/{name}.bin") for name in ("train", "valid", "hidden")
    }
    assert [len(text) for text in texts.values()] == [500_000, 50_000, 250_000]
    runs = []
    for text in texts.values():
        assert set(np.unique(text)) == set(range(64))
        runs.append({text[at : at + 40].tobytes() for at in range(0, 40_000, 10)})
    assert not runs[0] & runs[1] and not runs[0] & runs[2] and not runs[1] & runs[2]


def test_the_key_draws_the_grammar(load: Load) -> None:
    prepare = load(TASK / "prepare.py")

    def language(key: int) -> Any:
        return prepare.draw_language(prepare.ArrayDraws(bytes([key]), "language"))

    assert language(1) == language(1)
    drawn = [language(key) for key in range(12)]
    for of in ("words", "follow", "ranks", "moods", "inflected"):
        assert len({str(getattr(each, of)) for each in drawn}) > 9, of
    assert {each.before for each in drawn} == {True, False}
    assert len({each.names for each in drawn}) > 3
    for each in drawn:
        lengths = sorted(len(word) for words in each.words for word in words)
        assert [lengths.count(n) for n in (2, 3, 4)] == [43, 43, 42]


def test_a_mood_marks_the_words_of_a_sentence(load: Load) -> None:
    prepare = load(TASK / "prepare.py")
    draws = prepare.ArrayDraws(b"a", "language")
    language = prepare.draw_language(draws)
    marked = 0
    writer = prepare.Writer(draws, language, "test", 20_000)
    for _ in range(300):
        sentence = list(writer.sentence(0, [(2, 3, 4)] * 3))
        moods = [symbol for symbol in sentence if symbol in language.moods]
        assert len(set(moods)) <= 1
        marked += len(moods) > 1
    assert marked > 150


# --- tests of the judge of models ---------------------------------------------------------------


@pytest.fixture
def judge(tmp_path: Path, workspace: Path) -> Callable[..., dict[str, Any]]:
    """Judges a zip file as the sandboxes would, with one player after the other."""
    shutil.copy(TASK / "grader/judge.py", tmp_path)
    (tmp_path / "hidden.bin").symlink_to(workspace / "data/hidden.bin")

    def judged(
        submission: Path,
        key: str = KEY,
        variant: str = "micro",
        python: str = PYTHON,
        part: str = "all",
    ) -> dict[str, Any]:
        player = [str(TASK / "grader/player_lm.py"), str(submission), "logits"]
        judge = tmp_path / "judge.py"
        return run_duel(
            judge, player, key, [variant], memory=1 << 21, players=2, python=python, part=part
        )

    return judged


def write_model(workspace: Path, folder: Path, text: str) -> Path:
    """A submission: the baseline's table, and a program behind its own."""
    program = folder / "changed.py"
    program.write_text((workspace / "model.py").read_text() + text)
    (folder / "bigrams.npy").write_bytes((workspace / "bigrams.npy").read_bytes())
    subprocess.run(
        [PYTHON, "-B", "-c", "from baseline import pack; pack('changed.py', 'bigrams.npy')"],
        cwd=folder,
        check=True,
        env={**os.environ, "PYTHONPATH": str(workspace)},
    )
    return folder / "model.zip"


def test_the_score_is_the_mean_loss_of_drawn_sequences(
    judge: Callable[..., dict[str, Any]], workspace: Path
) -> None:
    sys.path.insert(0, str(LIBRARY))
    import duel

    hidden = tokens_of(workspace / "data/hidden.bin")
    whole = hidden[: len(hidden) // 129 * 129].reshape(-1, 129)
    logs = np.load(workspace / "bigrams.npy").astype(np.float64)
    # A validate and the end have no sequence in common.
    for part, windows in ("validate", whole[::2]), ("final", whole[1::2]), ("all", whole):
        report = judge(workspace / "model.zip", part=part)
        numbers = duel.Numbers(bytes.fromhex(KEY))
        drawn = windows[np.argsort(numbers.words("sequences", len(windows)), kind="stable")[:160]]
        losses = -logs[drawn[:, :-1], drawn[:, 1:]].mean(1)
        assert report["val_loss"] == pytest.approx(losses.mean(), abs=1e-6)
        error = losses.std(ddof=1) / 160**0.5
        assert report["standard_error"] == pytest.approx(error, rel=1e-4)
    assert judge(workspace / "model.zip") == report
    other = judge(workspace / "model.zip", "7c" * 32)
    assert 0 < abs(other["val_loss"] - report["val_loss"]) < 8 * report["standard_error"]


# Cheats by looking at the next token, and gives it a little more probability. The gain just keeps
# the judge's limit for the mean divergence.
AHEAD = """
honest = logits

def logits(tokens):
    shares = np.exp(honest(tokens).astype(np.float64))
    sequence, place = np.indices(tokens[:, 1:].shape)
    true = sequence, place, tokens[:, 1:]
    before = shares[true]
    after = before + np.sqrt({budget} * before * (1 - before))
    shares[:, :-1] *= ((1 - after) / (1 - before))[..., None]
    shares[true] = after
    return np.log(shares)
"""


def test_what_is_not_noticed_gains_nothing(
    judge: Callable[..., dict[str, Any]], workspace: Path, tmp_path: Path
) -> None:
    """It scores as an honest model does, because the second player's rows count."""
    honest = judge(workspace / "model.zip")["val_loss"]
    ahead = judge(write_model(workspace, tmp_path, AHEAD.format(budget=0.004)))
    hidden = tokens_of(workspace / "data/hidden.bin")
    before = np.exp(np.load(workspace / "bigrams.npy").astype(np.float64))[hidden[:-1], hidden[1:]]
    after = before + np.sqrt(0.004 * before * (1 - before))
    gain = np.log(after / before).mean()
    assert gain > 0.15  # nats that would be gained without the second player
    assert "error" not in ahead, ahead
    assert abs(ahead["val_loss"] - honest) < gain / 3
    refused = judge(write_model(workspace, tmp_path, AHEAD.format(budget=0.02)))
    assert refused["integrity"] and "depend on more than the tokens up to it" in refused["error"]


# Cheats by luck. Both players give a rare token next to no probability, so their rows agree. But
# the first one's lose more at it. Few places are compared. If one of them is such, the difference
# in the mean is larger than what the first player lost.
LUCK = """
usual = logits

def logits(tokens):
    rows = usual(tokens).astype(np.float64)
    first = len(tokens) == 32
    rows[..., {token}] = np.log(1e-6) - {nats} * first
    return rows
"""
LUCKY_KEY = f"{4:064x}"  # a judge with this key compares such a place


def test_luck_with_compared_places_gains_nothing(
    judge: Callable[..., dict[str, Any]], workspace: Path, tmp_path: Path
) -> None:
    counts = np.bincount(tokens_of(workspace / "data/train.bin"), minlength=64)
    rare = int(np.abs(counts / counts.sum() - 1e-3).argmin())
    tricks = {
        "alone": LUCK.format(token=rare, nats=4000),
        "to hide a look ahead": AHEAD.format(budget=0.003) + LUCK.format(token=rare, nats=50),
    }
    honest = judge(workspace / "model.zip", LUCKY_KEY)["val_loss"]
    for trick, text in tricks.items():
        lucky = judge(write_model(workspace, tmp_path, text), LUCKY_KEY)
        assert lucky["val_loss"] > honest - 0.02, (trick, lucky, honest)


# Cheats by looking at the next token where that gains most, at some 150 places of 20,480. It would
# gain 0.06 nat.
SELDOM = """
honest = logits

def logits(tokens):
    rows = honest(tokens).copy()
    sequence, place = np.indices(tokens[:, 1:].shape)
    dear = rows[sequence, place, tokens[:, 1:]] < -7
    if len(tokens) == 32:
        rows[sequence[dear], place[dear], tokens[:, 1:][dear]] += 30
    return rows
"""


def test_looking_ahead_at_few_places_is_noticed(
    judge: Callable[..., dict[str, Any]], workspace: Path, tmp_path: Path
) -> None:
    model = write_model(workspace, tmp_path, SELDOM)
    for key in range(4):
        report = judge(model, f"{key:064x}")
        assert report.get("integrity"), (key, report)


def checks_of(load: Load, variant: str, key: int) -> Any:
    """Places to compare, when a first player's row gains at every tenth place."""
    sys.path.insert(0, str(LIBRARY))
    judge = load(TASK / "grader/judge.py")
    sizes = dataclasses.replace(judge.SIZES[variant], vocabulary=64)
    checks = judge.Checks(judge.duel.Numbers(bytes([key] * 32)), sizes, np.arange(64))
    n = sizes.sequences * sizes.length
    rows = np.zeros((n, 64), np.float32)
    rows[::10, 1] = 4
    targets = np.ones(n, np.int64)
    checks.see(0, rows, judge.losses_of(rows, targets), targets)
    checks.drop_empty()
    return checks


@pytest.mark.parametrize("variant", ["micro", "full"])
def test_what_follows_a_place_is_not_sent_before_its_answer(load: Load, variant: str) -> None:
    for key in range(10):
        checks = checks_of(load, variant, key)
        before = np.full(checks.where.max() // checks.length + 1, -1)
        seen = []
        for asked in checks.rounds():
            sequence, place = np.divmod(checks.where[asked], checks.length)
            assert len(np.unique(sequence)) == len(sequence)
            assert (place >= before[sequence]).all() and (place < checks.length - 1).all()
            before[sequence] = place
            seen.extend(asked)
        assert sorted(seen) == list(range(160 + 96))


def test_places_that_gain_are_picked(load: Load) -> None:
    checks = checks_of(load, "micro", 0)
    drawn, picked = checks.where[:160], checks.where[160:]
    assert (picked % 10 == 0).all() and len(np.unique(picked)) == 96
    assert not set(drawn) & set(picked)
    assert 0.04 < (drawn % 10 == 0).mean() < 0.2
    assert np.histogram(picked, 4, (0, 160 * 128))[0].min() > 10


def test_rows_are_normalised_and_compared(load: Load) -> None:
    sys.path.insert(0, str(LIBRARY))
    judge = load(TASK / "grader/judge.py")
    rows = np.random.default_rng(0).normal(size=(50, 64)).astype(np.float32)
    logs = judge.log_softmax(rows)
    assert np.allclose(np.exp(logs).sum(1), 1, atol=1e-12)
    assert np.allclose(judge.log_softmax(rows + np.float32(4)), logs, atol=1e-5)
    assert np.isfinite(judge.log_softmax(rows * np.float32(3e37))).all()
    assert (judge.divergence(logs, logs) == 0).all()
    for noise, agrees in ((6e-6, True), (6e-3, True), (0.3, False)):
        other = judge.log_softmax(rows + noise * np.roll(rows, 1, 1))
        if agrees:
            judge.check_agreement(logs, other)
        else:
            with pytest.raises(judge.duel.Tampering, match="dropout left on"):
                judge.check_agreement(logs, other)
    with pytest.raises(judge.duel.Tampering):
        judge.check_agreement(logs, np.full_like(logs, np.nan))


# --- the variant with real texts ------------------------------------------------------------------


@pytest.mark.parametrize("program", ["starter/full/baseline.py", "solution/full/solve.py"])
def test_missing_pytorch_is_named(tmp_path: Path, program: str) -> None:
    for part in ("starter/full", "solution/full"):
        shutil.copytree(TASK / part, tmp_path, dirs_exist_ok=True)
    (tmp_path / "torch.py").write_text("raise ImportError(name='torch')")
    command = [PYTHON, "-B", Path(program).name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("PyTorch is missing: ") and done.stderr.count("\n") == 1


def replace(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)


def test_a_gpt_trains_and_is_judged(
    judge: Callable[..., dict[str, Any]], tmp_path: Path, load: Load
) -> None:
    """A tiny one, on texts that count upwards."""
    pytest.importorskip("torch")
    shutil.copytree(TASK / "starter/full", tmp_path / "w")
    replace(
        tmp_path / "w/model.py",
        ("VOCABULARY, LENGTH = 50_304, 1024", "VOCABULARY, LENGTH = 512, 64"),
        ("LAYERS, HEADS, WIDTH = 12, 12, 768", "LAYERS, HEADS, WIDTH = 1, 2, 32"),
    )
    replace(
        tmp_path / "w/baseline.py",
        ("STEPS, RATE = 500, 6e-4", "STEPS, RATE = 60, 3e-2"),
        ("BATCH, AT_ONCE = 64, 16", "BATCH, AT_ONCE = 16, 8"),
    )
    replace(
        tmp_path / "judge.py", ('Sizes(50_304, 1024, 256, 1, 3, "', 'Sizes(512, 64, 20, 2, 3, "')
    )
    header = np.zeros(256, "<i4")
    for path in ("w/data/fineweb_train_000001.bin", "hidden.bin"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).unlink(missing_ok=True)
        tokens = (np.arange(20_000) % 300).astype("<u2")
        (tmp_path / path).write_bytes(header.tobytes() + tokens.tobytes())
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-B", "baseline.py"]
    subprocess.run(command, cwd=tmp_path / "w", check=True, env=environment)
    report = judge(tmp_path / "w/model.zip", variant="full", python=sys.executable)
    assert report["val_loss"] < 2, report


# --- tests that better solutions score better ---------------------------------------------------


def climb(folder: Path, load: Load) -> list[float]:
    """The loss of the baseline, of three solutions between, and of the solution."""
    run(folder, "baseline.py")
    run(folder, "solve.py")
    hidden = tokens_of(folder / "data/hidden.bin")[: 300 * 129].reshape(300, 129)
    tokens, targets = hidden[:, :-1], hidden[:, 1:]

    def loss(shares: Any) -> float:
        shares = shares.reshape(*tokens.shape, 64)
        return -float(np.log(np.take_along_axis(shares, targets[:, :, None], 2)).mean())

    train = tokens_of(folder / "data/train.bin")
    cells = (train[:-2] * 64 + train[1:-1]) * 64 + train[2:]
    counts = np.bincount(cells, minlength=64**3).reshape(64, 64, 64)
    before = np.roll(tokens, 1, 1)  # the token before each; wrong for the first token only
    ngrams = load(folder / "ngrams.py")
    tables, weights = ngrams.LOADED
    fives = np.full((tokens.size, 64), 1 / 64, np.float32)
    for (length, table), weight in zip(enumerate(tables, 1), weights, strict=False):
        fives = ngrams.mix(fives, table.level(ngrams.codes(tokens, length).ravel()), weight)
    threes = [(counts + a) / (counts + a).sum(2, keepdims=True) for a in (0.02, 1)]
    return [
        loss(np.exp(np.load(folder / "bigrams.npy"))[tokens]),
        *(loss(shares[before, tokens]) for shares in threes),
        loss(fives),
        loss(np.exp(ngrams.logits(tokens))),
    ]


def test_a_model_can_climb(tmp_path: Path, load: Load) -> None:
    def in_language(number: int) -> list[float]:
        folder = make_workspace(tmp_path / str(number), f"{number:064x}")
        return [-loss for loss in climb(folder, load)]

    check_climb(in_language, ends=(-2.85, -2.1))
