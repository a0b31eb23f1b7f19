# SPDX-License-Identifier: Apache-2.0
"""Many runs: models with tasks, what is there already, what broke, and the spread of scores."""

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import TASKS
from test_agent import act, serve  # noqa: F401


def run(fumehood, *args, status=0):
    done = fumehood("run", "--tasks-dir", TASKS, "--out", fumehood.out, *args, status=status)
    return done.stdout, done.stderr


def results(fumehood, *args, status=0):
    out, _ = run(fumehood, "--json", "-q", *args, status=status)
    return [json.loads(line) for line in out.splitlines()]


def test_each_model_plays_each_task(fumehood):
    found = results(
        fumehood,
        "--task",
        "titanic:micro,battleOfSexes",
        "--model",
        "baseline,demo",
        "--runs",
        2,
        "--jobs",
        4,
    )
    assert [(r["task"], r["model"], r["seed"]) for r in found] == [
        (task, model, seed)
        for task in ("titanic", "battleOfSexes")
        for model in ("baseline", "demo")
        for seed in (0, 1)
    ]


def test_a_wrong_model_among_others_is_refused_before_anything_runs(fumehood):
    _, err = run(fumehood, "--task", "rows", "--model", "baseline,parrot", status=2)
    assert "no model 'parrot'" in err and not fumehood.out.exists()


def test_all_tasks(fumehood):
    found = results(fumehood, "--task", "all", "--model", "baseline")
    assert {"battleOfSexes", "titanic", "rows"} <= {r["task"] for r in found}


def test_what_is_there_is_not_done_again(fumehood):
    args = ("--task", "titanic:micro", "--model", "baseline,demo", "--skip-existing")
    assert len(results(fumehood, *args, "--runs", 2)) == 4
    assert results(fumehood, *args, "--runs", 2) == []
    more = results(fumehood, *args, "--runs", 3)
    assert [(r["model"], r["seed"]) for r in more] == [("baseline", 2), ("demo", 2)]
    shutil.rmtree(next(fumehood.out.glob("demo__*_run_1")))
    assert [r["model"] for r in results(fumehood, *args, "--runs", 3)] == ["demo"]
    assert len(results(fumehood, *args, "--suffix", "new", "--runs", 1)) == 2
    log = next(fumehood.out.glob("baseline__*_run_0")) / "events.jsonl"
    begun, end = log.read_text().rstrip("\n").rsplit("\n", 1)
    for last in ("", json.dumps(json.loads(end) | {"over": False}) + "\n"):
        log.write_text(f"{begun}\n{last}")
        again = results(fumehood, *args, "--runs", 3)
        assert [(r["model"], r["seed"]) for r in again] == [("baseline", 0)]
        shutil.rmtree(fumehood.out / max(p.name for p in fumehood.out.glob("baseline__*")))


@pytest.fixture
def broken(fumehood):
    """A task whose baseline can't be played, so that its episodes break."""
    folder = fumehood.folder / "tasks"
    shutil.copytree(TASKS / "rows", folder / "broken")
    path = folder / "broken" / "task.yaml"
    lines = [x for x in path.read_text().splitlines() if not x.startswith(("baseline", "id:"))]
    path.write_text("\n".join([*lines, "baseline: echo again >&2; exit 3", ""]))
    return folder


def test_what_broke_is_begun_again(fumehood, broken):
    args = ("run", "--task", "broken", "--tasks-dir", broken, "--out", fumehood.out)
    once = fumehood(*args, status=1).stderr
    assert "once more" not in once
    thrice = fumehood(*args, "--retry-failed", 2, status=1)
    assert thrice.stderr.count("once more: ") == 2
    assert json.loads(fumehood(*args, "--json", "-q", "--retry-failed", 1, status=1).stdout)[
        "error"
    ]


def test_spread(fumehood, serve):  # noqa: F811
    server = serve([act("ls"), act("submit")])
    prices = fumehood.folder / "prices.json"
    prices.write_text('{"m": {"input": 100, "output": 0}}')
    fumehood.env["OPENAI_API_KEY"] = "k"
    out, _ = run(
        fumehood,
        *(
            "--task",
            "rows",
            "--model",
            "baseline,openai:m",
            "--runs",
            2,
            "--url",
            server.url + "/v1",
        ),
        *("--prices", prices),
    )
    lines = [line.split() for line in out.splitlines()]
    at = lines.index(["Task", "Model", "Runs", "Baseline", "Mean", "Std", "Best", "Cost"])
    assert lines[at + 1][:3] == ["rows", "baseline", "2"]
    assert lines[at + 2][1] == "openai:m" and lines[at + 2][-1] == "$0.0400"
    assert "Model" not in run(fumehood, "--task", "rows")[0]


