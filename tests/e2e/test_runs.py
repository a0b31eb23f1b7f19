# SPDX-License-Identifier: Apache-2.0
"""Many runs: several models and tasks, --skip-existing, failed runs, and the spread of scores."""

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from conftest import ROOT, TASKS
from test_agent import act, serve  # noqa: F401

CHECKOUT = ROOT / "tests/fixtures/mlgym-root"


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
        "titanicSurvival:micro,battleOfSexes",
        "--model",
        "baseline,demo",
        "--runs",
        2,
        "--jobs",
        4,
    )
    assert [(r["task"], r["model"], r["seed"]) for r in found] == [
        (task, model, seed)
        for task in ("titanicSurvival", "battleOfSexes")
        for model in ("baseline", "demo")
        for seed in (0, 1)
    ]


def test_a_wrong_model_among_others_is_refused_before_anything_runs(fumehood):
    _, err = run(fumehood, "--task", "rows", "--model", "baseline,parrot", status=2)
    assert "no model 'parrot'" in err and not fumehood.out.exists()


def test_what_would_be_played_twice_is_refused(fumehood):
    _, err = run(fumehood, "--task", "rows", "--model", "baseline,demo,baseline", status=2)
    assert "--model: 'baseline' would be played twice" in err and not fumehood.out.exists()
    _, err = run(fumehood, "--task", "rows", "--task", "rows", "--model", "demo", status=2)
    assert "--task: 'rows' would be played twice" in err and not fumehood.out.exists()


@pytest.mark.once
def test_all_tasks(fumehood):
    found = results(fumehood, "--task", "all", "--model", "baseline")
    assert {"battleOfSexes", "titanicSurvival", "rows"} <= {r["task"] for r in found}


def played(found: list[dict]) -> list[dict]:
    return [r for r in found if "skipped" not in r]


def test_what_is_there_is_not_done_again(fumehood):
    args = ("--task", "titanicSurvival:micro", "--model", "baseline,demo", "--skip-existing")
    # Use a new state folder, so that the first run begins without generated data.
    fumehood.env["FUMEHOOD_STATE"] = str(fumehood.folder / "state")
    assert len(results(fumehood, *args, "--runs", 2)) == 4
    assert played(results(fumehood, *args, "--runs", 2)) == []
    more = results(fumehood, *args, "--runs", 3)
    assert [r["seed"] for r in more] == [0, 1, 2] * 2
    assert [(r["model"], r["seed"]) for r in played(more)] == [("baseline", 2), ("demo", 2)]
    shutil.rmtree(next(fumehood.out.glob("demo__*_run_1")))
    assert [r["model"] for r in played(results(fumehood, *args, "--runs", 3))] == ["demo"]
    assert len(results(fumehood, *args, "--suffix", "new", "--runs", 1)) == 2
    log = next(fumehood.out.glob("baseline__*__install-0_run_0")) / "events.jsonl"
    begun, end = log.read_text().rstrip("\n").rsplit("\n", 1)
    for last in ("", json.dumps(json.loads(end) | {"over": False}) + "\n"):
        log.write_text(f"{begun}\n{last}")
        again = played(results(fumehood, *args, "--runs", 3))
        assert [(r["model"], r["seed"]) for r in again] == [("baseline", 0)]
        shutil.rmtree(fumehood.out / max(p.name for p in fumehood.out.glob("baseline__*")))


def test_an_alias_is_the_task_itself(fumehood):
    args = ("--model", "baseline", "--skip-existing")
    (first,) = results(fumehood, "--task", "titanic:micro", *args)
    assert first["task"] == "titanicSurvival"
    assert "__titanicSurvival-micro__" in first["trajectory"]
    (again,) = results(fumehood, "--task", "titanicSurvival:micro", *args)
    assert again["skipped"] and again["trajectory"] == first["trajectory"]
    (again,) = results(fumehood, "--task", "titanic", "--variant", "micro", *args)
    assert again["skipped"]


