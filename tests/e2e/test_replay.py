# SPDX-License-Identifier: Apache-2.0
"""fumehood replay: recorded runs, ours and MLGym's, played again and compared."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, TASKS
from test_agent import act, serve, trajectory  # noqa: F401


def run(fumehood, *args, status=0):
    done = fumehood(
        "run", "--tasks-dir", TASKS, "--json", "-q", "--out", fumehood.out, *args, status=status
    )
    return json.loads(done.stdout)


def replay(fumehood, path, *args, status=0):
    done = fumehood(
        *("replay", "--compare", "--json", "--tasks-dir", TASKS, "--out", fumehood.out / "again"),
        *(path, *args),
        status=status,
    )
    return json.loads(done.stdout)


def plain(value):
    """A trajectory without times, agent names and statistics of the model."""
    if isinstance(value, dict):
        own = ("execution_time", "agent", "model_stats")
        return {k: plain(v) for k, v in value.items() if k not in own}
    return [plain(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("task", ["battleOfSexes", "titanicSurvival:micro"])
def test_a_demonstration_is_equal_to_the_last_byte(fumehood, task):
    first = run(fumehood, "--task", task, "--model", "demo")
    second = replay(fumehood, first["trajectory"])
    assert second["different"] == second["missing"] == 0
    assert second["equal"] + second["normalised"] == first["steps"] == second["steps"]
    old, new = (plain(trajectory(r)) for r in (first, second))
    assert old["info"] == new["info"]
    if not second["normalised"]:
        assert old == new


def test_several_runs(fumehood):
    first = [run(fumehood, "--task", "rows", "--model", "baseline") for _ in range(2)]
    paths = [Path(r["trajectory"]).parent for r in first]
    words = ["replay", "--compare", "--tasks-dir", TASKS, "--out", fumehood.out / "again"]
    done = fumehood(*words, "--json", *paths)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["run"] for line in lines if "run" in line] == list(map(str, paths))
    traj = Path(first[0]["trajectory"])
    record = json.loads(traj.read_text())
    record["trajectory"][0]["observation"] += "more"
    traj.write_text(json.dumps(record))
    done = fumehood(*words, traj, fumehood.out / "none", paths[1], status=2)
    assert done.stdout.count("1 different, 0 missing") == 1
    assert done.stdout.count("0 different, 0 missing") == 1
    assert "none" in done.stderr and len(done.stderr.splitlines()) == 1
    fumehood(*words, traj, paths[1], status=1)


def test_a_language_model_s_run(fumehood, serve):  # noqa: F811
    words = [
        "ls; echo $RANDOM",
        "open starter.py",
        "nonsense here",
        "python3 -c 'print(hash(\"a\"))'",
    ]
    server = serve([act(w) for w in words] + [act("submit")])
    first = run(
        fumehood,
        *("--task", "rows", "--model", "openai:m", "--url", server.url + "/v1", "--api-key", "k"),
        *("--seed", 7),
    )
    second = replay(fumehood, first["trajectory"])
    assert second["different"] == 0 and second["steps"] == first["steps"] == 5
    old, new = (plain(trajectory(r)) for r in (first, second))
    if not second["normalised"]:
        assert old == new
    assert len(server.asked()) == 5


def test_the_same_agent_leads_it_again(fumehood, serve, tmp_path):  # noqa: F811
    """A replay uses the recorded agent's file, not another agent of the same name."""
    agent = tmp_path / "default.yaml"
    text = (ROOT / "agents" / "default.yaml").read_text()
    agent.write_text(text.replace("WINDOW: 1000", "WINDOW: 4"))
    server = serve([act("seq 9 >nine"), act("open nine"), act("submit")])
    words = ("--task", "rows", "--model", "openai:m", "--url", server.url + "/v1")
    first = run(
        fumehood, *words, "--api-key", "k", "--agent", os.path.relpath(agent, fumehood.folder)
    )
    folder = os.path.dirname(first["trajectory"])
    with open(f"{folder}/args.yaml") as args:
        assert f'\n  agent_config_path: "{agent}"\n' in args.read()
    assert replay(fumehood, folder)["different"] == 0
    for break_it, why in [
        (lambda: agent.write_text("system_template: [s"), "2:1: "),
        (agent.unlink, "No such file"),
    ]:
        break_it()
        done = fumehood("replay", "--out", fumehood.out, folder)
        assert "configuration can't be used: " in done.stderr
        assert str(agent) in done.stderr and why in done.stderr


