# SPDX-License-Identifier: Apache-2.0
"""The log of run and env: on standard error, and in the folder of each run."""

import json
import re
import subprocess

from conftest import TASKS

EPISODE = ["echo $((6 * 7))", "exit 3", "cp zeros.csv submission.csv; validate", "submit"]
MESSAGES = [
    "episode begun",
    "reset",
    "step",
    "step",
    "shell restarted",
    "step",
    "step",
    "episode over",
]


def records_of(text: str) -> list[dict]:
    """Log records about episodes. Others, such as missing limits, depend on the machine."""
    records = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert all(re.fullmatch(r"[-0-9]{10}T[:0-9]{8}\.\d{3}Z", r["time"]) for r in records)
    return [r for r in records if "task" in r]


def check_episode(records: list[dict]):
    assert [r["message"] for r in records] == MESSAGES
    assert all(r["task"] == "rows" and r["episode"] == "0" for r in records)
    assert [r["step"] for r in records] == ["0", "0", "1", "2", "2", "3", "4", "4"]
    assert float(records[1]["duration_s"]) > 0
    assert [records[i]["outcome"] for i in (2, 3)] == ["ok", "shell_restarted"]
    assert records[5]["score"] == records[6]["score"] == "accuracy 0.5"
    assert records[-1]["exit_status"] == "submitted"


def test_run_as_json(fumehood):
    model = fumehood.actions(*EPISODE)
    words = ["--task", "rows", "--model", model, "--log", "info", "--log-format", "json"]
    check_episode(records_of(fumehood.run(*words, "--quiet").stderr))


def test_env_as_json(fumehood):
    requests = [{"op": "reset"}] + [{"op": "step", "action": a} for a in EPISODE]
    done = fumehood(
        *("env", "--task", "rows", "--tasks-dir", TASKS, "--log-format", "json", "--log", "debug"),
        input="".join(json.dumps(r) + "\n" for r in requests),
    )
    records = records_of(done.stderr)
    actions = [r["action"] for r in records if r["message"] == "action"]
    assert actions == EPISODE
    check_episode([r for r in records if r["level"] != "debug"])


def test_each_run_keeps_its_own(fumehood):
    """The log in a run's folder is text at level info, whatever the options say."""
    model = fumehood.actions(*EPISODE)
    fumehood.run("--task", "rows", "--model", model, "--runs", "2", "--jobs", "2")
    logs = sorted(fumehood.out.glob("*_run_*/run-*.log"))
    assert len(logs) == 2
    for number, log in enumerate(logs):
        assert re.fullmatch(r"run-\d{8}T\d{6}\.log", log.name)
        lines = [s for s in log.read_text().splitlines() if f" task=rows episode={number} " in s]
        assert [m for m in MESSAGES if not any(f"Z info: {m} " in s for s in lines)] == []
        assert len(lines) == len(MESSAGES)
    folder = fumehood.out / "of_env"
    lines = '{"op":"reset"}\n{"op":"step","action":"true"}\n'
    fumehood("env", "--task", "rows", "--tasks-dir", TASKS, "--out", folder, input=lines)
    (log,) = folder.glob("*/run-*.log")
    assert "exit_status=early_exit" in log.read_text().splitlines()[-1]


def test_the_level_is_of_the_option_then_of_the_variable(fumehood):
    args = ["--task", "rows", "--quiet"]
    assert "episode begun" not in fumehood.run(*args).stderr
    fumehood.env["FUMEHOOD_LOG"] = "info"
    assert "info: episode begun task=rows" in fumehood.run(*args).stderr
    assert "episode begun" not in fumehood.run(*args, "--log", "error").stderr
    fumehood.env["FUMEHOOD_LOG"] = "loud"
    wrong = fumehood.run(*args, status=2).stderr
    assert wrong == ("fumehood: FUMEHOOD_LOG wants one of debug, info, warn, error, not 'loud'\n")


def test_a_failure_is_an_error(fumehood):
    """A folder with the name of the .traj makes the run fail at its end."""
    model = fumehood.actions("sleep 1000")
    words = fumehood.run_words("--task", "rows", "--model", model, "--max-steps", "1")
    child = fumehood.start(*words, stderr=subprocess.PIPE, text=True)
    while not (logs := list(fumehood.out.glob("*/events.jsonl"))):
        assert child.poll() is None
    (logs[0].parent / "rows.traj" / "x").mkdir(parents=True)
    child.terminate()
    said = child.communicate(timeout=300)[1]
    assert len(re.findall(r"^error: episode failed task=rows .*rows\.traj", said, re.M)) == 1


def test_what_is_forged_is_a_warning(fumehood):
    model = fumehood.actions("ln -s /etc/passwd submission.csv; submit")
    said = fumehood.run("--task", "rows", "--model", model, "--verbose").stderr
    assert len(re.findall(r"^warn: integrity task=rows episode=0 step=1 what=", said, re.M)) == 1
    assert "tampering: " not in said
