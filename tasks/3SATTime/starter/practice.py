# SPDX-License-Identifier: Apache-2.0
"""Counts the decisions of heuristic.py on random instances: `python3 practice.py [SEED]`."""

import random
import sys

from heuristic import heuristic_fn
from solver import DPLL

INSTANCES, VARIABLES, CLAUSES = 10, 50, 213


def instance(rng):
    return [
        [variable * rng.choice((1, -1)) for variable in rng.sample(range(1, VARIABLES + 1), 3)]
        for _ in range(CLAUSES)
    ]


if __name__ == "__main__":
    rng = random.Random(sys.argv[1] if len(sys.argv) > 1 else "practice")
    total = 0
    for number in range(1, INSTANCES + 1):
        solver = DPLL(instance(rng), heuristic_fn)
        answer = "satisfiable" if solver.solve() else "unsatisfiable"
        print(f"instance {number}: {solver.num_decisions} decisions, {answer}")
        total += solver.num_decisions
    print(f"{total / INSTANCES:g} decisions an instance")
