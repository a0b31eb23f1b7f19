# SPDX-License-Identifier: Apache-2.0
"""fumehood show and run --verbose: runs as text for people."""

import json
import os
import pty
import select
import shutil
import subprocess
from pathlib import Path

import pytest

LONG = "seq 1 100"
ACTIONS = ["false", LONG, "cat <<'EOF'\none\nEOF", "validate", "cp zeros.csv submission.csv"]


@pytest.fixture
def record(fumehood) -> Path:
    """Folder of a submitted run, with a validate that gave no score."""
    (done,) = fumehood.run_json("--task", "rows", "--model", fumehood.actions(*ACTIONS))
    return Path(done["trajectory"]).parent


def part(text: str, step: int) -> str:
    return text.split(f"--- step {step} of 6 ---\n")[1].split("\n\n--- ")[0]


def test_a_run_reads_like_a_conversation(fumehood, record):
    text = fumehood("show", record).stdout
    first, baseline, score = text.splitlines()[:3]
    assert first.startswith("rows, played by actions-") and first.endswith(
        ": submitted after 6 steps"
    )
    assert baseline.startswith("baseline: accuracy 0.") and score.startswith("score: accuracy 0.")
    assert "\033" not in text and "--- task ---\n" in text
    assert part(text, 1).startswith("$ false\n(") and part(text, 1).endswith(" s, exit code 1)")
    assert "\n14\n... (80 more lines)\n95\n" in part(text, 2)
    assert part(text, 3).startswith("$ cat <<'EOF'\n> one\n> EOF\none\n(")
    events = [json.loads(line) for line in (record / "events.jsonl").read_text().splitlines()]
    (why,) = [e["error"] for e in events if e["event"] == "score" and "error" in e]
    assert f"Not scored: {why}" in part(text, 4) and part(text, 4).count(why) == 1
    assert "scored: accuracy 0." in part(text, 6)
    told = record / "events.jsonl"
    told.write_text(told.read_text().replace(f"Not scored: {why}", "(cut)"))
    text = fumehood("show", record).stdout
    assert f"not scored: {why}" in part(text, 4)


def test_one_step_and_all_of_a_text(fumehood, record):
    whole = "".join(f"{i}\n" for i in range(1, 101))
    assert whole in fumehood("show", record, "--full").stdout
    one = fumehood("show", record, "--step", "2").stdout
    assert whole in one and "step 2 of 6" in one and "step 1 of 6" not in one
    said = fumehood("show", record, "--step", "7", status=2).stderr
    assert "--step 7: there are 6 steps in" in said
    assert "No such file" in fumehood("show", "none", status=2).stderr


def test_a_traj_has_the_same_steps(fumehood, record, tmp_path):
    alone = tmp_path / "rows.traj"
    shutil.copy(record / "rows.traj", alone)
    whole, text = (fumehood("show", path).stdout for path in (record, alone))
    assert text.startswith("rows.traj: submitted after 6 steps\nscore: accuracy 0.")
    assert part(text, 3).startswith("$ cat <<'EOF'\n> one\n> EOF\none\n(")
    assert "exit code" not in part(text, 1)  # the first step has no exit code
    ours, theirs = (json.loads(fumehood("show", "--json", path).stdout) for path in (record, alone))
    assert ours["exit_status"] == "submitted" and ours["scores"] == theirs["scores"]
    names = [ours[key] for key in ("task", "variant", "model")]
    assert names[:2] == ["rows", "full"] and f"rows, played by {names[2]}: " in whole
    assert [theirs[key] for key in ("task", "variant", "model")] == [None] * 3
    assert [s.pop("info")["exit_code"] for s in ours["steps"]][:2] == [1, 0]
    assert all(s.pop("info") is None for s in theirs["steps"])
    assert ours["steps"] == theirs["steps"] and len(ours["steps"]) == 6
    (one,) = json.loads(fumehood("show", "--json", "--step", "2", record).stdout)["steps"]
    assert one["step"] == 2 and one["action"] == LONG


def test_the_events_of_a_run_name_it(fumehood, record):
    assert fumehood("show", record / "events.jsonl").stdout == fumehood("show", record).stdout


def test_a_run_that_was_killed(fumehood, record):
    path = record / "events.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    steps = [i for i, line in enumerate(lines) if '"event":"step"' in line]
    path.write_text("".join(lines[: steps[2] + 1]) + lines[-1][:9])
    text = fumehood("show", record).stdout
    assert text.splitlines()[0].endswith(": without an end after 3 steps")
    told = json.loads(fumehood("show", "--json", record).stdout)
    assert told["exit_status"] is None and [s["step"] for s in told["steps"]] == [1, 2, 3]
    assert told["steps"][1]["action"] == LONG


def test_what_is_shown_can_not_steer_a_terminal(fumehood):
    actions = fumehood.actions("printf '\\e[31mred\\a'")
    (done,) = fumehood.run_json("--task", "rows", "--model", actions)
    text = fumehood("show", Path(done["trajectory"]).parent).stdout
    assert "\\x1b[31mred\\x07" in text and "\033" not in text and "\a" not in text


def on_terminal(fumehood, *words, typed=b"", **env) -> str:
    """Output of the program on a terminal. Types keys after the first output."""
    master, slave = pty.openpty()
    child = fumehood.start(
        *words, stdin=slave, stdout=slave, stderr=slave, env={**fumehood.env, **env}
    )
    os.close(slave)
    shown = b""
    while child.poll() is None or select.select([master], [], [], 0)[0]:
        if not select.select([master], [], [], 0.1)[0]:
            continue
        try:
            shown += os.read(master, 65536)
        except OSError:
            break
        os.write(master, typed)
        typed = b""
    assert child.wait(60) == 0
    os.close(master)
    return shown.decode()


def test_a_pager_on_a_terminal_only(fumehood, record, tmp_path):
    pager = {"PAGER": f"tee {tmp_path}/paged; false"}
    shown = on_terminal(fumehood, "show", record, **pager)
    assert "\033[1m" in shown  # escape sequence for bold text
    paged = (tmp_path / "paged").read_text()
    assert paged.splitlines() == shown.splitlines() and "step 6 of 6" in paged
    (tmp_path / "paged").unlink()
    assert "\033" not in on_terminal(fumehood, "show", record, NO_COLOR="1", **pager)
    (tmp_path / "paged").unlink()
    subprocess.run([fumehood.program, "show", record], env={**fumehood.env, **pager}, check=True)
    assert not (tmp_path / "paged").exists()
    for name in ("", "no-such-pager-here"):
        assert "step 6 of 6" in on_terminal(fumehood, "show", record, PAGER=name)
    # A pager that ends without reading everything must not be reported as a failure.
    on_terminal(fumehood, "show", record, "--full", PAGER="true")


def test_verbose_shows_steps_as_they_come(fumehood):
    model = fumehood.actions(*ACTIONS)
    shown = fumehood.run("--task", "rows", "--model", model, "-v").stderr
    first = shown.split(": 1/6: false\n")[1].split("rows #")[0]
    assert first.startswith("    (") and first.endswith(" s, exit code 1)\n")
    assert "    14\n    ... (80 more lines)\n    95\n" in shown
    assert "    $ cat <<'EOF'\n    > one\n    > EOF\n    one\n" in shown
    assert shown.count("Not scored: There is no file") == 1 and "not scored: " not in shown
    quiet = fumehood.run("--task", "rows", "--model", model).stderr
    assert "not scored" not in quiet and "exit code" not in quiet
