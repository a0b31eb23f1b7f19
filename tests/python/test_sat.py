# SPDX-License-Identifier: Apache-2.0
"""3SATTime: a heuristic gets the same arguments from judge and player as from a plain solver.

The plain solver is the task's starter/solver.py, written for reading. If FUMEHOOD_MLGYM names a
checkout, MLGym's own solver is compared too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_duel import KEY, LIBRARY, ROOT, TASKS, run_duel

TASK = TASKS / "3SATTime"
MLGYM = os.environ.get("FUMEHOOD_MLGYM")

Clauses = list[list[int]]
Heuristic = Callable[..., tuple[int, bool]]


def module(path: Path) -> ModuleType:
    """Imports a program by its path."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.parent.name}_{path.stem}", path)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="session")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the judge's /grader."""
    folder = tmp_path_factory.mktemp("grader")
    for path in [ROOT / "build/fh-sat.so", *LIBRARY.glob("*.py"), *TASK.glob("grader/*.py")]:
        shutil.copy(path, folder)
    judge = (folder / "judge.py").read_text()
    (folder / "brief.py").write_text(judge.replace("MOST_DECISIONS = 1000", "MOST_DECISIONS = 20"))
    (folder / "whole.py").write_text(judge.replace('"micro": 2', '"micro": 1'))
    (folder / "hurried.py").write_text(judge.replace("duel.MICRO_SECONDS", "1"))
    return folder


@pytest.fixture(scope="session")
def sat(grader: Path) -> ModuleType:
    return module(grader / "sat.py")


@pytest.fixture(scope="session")
def mirror() -> type:
    return module(TASK / "grader/player_3sat.py").Mirror


# --- heuristics that choose a variable ------------------------------------------------------------

# Four heuristics decide by the clauses and the assignments only, "most conflicts" by all arguments.


def first_free(clauses: Clauses, assignments: dict[int, bool], *_: Any) -> tuple[int, bool]:
    literal = next(x for x in clauses[0] if abs(x) not in assignments)
    return abs(literal), literal > 0


def dice(seed: int) -> Heuristic:
    rng = random.Random(seed)

    def pick(clauses: Clauses, assignments: dict[int, bool], *_: Any) -> tuple[int, bool]:
        free = [abs(x) for clause in clauses for x in clause if abs(x) not in assignments]
        return rng.choice(free), rng.random() < 0.5

    return pick


def most_conflicts(
    clauses: Clauses,
    assignments: dict[int, bool],
    conflict_count: dict[int, int],
    assignment_history: list[int],
    level: list[list[int]],
) -> tuple[int, bool]:
    free = [abs(x) for clause in clauses for x in clause if abs(x) not in assignments]
    best = max(free, key=lambda v: (conflict_count.get(v, 0), assignment_history.count(v), -v))
    return best, (len(level) + sum(map(len, level))) % 2 == 0


def smallest_clause(clauses: Clauses, assignments: dict[int, bool], *_: Any) -> tuple[int, bool]:
    return first_free(
        sorted(clauses, key=lambda c: sum(abs(x) not in assignments for x in c)), assignments
    )


HEURISTICS: dict[str, Callable[[], Heuristic]] = {
    "first free": lambda: first_free,
    "dice": lambda: dice(1),
    "other dice": lambda: dice(2),
    "most conflicts": lambda: most_conflicts,
    "smallest clause": lambda: smallest_clause,
}

# Sizes of random formulas, as (variables, clauses, number of formulas). Some have few clauses, some
# many, and some are hard.
SIZES = [(3, 1, 5), (3, 33, 5), (6, 40, 20), (10, 43, 20), (20, 85, 20), (30, 128, 5), (50, 213, 1)]


def instances() -> Iterator[tuple[int, Clauses]]:
    rng = random.Random("instances")
    for variables, clauses, n in SIZES:
        for _ in range(n):
            yield (
                variables,
                [
                    [v * rng.choice((1, -1)) for v in rng.sample(range(1, variables + 1), 3)]
                    for _ in range(clauses)
                ],
            )


