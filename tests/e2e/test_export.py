# SPDX-License-Identifier: Apache-2.0
"""Runs in the formats of other programs."""

import csv
import json
import os
import subprocess
import zipfile

import pytest
from conftest import PATIENCE_S
from test_agent import USES, act, serve, use  # noqa: F401

ACTIONS = ["cp zeros.csv submission.csv; validate", 'printf "a,\\"b\\"\\nc"; false', "submit"]


@pytest.fixture
def played(fumehood):
    fumehood.run("--task", "rows", "--model", fumehood.actions(*ACTIONS))
    return fumehood.out


@pytest.fixture
def mlgym(tmp_path):
    """A run of MLGym's whose texts have control characters."""
    name = "m__blotto__default__t-0.00__p-0.95__c-4.00__install-0_run_3"
    folder = tmp_path / "mlgym" / name
    folder.mkdir(parents=True)
    step = {
        "state": "{}",
        "response": "r",
        "thought": "t",
        "action": "ls\0\r\n",
        "execution_time": 1.5,
    }
    steps = [
        {**step, "observation": "Evaluation Score: {'Score': 1.25}"},
        {**step, "observation": '"\ud800", x'},
    ]
    said = [{"role": "user", "content": "q", "agent": "p"}]
    said += [
        {"role": "assistant", "content": "r", "thought": "t", "action": "ls", "agent": "p"}
    ] * 2
    info = {
        "model_stats": {"task_cost": 0.5, "tokens_sent": 7, "tokens_received": 2, "api_calls": 2}
    }
    info |= {
        "exit_status": "submitted",
        "submission": None,
        "score": [{"Score": 1.25}],
        "summarizer": {},
    }
    record = {"environment": "mlgym_main", "trajectory": steps, "history": said, "info": info}
    (folder / "blotto.traj").write_text(json.dumps(record))
    (folder / "results.json").write_text('{"agent": [{"Score": 1.25}], "baseline": {"Score": 1.0}}')
    return folder.parent


def steps_of(fumehood, *words) -> list[dict]:
    text = fumehood("export", "--format", "steps", *words).stdout
    return [json.loads(line) for line in text.splitlines()]


def test_steps(fumehood, played):
    first, second, third = steps_of(fumehood, played)
    assert [s["action"] for s in (first, second, third)] == ACTIONS
    assert (first["task"], first["step"], first["kind"], third["kind"]) == (
        "rows",
        1,
        "bash",
        "submit",
    )
    assert first["score"] == first["best"] == second["best"] == third["run_last"]
    assert second["score"] is None and second["exit_code"] == 1
    assert second["observation"] == 'a,"b"\nc'
    assert third["reward"] is not None and (first["terminated"], third["terminated"]) == (
        False,
        True,
    )
    assert third["exit_status"] == first["exit_status"] == "submitted"
    assert first["cost"] is None and first["duration_s"] > 0


def test_csv_has_the_same_cells(fumehood, played, mlgym):
    out = fumehood.folder / "steps.csv"
    fumehood("export", "--format", "csv", "--out", out, played, mlgym)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = steps_of(fumehood, played, mlgym)
    assert len(rows) == len(lines) == 5 and list(rows[0]) == list(lines[0])
    for row, line in zip(rows, lines, strict=True):
        for name, value in line.items():
            if isinstance(value, bool | None):
                assert row[name] == {None: "", True: "true", False: "false"}[value]
            elif isinstance(value, str):
                assert row[name] == value.replace("\0", "\\x00"), name
            else:
                assert float(row[name]) == value, name


def test_runs_of_mlgym(fumehood, mlgym):
    first, second = steps_of(fumehood, mlgym)
    assert (first["task"], first["model"], first["run"]) == ("blotto", "m", 3)
    assert (first["score"], second["score"], second["best"]) == (1.25, None, 1.25)
    assert (first["duration_s"], first["baseline"], first["reward"]) == (1.5, 1.0, None)


