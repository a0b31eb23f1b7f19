# SPDX-License-Identifier: Apache-2.0
"""Kills the owner with SIGKILL at any point of an episode's life.

Soon after, no process is left, control groups are empty, and no mount is seen. The record has the
observations that were given out. The next start or `sandbox gc` removes the rest.
"""

import json
import re
import signal
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest
from conftest import (
    KILLS,
    OTHER_KILLS,
    counts,
    groups_of,
    members_of,
    mounts,
    notes,
    wait_until_gone,
)

# For each task: a command that makes a valid submission. WEIGHTS tells how often tasks are drawn.
RIGHT = {"sums": "cp right.csv submission.csv", "lines": "true", "coins": "true"}
WEIGHTS = {"sums": 4, "lines": 2, "coins": 2, "sums:disk": 4, "lines:disk": 1, "coins:disk": 1}
STEPS = [
    "echo one",
    "true",
    "head -c 3000000 /dev/urandom >/tmp/big; rm /tmp/big",
    "seq 20000",
    "sleep 60 & echo behind",
    "(setsid sleep 60 &) ; mkdir -p a/b/c; echo x >a/b/c/d",
    "exit 3",
    "python3 -c 'print(6 * 7)'",
]
PHASES = ["start", "reset", "step", "validate", "submit", "close"]
RECORDS = re.compile(
    r"events\.jsonl|live\.json|results\.json|args\.yaml|[a-z]+(-disk)?\.traj|"
    r"run-\d{8}T\d{6}\.log"
)
FIRST_GUESS_S = 0.02  # duration of a phase before one was measured


class Clock:
    """Measures how long phases take, so that kills fall within them."""

    def __init__(self):
        self.seen = defaultdict(list)

    def run(self, phase: str, call):
        begin = time.monotonic()
        result = call()
        self.seen[phase].append(time.monotonic() - begin)
        return result

    def delay(self, phase: str, dice) -> float:
        seen = self.seen[phase][-20:]
        return dice.random() * 1.2 * (median(seen) if seen else FIRST_GUESS_S)


def request_of(phase: str, task: str, dice) -> dict:
    right = RIGHT[task.partition(":")[0]]
    match phase:
        case "step":
            return {"op": "step", "action": dice.choice(STEPS)}
        case "validate" | "submit":
            return {"op": "step", "action": f"{right}; {phase}"}
        case "reset":
            return {"op": "reset", "seed": dice.randrange(1000)}
        case _:
            return {"op": "close"}


def play_until(door, task: str, last: str, clock: Clock, dice) -> None:
    """Plays until the phase `last`, and sends the request of that phase."""
    if last == "start":
        return
    if last != "reset" or dice.random() < 0.5:
        clock.run("reset", lambda: door.ask(op="reset"))
        for _ in range(dice.randrange(4)):
            phase = dice.choice(["step", "step", "validate"])
            answer = door.ask(**request_of(phase, task, dice))
            assert "observation" in answer, answer
    if last == "close" and dice.random() < 0.5:
        door.child.stdin.close()
    else:
        door.send(**request_of(last, task, dice))


def learn(fumehood, task: str, clock: Clock, dice) -> None:
    """Plays a whole episode for its durations. This also scores the task's baseline once."""
    door = clock.run("start " + task, lambda: fumehood.door(task))
    for phase in ["reset", "step", "validate", "submit", "close"]:
        request = request_of(phase, task, dice)
        clock.run(f"{phase} {task}", lambda request=request: door.ask(**request))
    assert door.end() == 0
    fumehood.clear()


# --- conditions that must hold after an owner was killed ------------------------------------------