@pytest.mark.parametrize("agent", [("--agent", "default"), ()], ids=["agent", "none"])
@pytest.mark.parametrize("edits", [True, False])
def test_a_linter_waits_for_edits(fumehood, edits, agent):
    """A replay of a record with edits starts the linter first: it has no pauses for that later."""
    edit = ["create a.py", "edit 1:1\nx = 1\nend_of_edit"] if edits else ["create a.txt"]
    look = "pgrep -fc linter.py; echo $PATH"
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions(look, *edit))
    words = ("--json", "--tasks-dir", TASKS, "--out", fumehood.out, *agent)
    again = json.loads(fumehood("replay", *words, first["trajectory"]).stdout)
    before, now = [trajectory(r)["trajectory"][0]["observation"].split() for r in (first, again)]
    assert (before[0], now[0]) == ("0", str(int(edits))) and (agent or now[1] == before[1])


def test_it_is_played_where_and_how_it_was(fumehood, serve):  # noqa: F811
    server = serve([act("ls -d /shown"), act("submit")])
    words = ("--task", "rows", "--model", "openai:m", "--url", server.url + "/v1", "-t", "0.5")
    bind = ("--bind", f"{fumehood.folder}:/shown")
    first = run(fumehood, *words, *bind, "--top-p", "0.9", "--api-key", "k", "--suffix", "s")
    folder = os.path.dirname(first["trajectory"])
    again = ("replay", "--compare", "--out", fumehood.out / "again", folder)
    done = fumehood(*again, status=1)
    assert f"the run had --bind {fumehood.folder}:/shown" in done.stderr
    assert not fumehood(*again, *bind).stderr
    names = [path.name for path in sorted((fumehood.out / "again").iterdir())]
    assert all("__t-0.50__p-0.90__c-0.00__install-0__replay_run_" in name for name in names)


def test_times_are_put_aside(fumehood):
    clock = (
        "python3 -c 'import time; print(time.time(), time.time_ns(), time.ctime())'; date +%s%3N"
    )
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions(clock, "echo 1234567890"))
    second = replay(fumehood, first["trajectory"])
    assert (second["normalised"], second["different"]) == (1, 0)


def test_aliases(fumehood):
    """Aliases of --aliases-file are set in each shell of a run."""
    file = fumehood.folder / "short.sh"
    file.write_text("#!/bin/bash\nalias ls='ls -F' two='echo 1; echo'\nfalse || true\n")
    acts = ["mkdir there; ls", "two 2", "exit 3", "two 3; cat ~/commands/bash_aliases.sh"]
    words = ("--task", "rows", "--model", fumehood.actions(*acts), "--aliases_file")
    first = run(fumehood, *words, "short.sh")
    shown = [step["observation"] for step in trajectory(first)["trajectory"]]
    assert shown[0].splitlines()[-1] == "zeros.csv" and "there/\n" in shown[0]
    assert shown[1] == "1\n2\n" and shown[3] == "1\n3\n" + file.read_text()
    assert replay(fumehood, first["trajectory"], "--aliases-file", file)["different"] == 0
    none = fumehood(
        *("replay", "--compare", "--tasks-dir", TASKS, "--out", fumehood.out, first["trajectory"]),
        status=1,
    )
    assert f"the run had --aliases-file {file}: " in none.stderr and ", 3 diff" in none.stdout
    done = fumehood.run(*words, "gone.sh", status=2)
    assert "--aliases-file 'gone.sh': No such file or directory" in done.stderr
    for wrong in ("alias x=(\n", "false\n"):
        file.write_text(wrong)
        assert "could not be made" in fumehood.run(*words, "short.sh", status=1).stderr


