# SPDX-License-Identifier: Apache-2.0
"""Reports of recorded runs."""

import contextlib
import csv
import fcntl
import json
import os
import pty
import re
import struct
import termios
import xml.etree.ElementTree as ET

import pytest
from conftest import TASKS


def tables(done) -> dict:
    return {t["id"]: t for t in json.loads(done.stdout)["tables"]}


def cells(table: dict) -> dict:
    return {row[0]: dict(zip(table["columns"][1:], row[1:], strict=True)) for row in table["rows"]}


def mlgym_run(
    folder, model: str, task: str, number: int, scores: list[float], base=1.0, key="Score"
):
    """Makes the folder of a run with MLGym's results.json alone."""
    run = folder / f"{model}__{task}__default__t-0.00__p-0.95__c-4.00__install-0_run_{number}"
    run.mkdir(parents=True)
    results = {"agent": [{key: s} for s in scores], "baseline": {key: base}}
    (run / "results.json").write_text(json.dumps(results))
    return run


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    mlgym_run(folder, "one", "blotto", 0, [1.5, 1.2])
    mlgym_run(folder, "one", "blotto", 1, [1.25])
    mlgym_run(folder, "two", "blotto", 0, [2.0])
    mlgym_run(folder, "two", "battleOfSexes", 0, [])
    mlgym_run(folder, "one", "battleOfSexes", 0, [1.0625])
    return folder


def test_scores_of_mlgym(fumehood, runs):
    found = tables(fumehood("report", runs, "--json"))
    assert cells(found["scores-attempt"])["blotto"] == {"baseline": 1.0, "one": 1.5, "two": 2.0}
    assert cells(found["scores-submission"])["blotto"]["one"] == 1.25
    assert cells(found["scores-attempt"])["battleOfSexes"]["two"] is None
    assert cells(found["ranks-attempt"])["blotto"] == {"1": "two", "2": "one", "3": "baseline"}
    # Half to even, as numpy rounds: 1.0625 to 1.062.
    text = fumehood("report", runs, "--format", "csv").stdout
    rows = {tuple(r[:3]): r[3] for r in csv.reader(text.splitlines())}
    assert rows["scores-attempt", "battleOfSexes", "one"] == "1.062"
    assert rows["errors", "two", "Without a score"] == "1"


def test_own_runs(fumehood, tmp_path):
    out = tmp_path / "out"
    script = tmp_path / "actions"
    script.write_text('"cp zeros.csv submission.csv"\n"false"\n"validate"\n"submit"\n')
    fumehood(
        "run", "--task", "rows", "--tasks-dir", TASKS, "--model", f"actions:{script}", "--out", out
    )
    found = tables(fumehood("report", out, "--json"))
    assert cells(found["scores-attempt"])["rows"]["baseline"] == 0.5
    (model,) = cells(found["errors"])
    errors = cells(found["errors"])[model]
    assert (errors["Failed commands"], errors["Incomplete"], errors["Integrity"]) == (1, 0, 0)
    assert cells(found["exit-statuses"])["submitted"][model] == 1
    kinds = cells(found["actions-by-model"])[model]
    assert (kinds["bash"], kinds["validate"], kinds["submit"]) == (2, 1, 1)


def test_time_of_grading(fumehood):
    """Time in commands, in grading and of replies that can't be parsed is told apart."""
    fumehood.run("--task", "rows", "--model", fumehood.actions("sleep 0.4; validate", "submit"))
    (row,) = tables(fumehood("report", fumehood.out, "--json"))["times"]["rows"]
    _, total, model, tools, grading, _ = row
    assert model is None and total >= tools + grading - 0.01
    text = fumehood("export", "--format", "steps", fumehood.out).stdout
    steps = [json.loads(line) for line in text.splitlines()]
    assert 0 < steps[0]["grading_s"] < steps[0]["duration_s"] - 0.4
    assert tools == pytest.approx(sum(s["duration_s"] - s["grading_s"] for s in steps), abs=0.05)
    assert grading == pytest.approx(sum(s["grading_s"] for s in steps), abs=0.05)