def test_which_runs(fumehood, played, mlgym):
    assert {s["task"] for s in steps_of(fumehood, "--task", "blotto", played, mlgym)} == {"blotto"}
    assert {s["model"] for s in steps_of(fumehood, "--models", "m", played, mlgym)} == {"m"}
    # Zeros are not better than the baseline of `rows`.
    assert {s["task"] for s in steps_of(fumehood, "--improved", played, mlgym)} == {"blotto"}
    # A record in two of the folders counts once.
    assert len(steps_of(fumehood, mlgym, mlgym.parent / "mlgym")) == 2
    done = fumehood("export", "--format", "csv", "--models", "nobody", played, status=2)
    assert "there are no such runs" in done.stderr


def test_what_a_step_cost(fumehood, serve):  # noqa: F811
    wrong = {"text": "no action"}
    server = serve([act("ls"), wrong, act("submit")])
    words = ["--task", "rows", "--model", "openai:m", "--url", server.url, "--prices"]
    prices = fumehood.folder / "prices.json"
    prices.write_text('{"m": {"input": 4, "output": 8}}')
    fumehood.run(*words, prices)
    first, second = steps_of(fumehood, fumehood.out)
    assert (first["calls"], second["calls"]) == (1, 2)  # a reply without an action was paid for
    dollars = (4 * first["tokens_sent"] + 8 * first["tokens_received"]) / 1e6
    assert first["cost"] == pytest.approx(dollars) and dollars > 0
    assert first["model_s"] > 0 and first["thought"].strip() == "So."


def test_a_pause_is_no_time_of_the_model(fumehood):
    run = fumehood.folder / "paused" / "run"
    run.mkdir(parents=True)
    kinds = [
        ("open", 0, {"format": "1", "task": "t", "metric": "m", "model": "m", "run": 0}),
        ("reset", 1, {"observation": ""}),
        ("fault", 3, {"kind": "format", "response": "", "complaint": ""}),
        ("spent", 3, {"model_stats": {"task_cost": 1, "api_calls": 1}}),
        ("pause", 4, {"step": 1}),
        ("let_go", 44, {"step": 1}),
        ("spent", 48, {"model_stats": {"task_cost": 2, "api_calls": 2}}),
        ("step", 50, {"action": "ls", "observation": "", "info": {"duration_s": 2}}),
    ]
    text = "".join(
        json.dumps({"event": kind, "time": f"2026-01-31T12:00:{at:02}.000Z", **more}) + "\n"
        for kind, at, more in kinds
    )
    (run / "events.jsonl").write_text(text)
    (step,) = steps_of(fumehood, run.parent)
    assert (step["model_s"], step["calls"]) == (2 + 4, 2)


def test_chat(fumehood, serve):  # noqa: F811
    server = serve([act("ls"), act("submit")])
    fumehood.run("--task", "rows", "--model", "openai:m", "--url", server.url)
    out = fumehood.folder / "chat.jsonl"
    done = fumehood("export", "--format", "chat", "--out", out, "--json", fumehood.out)
    assert json.loads(done.stdout) == {"file": str(out), "runs": 1}
    (line,) = map(json.loads, out.read_text().splitlines())
    assert list(line) == ["messages"]
    assert [m["role"] for m in line["messages"]] == ["system", *["user", "assistant"] * 2]
    assert [m.get("weight") for m in line["messages"]] == [None, None, 1, None, 1]
    assert line["messages"][2]["content"] == act("ls")["text"]


def test_chat_with_tools(fumehood, serve):  # noqa: F811
    twice = {"uses": [*USES[0]["uses"], *use("bash", command="ls")["uses"]]}
    server = serve([twice, use("open", file="g"), use("submit")])
    words = ["--task", "rows", "--model", "openai:m", "--url", server.url + "/v1"]
    fumehood.env["OPENAI_API_KEY"] = "none"
    fumehood.run(*words, "--agent", "tool_calling")
    (line,) = map(
        json.loads, fumehood("export", "--format", "chat", fumehood.out).stdout.splitlines()
    )
    assert {t["type"] for t in line["tools"]} == {"function"}
    by_name = {t["function"]["name"]: t["function"] for t in line["tools"]}
    assert by_name["bash"]["parameters"]["required"] == ["command"]
    messages = line["messages"]
    roles = ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [m["role"] for m in messages] == roles  # the wrong call is left out
    calls = messages[2]["tool_calls"]
    assert [m["tool_call_id"] for m in messages[3:5]] == [c["id"] for c in calls]
    assert calls[0]["type"] == "function" and calls[0]["function"]["name"] == "bash"
    assert json.loads(calls[1]["function"]["arguments"]) == {"command": "ls"}
    assert messages[5]["tool_calls"][0]["function"] == {"name": "submit", "arguments": "{}"}
    assert [m.get("weight") for m in messages] == [None, None, 1, None, None, 1]