def test_an_old_record_names_the_alias(fumehood):
    """A record from before the task got its new name can be replayed."""
    run(fumehood, "--task", "titanicSurvival:micro", "--model", "baseline")
    log = next(fumehood.out.glob("*/events.jsonl"))
    text = log.read_text().replace('"task":"titanicSurvival"', '"task":"titanic"')
    assert '"task":"titanic"' in text
    log.write_text(text)
    fumehood("replay", "--compare", "--out", fumehood.out / "again", log)


def test_what_is_there_is_told(fumehood):
    args = ("--task", "titanicSurvival:micro", "--model", "baseline,demo", "--runs", 2)
    first = results(fumehood, *args)
    told = results(fumehood, *args, "--skip-existing")
    assert [r.pop("skipped") for r in told] == [True] * 4
    for r in first + told:
        assert 0 < r.pop("seconds") < 300
    assert told == first
    table = run(fumehood, *args, "--skip-existing")[0]
    shutil.rmtree(Path(first[3]["trajectory"]).parent)
    some = run(fumehood, *args, "--skip-existing", "-v")
    assert "3 of 4 runs are there already\n" in some[1]
    assert some[1].count("#0, baseline: there already: submitted after") == 1
    for out in (table, some[0]):
        # Expect a row for each of 4 runs, and 2 rows with their spread.
        assert out.count("\ntitanicSurvival:micro  ") == 4 + 2
    all_there = run(fumehood, *args, "--skip-existing")
    assert "all 4 runs are there already\n" in all_there[1]
    quiet = run(fumehood, *args, "--skip-existing", "-q")
    assert quiet[1] == "" and quiet[0] in all_there[0]


AGENT = 'system_template: {}\ntask_template: "{{observation}}"\n'


def test_what_was_asked_for_otherwise_is_another_run(fumehood, serve):  # noqa: F811
    for name in "ab":
        (fumehood.folder / name).mkdir()
        (fumehood.folder / name / "mine.yaml").write_text(AGENT.format(name))
    url = ("--url", serve([act("submit")]).url + "/v1", "--api-key", "k")
    args = ("--task", "rows", "--model", "openai:m", "--skip-existing", *url)
    again = ("--agent", fumehood.folder / "a" / "mine.yaml", "-t", 0.001, "--max-tokens", 99)
    for more in (
        again,
        (*again, "--agent", fumehood.folder / "b" / "mine.yaml"),
        (*again, "-t", 0.002),
        (*again, "--top-p", 0.951),
        (*again, "--max-steps", 3),
        (*again, "--max-tokens", 98),
        (*again, "--stop", "END"),
        (*again, "--completion-kwargs", '{"a": "k"}'),
        (*again, "--reward", "none"),
        (*again, "--judge-salt", 7),
        (*again, "--judge-salt", 8),
        (*again, "--bind", f"{fumehood.folder}:/shown"),
        (*again, "--suffix", "new"),
    ):
        for times in (1, 0):
            assert len(played(results(fumehood, *args, *more))) == times, (more, times)
    elsewhere = ("--url", serve([act("submit")]).url + "/v1", "--stream")
    assert played(results(fumehood, *args, *again, *elsewhere)) == []
    shutil.copytree(TASKS / "rows", fumehood.folder / "tasks" / "rows")
    copied = (*again, "--tasks-dir", fumehood.folder / "tasks")
    assert played(results(fumehood, *args, *copied)) == []
    (fumehood.folder / "tasks" / "rows" / "task.yaml").open("a").write("# changed\n")
    assert len(played(results(fumehood, *args, *copied))) == 1
    (fumehood.folder / "a" / "mine.yaml").write_text(AGENT.format("new"))
    assert len(played(results(fumehood, *args, *again))) == 1


