# SPDX-License-Identifier: Apache-2.0
"""fh-grade-csv as a grader runs it: descriptors 3 and 4, a JSON object, and the exit status."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import KEY, ROOT, make_data

PROGRAM = ROOT / "build/fh-grade-csv"
COLUMNS = ["--id", "PassengerId", "--target", "Survived"]


@pytest.fixture(scope="module")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the data of titanic-micro."""
    return make_data("titanic-micro", tmp_path_factory.mktemp("micro") / "data", KEY)


def grade(
    submission: str | Path, answers: str | Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """Runs fh-grade-csv. A shell opens the submission as descriptor 3, and the answers as 4."""
    script = 'exec "$0" "${@:3}" 3<"$1" 4<"$2"'
    command = ["bash", "-c", script, str(PROGRAM), str(submission), str(answers), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_scores_a_submission(micro: Path) -> None:
    done = grade(
        micro / "sample_submission.csv", micro / "answers.csv", *COLUMNS, "--metric", "accuracy"
    )
    assert (done.returncode, done.stderr) == (0, "")
    died = (micro / "answers.csv").read_text().count(",0\n")
    assert json.loads(done.stdout) == {"accuracy": died / 1100}


def test_a_fault_of_the_submission_is_a_result(micro: Path, tmp_path: Path) -> None:
    a, b = [line.split(",")[0] for line in (micro / "answers.csv").read_text().split()[1:3]]
    (tmp_path / "mine.csv").write_text(f"PassengerId,Survived\n{a},1\n\n{b},perhaps\n{b},0\n")
    done = grade(
        tmp_path / "mine.csv",
        micro / "answers.csv",
        *COLUMNS,
        "--metric=accuracy",
        "--name=mine.csv",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {
        "error": f"mine.csv line 5: PassengerId '{b}' is in line 4 too"
    }


@pytest.mark.parametrize(
    ("metric", "prediction", "sentence"),
    [
        ("accuracy", "2", "a class; classes are the whole numbers from 0 to 1 (column y)"),
        ("f1", "-1", "a class; classes are the whole numbers from 0 to 1 (column y)"),
        ("accuracy", "0.5", "a class; classes are the whole numbers from 0 to 1 (column y)"),
        ("r2", "1e154", "a number from 0 to 1 (column y)"),
        ("rmse", "much", "a number from 0 to 1 (column y)"),
        ("accuracy", "1.0", None),
        ("r2", "0.5", None),
    ],
)
def test_a_range_refuses_predictions(
    tmp_path: Path, metric: str, prediction: str, sentence: str | None
) -> None:
    (tmp_path / "answers").write_text("y\n1\n0\n")
    (tmp_path / "mine").write_text(f"y\n1\n{prediction}\n")
    options = ["--target=y", f"--metric={metric}", "--least=0", "--most=1"]
    done = json.loads(grade(tmp_path / "mine", tmp_path / "answers", *options).stdout)
    if sentence:
        assert done == {"error": f"submission.csv line 3: '{prediction}' is not {sentence}"}
    else:
        assert metric in done


def test_a_fault_of_the_answers_is_not(micro: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("PassengerId,Fate\n1,1\n")
    done = grade(micro / "answers.csv", tmp_path / "answers.csv", *COLUMNS, "--metric", "accuracy")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "fh-grade-csv: answers: line 1: no column 'Survived' among 'PassengerId', 'Fate'\n"
    )


@pytest.mark.parametrize(
    "options",
    [
        [],
        COLUMNS,
        [*COLUMNS, "--metric", "luck"],
        [*COLUMNS, "--metric"],
        [*COLUMNS, "--metric", "f1", "x"],
    ],
)
def test_wrong_usage(options: list[str]) -> None:
    done = grade("/dev/null", "/dev/null", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: fh-grade-csv" in done.stderr


def test_missing_descriptors() -> None:
    """A child of this process has no descriptors 3 and 4."""
    command = [str(PROGRAM), *COLUMNS, "--metric", "accuracy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "descriptor 3" in done.stderr


def test_reads_a_file_from_its_beginning_and_a_pipe_as_it_comes(micro: Path) -> None:
    """A grader's sealed copy has its offset at the end, so that the program has to rewind."""
    script = (
        'exec 3<"$1" 4< <(cat "$2"); cat <&3 >/dev/null; '
        'exec "$0" --id PassengerId --target Survived --metric accuracy'
    )
    command = ["bash", "-c", script, PROGRAM, micro / "answers.csv", micro / "answers.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == '{"accuracy": 1.0}\n'


def test_it_is_static() -> None:
    """A static program runs in a sandbox without libraries."""
    headers = subprocess.run(["readelf", "-l", PROGRAM], capture_output=True, text=True, check=True)
    assert "INTERP" not in headers.stdout


def test_a_thousand_rows_take_milliseconds_of_cpu(micro: Path) -> None:
    runs = 100
    before = os.times()
    script = (
        f"for ((i = 0; i < {runs}; i++)); do "
        '"$0" --id PassengerId --target Survived --metric accuracy 3<"$1" 4<"$1"; done'
    )
    subprocess.run(
        ["bash", "-c", script, PROGRAM, micro / "answers.csv"], capture_output=True, check=True
    )
    assert (os.times().children_user - before.children_user) / runs < 0.01