def noting(heuristic: Heuristic, calls: list[Any]) -> Heuristic:
    """Returns the heuristic, which adds its arguments' text and its decision to the calls."""

    def noted(*arguments: Any) -> tuple[int, bool]:
        # Note the heuristic's arguments as text, because text shows the order of dictionaries.
        text = repr(arguments)
        decision = heuristic(*arguments)
        calls.append((text, decision))
        return decision

    return noted


def solve_plainly(dpll: Any, clauses: Clauses, heuristic: Heuristic) -> tuple[Any, bool]:
    """Returns all calls of the heuristic with their arguments' text, and the solver's answer."""
    calls: list[Any] = []
    solver = dpll(deepcopy(clauses), noting(heuristic, calls))
    satisfiable = solver.solve()
    assert solver.num_decisions == len(calls)
    return calls, satisfiable


def solve_as_judged(
    sat: ModuleType, mirror: type, variables: int, clauses: Clauses, heuristic: Heuristic
) -> tuple[Any, bool]:
    """The same calls and answer, from the judge's solver and the player's mirror."""
    literals = [literal for clause in clauses for literal in clause]
    solver = sat.Solver(variables, sat.literals(literals))
    state = mirror(sat.packed(memoryview(sat.literals(literals))))
    calls: list[Any] = []
    listening = noting(heuristic, calls)
    while solver.changes is not None:
        state.change(json.loads(json.dumps(solver.changes)))
        assert solver.decide(*state.decide(listening))
    assert solver.decisions == len(calls)
    return calls, solver.satisfiable


def compare_solvers(sat: ModuleType, mirror: type, dpll: Any, name: str) -> None:
    calls = answers = 0
    for variables, clauses in instances():
        expected = solve_plainly(dpll, clauses, HEURISTICS[name]())
        found = solve_as_judged(sat, mirror, variables, clauses, HEURISTICS[name]())
        assert found == expected
        calls += len(found[0])
        answers += found[1]
    assert calls > 500 and answers > 10  # otherwise nothing was compared


@pytest.mark.parametrize("name", HEURISTICS)
def test_arguments_are_those_of_a_plain_solver(sat: ModuleType, mirror: type, name: str) -> None:
    compare_solvers(sat, mirror, module(TASK / "starter/solver.py").DPLL, name)