def test_what_was_asked_for_in_other_words_is_the_same_run(fumehood):
    """The first spelling is played, the others exist already. Another file is another run."""
    for folder in ("", "sub", "a/configs", "b/configs"):
        (fumehood.folder / folder).mkdir(parents=True, exist_ok=True)
        (fumehood.folder / folder / "v.jsonl").write_text('"ls"\n')
        (fumehood.folder / folder / "aliases.sh").write_text("alias two=ls\n")
    for folder in ("a", "b"):
        shutil.copytree(CHECKOUT, fumehood.folder / folder, dirs_exist_ok=True)
        (fumehood.folder / folder / "aliases.sh").write_text("alias two=ls\n")
    here = fumehood.folder
    (here / "c").symlink_to("b")
    aliases = ("--task", "coin", "--aliases-file")
    rows = ("--task", "rows", "--model")
    for same, another in [
        (
            [
                (*rows, f"actions:{path}")
                for path in ("v.jsonl", here / "v.jsonl", "sub/../v.jsonl")
            ],
            (*rows, "actions:sub/v.jsonl"),
        ),
        (
            [(*aliases, here / x / "aliases.sh", "--mlgym-root", x) for x in ("a", "b", "c")],
            (*aliases, "b/configs/aliases.sh", "--mlgym-root", "b"),
        ),
    ]:
        times = [len(played(results(fumehood, "--skip-existing", *x))) for x in (*same, another)]
        assert times == [1] + [0] * (len(same) - 1) + [1], another


# For each case: hashes of task and agent to change in a record's first event. Then those to change
# in each event of a resume, and whether --skip-existing skips the run.
HASHES = [
    ("an older build's", {"task_hash": None, "agent_hash": None}, [], True),
    ("another task", {"task_hash": "0"}, [], False),
    ("another agent", {"agent_hash": "0"}, [], False),
    ("went on", {}, [{}, {}], True),
    ("went on by an older build", {}, [{"task_hash": None, "agent_hash": None}], True),
    ("went on with another task", {}, [{"task_hash": "0"}], False),
    ("went on with another agent, and back", {}, [{"agent_hash": "0"}, {}], False),
]


def test_files_of_records(fumehood, serve):  # noqa: F811
    url = ("--url", serve([act("submit")]).url + "/v1", "--api-key", "k")
    kwargs = ("--completion-kwargs", '{"a": {"b": 1, "c": 2}, "d": 3}')
    other = ("--completion-kwargs", '{"d": 3, "a": {"c": 2, "b": 1}}')
    args = ("--task", "rows", "--model", "openai:m", *url)
    (first,) = results(fumehood, *args, *kwargs)
    folder = Path(first["trajectory"]).parent
    log, asked = folder / "events.jsonl", folder / "args.yaml"
    opened, *rest, end = log.read_text().splitlines()
    hashes = {key: json.loads(opened)[key] for key in ("task_hash", "agent_hash")}
    assert all(hashes.values())
    for what, change, resumed, same in HASHES:
        events = [{"event": "resumed", "steps": 0} | hashes | more for more in resumed]
        lines = [json.dumps(json.loads(opened) | change), *rest]
        lines += [json.dumps(event, separators=(",", ":")) for event in events]
        log.write_text("\n".join([*lines, end, ""]))
        (again,) = results(fumehood, *args, *other, "--skip-existing")
        assert ("skipped" in again) == same, what
        if not same:
            shutil.rmtree(Path(again["trajectory"]).parent)
    log.write_text("\n".join([opened, *rest, end, ""]))
    # Change args.yaml to what an older build wrote.
    asked.write_text(re.sub("  web_hosts:.*\n", "", asked.read_text()))
    assert not played(results(fumehood, *args, *other, "--skip-existing"))


def test_agents_of_one_name_are_told_apart(fumehood, serve):  # noqa: F811
    for name in ("x/a", "x/b", "y/b"):
        (fumehood.folder / name).mkdir(parents=True)
        (fumehood.folder / name / "mine.yaml").write_text(AGENT.format(name))
    file = fumehood.folder / "sweep.yaml"
    agents = ("x/a/mine.yaml", "x/b/mine.yaml", "y/b/mine.yaml", "default")
    names = ["a/mine", "x/b/mine", "y/b/mine", "default"]
    file.write_text(f"tasks: [rows]\nmodels: ['openai:m']\nagents: [{', '.join(agents)}]\n")
    args = ("--sweep", file, "--url", serve([act("submit")]).url + "/v1", "--api-key", "k")
    out, err = run(fumehood, *args)
    for name in names:
        assert f"openai:m ({name})  " in out and f"openai:m ({name}, t 0)  " in out
        assert f", openai:m ({name}): begun\n" in err
    again = results(fumehood, *args, "--skip-existing")
    assert [r["agent"] for r in again] == names and not played(again)


