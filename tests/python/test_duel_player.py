# SPDX-License-Identifier: Apache-2.0
"""Duels: the player's process without a judge, and memory that both share."""

from __future__ import annotations

import json
import os
from pathlib import Path

from test_duel import LIBRARY, PYTHON, run_duel, spawn

# --- shared memory --------------------------------------------------------------------------------

# The judge writes a byte a round, and the player answers with its square in another place.
SHARED_JUDGE = """
import duel

def play(first, second, numbers):
    for player in (first, second):
        memory = player.share()
        if any(memory[:]):
            raise duel.Fault("the memory is not new")
        total = 0
        for number in range(3):
            memory[7] = number
            question = {"replies": []} if number else player.opening("square", 1)
            if player.ask(question, 100) is not True:
                raise duel.Fault("no answer")
            total += memory[99]
        player.end()
    return {"Score": total, "Size": len(memory)}

duel.judge(play, players=2)
"""
SHARED_PLAYER = """
import sys
import player

class Table(player.Table):
    def reply(self, replies): pass
    def move(self):
        memory[99] = self.strategy(memory[7])
        return True

memory = player.share()
player.main(sys.argv[1], sys.argv[2:], Table)
"""


def test_memory_is_shared_with_each_player(tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text(SHARED_JUDGE)
    (tmp_path / "own.py").write_text(SHARED_PLAYER)
    (tmp_path / "strategy.py").write_text("def square(x): return x * x\n")
    player = [str(tmp_path / "own.py"), str(tmp_path / "strategy.py"), "square"]
    report = run_duel(tmp_path / "judge.py", player, memory=1 << 20, players=2)
    assert report == {"Score": 5, "Size": 1 << 20}


# --- the player's process without a judge ---------------------------------------------------------


def start_player(file: Path, function: str, log: int | None = None) -> tuple[int, int, int]:
    """Returns the player's pid, the writing end of questions and the reading end of answers."""
    questions_read, questions_write = os.pipe()
    answers_read, answers_write = os.pipe()
    pid = spawn(
        [PYTHON, "-s", "-B", str(LIBRARY / "player.py"), str(file), function],
        {"PATH": "/usr/bin:/bin"},
        [questions_read, answers_write],
        log,
    )
    os.close(questions_read)
    os.close(answers_write)
    return pid, questions_write, answers_read


QUESTION = b'{"function":"move","games":2,"seed":"1"}\n'


def test_player_ends_with_its_questions(tmp_path: Path) -> None:
    file = tmp_path / "strategy.py"
    file.write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "def move(h): return len(h)\n"
    )
    pid, questions, answers = start_player(file, "move")
    os.write(questions, QUESTION)
    assert os.read(answers, 100) == b"[0,0]\n"
    os.write(questions, b'{"replies":[1,1]}\n')
    assert os.read(answers, 100) == b"[1,1]\n"
    os.close(questions)
    assert os.read(answers, 100) == b""
    assert os.waitpid(pid, 0)[1] == 0
    os.close(answers)


def test_player_calls_no_other_function(tmp_path: Path) -> None:
    file = tmp_path / "strategy.py"
    file.write_text("def move(h): return 0\ndef other(h): return 1\n")
    pid, questions, answers = start_player(file, "other")
    os.write(questions, QUESTION)
    assert json.loads(os.read(answers, 1000)) == {
        "raised": "move is none of this player's functions",
        "unfit": True,
    }
    os.close(questions)
    os.waitpid(pid, 0)
    os.close(answers)


def log_of(file: Path) -> list[str]:
    """Lines that a player prints when it is asked once."""
    with open(file.with_name("log"), "w+") as log:
        pid, questions, answers = start_player(file, "move", log.fileno())
        os.write(questions, QUESTION)
        assert "raised" in json.loads(os.read(answers, 1000))
        os.close(questions)
        os.waitpid(pid, 0)
        os.close(answers)
        log.seek(0)
        return log.read().splitlines()


def test_log_ends_with_what_went_wrong(tmp_path: Path) -> None:
    file = tmp_path / "strategy.py"
    file.write_text("def move(h):\n    print('before')\n    return 1 / 0\n")
    lines = log_of(file)
    assert lines[:2] == ["before", "Traceback (most recent call last):"]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert f'  File "{file}", line 3, in move' in lines
    assert not any("player.py" in line for line in lines)


def test_log_is_empty_if_the_error_has_no_line(tmp_path: Path) -> None:
    """The sentence about a missing function says all of it."""
    file = tmp_path / "strategy.py"
    file.write_text("x = 1\n")
    assert log_of(file) == []
