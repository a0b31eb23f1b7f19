# SPDX-License-Identifier: Apache-2.0
"""Duels whose judge asks about some games while the player is at work on others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_duel import COUNTED, LIBRARY, run_duel

# Judge of ten games in two parts: it asks about one part while the player still works on the other.
PARTS_JUDGE = """
import duel

def play(player, numbers):
    table = player.table("move", 10, lambda m: duel.is_int(m, 2), "0 or 1", start=[0] * 10)
    moves = list(enumerate(table.moves()))
    total = 0
    for part in (moves[:3], moves[3:]):
        table.ask({game: move for game, move in part})
    for number in range(4):
        moves = table.answer()
        total += sum(move for _, move in moves)
        if number < 2:
            table.ask({game: number % 2 for game, _ in moves if game != 4})
    assert not table.is_asked()
    return {"Score": total / 19}

duel.judge(play, seconds=1)
"""

# Player that tells the strategy which game each question is about.
PARTS_PLAYER = """
import sys
sys.path.insert(0, LIBRARY)
import player

class Table(player.Table):
    def __init__(self, strategy, question):
        super().__init__(strategy, question)
        self.asked = [(game, 0) for game in range(self.games)]
    def reply(self, replies):
        self.asked = replies
    def move(self):
        self.moves = []
        for game, reply in self.asked:
            self.moves.append(self.strategy((game, reply)))
        return self.moves

player.main(sys.argv[1], sys.argv[2:], Table)
"""


def play_parts(folder: Path, strategy: str) -> dict[str, Any]:
    """The duel that asks in parts. A strategy gets a game, and the last reply in it."""
    (folder / "judge.py").write_text(PARTS_JUDGE)
    (folder / "parts.py").write_text(PARTS_PLAYER.replace("LIBRARY", repr(str(LIBRARY))))
    (folder / "strategy.py").write_text(strategy)
    player = [str(folder / "parts.py"), str(folder / "strategy.py"), "move"]
    return run_duel(folder / "judge.py", player)


PARTS = {
    "def move(h): return 1": {"Score": 1.0},
    # The judge replies 0 to three games of the first part, and 1 to six games of the second. The
    # strategy plays each reply as its next move.
    "def move(h): return int(h[1])": {"Score": 6 / 19},
    "def move(h): return h[0] if h[0] > 7 else 0": {
        "error": "game 9, round 1: move returned 8, expected 0 or 1"
    },
    COUNTED + "    return 1 + (calls > 13)": {
        "error": "game 4, round 2: move returned 2, expected 0 or 1"
    },
    COUNTED + "    return 1 // (calls != 25)": {
        "error": "game 6, round 3, line 5: move raised ZeroDivisionError: integer division or "
        "modulo by zero"
    },
    COUNTED + "    while calls == 11: pass\n    return 1": {
        "error": "round 2: move: no answer within 1 s: it is too slow, or loops"
    },
    # A forged early answer is taken as the answer to the current question, and has too few moves.
    COUNTED + "    import os\n    calls == 11 and os.write(4, b'[0,0,0]\\n')\n    return 1": {
        "error": "round 2: move: not one move for each game",
        "integrity": True,
    },
}


@pytest.mark.parametrize("strategy", PARTS)
def test_a_judge_may_ask_in_parts(tmp_path: Path, strategy: str) -> None:
    report = play_parts(tmp_path, strategy)
    assert report == PARTS[strategy]
