# SPDX-License-Identifier: Apache-2.0
"""Judges 3SATTime: the decisions that a DPLL solver needs with the agent's heuristic.

`judge.py micro` takes 24 instances that are hard for their size. Half of them can be satisfied.
`judge.py full` takes 24,000 small ones, 1,000 side by side.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import duel
import sat

MOST_DECISIONS = 1000  # limit of decisions for an instance; above it, this number counts
FULL, SIDE_BY_SIDE = 24_000, 1000
# Price of a decision in "full", for the search that leads to it. With MLGym's solver, which is in
# Python, recorded runs took 0.17 ms a decision and more, and most of that was the solver's.
SECONDS_A_DECISION = 0.16e-3
# Number of parts into which the games are split. The player works on a part while the judge works
# on another. "full" has one part, because CPU times are longer while both work.
PARTS = {"micro": 2, "full": 1}
OF_EACH = 12  # satisfiable and other instances of "micro"

Size = tuple[int, int]  # numbers of variables and clauses of an instance
Instance = tuple[int, Any]  # number of variables, and the literals


def micro(numbers: duel.Numbers) -> list[Size]:
    """Returns sizes at which half of all random instances can be satisfied. Many are spare."""
    return [(50, 213)] * 96


def full(numbers: duel.Numbers) -> list[Size]:
    """Draws 3 to 10 variables, and 1 to 11 times as many clauses."""
    variables = [3 + n for n in numbers.below("variables", FULL, 8)]
    ratios = [1 + n / 1000 for n in numbers.below("clauses", FULL, 10_001)]
    return [(n, round(n * ratio)) for n, ratio in zip(variables, ratios, strict=True)]


def decide(solver: sat.Solver, move: Any) -> str:
    """Decides as the move says. Returns what is wrong with the move; "": nothing."""
    if not isinstance(move, list) or len(move) != 2:
        return "it is not a pair"
    variable, value = move
    if type(value) is not bool:
        return f"{duel.shown(value)} is neither True nor False"
    if type(variable) is not int or not 1 <= variable <= solver.variables:
        return f"the variables are 1 to {solver.variables}"
    return "" if solver.decide(variable, value) else f"variable {variable} is assigned"


def is_going_on(solver: sat.Solver) -> bool:
    return solver.changes is not None and solver.decisions < MOST_DECISIONS


def draw(random_bytes: bytes, sizes: list[Size]) -> list[Instance]:
    drawn, at = [], 0
    for variables, clauses in sizes:
        end = at + clauses * sat.BYTES_A_CLAUSE
        drawn.append((variables, sat.draw(random_bytes[at:end], variables, clauses)))
        at = end
    return drawn


def is_satisfiable(instance: Instance) -> bool:
    """Decides on the free variable of the most clauses, with its commoner sign."""
    variables, literals = instance
    counts = Counter(literals)
    order = sorted(range(1, variables + 1), key=lambda v: -counts[v] - counts[-v])
    signs = [(v, counts[v] >= counts[-v]) for v in order]
    solver = sat.Solver(variables, literals)
    while solver.changes is not None:
        next(sign for sign in signs if solver.decide(*sign))
    return bool(solver.satisfiable)


def halve(instances: list[Instance]) -> list[Instance]:
    """The first OF_EACH that can be satisfied, and that can't: so that scores vary less."""
    kept: tuple[list[Instance], list[Instance]] = ([], [])
    for instance in instances:
        kept[is_satisfiable(instance)].append(instance)
        if min(map(len, kept)) >= OF_EACH:
            break
    chosen = {id(instance) for kind in kept for instance in kind[:OF_EACH]}
    return [instance for instance in instances if id(instance) in chosen]


def solve(player: duel.Player, instances: list[Instance], parts: int) -> list[sat.Solver]:
    """Solves instances side by side, a decision of each after the other."""
    solvers = [sat.Solver(*instance) for instance in instances]
    start = [
        [sat.packed(memoryview(literals)), solver.changes]
        for (_, literals), solver in zip(instances, solvers, strict=True)
    ]
    table = player.table(
        "heuristic_fn",
        len(instances),
        lambda move: True,  # only the solver knows: see decide()
        "a variable that is not assigned, and True or False",
        start=start,
        noun="instance",
    )
    moves = list(enumerate(table.moves()))
    for i in range(parts):
        advance(solvers, table, moves[i * len(moves) // parts : (i + 1) * len(moves) // parts])
    while table.is_asked():
        advance(solvers, table, table.answer())
    return solvers


def advance(solvers: list[sat.Solver], table: duel.Table, moves: list[tuple[int, Any]]) -> None:
    """Decides as the heuristic says, and asks it about the instances that go on."""
    asked = {}
    for game, move in moves:
        solver = solvers[game]
        if solver.changes is None:
            continue
        wrong = decide(solver, move)
        if wrong:
            raise table.refusal(game, move, wrong)
        if is_going_on(solver):
            asked[game] = solver.changes
    if asked:
        table.ask(asked)


def play(player: duel.Player, numbers: duel.Numbers) -> dict[str, float]:
    variant = sys.argv[1]
    sizes = {"micro": micro, "full": full}[variant](numbers)
    decisions = solved = n = 0
    for i in range(0, len(sizes), SIDE_BY_SIDE):
        batch = sizes[i : i + SIDE_BY_SIDE]
        n_bytes = sum(clauses for _, clauses in batch) * sat.BYTES_A_CLAUSE
        instances = draw(numbers.bytes(f"clauses {i}", n_bytes), batch)
        if variant == "micro":
            instances = halve(instances)
        solvers = solve(player, instances, PARTS[variant])
        n += len(solvers)
        decisions += sum(solver.decisions for solver in solvers)
        solved += sum(solver.satisfiable is not None for solver in solvers)
    report = {"Decisions": decisions, "Correct": solved, "Incorrect": n - solved}
    if variant == "full":
        report["Time"] = decisions * SECONDS_A_DECISION  # the player's CPU time is added to it
    return report


if __name__ == "__main__":
    duel.judge(play, duel.MICRO_SECONDS if sys.argv[1] == "micro" else duel.ANSWER_SECONDS)
