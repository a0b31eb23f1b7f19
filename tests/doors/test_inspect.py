# SPDX-License-Identifier: Apache-2.0
"""Exported runs in Inspect and in Parquet."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
from scripted_model import ScriptedModel

TASKS = Path(__file__).resolve().parents[1] / "tasks"
ACTIONS = ["cp zeros.csv submission.csv; validate", "echo 'é \U0001f600 ]]>'; false", "submit"]


def fumehood(folder, *words):
    env = os.environ | {"FUMEHOOD_STATE": str(folder / "state"), "OPENAI_API_KEY": "none"}
    done = subprocess.run(
        [os.environ["FUMEHOOD"], *map(str, words)], env=env, capture_output=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of a language model, and one of MLGym's, of which only the scores are left."""
    folder = tmp_path_factory.mktemp("runs")
    replies = [f"So.\n```\n{action}\n```\n" for action in ACTIONS]
    with ScriptedModel(replies) as model:
        words = ["--tasks-dir", TASKS, "--task", "rows", "--model", "openai:m", "--runs", 2]
        fumehood(folder, "run", *words, "--url", model.url, "--out", folder / "runs")
    old = folder / "runs" / "gpt__blotto__default__t-0.00__p-0.95__c-4.00__install-0_run_0"
    old.mkdir()
    (old / "results.json").write_text('{"agent": [{"Score": 1.5}], "baseline": {"Score": 1.0}}')
    return folder


@pytest.fixture(scope="module")
def logs(runs):
    fumehood(runs, "export", "--format", "inspect", "--out", runs / "logs", runs / "runs")
    return runs / "logs"


def test_logs_of_inspect(logs):
    found = {
        read_eval_log(log, header_only=True).eval.task: log for log in list_eval_logs(str(logs))
    }
    assert sorted(found) == ["blotto", "rows"]
    log = read_eval_log(found["rows"])
    assert (log.status, log.eval.model, log.eval.config.epochs) == ("success", "openai/m", 2)
    assert [s.epoch for s in log.samples] == [1, 2]
    best = log.results.scores[0]
    assert best.name == "best" and best.scored_samples == 2
    assert best.metrics["mean"].value == log.samples[0].scores["best"].value
    usage = log.stats.model_usage["openai/m"]
    assert (usage.input_tokens, usage.output_tokens) == (60, 30)
    assert len(read_eval_log_sample_summaries(found["rows"])) == 2
    assert read_eval_log(found["blotto"]).samples[0].scores["best"].value == 1.5


def test_events_and_messages(logs):
    log = next(x for x in map(read_eval_log, list_eval_logs(str(logs))) if x.eval.task == "rows")
    sample = log.samples[0]
    roles = [m.role for m in sample.messages]
    assert roles == ["system", *["user", "assistant"] * 3]
    kinds = [e.event for e in sample.events]
    assert kinds == [
        "sample_init",
        "model",
        "tool",
        "score",
        "model",
        "tool",
        "model",
        "tool",
        "score",
    ]
    calls = [e for e in sample.events if e.event == "model"]
    # The input of a call is the conversation before it.
    assert [len(e.input) for e in calls] == [2, 4, 6]
    assert calls[1].input[-1].text == sample.messages[3].text
    assert calls[0].output.usage.input_tokens == 10
    tools = [e for e in sample.events if e.event == "tool"]
    assert [e.arguments["command"].strip() for e in tools] == ACTIONS
    assert tools[1].result == "é \U0001f600 ]]>\n"
    times = [e.timestamp for e in sample.events]
    assert times == sorted(times) and times[0].year > 2024


def test_tool_calls(tmp_path):
    """A run of an agent with tools has them as Inspect's own runs do."""
    functions = {"c1": ("bash", '{"command": "ls"}'), "c2": ("submit", "{}")}
    replies = [
        {"tool_calls": [{"id": i, "function": {"name": name, "arguments": arguments}}]}
        for i, (name, arguments) in functions.items()
    ]
    with ScriptedModel(replies) as model:
        words = ["--tasks-dir", TASKS, "--task", "rows", "--model", "openai:m"]
        words += ["--agent", "tool_calling", "--url", model.url, "--out", tmp_path / "runs"]
        fumehood(tmp_path, "run", *words)
    logs = tmp_path / "logs"
    fumehood(tmp_path, "export", "--format", "inspect", "--out", logs, tmp_path / "runs")
    (sample,) = read_eval_log(list_eval_logs(str(logs))[0]).samples
    roles = ["system", "user", "assistant", "tool", "assistant"]
    assert [m.role for m in sample.messages] == roles
    (call,) = sample.messages[2].tool_calls
    assert (call.id, call.function, call.arguments) == ("c1", "bash", {"command": "ls"})
    assert sample.messages[3].tool_call_id == "c1"
    tools = [e for e in sample.events if e.event == "tool"]
    assert [(e.id, e.function) for e in tools] == [("c1", "bash"), ("c2", "submit")]
    asked = next(e for e in sample.events if e.event == "model")
    assert "bash" in {t.name for t in asked.tools} and asked.tool_choice == "auto"


def test_inspect_view_serves_them(logs):
    child = subprocess.Popen(
        [Path(sys.executable).parent / "inspect", "view", "--log-dir", logs, "--port", "17693"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen("http://127.0.0.1:17693/api/logs") as answer:
                    listed = json.load(answer)
                break
            except OSError:
                time.sleep(0.1)
        assert len(listed["files"]) == 2
    finally:
        child.terminate()
        child.wait(60)


def test_parquet(runs):
    steps = fumehood(runs, "export", "--format", "steps", runs / "runs")
    out = runs / "steps.parquet"
    words = [sys.executable, "-m", "fumehood.parquet", out]
    subprocess.run(words, input=steps, check=True)
    table = pq.read_table(out).to_pylist()
    assert table == [json.loads(line) for line in steps.splitlines()]
    assert len(table) == 6 and table[0]["tokens_sent"] == 10
    assert subprocess.run(words, input=b"", check=False).returncode == 1