@pytest.mark.skipif(not MLGYM, reason="FUMEHOOD_MLGYM names no checkout of MLGym")
@pytest.mark.parametrize("name", HEURISTICS)
def test_arguments_are_those_of_mlgym_s_solver(
    sat: ModuleType, mirror: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # MLGym's solver imports numpy without using it: give it an empty module.
    monkeypatch.setitem(sys.modules, "numpy", ModuleType("numpy"))
    dpll = module(Path(str(MLGYM)) / "data/3SATTime/solver.py").DPLL
    compare_solvers(sat, mirror, dpll, name)


# --- tests of heuristics' scores ----------------------------------------------------------------


def play(grader: Path, file: Path, key: str = KEY, judge: str = "judge.py") -> dict[str, Any]:
    """The judge's report about a heuristic in the micro variant."""
    player = [str(grader / "player_3sat.py"), str(file), "heuristic_fn"]
    return run_duel(grader / judge, player, key, ["micro"])


def test_score_of_the_starter_and_the_solution(grader: Path) -> None:
    starter, solution = TASK / "starter/heuristic.py", TASK / "solution/heuristic.py"
    report = play(grader, solution)
    assert list(report) == ["Decisions", "Correct", "Incorrect"]
    assert 350 < report["Decisions"] < 700 and report["Correct"] == 24
    assert play(grader, solution) == report
    assert play(grader, solution, "5f" * 32) != report
    report = play(grader, starter)
    assert 4000 < report["Decisions"] < 12_000
    # A heuristic with random numbers decides the same, whether it is asked about parts or about all
    # games.
    assert play(grader, starter, judge="whole.py") == report


def test_an_instance_is_given_up_after_its_most_decisions(grader: Path) -> None:
    """An instance counts as incorrect after its limit of decisions, which is 20 in this judge."""
    report = play(grader, TASK / "solution/heuristic.py", judge="brief.py")
    assert 0 < report["Incorrect"] < 24 and report["Correct"] + report["Incorrect"] == 24
    assert 20 * report["Incorrect"] < report["Decisions"] < 20 * 24


def most_occurrences(weights: tuple[int, ...]) -> Heuristic:
    def pick(clauses: Clauses, assignments: dict[int, bool], *_: Any) -> tuple[int, bool]:
        weight: dict[int, int] = {}
        for clause in clauses:
            free = [x for x in clause if abs(x) not in assignments]
            for x in free:
                weight[x] = weight.get(x, 0) + weights[len(free)]
        best = max({abs(x) for x in weight}, key=lambda v: weight.get(v, 0) + weight.get(-v, 0))
        return best, weight.get(best, 0) >= weight.get(-best, 0)

    return pick


def random_of_the_shortest(seed: int) -> Heuristic:
    rng = random.Random(seed)

    def pick(clauses: Clauses, assignments: dict[int, bool], *_: Any) -> tuple[int, bool]:
        free = [[x for x in clause if abs(x) not in assignments] for clause in clauses]
        fewest = min(map(len, free))
        literal = rng.choice(rng.choice([f for f in free if len(f) == fewest]))
        return abs(literal), literal > 0

    return pick


@pytest.mark.long
def test_a_ladder_leads_from_the_baseline_to_the_solution(sat: ModuleType, mirror: type) -> None:
    """Each solution is better than the last by a standard deviation, and in all by five."""
    random.seed(1)
    steps = [
        module(TASK / "starter/heuristic.py").heuristic_fn,
        first_free,
        random_of_the_shortest(1),
        most_occurrences((0, 0, 1, 1)),
        most_occurrences((0, 0, 2, 1)),
        module(TASK / "solution/heuristic.py").heuristic_fn,
    ]
    means, deviations = [], []
    for step in steps:
        rng = random.Random("ladder")
        counts = [decisions_of(sat, mirror, step, rng.randbytes(213 * 16)) for _ in range(48)]
        means.append(24 * statistics.mean(counts))
        deviations.append(24**0.5 * statistics.stdev(counts))
    print(*zip(means, deviations, strict=True), sep="\n")
    for i in range(1, len(steps)):
        assert means[i - 1] - means[i] > max(deviations[i - 1 : i + 1])
    assert means[0] - means[-1] > 5 * max(deviations[0], deviations[-1])


def decisions_of(sat: ModuleType, mirror: type, heuristic: Heuristic, drawn: bytes) -> int:
    """The decisions of a heuristic in one instance of micro."""
    literals = sat.draw(drawn, 50, 213)
    solver, state = sat.Solver(50, literals), mirror(sat.packed(memoryview(literals)))
    while solver.changes is not None and solver.decisions < 1000:
        state.change(solver.changes)
        assert solver.decide(*state.decide(heuristic))
    return solver.decisions


def test_draws_are_clauses_of_three_variables(sat: ModuleType) -> None:
    """Each variable and sign is as likely as another, at each place of a clause."""
    drawn = list(sat.draw(random.Random(1).randbytes(16 * 60_000), 10, 60_000))
    clauses = [drawn[i : i + 3] for i in range(0, len(drawn), 3)]
    assert all(len({abs(x) for x in clause}) == 3 for clause in clauses)
    for place in range(3):
        column = drawn[place::3]
        for literal in [*range(-10, 0), *range(1, 11)]:
            assert column.count(literal) == pytest.approx(3000, abs=350)


@pytest.mark.parametrize("clause", [[1, 1, 2], [1, -1, 2], [0, 1, 2], [1, 2, 51], [1, 2, -(2**31)]])
def test_no_such_clause(sat: ModuleType, clause: list[int]) -> None:
    with pytest.raises(ValueError, match="3 literals of different variables"):
        sat.Solver(50, sat.literals(clause))


# --- tests of errors in heuristics --------------------------------------------------------------

EXPECTED = "expected a variable that is not assigned, and True or False"
NO_VARIABLE = f"{EXPECTED}: the variables are 1 to 50"
NO_PAIR = f"{EXPECTED}: it is not a pair"

GOOD = {
    "prints": "print('x' * 100000)",
    "changes its arguments": (
        "[c.clear() for c in clauses]; clauses.clear(); assignments.clear(); level.clear()\n"
        "    conflict_count[1] = 'x'; assignment_history.append('x')"
    ),
    "returns a list": "return [v, value]",
    "imports the starter's solver": "import solver; assert solver.DPLL",
}


@pytest.mark.parametrize("name", GOOD)
def test_an_honest_heuristic(
    grader: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(TASK / "starter/solver.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    solution = TASK / "solution/heuristic.py"
    file = tmp_path / "heuristic.py"
    file.write_text(
        solution.read_text() + "\n\nhonest = heuristic_fn\n\n"
        "def heuristic_fn(clauses, assignments, conflict_count, assignment_history, level):\n"
        "    v, value = honest(clauses, assignments, conflict_count, assignment_history, level)\n"
        f"    {GOOD[name]}\n    return v, value\n"
    )
    assert play(grader, file) == play(grader, solution)


BAD = {
    "assigned": (
        "return next(iter(assignments), v), True",
        f"instance 1, round 2: heuristic_fn returned [1, True], {EXPECTED}: variable 1 is assigned",
    ),
    "negative": ("return -v, True", f"heuristic_fn returned [-1, True], {NO_VARIABLE}"),
    "zero": ("return 0, True", f"heuristic_fn returned [0, True], {NO_VARIABLE}"),
    "too large": ("return 51, True", f"heuristic_fn returned [51, True], {NO_VARIABLE}"),
    "huge": ("return 2**32 + v, True", f"heuristic_fn returned [4294967297, True], {NO_VARIABLE}"),
    "not a number": ("return float('nan'), True", f"returned [nan, True], {NO_VARIABLE}"),
    "float": ("return 1.0, True", f"returned [1.0, True], {NO_VARIABLE}"),
    "text": ("return 'x', True", f"returned ['x', True], {NO_VARIABLE}"),
    "no variable": ("return None, True", f"returned [None, True], {NO_VARIABLE}"),
    "value 1": ("return v, 1", f"returned [1, 1], {EXPECTED}: 1 is neither True nor False"),
    "value None": (
        "return v, None",
        f"returned [1, None], {EXPECTED}: None is neither True nor False",
    ),
    "nothing": ("return", f"instance 1, round 1: heuristic_fn returned None, {NO_PAIR}"),
    "only a variable": ("return v", f"heuristic_fn returned 1, {NO_PAIR}"),
    "three": ("return v, True, 1", f"heuristic_fn returned [1, True, 1], {NO_PAIR}"),
    "exception": (
        "1 / 0",
        "instance 1, round 1, line 3: heuristic_fn raised ZeroDivisionError: division by zero",
    ),
    "hang": ("while True: pass", "round 1: heuristic_fn: no answer within 1 s"),
    "early": ("import os; os.write(4, b'[]\\n'); return v, True", "round 1: heuristic_fn: "),
}


@pytest.mark.parametrize("name", BAD)
def test_fault_is_told_and_gives_no_score(grader: Path, tmp_path: Path, name: str) -> None:
    text, sentence = BAD[name]
    file = tmp_path / "heuristic.py"
    head = "def heuristic_fn(clauses, assignments, *_):\n    v = 1\n"
    file.write_text(head + f"    {text}\n")
    report = play(grader, file, judge="hurried.py" if name == "hang" else "judge.py")
    assert report.pop("integrity", False) == (name == "early")
    assert list(report) == ["error"] and sentence in report["error"]