def test_differences_are_shown(fumehood):
    first = run(
        fumehood, "--task", "rows", "--model", fumehood.actions("echo one", "date +%N", "true")
    )
    path = first["trajectory"]
    with open(path) as file:
        changed = json.load(file)
    changed["trajectory"][0]["observation"] = "zero\ntwo\n"
    with open(path, "w") as file:
        json.dump(changed, file)
    assert replay(fumehood, path, status=1)["different"] == 2
    shown = fumehood(
        *("replay", "--compare", "--tasks-dir", TASKS, "--out", fumehood.out, path), status=1
    ).stdout
    assert "   1 different  echo one\n- zero\n- two\n+ one\n" in shown
    assert "   3 " not in shown
    assert "2 different" in shown


def as_mlgym_s(path, folder, name="rows"):
    """Makes a record like MLGym's: other words around scores, and no events."""
    with open(path) as file:
        traj = json.load(file)
    for step in traj["trajectory"]:
        said = step["observation"]
        if "Not scored: " in said:
            said = "No artefact."
        *_, end = said.splitlines() or [""]
        said = said[said.find("Scored a valid") :] if "Scored a valid" in said else said
        step["observation"] = end if "Exited (" in end else said.replace("Scored a", "It made a")
    folder.mkdir()
    (folder / f"{name}.traj").write_text(json.dumps(traj))
    return traj


def test_the_record_of_mlgym_is_compared_by_its_scores(fumehood):
    acts = fumehood.actions("echo 1", "validate", "cp zeros.csv submission.csv; validate", "submit")
    first = run(fumehood, "--task", "rows", "--model", acts)
    folder = fumehood.folder / "original"
    traj = as_mlgym_s(first["trajectory"], folder)
    second = replay(fumehood, folder)
    assert [second[k] for k in ("equal", "normalised", "unknown", "different", "missing")] == [
        *(1, 2, 1, 0, 0)
    ]
    assert len(traj["info"]["score"]) == 2
    text = json.dumps(traj)
    for spoil in (
        lambda t: t["info"]["score"][1].update(accuracy=0.75),
        lambda t: t["info"]["score"].pop(),
        lambda t: t["trajectory"][2].update(observation="No artefact."),
        lambda t: t["trajectory"][3].update(observation="Exited (exit_cost)"),
    ):
        spoilt = json.loads(text)
        spoil(spoilt)
        (folder / "rows.traj").write_text(json.dumps(spoilt))
        assert replay(fumehood, folder, status=1)["different"] == 1


def test_a_record_of_ours_is_in_our_words(fumehood):
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions("validate"))
    log = Path(first["trajectory"]).parent / "events.jsonl"
    kept = log.read_text()
    log.write_text(re.sub(r'"observation":"(Not scored: [^"]*)', '"observation":"Broken.', kept))
    assert log.read_text() != kept
    Path(first["trajectory"]).unlink()
    again = replay(fumehood, log.parent, status=1)
    assert (again["different"], again["unknown"]) == (2, 0)


def test_the_last_step_of_mlgym_s_record(fumehood):
    """MLGym's record has one step more at the limit of steps, which scores the submission."""
    acts = fumehood.actions("cp zeros.csv submission.csv; echo done", "echo 2")
    first = run(fumehood, "--task", "rows", "--max-steps", "2", "--model", acts)
    folder = fumehood.folder / "original"
    traj = as_mlgym_s(first["trajectory"], folder)
    traj["trajectory"][1]["observation"] = "2\n"
    (folder / "rows.traj").write_text(json.dumps(traj))
    second = replay(fumehood, folder, "--max-steps", "2")
    assert (second["equal"], second["normalised"], second["different"]) == (2, 1, 0)


