# SPDX-License-Identifier: Apache-2.0
"""Heuristics of 3SATTime that do other things than decide. test_strategy.py has more tricks."""

import pytest

HONEST = """
def heuristic_fn(clauses, assignments, *rest):
    free = [[x for x in c if abs(x) not in assignments] for c in clauses]
    literal = min(free, key=len)[0]
    return abs(literal), literal > 0
"""
# Finds all instances of the puzzle in the memory of the process that runs the heuristic.
MIRRORS = """
import gc
honest = heuristic_fn
def mirrors():
    return [o for o in gc.get_objects() if type(o).__name__ == "Mirror"]
"""
# Gets the class that asks the heuristic. A submission can change it, because both run in the same
# process.
TABLE = "import sys\nTable = sys.modules['__main__'].Table\n"

# For each trick: the submission, the message that the agent gets, and whether tampering is
# recorded.
TRICKS = {
    "answers before it is asked": (
        HONEST + "import os, time\nhonest = heuristic_fn\n"
        "def heuristic_fn(*arguments):\n"
        "    os.write(4, (b'[' + b'[1,true],' * 3 + b'[1,true]]\\n') * 2)\n"
        "    time.sleep(0.3)\n"
        "    return honest(*arguments)\n",
        "round 1: heuristic_fn: more than one answer came to one question",
        True,
    ),
    "answers in the player's place": (
        HONEST + "import os, time\nhonest = heuristic_fn\n"
        "def heuristic_fn(*arguments):\n"
        "    os.write(4, b'[' + b'[1,true],' * 3 + b'[1,true]]\\n')\n"
        "    time.sleep(0.2)\n"
        "    return honest(*arguments)\n",
        "round 2: heuristic_fn: not one move for each game",
        True,
    ),
    "says that all have ended": (
        TABLE + "Table.move = lambda self: [None] * self.games\n" + HONEST,
        "instance 1, round 1: heuristic_fn returned None, expected a variable",
        False,
    ),
    "drops instances": (
        TABLE + "move = Table.move\nTable.move = lambda self: move(self)[:2]\n" + HONEST,
        "not one move for each game",
        True,
    ),
    "sends a solution": (
        TABLE + "Table.move = lambda self: [{'satisfiable': True}] * self.games\n" + HONEST,
        "returned {'satisfiable': True}, expected a variable",
        False,
    ),
    "decides twice at once": (
        TABLE + "Table.move = lambda self: [[[1, True], [2, True]]] * self.games\n" + HONEST,
        "returned [[1, True], [2, True]], expected a variable",
        False,
    ),
    "says in all mirrors that all is assigned": (
        HONEST + MIRRORS + "def heuristic_fn(*arguments):\n"
        "    for mirror in mirrors():\n"
        "        mirror.unresolved.clear()\n"
        "        mirror.assignments.update((v, True) for v in range(1, 31))\n"
        "        mirror.change = lambda changes: None\n"
        "    return honest(*arguments) if arguments[0] else (1, True)\n",
        "round 2: heuristic_fn returned [1, True], expected a variable",
        False,
    ),
}

# Tricks that must be scored like an honest heuristic.
HARMLESS = {
    "changes its arguments": (
        "honest = heuristic_fn\n"
        "def heuristic_fn(clauses, assignments, *rest):\n"
        "    decision = honest(clauses, assignments)\n"
        "    for argument in (clauses, assignments, *rest): argument.clear()\n"
        "    assignments.update((v, True) for v in range(1, 31))\n"
        "    return decision\n"
    ),
    # Finds the four instances in memory, and fails if they hold more than heuristics are given
    # anyway.
    "reads all mirrors": (
        MIRRORS + "import os\n"
        "KNOWN = 'assignment_history assignments conflict_count formula level unresolved'.split()\n"
        "looks = iter(range(20))\n"
        "def heuristic_fn(clauses, assignments, *rest):\n"
        "    if next(looks, None) is not None:\n"
        "        found = mirrors()\n"
        "        if len(found) != 4: raise SystemError(found)\n"
        "        for o in gc.get_objects():\n"
        "            if type(o).__name__ in ('Solver', 'Numbers'): raise SystemError(o)\n"
        "        for mirror in found:\n"
        "            if sorted(vars(mirror)) != KNOWN: raise SystemError(vars(mirror))\n"
        "        if 'fh-sat.so' in open('/proc/self/maps').read(): raise SystemError('the solver')\n"
        "        if os.path.exists('/grader/judge.py'): raise SystemError('the judge')\n"
        "    return honest(clauses, assignments)\n"
    ),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick(begin, trick):
    agent = begin("3SATTime")
    text, told, tampering = TRICKS[trick]
    agent.put("heuristic.py", text)
    answer = agent.validate()
    assert "score" not in answer["info"] and told in answer["observation"], answer
    assert ("integrity" in answer["info"]) == tampering, answer


@pytest.mark.parametrize("trick", HARMLESS)
def test_a_harmless_trick(begin, trick):
    agent = begin("3SATTime")
    agent.put("heuristic.py", HONEST + HARMLESS[trick])
    answer = agent.validate()
    score = answer["info"].get("score")
    assert score and 4 <= score["Decisions"] < 4000 and score["Correct"] == 4, answer
    assert "integrity" not in answer["info"]


# Answers without making the arguments, and without a heuristic. It saves the player's time.
HASTY = (
    TABLE + "def move(self):\n"
    "    free = [next(v for v in range(1, 11) if v not in m.assignments) for m in self.asked if m]\n"
    "    free.reverse()\n"
    "    return [[free.pop(), True] if m else None for m in self.asked]\n"
    "Table.move = move\n"
    "def heuristic_fn(*arguments): pass\n"
)


def test_decisions_have_their_price_without_a_heuristic(begin):
    agent = begin("3SATTime", "3SATTime:full")
    agent.put("heuristic.py", HASTY)
    score = agent.validate()["info"]["score"]
    assert score["Correct"] == 24_000 and score["Decisions"] > 83_000, score
    assert score["Time"] > 0.16e-3 * score["Decisions"] + 0.1, score


def test_nothing_of_the_agent_s_replaces_the_solver(begin):
    """The solver.py that a heuristic imports is the starter's. The judge has its own solver."""
    agent = begin("3SATTime")
    agent.put("solver.py", "raise SystemError('of the agent')")
    agent.sh("for f in sat.py player.py fh-sat.so; do cp solver.py $f; done")
    agent.put("heuristic.py", "from solver import DPLL\nDPLL.solve = None\n" + HONEST)
    score = agent.validate()["info"]["score"]
    assert 4 <= score["Decisions"] < 4000 and score["Correct"] == 4, score