def whole_lines(path: Path) -> list[dict]:
    """Events of a log, without a last line that was cut."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def run_folders(out: Path) -> list[Path]:
    return sorted(out.glob("*_run_*"), key=lambda p: int(p.name.rpartition("_")[2]))


def check_records(fumehood, given: list[str]) -> None:
    """Checks that records have all observations that were given out, and at most one more."""
    recorded = []
    for folder in run_folders(fumehood.out):
        names = [p.name for p in folder.iterdir()]
        assert all(RECORDS.fullmatch(n) for n in names), names
        log = folder / "events.jsonl"
        events = whole_lines(log) if log.exists() else []
        recorded += [e["observation"] for e in events if e["event"] in ("reset", "step")]
        if events:
            fumehood("export", folder)
            (traj,) = folder.glob("*.traj")
            steps = [s for s in json.loads(traj.read_text())["trajectory"]]
            played = sum(e["event"] == "step" for e in events)
            assert len(steps) in (played, played + 1), (len(steps), played)
            counts["trajectories exported"] += 1
    assert recorded[: len(given)] == given
    assert len(recorded) <= len(given) + 1
    counts["observations given out"] += len(given)
    counts["observations recorded"] += len(recorded)


def check_machine(fumehood, pid: int, disk: bool) -> float:
    took = wait_until_gone()
    assert members_of(pid) == {}
    assert mounts() == []
    if disk:
        fumehood("sandbox", "gc")
        assert list((fumehood.state / "episodes").glob("*")) == []
        assert groups_of(pid) == []
    return took


def check_state(fumehood) -> None:
    """Checks that the state folder holds only files that are kept on purpose."""
    kept = {"judge.key", "baselines", "episodes"}
    assert {p.name for p in fumehood.state.iterdir()} <= kept
    left = [
        p for p in (fumehood.state / "baselines").iterdir() if p.suffix not in (".json", ".lock")
    ]
    assert left == []


# --- killing owners at random moments -------------------------------------------------------------


def kill_once(fumehood, task: str, phase: str, clock: Clock, dice) -> float:
    begin = time.monotonic()
    door = fumehood.door(task)
    play_until(door, task, phase, clock, dice)
    delay = clock.delay(f"{phase} {task}", dice)
    time.sleep(delay)
    door.kill()
    case = f"{task}, {phase}, after {delay * 1e3:.3f} ms, {time.monotonic() - begin:.3f} s in all"
    try:
        took = check_machine(fumehood, door.pid, ":disk" in task)
        check_records(fumehood, [a["observation"] for a in door.answers if "observation" in a])
    except AssertionError as error:
        raise AssertionError(f"{case}: {error}") from error
    counts[f"owner killed in {phase}"] += 1
    return took


@pytest.mark.xdist_group("gc")
def test_owner_of_one_episode(fumehood, dice):
    clock, longest = Clock(), 0.0
    for task in WEIGHTS:
        learn(fumehood, task, clock, dice)
    for i in range(KILLS):
        task = dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        longest = max(longest, kill_once(fumehood, task, PHASES[i % len(PHASES)], clock, dice))
        fumehood.clear()
    check_state(fumehood)
    notes.append(
        f"after a kill with one episode everything was gone in {longest * 1e3:.1f} ms or less"
    )


def play_several(fumehood, dice) -> tuple:
    """Task, arguments and actions of a `run` of several episodes at once."""
    task = dice.choice(list(WEIGHTS))
    model = fumehood.state.parent / "actions.jsonl"
    right = RIGHT[task.partition(":")[0]]
    actions = [*dice.sample(STEPS, 4), f"{right}; validate", "echo two", "submit"]
    model.write_text("".join(json.dumps(a) + "\n" for a in actions))
    words = ["run", "--task", task, "--model", f"actions:{model}", "--runs", "5", "--jobs", "4"]
    return task, [*words, "--json", "--out", fumehood.out], actions


def check_several(fumehood, actions: list[str]) -> None:
    for folder in run_folders(fumehood.out):
        log = folder / "events.jsonl"
        events = whole_lines(log) if log.exists() else []
        played = [e["action"] for e in events if e["event"] == "step"]
        assert played == actions[: len(played)], events[-1]
        if events:
            fumehood("export", folder)
            counts["trajectories exported"] += 1


@pytest.mark.xdist_group("gc")
def test_owner_of_several_episodes(fumehood, dice):
    longest = 0.0
    for _ in range(max(OTHER_KILLS, 5)):
        task, words, actions = play_several(fumehood, dice)
        words += ["--tasks-dir", str(Path(__file__).parent / "tasks")]
        child = fumehood.start(*words, stdin=-3, stdout=-3, stderr=-3)
        delay = dice.random() * 0.5
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        longest = max(longest, check_machine(fumehood, child.pid, ":disk" in task))
        check_several(fumehood, actions)
        fumehood.clear()
        counts["owner killed with several episodes"] += 1
    check_state(fumehood)
    notes.append(f"with several, in {longest * 1e3:.1f} ms or less")