def test_what_is_nothing_to_play(fumehood):
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions("validate"))
    folder = fumehood.folder / "original"
    traj = as_mlgym_s(first["trajectory"], folder)
    words = ("replay", "--compare", "--tasks-dir", TASKS, "--out", fumehood.out)
    (folder / "rows.traj").rename(folder / "b.traj")
    shutil.copy(folder / "b.traj", folder / "a.traj")
    assert "several .traj in" in (said := fumehood(*words, folder, status=2).stderr)
    assert "a.traj, b.traj" in said
    for path in folder.iterdir():
        path.unlink()
    assert "neither 'events.jsonl' nor a .traj" in fumehood(*words, folder, status=2).stderr
    (folder / "rows.traj").write_text(json.dumps(traj | {"trajectory": []}))
    assert "there is no step to play" in fumehood(*words, folder, status=2).stderr
    traj["trajectory"] = traj["trajectory"][:1]
    (folder / "rows.traj").write_text(json.dumps(traj))
    assert replay(fumehood, folder, "--max-steps", "9", status=1)["unknown"] == 1


def test_it_can_be_interrupted_while_it_compares(fumehood):
    """Ctrl-C ends a replay whose output nobody reads."""
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions("true"))
    path = first["trajectory"]
    with open(path) as file:
        changed = json.load(file)
    changed["trajectory"][0]["observation"] = "1" * 1_000_000
    with open(path, "w") as file:
        json.dump(changed, file)
    again = fumehood.out / "again"
    child = fumehood.start(
        *("replay", "--compare", "--tasks-dir", TASKS, "--out", again, path), stdout=subprocess.PIPE
    )
    assert child.stdout.read(20).startswith(b"   1 different")
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=100) == 128 + signal.SIGINT
    assert list(again.glob("*/*.traj"))


def test_what_differs_each_time_is_put_aside(fumehood):
    actions = [
        "date; date -Is; sleep 5 & echo $!",
        "python3 -c 'print(object())'",
        "mkdir d; ls -ld d; ls -l",
        "time true",
        "nothing_of_this_name; ls --wrong",
        'echo "pid $$ of $(nproc)"',
    ]
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions(*actions))
    second = replay(fumehood, first["trajectory"])
    assert second["different"] == second["missing"] == 0


def test_the_record_of_a_run_that_was_left(fumehood):
    first = run(fumehood, "--task", "rows", "--model", fumehood.actions("ls", "exit_forfeit"))
    second = replay(fumehood, first["trajectory"])
    assert second["exit_status"] == first["exit_status"] == "exit_forfeit"
    by_folder = replay(fumehood, str(first["trajectory"]).rsplit("/", 1)[0])
    assert by_folder["steps"] == 2


def test_the_record_of_a_run_that_was_killed(fumehood):
    model = fumehood.actions("echo one", "cat /dev/zero | sleep 60")
    child = fumehood.start(*fumehood.run_words("--task", "rows", "--model", model))
    while '"event":"step"' not in "".join(p.read_text() for p in fumehood.out.glob("*/*.jsonl")):
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.wait()
    (folder,) = fumehood.out.iterdir()
    second = replay(fumehood, folder)
    assert second["steps"] == 1 and second["different"] == second["missing"] == 0
    assert not list(folder.glob("*.traj"))
    assert run(fumehood, "--task", "rows", "--model", f"replay:{folder}")["steps"] == 1


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ("network: host\n", "the network of this machine"),
        ("sandbox: {bind: [/etc/hostname]}\n", "files of this machine"),
    ],
)
def test_what_a_record_s_task_would_give(fumehood, keys, what):
    """A record may be untrusted, and the task that it names too."""
    tasks = fumehood.folder / "tasks"
    shutil.copytree(TASKS / "rows", tasks / "rows")
    task = tasks / "rows" / "task.yaml"
    task.write_text(task.read_text() + keys)
    words = ("--tasks-dir", tasks, "--out", fumehood.out)
    model = fumehood.actions("ls", "submit")
    done = fumehood("run", "--task", "rows", "--model", model, "--json", *words)
    path = json.loads(done.stdout)["trajectory"]
    refused = fumehood("replay", "--out", fumehood.out / "again", path, status=2)
    assert f"the record's task 'rows' gives its actions {what}" in refused.stderr
    assert f"To allow it, give --tasks-dir {tasks}\n" in refused.stderr
    assert not (fumehood.out / "again").exists()
    fumehood("replay", *words, path)