def test_logs_of_inspect(fumehood, played, mlgym):
    done = fumehood("export", "--format", "inspect", "--out", "logs", "--json", played, mlgym)
    logs = {x["log"]: x["runs"] for x in map(json.loads, done.stdout.splitlines())}
    assert list(logs.values()) == [1, 1]
    for path in logs:
        with zipfile.ZipFile(fumehood.folder / path) as log:
            assert log.testzip() is None
            header, (summary,) = (
                json.loads(log.read(n)) for n in ("header.json", "summaries.json")
            )
            (name,) = [n for n in log.namelist() if n.startswith("samples/")]
            sample = json.loads(log.read(name))
        assert name == f"samples/{sample['id']}_epoch_1.json"
        assert (
            header["results"]["scores"][0]["metrics"]["mean"]["value"]
            == sample["scores"]["best"]["value"]
        )
        assert summary["uuid"] == sample["uuid"] and summary["completed"]
    # A second export of the same runs writes the same files.
    before = {path: (fumehood.folder / path).read_bytes() for path in logs}
    fumehood("export", "--format", "inspect", "--out", "logs", played, mlgym)
    assert before == {path: (fumehood.folder / path).read_bytes() for path in logs}


def test_a_killed_run_has_an_error(fumehood, played):
    (events,) = played.glob("*/events.jsonl")
    events.write_text("".join(events.read_text().splitlines(keepends=True)[:3]))
    (path,) = fumehood("export", "--format", "inspect", "-o", "logs", played).stdout.split()
    with zipfile.ZipFile(fumehood.folder / path) as log:
        (name,) = [n for n in log.namelist() if n.startswith("samples/")]
        assert "killed" in json.loads(log.read(name))["error"]["message"]


def test_damaged_records_are_left_out(fumehood, played):
    broken = played / "broken"
    broken.mkdir()
    (broken / "x.traj").write_text('{"trajectory": [')
    done = fumehood("export", "--format", "steps", played)
    assert done.stdout.count("\n") == 3 and "a record is left out" in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--format inspect", "needs --out FOLDER"),
        ("--format inspect --out -", "needs --out FOLDER"),
        ("--format steps --json", "--json needs --out"),
        ("--out x", "needs a --format other than traj"),
        ("--improved", "needs a --format other than traj"),
        ("--format parquet", "inspect"),
        ("--format parquet", "pipe --format steps into python3 -m fumehood.parquet FILE"),
    ],
)
def test_misuse(fumehood, played, words, why):
    assert why in fumehood("export", *words.split(), played, status=2).stderr


@pytest.mark.parametrize("command", ["export --format steps", "report"])
def test_a_pipe_is_written_in_place(fumehood, played, command):
    """--out names a pipe or a device: it is written, not replaced by a file."""
    pipe = fumehood.folder / "pipe"
    os.mkfifo(pipe)
    child = fumehood.start(*command.split(), "--out", pipe, played, stderr=subprocess.PIPE)
    assert pipe.read_text()
    assert child.wait(PATIENCE_S) == 0 and pipe.is_fifo()


def test_a_failed_write_keeps_the_old_file(fumehood, played):
    out = fumehood.folder / "steps.jsonl"
    out.write_text("old")
    fumehood("export", "--format", "steps", "--out", out, "none", status=2)
    assert out.read_text() == "old"
    fumehood("export", "--format", "steps", "--out", out / "below", played, status=1)
    fumehood("export", "--format", "steps", "--out", out, played)
    assert out.read_text() != "old" and [p.name for p in out.parent.glob("steps*")] == [out.name]