def test_equal_scores_have_no_spread(fumehood):
    out, _ = run(fumehood, "--task", "titanic:micro", "--model", "baseline", "--runs", 3)
    (line,) = [line.split() for line in out.splitlines() if line.startswith("titanic:micro  b")]
    assert line[2] == "3" and line[5] == "0"


def test_a_file_of_many(fumehood, serve):  # noqa: F811
    fumehood.env["OPENAI_API_KEY"] = "k"
    file = fumehood.folder / "sweep.yaml"
    file.write_text(
        "tasks: [rows]\nmodels: [baseline, openai:m]\nagents: [default, memory]\n"
        "temperatures: [0, 0.5]\nseeds: [3, 10]\nruns: 2\nsuffix: s\n"
    )
    args = ("--sweep", file, "--url", serve([act("submit")]).url + "/v1", "--jobs", 4)
    found = results(fumehood, *args)
    assert len(found) == 4 * (1 + 2 * 2)
    assert [r["seed"] for r in found] == [3, 4, 10, 11] * 5
    kinds = {Path(r["trajectory"]).parent.name.split("__c-")[0] for r in found}
    assert kinds == {"baseline__rows__default__t-0.00__p-0.95"} | {
        f"openai-m__rows__{agent}__t-{t}__p-0.95"
        for agent in ("default", "memory")
        for t in ("0.00", "0.50")
    }
    assert all("__s_run_" in r["trajectory"] for r in found)
    more = results(fumehood, *args, "--model", "baseline", "--runs", 3, "--skip-existing")
    assert [r["seed"] for r in more] == [5, 12]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tasks: []", "'tasks' names none"),
        ("models: [demo]", "tasks"),
        ("tasks: [rows]\nseeds: [1, -2]", "2:12: '-2' is no seed"),
        ("tasks: [rows]\nseeds: [7, 2, 7]", "2:8: seeds 7 and 7 with runs: 1 play seed 7 twice"),
        (
            "tasks: [rows]\nseeds: [2, 1]\nruns: 2",
            "2:8: seeds 1 and 2 with runs: 2 play seed 2 twice",
        ),
        ("tasks: [rows]\ntemperatures: [hot]", "'hot' is no temperature"),
        ("tasks: [rows]\nmodel: [demo]", "models"),
    ],
)
def test_a_wrong_file_is_refused(fumehood, text, why):
    file = fumehood.folder / "sweep.yaml"
    file.write_text(text)
    assert why in run(fumehood, "--sweep", file, status=2)[1]


