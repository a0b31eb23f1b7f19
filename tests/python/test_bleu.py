# SPDX-License-Identifier: Apache-2.0
"""The metric `bleu` of fh-grade-csv beside sacrebleu, where it is installed.

An environment for the comparison:

    python3 -m venv ENV && ENV/bin/pip install pytest sacrebleu==2.6.0
    ENV/bin/python -m pytest tests/python/test_bleu.py

tests/unit/test_grade_csv_metrics.c has numbers of sacrebleu for where it is not.
"""

from __future__ import annotations

import csv
import json
import random
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "build/fh-grade-csv"
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\v", "\x1c", "\x85", "\xa0", "\u2003", "\u2028", "\u3000"]
WORDS = ["a", "the", "A", "red", '"box"', "box,", "on", "é", "\u200b", "箱", "|", "||||", "-"]


def bleu(folder: Path, captions: list[str], references: list[list[str]]) -> float:
    for name, rows in (("mine", captions), ("answers", [" ||| ".join(r) for r in references])):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["caption"], *([row] for row in rows)])
    script = 'exec "$0" "${@:3}" 3<"$1" 4<"$2"'
    command = ["bash", "-c", script, PROGRAM, folder / "mine", folder / "answers"]
    command += ["--target=caption", "--metric=bleu"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["bleu"]


def text(draws: random.Random, words: list[str], spaces: list[str]) -> str:
    n = draws.randint(1, 12)
    return "".join(draws.choice(words) + draws.choice(spaces) for _ in range(n))


@pytest.mark.parametrize("spaces", [[" "], SPACES], ids=["blanks", "all kinds of white space"])
@pytest.mark.parametrize("seed", range(6))
def test_equals_sacrebleu(tmp_path: Path, spaces: list[str], seed: int) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    draws = random.Random(seed)
    words = draws.sample(WORDS, 3 + seed)
    references, captions = [], []
    for _ in range(40 * (seed + 1)):
        own = [text(draws, words, spaces) for _ in range(draws.randint(1, 5))]
        references.append(own)
        captions.append(draws.choice([draws.choice(own), text(draws, words, spaces)]))
    streams = [[own[k] if k < len(own) else None for own in references] for k in range(5)]
    expected = sacrebleu.corpus_bleu(
        captions, streams, tokenize="none", smooth_method="none", force=True
    )
    assert 0.05 < expected.score / 100 < 1
    assert bleu(tmp_path, captions, references) == pytest.approx(expected.score / 100, abs=1e-9)
