# SPDX-License-Identifier: Apache-2.0
"""Duels: the real judge and the real player, two processes over two pipes.

The strategies below are what an agent might hand in, by mistake or on purpose. With all of them,
the judge ends by itself, with one JSON object.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src/grade/python"
TASKS = ROOT / "tasks"
PYTHON = "/usr/bin/python3"
KEY = "5e" * 32

sys.path.insert(0, str(LIBRARY))
import duel  # noqa: E402

# A duel for tests, of ten games with three rounds each.
SMALL_JUDGE = """
import duel

def play(player, numbers):
    table = player.table("move", 10, lambda m: duel.is_int(m, 2), "0 or 1")
    total = 0
    for number in range(3):
        total += sum(table.moves())
        table.reply([number % 2] * 10)
    return {"Score": total / 30}

duel.judge(play, seconds=1)
"""


def spawn(
    argv: list[str], environment: dict[str, str], fds: list[int], log: int | None = None
) -> int:
    """Starts a program with fds as descriptors from 3 on. The output goes to a log or nowhere."""
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in fds]
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    outputs = null if log is None else log
    actions = [(os.POSIX_SPAWN_DUP2, null, 0)]
    actions += [(os.POSIX_SPAWN_DUP2, outputs, fd) for fd in (1, 2)]
    actions += [(os.POSIX_SPAWN_DUP2, fd, 3 + place) for place, fd in enumerate(high)]
    pid = os.posix_spawn(argv[0], argv, environment, file_actions=actions)
    for fd in [*high, null]:
        os.close(fd)
    return pid


def share_memory(size: int) -> int:
    """A descriptor of memory as the owner shares it between a judge and a player."""
    memory = os.memfd_create("duel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.truncate(memory, size)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    return memory


def run_duel(
    judge: Path,
    player: list[str],
    key: str = KEY,
    args: Sequence[str] = (),
    memory: int = 0,
    players: int = 1,
    python: str = PYTHON,
    part: str = "all",
) -> dict[str, Any]:
    """Runs both sides as their sandboxes would, and returns the judge's report."""
    pipes = [(os.pipe(), os.pipe()) for _ in range(players)]
    memories = [[share_memory(memory)] if memory else [] for _ in range(players)]
    results_read, results_write = os.pipe()
    environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    modules = f"{LIBRARY}:{os.environ.get('PYTHONPATH', '')}"  # the latter has `simulators`
    ends = [end for asked, answered in pipes for end in (asked[1], answered[0])]
    judge_pid = spawn(
        [PYTHON, "-s", "-B", str(judge), *args],
        {
            **environment,
            "FUMEHOOD_JUDGE_KEY": key,
            "FUMEHOOD_JUDGE_PART": part,
            "PYTHONPATH": modules,
        },
        [results_write, *ends, *sum(memories, [])],
    )
    for fd in (results_write, *ends):
        os.close(fd)
    environment["PYTHONPATH"] = str(LIBRARY)
    for number, ((questions, _), (_, answers)) in enumerate(pipes):
        given = [questions, answers, *memories[number]]
        player_pid = spawn([python, "-s", "-B", *player], environment, given)
        for fd in given:
            os.close(fd)
        if number < players - 1:
            os.waitpid(player_pid, 0)
    with open(results_read, "rb") as results:
        report = results.read()
    assert os.waitstatus_to_exitcode(os.waitpid(judge_pid, 0)[1]) == 0
    os.kill(player_pid, 9)  # as when the player's sandbox is closed
    os.waitpid(player_pid, 0)
    assert report.endswith(b"}\n") and report.count(b"\n") == 1, report
    return json.loads(report)


def play_task(task: str, strategy: Path, key: str = KEY, games: int = 10_000) -> dict[str, Any]:
    """The duel of one of our tasks, with a strategy."""
    player = [str(LIBRARY / "player.py"), str(strategy), "row_strategy"]
    return run_duel(TASKS / task / "grader/judge.py", player, key, [str(games)])


def play_file(task: str, strategy: Path, key: str = KEY) -> float:
    """The score of a strategy in the duel of one of our tasks."""
    return play_task(task, strategy, key)["Score"]


