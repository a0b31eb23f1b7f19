# SPDX-License-Identifier: Apache-2.0
"""Compares `fumehood report` with the tables that MLGym published."""

import csv
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "metagen-"
# Names of the tasks in the published tables.
TASKS = {
    "House Price": "regressionKaggleHousePrice",
    "3-SAT": "3SATTime",
    "CIFAR-10": "imageClassificationCifar10",
    "Fashion MNIST": "imageClassificationFMnist",
    "MS-COCO": "imageCaptioningCOCO",
    "Language Modeling": "languageModelingFineWeb",
    "MNLI": "naturalLanguageInferenceMNLI",
    "Battle of Sexes": "battleOfSexes",
    "Prisoners Dilemma": "prisonersDilemma",
    "Blotto": "blotto",
    "Breakout": "rlBreakoutMinAtar",
    "Meta Maze": "rlMetaMazeMisc",
    "Mountain Car Continuous": "rlMountainCarContinuous",
}
# The tables named `test` used other runs of this task. Those runs were not published.
OTHER_RUNS = "Mountain Car Continuous"
KINDS = {"best": "attempt", "last": "submission"}

Finding = tuple[str, str, Path, str]


def read_csv(file: Path) -> list[list[str]]:
    with file.open(newline="") as lines:
        return list(csv.reader(lines))


def report(program: Path, runs: Path, models: list[str]) -> dict[str, dict[str, dict[str, str]]]:
    """All tables of a report as {table: {row: {column: cell}}}."""
    with tempfile.TemporaryDirectory() as state:
        done = subprocess.run(
            [
                program,
                "report",
                "--format=csv",
                "--models=" + ",".join(PREFIX + m for m in models),
                "--tasks=" + ",".join(TASKS.values()),
                runs,
            ],
            env={**os.environ, "FUMEHOOD_STATE": state},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    names = {v: k for k, v in TASKS.items()}
    tables: dict = {}
    for line in list(csv.reader(done.stdout.splitlines()))[1:]:
        table, row, column, value = (cell.removeprefix(PREFIX) for cell in line)
        tables.setdefault(table, {}).setdefault(names.get(row, row), {})[column] = value
    return tables


def compare_cells(
    file: Path, ours: dict, theirs: list[list[str]], unknown: dict[str, str]
) -> Iterator[Finding]:
    for row in theirs[1:]:
        for column, value in zip(theirs[0][1:], row[1:], strict=True):
            mine = ours[row[0]][column]
            what = f"{file.name}: {row[0]}, {column}: {mine} for {value}"
            if mine != value and row[0] in unknown:
                yield "tables", "SKIPPED", file, f"{file.name}: {unknown[row[0]]}"
            else:
                yield "tables", "EQUAL" if mine == value else "DIFFERENT", file, what


def compare_ranks(
    file: Path, tables: dict, theirs: list[list[str]], scores: dict, other_runs: bool
) -> Iterator[Finding]:
    """Compares the models that have a score. The order of the others is arbitrary there."""
    sums: dict[str, int] = dict.fromkeys(theirs[1][1:], 0)
    for row in theirs[1:14]:
        known = [m for m in row[1:] if scores[row[0]][m]]
        n = len(known)
        ours = list(tables[row[0]].values())
        for i, model in enumerate(row[1:]):
            sums[model] += len(row) - 1 - i
            if i >= n:
                verdict, what = "SKIPPED", "models without a score have no order"
            elif other_runs and row[0] == OTHER_RUNS:
                verdict, what = "SKIPPED", "made from runs that were not published"
            else:
                verdict = "EQUAL" if ours[i] == model else "DIFFERENT"
                what = f"{row[0]}, rank {i + 1}: {ours[i]} for {model}"
            yield "tables", verdict, file, f"{file.name}: {what}"
    # The rows of all tasks follow from the positions, also from arbitrary ones. So sum those.
    expected = sorted(sums, key=lambda m: -sums[m])
    mine = list(tables["BORDA"].values())
    for row in theirs[14:16]:
        for i, model in enumerate(row[1:]):
            if mine[i] == model:
                verdict, what = "EQUAL", f"{row[0]}, rank {i + 1}"
            elif expected[i] == model or sums[expected[i]] == sums[model]:
                verdict, what = "SKIPPED", "overall rank that hangs on models without a score"
            else:
                verdict, what = "DIFFERENT", f"{row[0]}, rank {i + 1}: {mine[i]} for {model}"
            yield "tables", verdict, file, f"{file.name}: {what}"


def check(program: Path, runs: Path, tables: Path) -> Iterator[Finding]:
    """Compares each cell of each published table."""
    for kind in ("aggregate", "test"):
        lost = kind == "test"
        why = "made from runs that were not published"
        first = read_csv(tables / f"best_scores_{kind}_results.csv")
        ours = report(program, runs, first[0][2:])
        for word, ours_kind in KINDS.items():
            file = tables / f"{word}_scores_{kind}_results.csv"
            scores = read_csv(file)
            mine = ours[f"scores-{ours_kind}"]
            yield from compare_cells(file, mine, scores, {OTHER_RUNS: why} if lost else {})
            file = tables / f"{word}_ranks_{kind}_results.csv"
            ranks = ours[f"ranks-{ours_kind}"]
            yield from compare_ranks(file, ranks, read_csv(file), mine, lost)
        file = tables / f"aup_scores_{kind}_results.csv"
        areas = read_csv(file)
        unknown = {row[0]: why for row in areas[1:]} if lost else {}
        yield from compare_cells(file, ours["aup"], areas, unknown)