def test_an_agent_that_a_record_chose(fumehood, serve):  # noqa: F811
    """An agent that a record names may use files of its own folder alone, and no web sites."""
    own, private = fumehood.folder / "own", fumehood.folder / "_private"
    own.mkdir()
    private.write_text("hush")
    (own / "_helper").write_text("helps")
    agent = own / "mine.yaml"
    text = 'system_template: s\ntask_template: "{observation}"\ntools:\n'
    text += "  native: [literature_search]\n  command_files: [_helper]\n"
    agent.write_text(text)
    url = serve([act("cat ~/commands/_*; literature_search x"), act("submit")]).url + "/v1"
    fumehood.env["SEMANTIC_SCHOLAR_API_URL"] = url
    words = ("--task", "rows", "--model", "openai:m", "--url", url, "--api-key", "k")
    first = run(fumehood, *words, "--agent", agent, "--web-hosts", "none")
    folder = Path(first["trajectory"]).parent
    again = ("replay", "--json", "--tasks-dir", TASKS, "--out", fumehood.out / "again", folder)

    def played(*more):
        done = fumehood(*again, *more)
        path = Path(json.loads(done.stdout)["trajectory"])
        return done.stderr, path.read_text(), (path.parent / "args.yaml").read_text()

    args = folder / "args.yaml"
    kept = args.read_text()
    for hosts in ("papers", "evil.example"):
        args.write_text(kept.replace('web_hosts: "none"', f'web_hosts: "{hosts}"'))
        said, shown, asked = played()
        assert f"the run could reach --web-hosts {hosts}: " in said
        assert 'web_hosts: "none"' in asked and "helps" in shown
    own.chmod(0o777)
    said, shown, _ = played()
    assert "which an untrusted record chose" in said and "helps" not in shown
    own.chmod(0o755)
    args.unlink()
    assert "the run could reach --web-hosts papers: " in played()[0]
    assert 'web_hosts: "papers"' in played("--agent", agent)[2]
    (own / "_link").symlink_to(private)
    for named in (private, "../_private", "_link"):
        agent.write_text(text.replace("_helper]", f"{named}]"))
        said, shown, _ = played()
        assert "can't be used: " in said and f"To allow it, give --agent {agent}" in said
        assert "hush" not in shown
    assert "hush" in played("--agent", agent)[1]


def spoil(path, how, target):
    """Replaces a file of a record by a link, a FIFO or a folder."""
    path.unlink(missing_ok=True)
    if how == "link":
        path.symlink_to(target)
    elif how == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.mark.parametrize("how", ["link", "fifo", "folder"])
