# SPDX-License-Identifier: Apache-2.0
"""Resuming a language model's run after a kill, a signal, an outage or a limit on costs."""

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from conftest import TASKS, beneath, until
from test_agent import act, serve  # noqa: F401

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
    """Folder of a run that was stopped while its model thought about the third step."""
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
    away = fumehood("run", "--resume", folder, "--out", "zz", status=2)
    assert "remove --out" in away.stderr and not (fumehood.folder / "zz").exists()
    assert len(list(folder.glob("run-*.log"))) == 1
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
    assert result["api_calls"] == 4 and result["tokens_sent"] == 400
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
    (result,) = fumehood.run_json("--task", "rows")
    folder = Path(result["trajectory"]).parent
    for args, why in [
        (["--resume", folder], "only runs of language models"),
        (["--resume", fumehood.folder], "events.jsonl"),
        (["--resume", folder, "--task", "rows"], "leave --task out"),
        (["--resume", folder, "--model_name", "human"], "leave --model out"),
        (["--resume", folder, "--seed", 99], "leave --seed out"),
        (["--resume", folder, "--runs", 3], "leave --runs out"),
        (["--resume", folder, "--skip-existing"], "leave --skip-existing out"),
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
    (there,) = fumehood.run_json(*words, *url, "--skip-existing")
    assert there["skipped"] and there["trajectory"] == anew["trajectory"]
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
    fields["extra"] = [{"x-auth": ["hush"]}, "bearer hush", {"db_pwd": "hush", "passwd": "hush"}]
    (broken,) = fumehood.run_json(
        *words, *more, "--completion-kwargs", json.dumps(fields), status=1
    )
    folder = Path(broken["trajectory"]).parent
    args = (folder / "args.yaml").read_text()
    kept = yaml.safe_load(args)["agent"]["model"]["completion_kwargs"]
    assert kept["user"] == "me" and kept["extra"][1] == "[hidden]"
    assert key not in args and "hush" not in args and server.url in args
    assert f'tasks_dir: "{TASKS}"' in args and "gpus: []" in args

    resume = ("run", "--resume", folder, "--api-key", key, "--json", *words[4:6])
    assert "leaves out the value of --completion-kwargs" in fumehood(*resume, status=2).stderr
    fumehood(*resume, "--completion-kwargs", json.dumps(fields))
    asked = server.asked()[-1]["body"]
    assert asked["stop"] == ["END", "a\nb"] and asked["max_tokens"] == 77
    assert asked["user"] == "me" and asked["metadata"]["Api_Key"] == "hush"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_step_that_was_cut_is_played_whole(fumehood, serve, how):  # noqa: F811
    shown = fumehood.folder / "shown"
    shown.mkdir()
    turns = [
        act("echo 1 >a; cp zeros.csv submission.csv; validate"),
        act("echo 2 >>a; test -e /shown/go || sleep 6000; cat a; validate"),
        act("submit"),
    ]
    url = ("--url", serve(turns).url + "/v1", "--api-key", "k")
    words = ("--task", "rows", "--model", "openai:m", "--bind", f"{shown}:/shown", *url)
    child = fumehood.start(*fumehood.run_words(*words), stderr=subprocess.DEVNULL)
    while sum(p.read_text().count('"event":"message"') for p in fumehood.out.glob("*/*.jsonl")) < 5:
        time.sleep(0.02)
    until(lambda: beneath(child.pid, "sleep"), "the step sleeps")
    child.send_signal(how)
    child.wait(300)
    (folder,) = fumehood.out.iterdir()
    cut = [e for e in events(folder) if e["event"] == "step"][1:]
    assert [e["info"]["outcome"] for e in cut] == ["interrupted"] * (how == signal.SIGINT)

    (shown / "go").touch()
    (result,) = fumehood.run_json("--resume", folder, *words[4:6], *url)
    assert [e["steps"] for e in events(folder) if e["event"] == "resumed"] == [1]
    (whole,) = fumehood.run_json(*words, "--suffix", "whole")
    history = without_times(whole)["history"]
    traj = without_times(result)
    assert [m["content"] for m in traj["history"]] == [m["content"] for m in history]
    assert traj["trajectory"] == without_times(whole)["trajectory"]
    assert len(traj["info"]["score"]) == 3


def test_scoring_that_was_cut_is_no_end(fumehood, serve):  # noqa: F811
    url = ("--url", serve([act("echo one two three sleep >words.txt; submit")]).url + "/v1")
    words = ("--task", "words", "--model", "openai:m", "--api-key", "k")
    child = fumehood.start(*fumehood.run_words(*words, *url), stderr=subprocess.DEVNULL)
    while not any('"event":"spent"' in p.read_text() for p in fumehood.out.glob("*/*.jsonl")):
        time.sleep(0.02)
    until(lambda: beneath(child.pid, "count.py"), "the grader counts")
    child.send_signal(signal.SIGINT)
    child.wait(300)
    (folder,) = fumehood.out.iterdir()
    *_, step, score, end = events(folder)
    assert step["info"]["outcome"] == "interrupted" and score["error"]
    assert (end["exit_status"], end["over"]) == ("early_exit", False)
    again = ("--url", serve([act("cp list.txt words.txt; submit")]).url + "/v1")
    (result,) = fumehood.run_json("--resume", folder, "--api-key", "k", *again)
    assert result["exit_status"] == "submitted" and result["steps"] == 1


def test_limits_on_costs(fumehood, serve):  # noqa: F811
    """A run that reached its own limit is over. Only a higher limit resumes it."""
    prices = fumehood.folder / "prices.json"
    prices.write_text('{"m": {"input": 10000, "output": 0}}')
    url = ("--url", serve([act("ls"), act("pwd"), act("submit")]).url + "/v1", "--api-key", "k")
    words = ("--task", "rows", "--model", "openai:m", *url, "--prices", prices)
    (own,) = fumehood.run_json(*words, "--per-instance-cost-limit", 1.5)
    assert own["exit_status"].endswith("(exit_cost)") and own["cost"] == 2
    folder = Path(own["trajectory"]).parent
    limit = "--per-instance-cost-limit"
    (there,) = fumehood.run_json(*words, limit, 1.5, "--skip-existing")
    assert there["skipped"] and there["cost"] == 2
    for more in [(), (limit, 2)]:
        refused = fumehood.run("--resume", folder, *words[4:], *more, status=2).stderr
        assert f"a higher {limit} continues it" in refused
    (result,) = fumehood.run_json("--resume", folder, *words[4:], limit, 9)
    assert result["exit_status"] == "submission_not_found (submit)"
    assert (result["steps"], result["cost"]) == (3, 4)


def test_what_nobody_pays_for_is_not_begun(fumehood, serve):  # noqa: F811
    """Costs before a resume count towards the limit of all models. Beyond it no run begins."""
    prices = fumehood.folder / "prices.json"
    prices.write_text('{"m": {"input": 10000, "output": 0}}')
    turns = [act("ls"), act("pwd"), act("submit")]
    url = ("--url", serve(turns).url + "/v1", "--api-key", "k", "--prices", prices)
    own = ("--per-instance-cost-limit", 9)
    words = ("--task", "rows", "--model", "openai:m,baseline", *url, *own, "--retry-failed", 2)
    done = fumehood.run("--json", *words, "--total-cost-limit", 0.5, "--runs", 3, status=1)
    assert done.stderr.count("2 runs are not begun: all models have cost $1.0000") == 1
    first, *rest, played = map(json.loads, done.stdout.splitlines()[:4])
    assert first["api_calls"] == 1 and played["model"] == "baseline"
    assert [(r["seed"], r["trajectory"]) for r in rest] == [(1, None), (2, None)]
    assert all("all models have cost $1.0000" in r["error"] for r in [first, *rest])
    assert len(list(fumehood.out.iterdir())) == 1 + 3

    folder = Path(first["trajectory"]).parent
    before = events(folder)
    assert before[-1]["over"] is False
    resume = ("--resume", folder, *url, "--total-cost-limit")
    done = fumehood.run(*resume, 1, status=1)
    assert "1 run is not begun: all models have cost $1.0000" in done.stderr and not done.stdout
    assert events(folder) == before
    (on,) = fumehood.run_json(*resume, 2.5, status=1)
    assert on["cost"] == 3 and "all models have cost $3.0000" in on["error"]
    (on,) = fumehood.run_json(*resume, 9)
    assert on["exit_status"] == "submission_not_found (submit)" and on["cost"] == 5


def test_an_agent_that_has_changed_is_said(fumehood, serve):  # noqa: F811
    agent = fumehood.folder / "mine.yaml"
    agent.write_text('system_template: s\ntask_template: "{observation}"\n')
    server = serve([act("ls"), [{"status": 500}, {"status": 500}, act("submit")]])
    url = ("--url", server.url + "/v1", "--api-key", "k", "--retries", 0)
    (broken,) = fumehood.run_json(
        *("--task", "rows", "--model", "openai:m", "--agent", agent, *url), status=1
    )
    folder = Path(broken["trajectory"]).parent
    resume = ("--resume", folder, *url)
    assert "have changed" not in fumehood.run(*resume, status=1).stderr
    agent.write_text(agent.read_text().replace("s\n", "other\n", 1))
    done = fumehood.run(*resume)
    same, now = (e["agent_hash"] for e in events(folder) if e["event"] == "resumed")
    assert same == events(folder)[0]["agent_hash"] != now
    last = max(folder.glob("run-*.log"), key=lambda p: p.stat().st_mtime_ns).read_text()
    for text in (done.stderr, last):
        assert f"recorded_agent_hash={same} agent_hash={now}" in text
        assert "the agent's files have changed" in text
    again = ("replay", "--out", fumehood.folder / "again", "--tasks-dir", TASKS, folder)
    assert "the agent's files have changed" in fumehood(*again).stderr
    assert "have changed" not in fumehood(*again, "--agent", agent).stderr


def test_keys_that_were_derived_in_another_way(fumehood, serve):  # noqa: F811
    server = serve([act("ls"), [{"status": 500}, act("submit")]])
    url = ("--url", server.url + "/v1", "--api-key", "k", "--retries", 0)
    fumehood(
        *("run", "--tasks-dir", TASKS, "--task", "rows", "--model", "openai:m", *url),
        *("--out", fumehood.out),
        status=1,
    )
    (log,) = fumehood.out.glob("*/events.jsonl")
    sentence = "because keys are derived in another way since"
    again = ("replay", "--out", fumehood.folder / "again", log.parent)
    assert sentence not in fumehood(*again).stderr
    text = log.read_text()
    assert '"keys":2,' in text
    log.write_text(text.replace('"keys":2,', "", 1))
    for done in (fumehood(*again), fumehood("run", "--resume", log.parent, *url)):
        assert done.stderr.count(sentence) == 1 and "recorded_keys=1 keys=2" in done.stderr
    assert sentence not in fumehood(*again, "--task", "rows").stderr


def test_a_task_that_has_changed_is_said(fumehood, serve):  # noqa: F811
    tasks = fumehood.folder / "tasks"
    shutil.copytree(TASKS / "rows", tasks / "rows")
    server = serve([act("ls"), [{"status": 500}, act("submit")]])
    words = ("--task", "rows", "--model", "openai:m", "--api-key", "k", "--retries", 0)
    broken = fumehood(
        *("run", "--tasks-dir", tasks, "--out", fumehood.out, *words, "--json"),
        *("--url", server.url + "/v1"),
        status=1,
    )
    folder = Path(json.loads(broken.stdout)["trajectory"]).parent
    before = events(folder)[0]["task_hash"]
    (tasks / "rows" / "task.yaml").open("a").write("# changed\n")
    url = ("--url", server.url + "/v1")
    done = fumehood("run", "--resume", folder, "--api-key", "k", *url, "--json")
    (now,) = [e["task_hash"] for e in events(folder) if e["event"] == "resumed"]
    assert now != before
    last = max(folder.glob("run-*.log")).read_text()
    for text in (done.stderr, last):
        assert f"recorded_task_hash={before} task_hash={now}" in text and "have changed" in text
    again = ("replay", "--out", fumehood.folder / "again", folder)
    assert "have changed" in fumehood(*again).stderr
    assert "have changed" not in fumehood(*again, "--task", "rows").stderr


# --- damaged and hostile records ------------------------------------------------------------------


@pytest.fixture
def broken(fumehood, serve):  # noqa: F811
    """Folder and server of a run that an outage ended. A variable names the server's address."""
    server = serve([act("ls"), [{"status": 500}, act("submit")]])
    fumehood.env |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url + "/v1"}
    words = ("--task", "rows", "--model", "openai:m", "--retries", 0)
    (result,) = fumehood.run_json(*words, status=1)
    return Path(result["trajectory"]).parent, server