@pytest.fixture
def broken(fumehood):
    """A folder with a task whose baseline fails, so that its episodes fail."""
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
    out, _ = run(fumehood, "--task", "titanicSurvival:micro", "--model", "baseline", "--runs", 3)
    (line,) = [
        line.split() for line in out.splitlines() if line.startswith("titanicSurvival:micro  b")
    ]
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
    out, err = run(fumehood, *args, "--seed", 0, "--runs", 1)
    for who in (
        "baseline",
        *(f"openai:m ({a}, t {t})" for a in ("default", "memory") for t in (0, 0.5)),
    ):
        assert f"\nrows  {who} " in out
        assert f", {who}: begun\n" in err and f", {who}: subm" in err
    more = results(fumehood, *args, "--model", "baseline", "--runs", 3, "--skip-existing")
    assert [r["seed"] for r in more] == [3, 4, 5, 10, 11, 12]
    assert [r["seed"] for r in played(more)] == [5, 12]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tasks: []", "'tasks' is empty"),
        ("models: [demo]", "tasks"),
        ("tasks: [rows, nosuch]", "sweep.yaml:1:15: no task 'nosuch'"),
        ("tasks: ['rows:x']", "sweep.yaml:1:9: task 'rows' has no variant 'x'"),
        (f"tasks: [rows]\nseeds: [{2**63}]", f"2:9: '{2**63}' is not a seed"),
        ("tasks: [rows]\nseeds: [1, -2]", "2:12: '-2' is not a seed"),
        ("tasks: [rows]\nseeds: [7, 2, 7]", "2:8: seeds 7 and 7 with runs: 1 play seed 7 twice"),
        (
            "tasks: [rows]\nseeds: [2, 1]\nruns: 2",
            "2:8: seeds 1 and 2 with runs: 2 play seed 2 twice",
        ),
        ("tasks: [rows]\ntemperatures: [hot]", "'hot' is not a temperature"),
        ("tasks: [rows]\nmodel: [demo]", "models"),
        ("tasks: [rows]\nmodels: []", "2:9: 'models' is empty"),
        ("tasks: [rows, words, rows]", "sweep.yaml:1:22: 'rows' would be played twice"),
        ("tasks: [rows]\nmodels: [demo, demo]", "2:16: 'demo' would be played twice"),
        ("tasks: [rows]\nagents: [a, b, a]", "2:16: 'a' would be played twice"),
        ("tasks: [rows]\ntemperatures: [0, 0.5, 0.50]", "2:24: '0.50' would be played twice"),
        ("tasks: [rows, ./rows]", "1:15: './rows' would be played twice"),
        ("tasks: ['rows:x', './rows:x']", "1:19: './rows:x' would be played twice"),
        ("tasks: [rows]\nagents: [a.yaml, ./a.yaml]", "2:18: './a.yaml' would be played twice"),
        (
            "tasks: [rows]\nmodels: ['actions:v.jsonl', 'actions:./v.jsonl']",
            "2:29: 'actions:./v.jsonl' would be played twice",
        ),
    ],
)
def test_a_wrong_file_is_refused(fumehood, text, why):
    folder = fumehood.folder / "sweeps"
    folder.mkdir()
    (folder / "rows").symlink_to(TASKS / "rows")
    (folder / "a.yaml").write_text(AGENT.format("a"))
    (folder / "v.jsonl").write_text('"ls"\n')
    (folder / "sweep.yaml").write_text(text)
    assert why in run(fumehood, "--sweep", "sweeps/sweep.yaml", status=2)[1]