def on_terminal(fumehood, lines: int, *args) -> str:
    """What a run shows on a terminal of so many lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", lines, 90, 0, 0))
    child = fumehood.start(*fumehood.run_words(*args), stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # that is how a terminal ends
        while more := os.read(ours, 65536):
            shown += more
    os.close(ours)
    assert child.wait(300) == 0
    return shown.decode()


def test_more_episodes_than_lines(fumehood):
    slow = fumehood.actions("sleep 1")
    shown = on_terminal(fumehood, 6, "--task", "rows", "--model", slow, "-n", "8", "-j", "8")
    frames = [frame for frame in re.split(r"\x1b\[J", shown) if "sleep" in frame]
    # Three lines, the count, and the line that the cursor is on: none is scrolled away.
    assert max(frame.count("sleep 1") for frame in frames) == 3
    assert any("and 5 more; 0 of 8 ended" in frame for frame in frames)
    assert max(int(n) for n in re.findall(r"\x1b\[(\d+)A", shown)) <= 5
    assert shown.rstrip().count("submission_not_found") == 8


def test_several_models_are_told_apart(fumehood):
    slow = fumehood.actions("sleep 1")
    shown = on_terminal(fumehood, 24, "--task", "rows", "--model", f"baseline,{slow}", "-j", "2")
    assert re.search(r"rows #\d   actions:\S+ +1/6 ", shown)


# --- going on with a run --------------------------------------------------------------------------

TEXT = [act("echo $((6*7)) > a; date"), act("pwd; echo half"), act("cat a"), act("submit")]


def use(name: str, tool: str, **arguments: str) -> dict:
    return {"uses": [{"id": name, "name": tool, "arguments": arguments}]}


USES = [
    use("a", "bash", command="echo $((6*7)) > a; date"),
    use("b", "bash", command="pwd; echo half"),
    use("c", "bash", command="cat a"),
    use("d", "submit"),
]


def events(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def stop_in_step_3(fumehood, server, agent: str, how: int) -> Path:
    """The folder of a run that was stopped while its model thought about its third step."""
    fumehood.env["OPENAI_API_KEY"] = "k"
    words = ("--task", "rows", "--model", "openai:m", "--url", server.url + "/v1", "--seed", "5")
    child = fumehood.start(
        *fumehood.run_words(*words, "--agent", agent, "-t", "0.5"), stderr=subprocess.PIPE
    )
    while not server.log.exists() or len(server.asked()) < 3:
        assert child.poll() is None
        time.sleep(0.02)
    (folder,) = fumehood.out.iterdir()
    busy = fumehood.run("--resume", folder, "--url", server.url, status=1)
    assert "being written by another process" in busy.stderr
    child.send_signal(how)
    child.communicate(timeout=300)
    return folder


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize(("agent", "turns"), [("default", TEXT), ("tool_calling", USES)])
def test_resume(fumehood, serve, agent, turns, how):  # noqa: F811
    slow = serve([*turns[:2], {**turns[2], "delay": 60}])
    folder = stop_in_step_3(fumehood, slow, agent, how)
    if how == signal.SIGKILL:
        with (folder / "events.jsonl").open("a") as log:
            log.write('{"event": "mess')
    slow.log.unlink()
    server = serve(turns)
    args = ("--resume", folder, "--url", server.url + "/v1")
    (result,) = fumehood.run_json(*args)

    assert Path(result["trajectory"]).parent == folder and list(fumehood.out.iterdir()) == [folder]
    assert result["seed"] == 5 and result["steps"] == 4
    assert result["api_calls"] == (4 if how == signal.SIGINT else 2)  # counts die with a process
    names = [e["event"] for e in events(folder)]
    (at,) = [e for e in events(folder) if e["event"] == "resumed"]
    assert (at["steps"], at["messages"], at["different"]) == (2, 5, 0)
    assert names.count("step") == 4 and names.count("open") == names.count("reset") == 1

    traj = json.loads(Path(result["trajectory"]).read_text())
    assert [s["action"].strip() for s in traj["trajectory"]][2:] == ["cat a", "submit"]
    assert traj["trajectory"][2]["observation"] == "42\n"
    roles = [m["role"] for m in traj["history"]]
    assert len(roles) == 9 and roles[2::2] == ["assistant"] * 4 and roles[-1] == "assistant"
    asked = server.asked()[0]["body"]
    assert asked["temperature"] == 0.5 and len(asked["messages"]) == 6
    assert asked["messages"][3]["content"] == traj["history"][3]["content"]

    assert "needs no resuming" in fumehood.run(*args, status=2).stderr


def test_resuming_says_what_is_different_now(fumehood, serve):  # noqa: F811
    slow = serve([*TEXT[:2], {**TEXT[2], "delay": 60}])
    folder = stop_in_step_3(fumehood, slow, "default", signal.SIGKILL)
    log = folder / "events.jsonl"
    log.write_text(log.read_text().replace("\\nhalf", "\\nwhole"))
    done = fumehood.run("--resume", folder, "--url", serve(TEXT).url + "/v1")
    assert "resumed" in done.stderr and "different=1" in done.stderr
    assert [e["different"] for e in events(folder) if e["event"] == "resumed"] == [1]


def test_what_can_not_be_resumed(fumehood):
    (result,) = results(fumehood, "--task", "rows")
    folder = Path(result["trajectory"]).parent
    for args, why in [
        (["--resume", folder], "only runs of language models"),
        (["--resume", fumehood.folder], "events.jsonl"),
        (["--resume", folder, "--task", "rows"], "leave them out"),
    ]:
        assert why in fumehood.run(*args, status=2).stderr


def without_times(result: dict) -> dict:
    traj = json.loads(Path(result["trajectory"]).read_text())
    for step in traj["trajectory"]:
        del step["execution_time"]
    return traj


OUTAGES = {
    "the server is gone": {"delay": 60, "text": ""},
    "the server fails": {"status": 500},
    "a wrong key": {"status": 401, "error": {"message": "who are you?"}},
}


@pytest.mark.parametrize("step", [0, 2])
@pytest.mark.parametrize("reply", OUTAGES.values(), ids=OUTAGES)
def test_what_an_outage_ended_goes_on_as_if_nothing_had_been(
    fumehood,
    serve,  # noqa: F811
    reply,
    step,
):
    turns = [act("echo 1 >a; cp zeros.csv submission.csv; validate"), act("cat a"), act("submit")]
    words = ("--task", "rows", "--model", "openai:m", "--seed", 5, "--api-key", "k")
    whole = serve(turns)
    uninterrupted = fumehood(
        *("run", "--tasks-dir", TASKS, "--out", fumehood.folder / "whole", "--json", *words),
        *("--url", whole.url + "/v1"),
    )
    whole.log.unlink()
    bad = serve([*turns[:step], reply])
    child = fumehood.start(
        *fumehood.run_words(*words, "--url", bad.url + "/v1", "--retries", 0, "--json"),
        stdout=subprocess.PIPE,
        text=True,
    )
    while not bad.log.exists() or len(bad.asked()) <= step:
        time.sleep(0.02)
    if "delay" in reply:
        bad.child.kill()
    (broken,) = map(json.loads, child.communicate(timeout=300)[0].splitlines())
    assert child.returncode == 1 and broken["exit_status"].endswith("(exit_api)")
    folder = Path(broken["trajectory"]).parent
    end = events(folder)[-1]
    assert end["over"] is False and end["error"] == broken["error"]

    url = ("--url", serve(turns).url + "/v1")
    (anew,) = fumehood.run_json(*words, *url, "--skip-existing")
    assert Path(anew["trajectory"]).parent != folder
    assert fumehood.run_json(*words, *url, "--skip-existing") == []
    (result,) = fumehood.run_json("--resume", folder, *url, "--api-key", "k")
    assert Path(result["trajectory"]).parent == folder
    assert without_times(result) == without_times(json.loads(uninterrupted.stdout))
    assert "needs no resuming" in fumehood.run("--resume", folder, *url, status=2).stderr


def test_what_an_outage_ended_is_retried(fumehood, serve):  # noqa: F811
    server = serve([act("ls"), [{"status": 500}, act("submit")]])
    (result,) = fumehood.run_json(
        *("--task", "rows", "--model", "openai:m", "--url", server.url + "/v1", "--api-key", "k"),
        *("--retries", 0, "--retry-failed", 1),
    )
    assert result["exit_status"].startswith("submission_not_found (submit") and result["steps"] == 2
    assert len(list(fumehood.out.iterdir())) == 2


def test_resuming_asks_for_what_a_record_does_not_tell(fumehood, serve):  # noqa: F811
    server = serve([act("ls"), [{"status": 500}, act("submit")]])
    key = "sk-not-to-be-told"
    words = ("--task", "rows", "--model", "openai:m", "--url", server.url + "/v1", "--retries", 0)
    more = ("--stop", "END", "--stop", "a\nb", "--max-tokens", 77, "--api-key", key)
    fields = {"user": "me", "metadata": {"Api_Key": "hush", "of": [key]}}
    (broken,) = fumehood.run_json(
        *words, *more, "--completion-kwargs", json.dumps(fields), status=1
    )
    folder = Path(broken["trajectory"]).parent
    args = (folder / "args.yaml").read_text()
    assert key not in args and "hush" not in args and server.url in args
    assert f'tasks_dir: "{TASKS}"' in args and "gpus: []" in args

    resume = ("run", "--resume", folder, "--api-key", key, "--json")
    assert "give --completion-kwargs again" in fumehood(*resume, status=2).stderr
    fumehood(*resume, "--completion-kwargs", json.dumps(fields))
    asked = server.asked()[-1]["body"]
    assert asked["stop"] == ["END", "a\nb"] and asked["max_tokens"] == 77
    assert asked["user"] == "me" and asked["metadata"]["Api_Key"] == "hush"