WISHES = [
    ("host_url", "http://127.0.0.1:9/v1", "--url http://127.0.0.1:9/v1"),
    ("host_url", "http://h/$(touch x)", "--url 'http://h/$(touch x)'"),
    ("host_url", "http://h/v1?[hidden]", "the record leaves out the value of --url"),
    ("completion_kwargs", '{"model": "dear"}', """--completion-kwargs '{"model": "dear"}'"""),
    ("prices", "/etc/passwd", "--prices /etc/passwd"),
    ("aliases_file", "/etc/profile", "--aliases-file /etc/profile"),
    ("bind", ["/etc:/x", "/root"], "--bind /etc:/x --bind /root"),
    ("memory_enabled", True, "--memory-enabled"),
    ("web_hosts", "papers", "--web-hosts papers"),
    ("web_hosts", "evil.example", "--web-hosts evil.example"),
    ("mlgym_root", "/etc", "--mlgym-root /etc"),
]


def test_what_a_record_wishes_for_is_said_again(fumehood, broken):
    """A record's options that send keys or give files have to be repeated on the command line."""
    folder, server = broken
    args, asked = folder / "args.yaml", len(server.asked())
    kept = args.read_text()
    log = (folder / "events.jsonl").read_bytes()
    for key, value, words in WISHES:
        args.write_text(re.sub(f"( {key}:).*", lambda m, v=value: f"{m[1]} {json.dumps(v)}", kept))
        assert args.read_text() != kept
        said = fumehood("run", "--resume", folder, status=2).stderr
        assert words in said and said.count("\n") == 1
    args.write_text(kept.replace("api_version: null", 'api_version: "1\\r\\nHost: evil"'))
    assert "is not a version of an API" in fumehood("run", "--resume", folder, status=2).stderr
    assert len(server.asked()) == asked and (folder / "events.jsonl").read_bytes() == log
    args.write_text(kept.replace("limit: 0", "limit: 99").replace("gpus: []", 'gpus: ["0"]'))
    done = fumehood("run", "--resume", folder, status=None)
    assert "the recorded limit on costs is 99 dollars: " in done.stderr
    assert "the run had 1 GPUs, so it takes 1 again" in done.stderr
    args.write_text(kept)
    (result,) = fumehood.run_json("--resume", folder)
    assert result["exit_status"] == "submission_not_found (submit)"


