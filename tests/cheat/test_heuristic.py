# SPDX-License-Identifier: Apache-2.0
"""A heuristic of 3SATTime that does something else than to decide. test_strategy.py has the rest."""

import pytest

HONEST = """
def heuristic_fn(clauses, assignments, *rest):
    free = [[x for x in c if abs(x) not in assignments] for c in clauses]
    literal = min(free, key=len)[0]
    return abs(literal), literal > 0
"""
# The player's own kind of table, which the submission can change like all that its process has.
TABLE = "import sys\nTable = sys.modules['__main__'].Table\n"

# For each trick: the submission, the sentence for the agent, and whether tampering is recorded.
TRICKS = {
    "answers before it is asked": (
        HONEST + "import os, time\nhonest = heuristic_fn\n"
        "def heuristic_fn(*arguments):\n"
        "    os.write(4, (b'[' + b'[1,true],' * 23 + b'[1,true]]\\n') * 2)\n"
        "    time.sleep(1)\n"
        "    return honest(*arguments)\n",
        "round 1: heuristic_fn: more than one answer came to one question",
        True,
    ),
    "answers in the player's place": (
        HONEST + "import os, time\nhonest = heuristic_fn\n"
        "def heuristic_fn(*arguments):\n"
        "    os.write(4, b'[' + b'[1,true],' * 23 + b'[1,true]]\\n')\n"
        "    time.sleep(0.2)\n"
        "    return honest(*arguments)\n",
        "instance 1, round 2: heuristic_fn returned [1, True], expected a variable",
        False,
    ),
    "says that all have ended": (
        TABLE + "Table.move = lambda self: [None] * self.games\n" + HONEST,
        "instance 1, round 1: heuristic_fn returned None, expected a variable",
        False,
    ),
    "drops instances": (
        TABLE + "move = Table.move\nTable.move = lambda self: move(self)[:12]\n" + HONEST,
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
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick(begin, trick):
    agent = begin("3SATTime")
    text, told, tampering = TRICKS[trick]
    agent.put("heuristic.py", text)
    answer = agent.validate()
    assert "score" not in answer["info"] and told in answer["observation"], answer
    assert ("integrity" in answer["info"]) == tampering, answer


def test_nothing_of_the_agent_s_replaces_the_solver(begin):
    """The solver.py that a heuristic imports is the starter's. The judge has its own solver."""
    agent = begin("3SATTime")
    agent.put("solver.py", "raise SystemError('of the agent')")
    agent.sh("for f in sat.py player.py fh-sat.so; do cp solver.py $f; done")
    agent.put("heuristic.py", "from solver import DPLL\nDPLL.solve = None\n" + HONEST)
    score = agent.validate()["info"]["score"]
    assert 400 < score["Decisions"] < 24_000 and score["Correct"] == 24, score
