# SPDX-License-Identifier: Apache-2.0
"""Programs that use the C library, beside the commands that do the same."""

import json
import os
import re
import subprocess
from pathlib import Path

from conftest import TASKS

TASK = str(TASKS / "rows")


def example(fumehood, name: str, *args, status: int = 0) -> subprocess.CompletedProcess:
    """Runs a compiled program of examples/."""
    program = Path(os.environ["FUMEHOOD"]).with_name("examples") / name
    done = subprocess.run(
        [program, *args],
        cwd=fumehood.folder,
        env=fumehood.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


REPLIES = [
    "I look.\n```\nls; pwd\n```",
    "No command.",
    "```\nvim\n```",
    "I write nothing.\n```\ncp zeros.csv submission.csv\n```",
    "```\nvalidate\n```",
    "Enough.\n```\nsubmit\n```",
]


def test_a_chat_is_the_conversation_of_a_run(fumehood):
    """The same replies give the same messages, malformed and blocked ones too."""
    lines = fumehood.folder / "replies.txt"
    lines.write_text("".join(text.replace("\n", "\\n") + "\n" for text in REPLIES))
    recorded = fumehood.folder / "replies.jsonl"
    recorded.write_text(json.dumps({"rows": REPLIES}) + "\n")
    fumehood.run("--task", TASK, "--model", f"replay:{recorded}", "--agent", "default")
    (traj,) = fumehood.out.glob("*/rows.traj")
    told = json.loads(example(fumehood, "agent", TASK, "default", lines).stdout)
    run = json.loads(traj.read_text())["history"]
    assert len(run) == 9 and run[-1]["action"] == "submit\n"
    names = ("role", "content", "thought", "action")
    assert [[m.get(name) for name in names] for m in told] == [
        [m.get(name) for name in names] for m in run
    ]


def test_a_record_is_read_by_the_commands(fumehood):
    """`show`, `replay` and `export` take a record that a program has made."""
    traj = Path(example(fumehood, "record", TASK, "records").stdout.strip())
    folder = fumehood.folder / traj.parent
    assert re.fullmatch(r"rows_pi12_\d{8}_\d{6}\.traj", traj.name)
    shown = json.loads(fumehood("show", "--json", folder).stdout)
    assert len(shown["steps"]) == 3
    fumehood("replay", "--compare", folder, "--tasks-dir", TASKS, "--out", fumehood.out)
    text = (fumehood.folder / traj).read_text()
    (fumehood.folder / traj).unlink()
    fumehood("export", folder)
    assert (fumehood.folder / traj).read_text() == text
    assert json.loads((folder / "results.json").read_text())["numbers"] == {"return": 0}
    over = json.loads((folder / "events.jsonl").read_text().splitlines()[-1])
    assert over["exit_status"] == "submission_not_found (submit)" and over["over"]
    (log,) = folder.glob("run-*.log")
    assert "episode over" in log.read_text()