def test_one_option_goes_on_with_one_s_own_server(fumehood, broken):
    folder, server = broken
    del fumehood.env["OPENAI_BASE_URL"]
    url = f"--url {server.url}/v1"
    said = fumehood("run", "--resume", folder, status=2).stderr
    assert said.endswith(f"Repeat these options to allow it: {url}\n")
    fumehood("run", "--resume", folder, *url.split())


def test_a_record_s_task_and_agent(fumehood, broken):
    folder, server = broken
    asked = len(server.asked())
    private = fumehood.folder / "_private"
    private.write_text("hush")
    own = folder / "agent.yaml"
    text = 'system_template: s\ntask_template: "{observation}"\ntools: {command_files: ['
    log, args = folder / "events.jsonl", folder / "args.yaml"
    kept = log.read_text()
    log.write_text(kept.replace('"agent_config_path":null', f'"agent_config_path":"{own}"'))
    assert log.read_text() != kept
    (folder / "_link").symlink_to(private)
    for named in (str(private), "../../_private", "_link"):
        own.write_text(text + named + "]}\n")
        said = fumehood("run", "--resume", folder, status=2).stderr
        assert f"an untrusted record chose. To allow it, give --agent {own}" in said
    log.write_text(kept)
    tasks = folder / "tasks"
    shutil.copytree(TASKS / "rows", tasks / "rows")
    (tasks / "rows" / "task.yaml").open("a").write("network: host\n")
    args.write_text(args.read_text().replace(str(TASKS), str(tasks)))
    said = fumehood("run", "--resume", folder, status=2).stderr
    assert "gives its actions the network of this machine" in said
    assert f"To allow it, give --tasks-dir {tasks}\n" in said
    assert len(server.asked()) == asked


def test_a_record_s_links_are_not_written_through(fumehood, broken):
    folder, _ = broken
    private = fumehood.folder / "private"
    private.write_text("mine\n")
    for s in range(60):
        name = time.strftime("run-%Y%m%dT%H%M%S.log", time.gmtime(time.time() + s))
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(private)
    said = fumehood("run", "--resume", folder, status=2).stderr
    assert "Too many levels of symbolic links" in said and private.read_text() == "mine\n"
    for path in folder.glob("run-*.log"):
        path.unlink()
    for name in ("events.jsonl", "args.yaml", "memory.json"):
        (folder / name).touch()
        (folder / name).rename(private)
        (folder / name).symlink_to(private)
        said = fumehood("run", "--resume", folder, status=None)
        assert said.returncode and f"{name}' is a symbolic link" in said.stderr
        (folder / name).unlink()
        private.rename(folder / name)
