# SPDX-License-Identifier: Apache-2.0
"""Two episodes of one owner and one nursery at the same time don't affect each other.

Both use the same names of files and sockets, and the same port. Both kill all that they can.
"""

import json
from pathlib import Path

from conftest import ATTACK, TASKS

ACTIONS = [
    f"""
        word=word$RANDOM-$RANDOM
        echo $word | tee mine ~/mine /tmp/mine >/dev/shm/mine
        python3 {ATTACK}/meet.py $word >/tmp/open &
        until [ -s /tmp/open ]; do sleep 0.01; done
        sleep 1
        echo $word
    """,
    f"cat mine ~/mine /tmp/mine /dev/shm/mine | uniq; python3 {ATTACK}/meet.py",
    "python3 -c 'import os; os.kill(-1, 9)'",
    "cat ~/mine; ls /proc | grep -c '^[0-9]'; submit",
]


def steps_of(log: Path) -> tuple[str, list[dict]]:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    began = next(e["time"] for e in events if e["event"] == "reset")
    return began, [e for e in events if e["event"] == "step"]


def test_siblings(fumehood, inside, neighbour, tmp_path):
    played = tmp_path / "actions.jsonl"
    played.write_text("".join(json.dumps(action) + "\n" for action in ACTIONS))
    words = ["--task", "prey", "--tasks-dir", TASKS, "--bind", f"{inside}:{ATTACK}"]
    fumehood(
        "run", *words, "--runs", 2, "--jobs", 2, "--model", f"actions:{played}", "--out", tmp_path
    )
    records = [steps_of(log) for log in sorted(tmp_path.glob("*/events.jsonl"))]
    assert max(began for began, _ in records) < min(steps[0]["time"] for _, steps in records)
    seen = set()
    for _, (first, look, killed, last) in records:
        word = first["observation"].strip()
        found, met, processes = look["observation"].splitlines()
        assert (found, met) == (word, f"61 {word}")
        assert len(processes.split()) <= 5
        assert killed["info"]["outcome"] == "shell_restarted"
        assert last["observation"].splitlines()[0] == word
        seen.add(word)
    assert len(seen) == 2