def play_small(folder: Path, strategy: str, seconds: int = 60) -> dict[str, Any]:
    """The small duel, with a strategy given as text."""
    (folder / "judge.py").write_text(SMALL_JUDGE.replace("seconds=1", f"seconds={seconds}"))
    (folder / "strategy.py").write_text(strategy)
    player = [str(LIBRARY / "player.py"), str(folder / "strategy.py"), "move"]
    return run_duel(folder / "judge.py", player)


def play_raw(folder: Path, program: str, pause: str = "") -> dict[str, Any]:
    """The small duel against a program other than player.py; the judge pauses before each round."""
    (folder / "judge.py").write_text(
        SMALL_JUDGE.replace("        total +=", pause + "        total +=")
    )
    (folder / "raw.py").write_text("import os, time\n" + program)
    return run_duel(folder / "judge.py", [str(folder / "raw.py")])


# --- duels among Fumehood's tasks -----------------------------------------------------------------

# For each task: the published score of MLGym's baseline, and the mean score of the solution. Then
# six standard deviations of a score.
GAMES = {
    "battleOfSexes": (1.02267, 1.44, 0.018),
    "blotto": (-0.24797, 0.246, 0.018),
    "prisonersDilemma": (2.37163, 2.62515, 0.03),
}


@pytest.mark.long
@pytest.mark.parametrize("task", GAMES)
def test_scores_of_a_task_s_own_strategies(task: str) -> None:
    published, best, near = GAMES[task]
    baseline, solution = (TASKS / task / f"{of}/strategy.py" for of in ("starter", "solution"))
    assert play_file(task, baseline) == pytest.approx(published, abs=near)
    scores = [play_file(task, solution, key) for key in (KEY, KEY, "5f" * 32)]
    assert scores == [pytest.approx(best, abs=near)] * 3
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "strategy", "mean"),
    [
        ("battleOfSexes", "return 1", 0.82),
        ("battleOfSexes", "return history[-1][1] if history else 0", 1.076),
        ("battleOfSexes", "return 0 if history else 1", 0.46),
        ("blotto", "return [20] * 6", 0.0),
        ("blotto", "return [0] * 6", -1.0),
        ("blotto", "return [40, 40, 40, 0, 0, 0]", -0.091),
        ("prisonersDilemma", "return 0", 2.2478),
        ("prisonersDilemma", "return history[-1][1] if history else 0", 2.3431),
        ("prisonersDilemma", "return int(len(history) == 9)", 2.4242),
    ],
)
def test_partner_keeps_its_rule(tmp_path: Path, task: str, strategy: str, mean: float) -> None:
    """The mean scores are worked out in each task's README."""
    file = tmp_path / "strategy.py"
    file.write_text(f"def row_strategy(history):\n    {strategy}\n")
    assert play_file(task, file) == pytest.approx(mean, abs=GAMES[task][2])


