# SPDX-License-Identifier: Apache-2.0
"""Submissions that are hidden answers, or that change while they are copied."""

import pytest
from conftest import GAMES, TASKS

HIDDEN = [
    "/grader/right.txt",
    "/grader/answers.csv",
    str(TASKS / "script/grader/right.txt"),
    str(TASKS / "duel/grader/judge.py"),
]

# Tasks to attack, one for each kind of grader. The task `duel` stands for all duels.
KINDS = [game for game in GAMES if game.task != "battleOfSexes"]

# Commands that replace the submission {2} by the files {0} and {1} in turn. A loop repeats them
# while it is scored.
SWAPS = {
    "renamed": "cp {0} s; mv s {2}; cp {1} t; mv t {2}",
    "written over": "cat {0} >{2}; cat {1} >{2}",
    "linked": "ln -f {0} {2}; ln -f {1} {2}",
    "a link between": "cp {0} s; mv s {2}; ln -sf {1} l; mv l {2}",
}


@pytest.mark.parametrize("path", HIDDEN)
@pytest.mark.parametrize("how", ["ln -s", "ln", "cp"])
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.task)
def test_hidden_answers(begin, game, how, path):
    agent = begin(game.task)
    agent.step(f"rm -f {game.file}; {how} {path} {game.file}")
    answer = agent.validate()
    assert "score" not in answer["info"] and "123456789" not in answer["observation"]
    assert "integrity" in answer["info"] or how != "ln -s", answer


@pytest.mark.parametrize(
    "make", ["mkfifo {0}", "mkdir {0}", "ln -s {0} {0}", "ln -s /dev/zero {0}"]
)
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.task)
def test_no_file(begin, game, make):
    agent = begin(game.task)
    agent.step(f"rm -rf {game.file}; {make.format(game.file)}")
    assert "score" not in agent.validate()["info"]
    agent.step(f"rm -rf {game.file}")


@pytest.mark.long
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("game", KINDS, ids=lambda game: game.task)
def test_swapped_meanwhile(begin, game, swap):
    """The whole of one file is scored, or nothing."""
    agent = begin(game.task)
    agent.sh(f"{game.honest}; cp {game.file} honest; echo broken >bad")
    loop = SWAPS[swap].format("honest", "bad", game.file)
    agent.sh(f"set -m; (while :; do {loop}; done) >/dev/null 2>&1 & set +m; sleep 0.05")
    seen = set()
    for _ in range(8):
        answer = agent.validate()
        seen.add("score" in answer["info"])
        if "score" in answer["info"]:
            agent.assert_honest(answer)
    # Kill the loop with its process group: a program that it started could swap the files once
    # more.
    agent.sh("kill -9 -- -$!; wait $! 2>/dev/null; while pgrep -g $!; do :; done")
    agent.sh(f"rm -f {game.file}; cp honest {game.file}")
    agent.assert_honest(agent.validate())


def test_rewritten_while_it_is_scored(begin):
    """A file that is written after the copy does not change the score."""
    agent = begin("script")
    agent.sh("echo 5 >answer.txt")
    agent.sh("(while :; do echo 123456789 >x; sleep 0.001; echo 6 >answer.txt; done) & sleep 0.05")
    for _ in range(5):
        answer = agent.validate()
        value = answer["info"].get("score", {"Score": 0.25})["Score"]
        assert value == 0.25


@pytest.mark.parametrize("task", [game.task for game in GAMES])
def test_asked_twice_at_once(begin, task):
    """A step is scored once, although its command asks several times."""
    agent = begin(task)
    agent.sh(agent.game.honest)
    answer = agent.step("for i in 1 2 3 4 5; do /fumehood/bin/validate & done; wait")
    agent.assert_honest(answer)
    assert answer["observation"].count("Evaluation Score") == 1
    answer = agent.step("(/fumehood/bin/validate & /fumehood/bin/submit & wait)")
    agent.assert_honest(answer)
    assert answer["terminated"] and answer["observation"].count("Evaluation Score") == 1