@pytest.mark.parametrize("name", ["events.jsonl", "memory.json", "args.yaml", "rows.traj"])
def test_a_record_s_files_are_files(fumehood, name, how):
    """A record's files can't be links, which could show other files of the user to actions."""
    private = fumehood.folder / "private"
    model = fumehood.actions("cat ~/memory.json", "submit")
    folder = Path(run(fumehood, "--task", "rows", "--model", model)["trajectory"]).parent
    shutil.copy(folder / name if (folder / name).exists() else folder / "rows.traj", private)
    if name == "rows.traj":
        (folder / "events.jsonl").unlink()
    spoil(folder / name, how, private)
    again = fumehood.folder / "again"
    words = ("replay", "--tasks-dir", TASKS, "--out", again, folder)
    # An unreadable args.yaml only gives a warning, because a replay does not depend on it.
    done = fumehood(*words, status=0 if name == "args.yaml" else None, timeout=None)
    assert (done.returncode != 0) == (name != "args.yaml")
    why = {"link": "symbolic link", "fifo": "not a regular file", "folder": "Is a directory"}[how]
    assert name in done.stderr and why in done.stderr
    if name == "memory.json":
        assert "texts" not in "".join(p.read_text() for p in again.glob("*/events.jsonl"))
    if name == "events.jsonl":
        assert why in fumehood("export", folder, status=None).stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "ends too early"), ('{"trajectory": 1}', "x.traj"), (None, "x.traj")],
)
def test_what_is_no_record(fumehood, text, message):
    path = fumehood.folder / "x.traj"
    if text is not None:
        path.write_text(text)
    assert message in fumehood("replay", path, status=2).stderr


# --- wrong replies of language models -------------------------------------------------------------


def replies(fumehood, *lines: str) -> str:
    path = fumehood.folder / "said.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return f"replay:{path}"


SAID = ["Look.\n```\nls\n```", "no action", "Done.\n```\ncp zeros.csv submission.csv\n```"]


@pytest.mark.parametrize("key", ["rows", "Rows"])
def test_replies_are_parsed_and_the_end_is_submitted(fumehood, key):
    model = replies(fumehood, json.dumps({"other": ["```\nexit 1\n```"]}), json.dumps({key: SAID}))
    done = run(fumehood, "--task", "rows", "--model", model)
    assert done["exit_status"] == "submitted" and done["best"] == {"accuracy": 0.5}
    steps = trajectory(done)["trajectory"]
    assert [s["action"].strip() for s in steps] == ["ls", "cp zeros.csv submission.csv", "submit"]
    assert [s["thought"].strip() for s in steps] == ["Look.", "Done.", ""]
    assert steps[0]["response"] == SAID[0]


def test_a_path_of_replies_as_mlgym_gives_it(fumehood):
    path = replies(fumehood, json.dumps({"rows": SAID})).removeprefix("replay:")
    done = run(fumehood, "--task", "rows", "--model_name", "replay", "--replay_path", path)
    assert done["exit_status"] == "submitted" and done["model"] == f"replay:{path}"
    done = fumehood.run("--task", "rows", "--replay_path", path, status=2)
    assert "--replay_path wants --model replay, not baseline" in done.stderr


def test_three_replies_without_an_action_end_it_as_they_did(fumehood):
    model = replies(fumehood, json.dumps({"any": ["a", "b", "c", SAID[0]]}))
    done = run(fumehood, "--task", "rows", "--model", model)
    assert done["exit_status"] == "submission_not_found (exit_format)" and done["steps"] == 1


@pytest.mark.parametrize(
    "lines,message",
    [
        ([], ": there is no line with replies"),
        (['{"rows": ["a"]}', "{"], ":2:2: "),
        (['["a"]'], ':1:1: expected {"TASK": ["a reply", ...]}, one task in a line'),
        (['{"rows": ["a"], "words": ["b"]}'], ":1:1: expected"),
        (['{"rows": "a"}'], ":1:1: expected"),
        (["", '{"rows": ["a", 7]}'], ":2:16: expected a reply: a string in double quotes"),
        (['{"a": []}', '{"b": []}'], ": none of its 2 lines is for the task 'rows'"),
    ],
)
def test_replies_that_can_not_be_read(fumehood, lines, message):
    model = replies(fumehood, *lines)
    done = fumehood.run("--task", "rows", "--model", model, status=2)
    assert f"said.jsonl{message}" in done.stderr and done.stderr.count("\n") == 1
    assert not fumehood.out.exists()