# Strategies between the baseline and the solution, and the deviation of a score in 1,000 games.
LADDERS = {
    "battleOfSexes": (
        "return history[-1][1] if history else 0",
        "return int(sum(column for _, column in history[-3:]) > 1)",
        "return int(len(history) > 1 and history[-1][1] == history[-2][1] == 1)",
        0.0095,
    ),
    "blotto": (
        "return [40, 40, 40, 0, 0, 0]",
        "return [20] * 6",
        "return [24, 24, 24, 24, 24, 0]",
        0.0095,
    ),
    "prisonersDilemma": (
        "return int(len(history) > 8)",
        "return int(len(history) > 5)",
        "return int(len(history) > 2)",
        0.0205,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("task", LADDERS)
def test_a_ladder_leads_from_the_baseline_to_the_solution(tmp_path: Path, task: str) -> None:
    """Each step is worth more than a standard deviation of `micro`."""
    *strategies, deviation = LADDERS[task]
    files = [TASKS / task / "starter/strategy.py"]
    for number, strategy in enumerate(strategies):
        files.append(tmp_path / f"{number}.py")
        files[-1].write_text(f"def row_strategy(history):\n    {strategy}\n")
    files.append(TASKS / task / "solution/strategy.py")
    scores = [play_task(task, file, games=3000)["Score"] for file in files]
    assert all(b - a > 2 * deviation for a, b in itertools.pairwise(scores)), scores


@pytest.mark.parametrize(
    "move",
    ["[20] * 5", "[121, 0, 0, 0, 0, 0]", "[-1] * 6", "[20.0] * 6", "[21] * 6", "120", "'123456'"],
)
def test_no_such_army(tmp_path: Path, move: str) -> None:
    file = tmp_path / "strategy.py"
    file.write_text(f"def row_strategy(history):\n    return {move}\n")
    error = play_task("blotto", file)["error"]
    assert error.startswith("game 1, round 1: row_strategy returned ")
    assert error.endswith("expected 6 whole numbers from 0 on, 120 together at most")


def test_a_duel_is_quick() -> None:
    """A duel takes less than 3 s of CPU time. A round trip for each move would be slower."""
    before = os.times()
    play_file("battleOfSexes", TASKS / "battleOfSexes/starter/strategy.py")
    after = os.times()
    took = [getattr(after, f) - getattr(before, f) for f in ("children_user", "children_system")]
    assert sum(took) < 3


# --- strategies that the judge must accept, or refuse with an error -------------------------------

COUNTED = "calls = 0\ndef move(history):\n    global calls\n    calls += 1\n"

GOOD = {
    "integer": ("def move(h): return 1", 1.0),
    "boolean": ("def move(h): return len(h) == 1", 1 / 3),
    "numpy's integer": ("import numpy\ndef move(h): return numpy.int64(1)", 1.0),
    "sees both moves": ("def move(h): return int(h == [(1, 0), (1, 1)][: len(h)])", 1.0),
    "changes its argument": (
        "def move(h):\n    h.append((1, 1))\n    return int(len(h) == 3)",
        1 / 3,
    ),
    "prints": ("def move(h):\n    print('x' * 100000)\n    return 1", 1.0),
    "closes its outputs": ("import os\nos.close(1); os.close(2)\ndef move(h): return 1", 1.0),
    "leaves a thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
        "def move(h): return 1",
        1.0,
    ),
    "starts programs": (
        "import subprocess\nsubprocess.Popen(['sleep', '2'])\ndef move(h): return 1",
        1.0,
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_strategy(tmp_path: Path, name: str) -> None:
    strategy, score = GOOD[name]
    report = play_small(tmp_path, strategy)
    assert report == {"Score": pytest.approx(score)}


BAD = {
    "text": ("def move(h): return 'x'", "game 1, round 1: move returned 'x', expected 0 or 1"),
    "out of range": (
        COUNTED + "    return 2 if calls == 13 else 0",
        "game 3, round 2: move returned 2, expected 0 or 1",
    ),
    "float": ("def move(h): return 1.0", "game 1, round 1: move returned 1.0, expected 0 or 1"),
    "nothing": ("def move(h): pass", "game 1, round 1: move returned None, expected 0 or 1"),
    "not a number": ("def move(h): return float('nan')", "game 1, round 1: move returned nan,"),
    "object": ("def move(h): return {1, 0}", "game 1, round 1: move returned '{0, 1}',"),
    "long text": (
        "def move(h): return 'ab' * 50",
        "move returned '" + "ab" * 29 + "a..., expected",
    ),
    "surrogates": (r"def move(h): return '\ud800\0\n'", r"move returned '\ud800\x00\n', expected"),
    "list": ("def move(h): return [1]", "game 1, round 1: move returned [1], expected"),
    "huge text": ("def move(h): return 'x' * 10**6", "round 1: the moves of a round have 1000"),
    "huge number": ("def move(h): return 10**5000", "round 1: a move is nested too deep, or a"),
    "deep list": (
        "def move(h):\n    x = []\n    for _ in range(10**4): x = [x]\n    return x",
        "round 1: a move is nested too deep, or a number",
    ),
    "exception": (
        COUNTED + "    if calls == 18:\n        1 / 0\n    return 1",
        "game 8, round 2, line 6: move raised ZeroDivisionError: division by zero",
    ),
    "exception in a helper": (
        "import json\ndef move(h):\n    return json.loads('{')",
        "game 1, round 1, line 3: move raised JSONDecodeError: Expecting property name",
    ),
    "exit": ("def move(h): exit(0)", "game 1, round 1, line 1: move raised SystemExit: 0"),
    "hard exit": ("import os\ndef move(h): os._exit(0)", "round 1: move: the process ended"),
    "killed": (
        "import os, signal\ndef move(h): os.kill(os.getpid(), signal.SIGKILL)",
        "round 1: move: the process ended instead of answering",
    ),
    "hang": ("def move(h):\n    while True: pass", "round 1: move: no answer within 1 s"),
    "hang on import": ("import time\ntime.sleep(60)", "round 1: move: no answer within 1 s"),
    "not Python": ("def move(h) return 1", "round 1, line 1: move raised SyntaxError: "),
    "NUL byte": ("x = 1 # \0", "round 1: strategy.py has a NUL byte: write Python source"),
    "missing module": ("import nowhere", "line 1: move raised ModuleNotFoundError: No module"),
    "missing function": ("x = 1", "round 1: strategy.py has no function move"),
    "no function": ("move = 3", "round 1: strategy.py has no function move"),
    "recursion": ("def move(h): return move(h)", "line 1: move raised RecursionError: maximum"),
    "memory": ("def move(h): return [0] * 2**62", "line 1: move raised MemoryError"),
    "hostile message": (
        "class E(Exception):\n    def __str__(self): return 'a\\nb\\x1b[2J' + 'c' * 1000\n"
        "def move(h): raise E",
        "move raised E: a b [2J" + "c" * 200,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_fault_is_told_and_gives_no_score(tmp_path: Path, name: str) -> None:
    strategy, sentence = BAD[name]
    report = play_small(tmp_path, strategy, 1 if "within 1 s" in sentence else 60)
    assert list(report) == ["error"]
    assert sentence in report["error"]
    assert len(report["error"]) < 500


# --- strategies that try to cheat -----------------------------------------------------------------

# Strategies that play 0, as the solution does, with code that tries to cheat. They must score what
# the solution scores.
CHEATS = {
    "patches what a judge would use": """
import builtins, hashlib, json, random, sys
random.random = lambda: 0.0
hashlib.shake_256 = None
json.loads = lambda *a, **k: [0] * 10**4
builtins.sum = lambda *a: 10**9
sys.modules["duel"] = sys.modules["judge"] = random
""",
    "rewrites its histories": """
import gc, inspect
for frame in inspect.stack():
    frame.frame.f_locals.clear()
for thing in gc.get_objects():
    if type(thing).__name__ == "Table":
        thing.histories = [[(0, 0)] * 9] * 10**4
""",
    "looks for a key": """
import os, pathlib
assert "FUMEHOOD_JUDGE_KEY" not in os.environ
for fd in os.listdir("/proc/self/fd"):
    assert fd in "012345", fd
""",
    "prints a score": """
print('{"Score": 99}', flush=True)
import os
os.write(2, b'{"Score": 99}')
""",
}


@pytest.mark.parametrize("name", CHEATS)
def test_cheating_earns_nothing(tmp_path: Path, name: str) -> None:
    file = tmp_path / "strategy.py"
    file.write_text(CHEATS[name] + "\ndef row_strategy(history):\n    return 0\n")
    report = play_task("battleOfSexes", file)
    solution = TASKS / "battleOfSexes/solution/strategy.py"
    assert "error" in report or report == play_task("battleOfSexes", solution)


def test_nothing_can_be_read_ahead(tmp_path: Path) -> None:
    """While the strategy is asked for a move, no later question waits in the pipe."""
    report = play_small(
        tmp_path,
        "import select\ndef move(h): return int(bool(select.select([3], [], [], 0.002)[0]))",
    )
    assert report == {"Score": 0.0}


def test_a_second_process_earns_nothing(tmp_path: Path) -> None:
    """Two processes answer: the judge gets an extra line, or a question goes to the wrong one."""
    report = play_small(tmp_path, "import os\nos.fork()\ndef move(h): return 0")
    assert "error" in report or report == {"Score": 0.0}


ONES = rb"b'[1,1,1,1,1,1,1,1,1,1]\n'".decode()
ASKED = "os.read(3, 65536)\n"
STAY = "\ntime.sleep(60)"

RAW = {
    "ends at once": ("", "ended instead of answering", False),
    "ends when asked": (ASKED, "ended instead of answering", False),
    "ends in a line": (ASKED + "os.write(4, b'[1,1')", "ended instead of answering", False),
    "never reads": (STAY, "no answer within 1 s", False),
    "never ends its line": (
        ASKED + "while True: os.write(4, b'1' * 4096)",
        "the answer is longer than 66176 bytes",
        True,
    ),
    "no JSON": (ASKED + r"os.write(4, b'nonsense\n')" + STAY, "can't be read", True),
    "no UTF-8": (ASKED + r"os.write(4, b'[\"\xff\"]\n')" + STAY, "can't be read", True),
    "deep": (ASKED + r"os.write(4, b'[' * 60000 + b'\n')" + STAY, "can't be read", True),
    "big number": (ASKED + r"os.write(4, b'9' * 60000 + b'\n')" + STAY, "can't be read", True),
    "too few": (ASKED + r"os.write(4, b'[1]\n')" + STAY, "not one move for each game", True),
    "no list": (ASKED + r"""os.write(4, b'{"a":1}\n')""" + STAY, "not one move", True),
    "complains in numbers": (
        ASKED + r"""os.write(4, b'{"raised":7,"at":{}}\n')""" + STAY,
        "not one move for each game",
        True,
    ),
    "complains about no game": (
        ASKED + r"""os.write(4, b'{"raised":"x","at":99,"line":-1}\n')""" + STAY,
        "round 1: move raised x",
        False,
    ),
    "two answers": (ASKED + f"os.write(4, {ONES} * 2)" + STAY, "more than one answer", True),
}


@pytest.mark.parametrize("name", RAW)
def test_hostile_player(tmp_path: Path, name: str) -> None:
    program, sentence, integrity = RAW[name]
    report = play_raw(tmp_path, program)
    assert sentence in report["error"]
    assert report.get("integrity", False) == integrity


def test_answers_before_their_question(tmp_path: Path) -> None:
    pause = "        import time; time.sleep(0.5)\n"
    report = play_raw(tmp_path, f"os.write(4, {ONES})" + STAY, pause)
    assert report == {
        "error": "round 1: move: an answer came before its question",
        "integrity": True,
    }


# --- duel.py, with which judges are written -------------------------------------------------------


def test_numbers_are_shake_256() -> None:
    """The literal is what `openssl dgst -shake256` makes of 32 zero bytes and "a"."""
    numbers = duel.Numbers(bytes(32))
    assert numbers.bytes("a", 4) == numbers.bytes("a", 8)[:4]
    assert numbers.bytes("a", 8) != numbers.bytes("b", 8)
    assert numbers.bytes("a", 16).hex() == "e893105a4cc1e53cc888c6f0bd7937c4"


def test_chances_have_their_probability() -> None:
    draws = duel.Numbers(bytes(32)).chances("round 1", 100_000, 0.8)
    assert sum(draws) / len(draws) == pytest.approx(0.8, abs=0.005)
    assert not any(duel.Numbers(bytes(32)).chances("never", 1000, 0.0))
    assert all(duel.Numbers(bytes(32)).chances("always", 1000, 1.0))


def test_draws_below_a_limit_are_equally_probable() -> None:
    draws = duel.Numbers(bytes(32)).below("round 1", 121_000, 121)
    counts = [draws.count(value) for value in range(121)]
    assert sum(counts) == 121_000
    # Each number is expected 1000 times, with a standard deviation of 32.
    assert min(counts) > 840 and max(counts) < 1160


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        duel.Numbers(b"short")