def test_runs_to_look_at(fumehood, tmp_path):
    """Runs with signs of tampering come first, then those that ended early. Others are left out."""
    opening = {"event": "open", "task": "t", "metric": "m", "model": "one", "baseline": {"m": 1}}
    for name, info, over in [
        ("fine", {}, True),
        ("killed", {}, False),
        ("cheat", {"integrity": "a frame was forged"}, True),
        ("helped", {}, True),
    ]:
        step = {"event": "step", "action": "validate", "info": {"score": {"m": 2}} | info}
        step |= {"by": "person"} if name == "helped" else {}
        end = {"event": "end", "exit_status": "submitted" if over else "early_exit", "over": over}
        (tmp_path / "runs" / name).mkdir(parents=True)
        text = "".join(json.dumps(e) + "\n" for e in (opening, step, end))
        (tmp_path / "runs" / name / "events.jsonl").write_text(text)
    text = fumehood("report", tmp_path / "runs").stdout
    table = text[text.index("Runs to look at") :]
    assert table.index("/cheat\n") < table.index("/helped\n") < table.index("/killed\n")
    assert f"... stands for {tmp_path}/runs\n" in table and "  .../cheat\n" in table
    assert "/fine" not in table and "--compare MODEL MODEL" in table
    (cheat, helped, killed) = tables(fumehood("report", tmp_path / "runs", "--json"))["troubles"][
        "rows"
    ]
    assert cheat[:4] == ["integrity 1", "t", "one", 2] and killed[0] == "early_exit"
    assert helped[0] == "helped by a person 1"


def test_damaged_records(fumehood, runs):
    """Each damaged record is named and left out. The others are reported."""
    for name, text in {
        "cut.traj": '{"environment": "m", "trajectory": [{"act',
        "list.traj": "[1, 2]",
        "deep.traj": "[" * 100000,
        "bytes.traj": "\x00\udcff",
    }.items():
        folder = runs / f"damaged-{name}"
        folder.mkdir()
        (folder / name).write_text(text, errors="surrogateescape")
    (runs / "events").mkdir()
    (runs / "events" / "events.jsonl").write_text('{"event":"step"}\n')
    done = fumehood("report", runs, "--json")
    assert done.stderr.count("a record is left out") == 5
    assert cells(tables(done)["scores-attempt"])["blotto"]["two"] == 2.0
    assert "5 records can't be read and are left out." in json.loads(done.stdout)["notes"]


def test_runs_of_damaged_records_count(fumehood, tmp_path):
    """A broken line, or a .traj that is cut, costs a run only the steps that can't be read."""
    opening = {"event": "open", "task": "t", "metric": "m", "model": "one", "baseline": {"m": 1}}
    step = {"event": "step", "action": "validate", "info": {"score": {"m": 2.0}}}
    folder = tmp_path / "runs" / "broken"
    folder.mkdir(parents=True)
    lines = [json.dumps(e).encode() for e in (opening, step, step, step)]
    lines[2] = lines[2].replace(b"validate", b"\xff")
    (folder / "events.jsonl").write_bytes(b"\n".join([*lines, b'{"event":"st']))
    trajs = {}
    said = {"state": "{}", "response": "", "thought": "", "action": "ls", "execution_time": 1.0}
    scored = said | {"observation": "Evaluation Score: {'Score': 1.5}"}
    info = {"exit_status": "submitted", "score": [{"Score": 1.5}] * 2}
    record = {"environment": "e", "trajectory": [scored] * 2, "history": [], "info": info}
    text = json.dumps(record, indent=2)
    for number, end in enumerate(["]", '"info"', '"score"']):
        run = mlgym_run(tmp_path / "runs", "two", "blotto", number, [1.5, 1.5])
        trajs[end] = run / "blotto.traj"
        trajs[end].write_text(text[: text.index(end) + 5])
    done = fumehood("report", tmp_path / "runs", "--json")
    column = lines[2].index(b"\xff") + 1
    assert f"damaged, the rest counts: {folder}/events.jsonl:3:{column}: not UTF-8" in done.stderr
    for path in trajs.values():
        assert f"damaged, the rest counts: {path}:" in done.stderr
    assert done.stderr.count("\n") == 4 and "left out" not in done.stderr
    found = tables(done)
    assert cells(found["costs"])["one"]["Steps"] == 3 and cells(found["costs"])["two"]["Steps"] == 6
    assert cells(found["scores-attempt"])["t"]["one"] == 2.0
    assert cells(found["scores-attempt"])["blotto"]["two"] == 1.5
    assert cells(found["actions-by-model"])["one"]["validate"] == 2
    assert [row[0].split(", ")[0] for row in found["troubles"]["rows"]] == ["damaged record"] * 4
    notes = json.loads(done.stdout)["notes"]
    assert notes[0].startswith("4 records are damaged.")
    # A program that wants whole runs gets none of these.
    done = fumehood("export", "--format", "steps", tmp_path / "runs", status=2)
    assert done.stderr.count("a record is left out") == 4