def test_paths_in_a_file_begin_where_it_lies(fumehood, serve):  # noqa: F811
    folder = fumehood.folder / "of" / "mine"
    shutil.copytree(TASKS / "rows", folder.parent / "rows")
    (folder / "agents").mkdir(parents=True)
    (folder / "agents" / "a.yaml").write_text(AGENT.format("a"))
    (folder / "b.yaml").write_text(AGENT.format("b"))
    (folder / "played.jsonl").write_text('"ls"\n')
    (folder / "sweep.yaml").write_text(
        "tasks: [../rows]\nmodels: [actions:played.jsonl, openai:m]\nagents: [agents/a.yaml, b.yaml]\n"
    )
    server = serve([act("submit")])
    url = ("--url", server.url + "/v1", "--api-key", "k")
    found = results(fumehood, "--sweep", Path("of", "mine", "sweep.yaml"), *url)
    assert [r.get("agent") for r in found] == [None, "a", "b"]
    assert found[0]["steps"] == 2 and found[0]["model"] == "actions:of/mine/played.jsonl"
    assert [a["body"]["messages"][0]["content"] for a in server.asked()] == ["a", "b"]
    shutil.move(folder / "sweep.yaml", fumehood.folder)
    assert "1:9: find task '../rows'" in run(fumehood, "--sweep", "sweep.yaml", status=2)[1]
    args = ("--sweep", "sweep.yaml", "--task", folder.parent / "rows")
    assert "'agents/a.yaml'" in run(fumehood, *args, status=2)[1]


def test_paths_of_a_checkout_in_a_file(fumehood, serve):  # noqa: F811
    (fumehood.folder / "sweeps" / "own").mkdir(parents=True)
    file = fumehood.folder / "sweeps" / "m.yaml"
    file.write_text(
        "tasks: [tasks/rows.yaml, tasks/coin.yaml]\n"
        "models: [baseline, openai:m]\nagents: [configs/agents/tiny.yaml, own/b.yaml]\n"
    )
    (file.parent / "own" / "b.yaml").write_text(AGENT.format("b"))
    url = ("--url", serve([act("submit")]).url + "/v1", "--api-key", "k")
    found = results(fumehood, "--sweep", file, "--mlgym-root", CHECKOUT, *url)
    tasks = ("tasks/rows.yaml", "tasks/coin.yaml")
    assert [(r["task"], r.get("agent")) for r in found] == [
        (task, agent) for task in tasks for agent in (None, "tiny", "b")
    ]
    args = ("--sweep", file, "--task", "rows", *url)
    assert "configs/agents/tiny.yaml" in run(fumehood, *args, status=2)[1]


def on_terminal(fumehood, lines: int, *args) -> str:
    """Standard error of a run, on a terminal with this number of lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", lines, 90, 0, 0))
    child = fumehood.start(*fumehood.run_words(*args), stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # reading a closed terminal is an error
        while more := os.read(ours, 65536):
            shown += more
    os.close(ours)
    assert child.wait(300) == 0
    return shown.decode()


def test_more_episodes_than_lines(fumehood):
    slow = fumehood.actions("sleep 5")  # long enough for all to sleep at the same time
    shown = on_terminal(fumehood, 6, "--task", "rows", "--model", slow, "-n", "8", "-j", "8")
    frames = [frame for frame in re.split(r"\x1b\[J", shown) if "sleep" in frame]
    # Expect three episodes, a count and the cursor's line: more would not fit on the screen and
    # scroll away.
    assert max(frame.count("sleep 5") for frame in frames) == 3
    assert any("and 5 more; 0 of 8 ended" in frame for frame in frames)
    assert max(int(n) for n in re.findall(r"\x1b\[(\d+)A", shown)) <= 5
    assert shown.rstrip().count("submission_not_found") == 8


def test_several_models_are_told_apart(fumehood):
    slow = fumehood.actions("sleep 1")
    shown = on_terminal(fumehood, 24, "--task", "rows", "--model", f"baseline,{slow}", "-j", "2")
    assert re.search(r"rows #\d   actions:\S+ +1/6 ", shown)


def test_a_suffix_tells_no_key(fumehood):
    words = ("--task", "rows", "--model", "openai:m", "--api-key", "sk-not-to-be-told")
    refused = fumehood.run(*words, "--suffix", "a-sk-not-to-be-told", status=2)
    assert "--suffix contains the API key of openai:m" in refused.stderr
    assert not fumehood.out.exists()