def test_mixed_versions_are_told(fumehood, tmp_path):
    for number, version in enumerate(["aa", "bb", "aa"]):
        folder = tmp_path / "runs" / str(number)
        folder.mkdir(parents=True)
        event = {"event": "open", "format": 1, "task": "t", "metric": "m", "maximize": True}
        event |= {"keys": 2, "data_seed": number, "task_hash": version}
        (folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    done = fumehood("report", tmp_path / "runs", "--json")
    (note,) = json.loads(done.stdout)["notes"]
    assert note.startswith("Runs of 1 of 1 tasks differ in more than the model")
    mixed = cells(tables(done)["mixed"])["t"]
    assert mixed["Version"] == "2 of aa, 1 of bb" and mixed["Data seed"] == "1 of 0, 1 of 1, 1 of 2"
    assert [name for name, value in mixed.items() if value] == ["Version", "Data seed"]
    text = fumehood("report", tmp_path / "runs").stdout
    assert re.search(r"^Task +Version +Data seed\nt +2 of aa, 1 of bb +1 of 0", text, re.M)
    done = fumehood("report", tmp_path / "runs", "--json", "--split")
    assert json.loads(done.stdout)["notes"] == [] and "mixed" not in tables(done)
    assert len(cells(tables(done)["scores-attempt"])) == 3


def test_unknown_metric_is_told(fumehood, tmp_path):
    mlgym_run(tmp_path / "runs", "m", "nobodysTask", 0, [3.0, 2.0], key="some_loss")
    done = fumehood("report", tmp_path / "runs", "--json")
    assert "its metric is guessed: some_loss, and less is better" in done.stdout
    assert cells(tables(done)["scores-attempt"])["nobodysTask"]["m"] == 2.0


def test_steps_of_a_policy(fumehood, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for step, score in ((0, 1.0), (0, 2.0), (1, 4.0)):
        name = f"blotto_pi{step}_{score}.json"
        (folder / name).write_text(json.dumps({"agent": [{"Score": score}], "baseline": {}}))
    found = tables(fumehood("report", folder, "--json"))
    rows = [["blotto", 0, 2, 1.5, 1.5, None], ["blotto", 1, 1, 4, 4, None]]
    assert found["policy-steps"]["rows"] == rows


@pytest.mark.parametrize(
    ("form", "begin"), [("text", "\nScores"), ("md", "# Report"), ("csv", "table,")]
)
def test_forms(fumehood, runs, tmp_path, form, begin):
    out = tmp_path / "report"
    fumehood("report", runs, "--format", form, "--out", out)
    assert begin in out.read_text()


def test_curves_of_a_terminal(fumehood, runs):
    """The profile of the best model is full from its beginning."""
    text = fumehood("report", runs, "--tasks", "blotto", "--tables", "profile-attempt").stdout
    curves = [line for line in text.splitlines() if line.startswith("two") and "\u2588" in line]
    assert curves and curves[0].split()[1] == 40 * "\u2588"


def test_choice_of_runs(fumehood, runs):
    """--task and --model may be repeated, and an unknown name is told."""
    args = ("report", "--json", runs)
    done = fumehood(*args, "--task", "blotto", "--model", "two", "--model", "one")
    assert tables(done)["scores-attempt"]["columns"] == ["Task", "baseline", "two", "one"]
    assert list(cells(tables(done)["scores-attempt"])) == ["blotto"]
    assert fumehood(*args, "--tasks", "blotto", "--models=two,one").stdout == done.stdout
    done = fumehood(*args, "--task", "blotto", "--task", "other")
    why = "no run is of the task 'other'; there are 'battleOfSexes', 'blotto'"
    assert any(why in note for note in json.loads(done.stdout)["notes"])
    assert why in fumehood(*args, "--task", "other", status=2).stderr
    assert "--model" in fumehood("report", "--help").stdout
    # A name stands for all of its agents.
    for agent in ("a", "b"):
        (runs / agent).mkdir()
        event = {"event": "open", "task": "t", "metric": "m", "model": "m", "agent_config": agent}
        (runs / agent / "events.jsonl").write_text(json.dumps(event) + "\n")
    found = tables(fumehood(*args, "--model", "m"))
    assert [row[0] for row in found["costs"]["rows"]] == ["m (a)", "m (b)"]
    found = tables(fumehood(*args, "--model", "m (b)"))
    assert [row[0] for row in found["costs"]["rows"]] == ["m (b)"]


def test_models_of_different_tasks(fumehood, runs):
    """A note says that means over tasks can't be compared, and for which tasks they can."""
    mlgym_run(runs, "one", "prisonersDilemma", 0, [2.0])
    notes = json.loads(fumehood("report", runs, "--json").stdout)["notes"]
    (note,) = [n for n in notes if "of all models" in n]
    assert "Only 2 of 3 tasks" in note
    assert note.endswith(": fumehood report --task battleOfSexes,blotto")
    args = (runs, "--json", "--tasks", "battleOfSexes,blotto")
    assert "of all models" not in fumehood("report", *args).stdout


def on_terminal(fumehood, columns: int, *args) -> str:
    """The text of a report on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    fumehood.env["PAGER"] = "cat"
    child = fumehood.start("report", *args, stdout=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # reading a closed terminal is an error
        while more := os.read(ours, 65536):
            shown += more
    os.close(ours)
    assert child.wait(300) == 0
    return re.sub(r"\x1b\[\d*m|\r", "", shown.decode())


def test_80_columns(fumehood, tmp_path):
    """No line is wider than the terminal, and no word or name is broken."""
    longest = "vllm:meta-llama-the-first/Llama-3.1-8B-Instruct-2024-07-18"
    models = ["openai:gpt-4o-mini-2024-07-18", "anthropic:claude-3-5-sonnet-20240620", longest]
    for number, model in enumerate(models):
        opening = {"event": "open", "task": "languageModelingFineWeb", "metric": "m"}
        opening |= {"model": model, "baseline": {"m": 1}, "data_seed": number}
        step = {"event": "step", "action": "validate", "info": {"score": {"m": 2 + number}}}
        end = {"event": "end", "exit_status": "submitted", "over": True}
        (tmp_path / str(number)).mkdir()
        text = "".join(json.dumps(e) + "\n" for e in (opening, step, end))
        (tmp_path / str(number) / "events.jsonl").write_text(text)
    args = ("--compare", *models[:2], "--tables", "all", tmp_path)
    text = on_terminal(fumehood, 80, *args)
    assert max(map(len, text.splitlines())) <= 80
    wide = on_terminal(fumehood, 400, *args)
    assert set(wide.split()) - {longest} <= set(text.split()) and "..." not in text
    # A longer name goes on in the next line, behind one of its signs.
    assert re.search(
        r"^vllm:meta-llama-the-first/Llama-3.1-8B- .*\nInstruct-2024-07-18$", text, re.M
    )
    # Each part of a table that is too wide names the rows in full.
    parts = re.split(r"\n\n", text[text.index("\nSpread over runs") :])[1:3]
    assert all(models[0] in part for part in parts)


def test_choice_of_tables(fumehood, runs):
    """Text has a few tables, without columns that are empty everywhere, and tells of the others."""
    text = fumehood("report", runs).stdout
    assert "Spread over runs" in text and "Performance profile" not in text
    assert "Low  High" not in text  # no model has eight runs
    assert "more tables: --tables all" in text and "long here" not in text
    # Models come first, by rank. Their numbers are those of other tables.
    found = tables(fumehood("report", runs, "--json"))
    models = cells(found["models"])
    assert list(found)[0] == "models" and list(models) == ["one", "two", "baseline"]
    assert models["one"]["AUP"] == cells(found["aup"])["one"]["Best AUP"]
    assert (models["two"]["Runs"], models["two"]["No score"]) == (2, 1)
    assert models["baseline"]["Mean rank"] and models["baseline"]["Runs"] is None
    whole = fumehood("report", runs, "--tables", "all").stdout
    assert "Performance profile" in whole and "more tables" not in whole
    found = tables(fumehood("report", runs, "--tables", "iqm,aup,iqm", "--json"))
    assert list(found) == ["iqm", "aup"]
    # A report of many models is a few screens long. It names its tables that are long.
    for number in range(12):
        for task in "blotto", "battleOfSexes":
            mlgym_run(runs, f"more{number}", task, 0, [])
    text = fumehood("report", runs).stdout
    assert "\nModels\n" in text and "\nScores, best@attempt\n" in text
    assert "Spread over runs" not in text and "--tables spread,costs,errors\n" in text
    assert "The 5 worst of 25 runs" in text and len(text.splitlines()) < 80
    assert "Spread over runs" in fumehood("report", runs, "--format", "md").stdout
    done = fumehood("report", runs, "--tables", "aup,nope", status=2)
    assert "no table 'nope'" in done.stderr and "scores-attempt" in done.stderr
    # A table that has nothing to tell is an answer too, and a note gives it.
    names = ["mixed", "over-cost", "policy-steps", "times"]
    args = ("report", runs, "--tables", ",".join(names))
    report = json.loads(fumehood(*args, "--json").stdout)
    told = ["Nothing is mixed", "no run tells its cost", "No run is of a policy"]
    told.append("No run tells its times")
    assert report["tables"] == []
    assert all(any(words in note for note in report["notes"]) for words in told)
    for form in "text", "md", "html":
        text = " ".join(fumehood(*args, "--format", form).stdout.split())
        assert all(words in text for words in told)
    assert fumehood(*args, "--format", "csv").stdout == "table,row,column,value\n"
    assert "--compare A B" in fumehood("report", runs, "--tables", "compare", status=2).stderr


def test_model_called_baseline(fumehood, tmp_path):
    """The model `baseline` and the baselines of tasks have different columns."""
    mlgym_run(tmp_path, "baseline", "blotto", 0, [1.25])
    found = tables(fumehood("report", tmp_path, "--json"))
    assert cells(found["scores-attempt"])["blotto"] == {"task's baseline": 1.0, "baseline": 1.25}


def test_score_over_steps(fumehood, tmp_path):
    """A short run has a row for each step, and no step twice."""
    script = tmp_path / "actions"
    script.write_text('"true"\n"true"\n"submit"\n')
    fumehood("run", "--task", "battleOfSexes", "--model", f"actions:{script}", "--out", tmp_path)
    mlgym_run(tmp_path, "better", "battleOfSexes", 0, [1.4])
    mlgym_run(tmp_path, "other", "blotto", 0, [2])
    args = ("report", tmp_path, "--task", "battleOfSexes", "--json")
    over = tables(fumehood(*args))["over-steps"]
    assert [row[0] for row in over["rows"]] == [1, 2, 3]
    assert "better" in over["columns"] and "other" not in over["columns"]


def test_no_run_beats_the_baseline(fumehood, tmp_path):
    """Tables of normalised scores would be empty: a note stands in their place."""
    mlgym_run(tmp_path, "one", "blotto", 0, [0.5], base=1.0)
    done = fumehood("report", tmp_path, "--json")
    assert not {"over-steps", "over-cost"} & set(tables(done))
    assert "No run beat its task's baseline" in done.stdout


def test_nothing_to_report(fumehood, tmp_path):
    done = fumehood("report", tmp_path, status=2)
    assert "no runs to report" in done.stderr
    assert "open folder" in fumehood("report", tmp_path / "none", status=2).stderr


def test_comparison(fumehood, tmp_path):
    """Over five tasks that A always wins, 2 of 32 choices of signs are as extreme."""
    folder = tmp_path / "runs"
    for task in (
        "blotto",
        "battleOfSexes",
        "prisonersDilemma",
        "rlMetaMazeMisc",
        "rlBreakoutMinAtar",
    ):
        key = "Reward Mean" if task.startswith("rl") else "Score"
        mlgym_run(folder, "a", task, 0, [3.0], key=key)
        mlgym_run(folder, "a", task, 1, [2.0], key=key)
        mlgym_run(folder, "b", task, 0, [1.5], key=key)
    found = tables(fumehood("report", folder, "--json", "--compare", "a,b"))
    assert [row[1] for row in found["compare-total"]["rows"]] == [1.0, 2 / 32]
    assert [row[5] for row in found["compare"]["rows"]] == [1.0] * 5
    # Five tasks are too few for a p-value below 0.05, and six are enough.
    assert (
        "differ on 5 tasks, so the p-value can't be below 0.0625." in found["compare-total"]["note"]
    )
    # Text and Markdown begin with the answer, and have little else.
    for form, begin in ("text", ""), ("md", "## "):
        text = fumehood("report", folder, "--format", form, "--compare", "a,b").stdout
        places = [
            text.index(f"\n{begin}{t}\n")
            for t in ("A = a, B = b: over all tasks", "A = a, B = b", "Models")
        ]
        assert places == sorted(places) and "Spread over runs" not in text
    args = ("report", folder, "--task", "blotto", "--compare", "a,b")
    assert "differ on 1 task, so the p-value can't be below 1." in fumehood(*args).stdout
    for model, score in ("a", 3.0), ("b", 2.0):
        mlgym_run(tmp_path / "sixth", model, "3SATTime", 0, [score], base=4.0, key="Time")
    args = ("report", folder, tmp_path / "sixth", "--json", "--compare", "a,b")
    assert "can't be below" not in tables(fumehood(*args))["compare-total"]["note"]
    assert found["iqm"]["rows"][0][1] == 0.75  # 3.0 gives 1, 2.0 gives 0.5
    # Two words name the models, before or after the folder.
    for words in (["--compare", "a", "b", folder], [folder, "--compare", "a", "b"]):
        assert tables(fumehood("report", "--json", *words))["compare"] == found["compare"]
    for words, why in [
        ([folder, "--compare", "a,c"], "no runs of a model 'c'; there are 'a', 'b'"),
        ([folder, "--compare", "a", "c"], "no runs of a model 'c'; there are 'a', 'b'"),
        ([folder, "--compare", "a"], "--compare needs two models: A B"),
        ([folder, "--compare", "a,b,a"], "--compare needs two models: A B"),
        (["--compare", "a", folder], f"DIR... is missing: '{folder}' belongs to --compare A B"),
        (["--compare", "a", folder, folder], f"no runs of a model '{folder}'"),
    ]:
        assert why in fumehood("report", *words, status=2).stderr


def test_spread_needs_eight_runs(fumehood, tmp_path):
    for number in range(8):
        mlgym_run(tmp_path / "runs", "many", "blotto", number, [2.0 + number])
    mlgym_run(tmp_path / "runs", "few", "blotto", 0, [3.0])
    found = tables(fumehood("report", tmp_path / "runs", "--json"))
    few, many = (
        dict(zip(found["spread"]["columns"], r, strict=True)) for r in found["spread"]["rows"]
    )
    assert (few["Values"], few["Low"]) == ("3.0", None)
    assert many["Values"] is None
    assert many["Mean"] == many["IQM"] == 5.5
    assert 2 < many["Low"] < 5.5 < many["High"] < 9


def test_html_is_closed(fumehood, tmp_path):
    """The file asks nobody for anything, and a record can't put tags into it."""
    folder = tmp_path / "runs" / "0"
    folder.mkdir(parents=True)
    bad = '<script>alert(1)</script>"\u202e'
    event = {
        "event": "open",
        "format": 1,
        "task": bad,
        "model": bad,
        "metric": "m",
        "baseline": {"m": 1},
    }
    step = {"event": "step", "action": "validate", "info": {"score": {"m": 2}}}
    end = {"event": "end", "exit_status": bad, "over": True}
    (folder / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in (event, step, end)))
    page = fumehood("report", folder.parent, "--format", "html").stdout
    assert "<script" not in page and "\u202e" not in page
    assert "&lt;script&gt;" in page and "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")
    # A spreadsheet runs no name as a formula, and numbers stay numbers.
    for number, name in enumerate(["=1+1", "-1+cmd|' /C calc'!A0"]):
        mlgym_run(folder.parent, name.replace("/", "-"), "blotto", number, [-2.5], base=-4.0)
    text = fumehood("report", folder.parent, "--format", "csv").stdout
    found = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert "'=1+1" in found and "'-1+cmd|' -C calc'!A0" in found and "-2.5" in found
    assert not any(cell[:2] in ("=1", "-1") for cell in found)
    assert page.count("<svg") == page.count("</svg>") >= 4
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
