# SPDX-License-Identifier: Apache-2.0
"""Reports: which records count, what the index keeps, and scores that are outliers."""

import contextlib
import itertools
import json
import re
import shutil
import sqlite3

import pytest
from test_agent import act, serve  # noqa: F401
from test_report import cells, mlgym_run, tables
from test_report import runs as runs  # a fixture


def test_folders_that_overlap(fumehood, runs):
    """A record counts once, also in a folder that has two names."""
    once = tables(fumehood("report", runs, "--json"))
    (inner,) = runs.glob("two__blotto__*")
    assert tables(fumehood("report", runs, inner, runs.parent, "--json")) == once
    (runs.parent / "link").symlink_to(runs)
    done = fumehood("report", runs, runs.parent / "link", f"{inner}/", runs, "--json")
    assert tables(done) == once
    assert done.stderr.count(f"is left out, because '{runs}' has its runs too") == 3
    hidden = runs / ".hidden"
    mlgym_run(hidden, "three", "blotto", 0, [3.0])
    found = tables(fumehood("report", runs, hidden, "--json"))
    assert [row[0] for row in found["costs"]["rows"]] == ["one", "three", "two"]


def test_outliers_do_not_flatten_pictures(fumehood, tmp_path):
    """They lie outside, with a mark at the edge and a sentence. Tables have them."""
    for number, (model, first, dollars) in enumerate(
        [("low", -50, 1), ("fine", 0.5, 2), ("dear", 1.5, 90)]
    ):
        events = [{"event": "open", "task": "t", "metric": "m", "model": model}]
        events[0]["baseline"] = {"m": 1}
        for step, score in enumerate([first, first, 2 + number]):
            events.append(
                {"event": "spent", "model_stats": {"task_cost": dollars * (step + 1) / 3}}
            )
            events.append({"event": "step", "action": "validate", "info": {"score": {"m": score}}})
        (tmp_path / model).mkdir()
        text = "".join(json.dumps(e) + "\n" for e in events)
        (tmp_path / model / "events.jsonl").write_text(text)
    args = (tmp_path, "--tables", "iqm,over-steps,over-cost")
    text = fumehood("report", *args).stdout
    below = "2 of 9 points or their bands reach below the picture, down to -17."
    steps = text[text.index("Score over steps") : text.index("Score over cost")]
    assert below in " ".join(steps.split())
    curves = dict(re.findall("^([a-z]+) +([\u2581-\u2588\u2193]{40})$", steps, re.M))
    # The scores of `fine` are below the baseline, -1/6 in all, and so the lowest of the picture.
    assert curves["low"][:26] == 26 * "\u2193" and curves["fine"][:26] == 26 * "\u2581"
    found = tables(fumehood("report", *args, "--json"))
    # A curve may fall: before its first score a run is at 0, and `fine` begins below the baseline.
    assert found["over-cost"]["rows"][0][2] == 0 > min(row[2] for row in found["over-cost"]["rows"])
    for table in "over-steps", "over-cost":
        assert "so a curve falls where first scores are worse" in found[table]["note"]
    assert found["over-cost"]["rows"][-1] == pytest.approx([90, 1, 2 / 3, 1 / 3])
    page = fumehood("report", *args, "--format", "html").stdout
    assert below in page and "1 of 3 points lie right of the picture; the furthest is at 90" in page
    iqm, steps, cost = re.findall("<svg.*?</svg>", page, re.S)
    marks = [part.count('class="outside"') for part in (iqm, steps, cost)]
    assert marks[:2] == [1, 2] and marks[2] > 3
    assert ">90<" not in iqm + cost  # no tick
    # Ticks are 1, 2 or 5 times a power of ten apart, and each axis has some.
    for picture in (iqm, steps, cost):
        for end in "middle", "end":  # x axis, y axis
            found = re.findall(f'class="tick".* text-anchor="{end}">(.*)</text>', picture)
            ticks = [float(tick) for tick in found]
            apart = {f"{b - a:.0e}" for a, b in itertools.pairwise(ticks)}
            assert 3 <= len(ticks) <= 9 and len(apart) == 1 and apart.pop()[0] in "125"


def test_index_follows_the_folder(fumehood, runs):
    fumehood("report", runs)
    (index,) = runs.glob(".fumehood-index-*.sqlite")
    run = mlgym_run(runs, "two", "blotto", 7, [9.0])
    found = tables(fumehood("report", runs, "--json"))
    assert cells(found["scores-attempt"])["blotto"]["two"] == 9.0
    # An index of another version of the program is made anew. So are the texts that it keeps.
    for version in None, 7, 1, 0:  # None: this version, whose numbers are taken
        with contextlib.closing(sqlite3.connect(index)) as db, db:
            db.execute("UPDATE runs SET best = 50, last = 50 WHERE model = 'two'")
            db.execute("REPLACE INTO kept VALUES('old', 'old')")
            if version is not None:
                db.execute(f"PRAGMA user_version = {version}")
        found = tables(fumehood("report", runs, "--json"))
        is_same = version is None
        assert cells(found["scores-attempt"])["blotto"]["two"] == (50.0 if is_same else 9.0)
        with contextlib.closing(sqlite3.connect(index)) as db:
            assert bool(db.execute("SELECT * FROM kept").fetchall()) == is_same
    shutil.rmtree(run)
    index.write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)
    found = tables(fumehood("report", runs, "--json"))
    assert cells(found["scores-attempt"])["blotto"]["two"] == 2.0


def test_an_outlier_does_not_decide_the_shades(fumehood, tmp_path):
    scores = [-1e9, 1.0, 2.0, 3.0, 4.0]
    for i, score in enumerate(scores):
        mlgym_run(tmp_path / "runs", f"m{i}", "blotto", 0, [score], base=2.5)
    page = fumehood("report", tmp_path / "runs", "--format", "html").stdout
    heat = re.search('<svg[^>]*aria-label="Scores, best@attempt".*?</svg>', page, re.S)[0]
    shades = [float(shade) for shade in re.findall(r'class="heat" .*?fill-opacity="(.*?)"', heat)]
    # The baseline of 2.5 is first. The outlier is as light as the worst of the others.
    assert shades == [0.5, 0, 0, 0.33, 0.67, 1]


def test_damaged_episodes_of_a_policy_count(fumehood, tmp_path):
    """An episode that was cut, or has a broken turn, counts with the turns that can be read."""
    turns = [{"action": "validate", "score": {"Score": score}} for score in (3.0, 2.0, 9.0)]
    episode = {"task": "blotto", "example_id": 4, "policy_step": 7, "trajectory": turns}
    metrics = {"baseline_score": 1.0, "final_score": 2.0, "validation_history": [2.0]}
    episode |= {"metrics": metrics, "info": {"exit_status": "submitted"}}
    text = json.dumps(episode, indent=1)
    for name, data in {
        "cut": text[: text.index("9.0")],
        "ends": text[: text.index('"info"')],
        "broken": text.replace("3.0", "3.0.0"),
        "whole": text,
        "early": text[: text.index('"trajectory"')],
    }.items():
        (tmp_path / f"blotto_pi7_{name}.json").write_text(data)
    done = fumehood("report", tmp_path, "--json")
    assert done.stderr.count("damaged, the rest counts: ") == 3
    assert done.stderr.count("a record is left out: ") == 1
    found = tables(done)
    costs = dict(zip(found["costs"]["columns"], found["costs"]["rows"][0], strict=True))
    assert (costs["Runs"], costs["Steps"]) == (4, 2 + 3 * 3)
    # The cut one has the scores of its turns, the others those of their metrics.
    assert found["policy-steps"]["rows"] == [["blotto", 7, 4, (3 + 3 * 2) / 4, 2, None]]
    damaged = {row[4].split("_")[-1] for row in found["troubles"]["rows"] if "damaged" in row[0]}
    assert damaged == {"cut.json", "ends.json", "broken.json"}
    notes = json.loads(done.stdout)["notes"]
    assert any(note.startswith("3 records are damaged.") for note in notes)
    # Rewards have a column. Text has all steps of a training, though they are many.
    for step in range(30):
        for reward in 0.5, -2.0 * step:
            more = json.dumps(episode | {"policy_step": step + 10, "reward": reward})
            (tmp_path / f"blotto_pi{step + 10}_{reward}.json").write_text(more)
    rows = tables(fumehood("report", tmp_path, "--json"))["policy-steps"]["rows"]
    assert [row[5] for row in rows] == [None] + [0.25 - step for step in range(30)]
    text = fumehood("report", tmp_path).stdout
    assert re.search(r"^blotto +39 .* -28\.75", text, re.M) and "Mean reward" in text


def test_export_of_a_policy(fumehood, tmp_path):
    """An episode of a policy is exported with its turns, but not if it is damaged."""
    asked = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    turn = {"action": "ls", "reward": 0.5, "exit_code": 2, "outcome": "ok", "duration_s": 1.5}
    turns = [
        turn | {"completion": "one", "observation": "1", "score": None},
        turn | {"completion": "two", "observation": "2", "score": {"Score": 2.5}},
        turn | {"completion": "three", "observation": "3", "score": 3.5},
        {},
    ]
    episode = {"task": "blotto", "policy_step": 7, "trajectory": turns}
    episode |= {"metrics": {"baseline_score": 1.0}, "info": {"prompt": asked}}
    text = json.dumps(episode)
    (tmp_path / "blotto_pi7_a.json").write_text(text)
    (tmp_path / "blotto_pi7_b.json").write_text(text[: text.index("3.5")])
    done = fumehood("export", "--format", "steps", tmp_path)
    assert done.stderr.count("\n") == 1 and "blotto_pi7_b.json" in done.stderr
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert [step["response"] for step in steps] == ["one", "two", "three", None]
    assert [step["score"] for step in steps] == [None, 2.5, 3.5, None]
    assert [step["best"] for step in steps] == [None, 2.5, 3.5, 3.5]
    got = [steps[0][key] for key in ("policy_step", "reward", "exit_code", "duration_s", "kind")]
    assert got == [7, 0.5, 2, 1.5, "bash"]
    (chat,) = fumehood("export", "--format", "chat", tmp_path).stdout.splitlines()
    said = [(m["role"], m["content"]) for m in json.loads(chat)["messages"]]
    assert said[:3] == [("system", "s"), ("user", "u"), ("assistant", "one")]
    assert said[3:7] == [("user", "1"), ("assistant", "two"), ("user", "2"), ("assistant", "three")]
    assert said[7:] == [("user", "3"), ("assistant", "")]  # the empty turn
    fumehood("export", "--format", "inspect", "--out", tmp_path / "logs", tmp_path)


def test_scores_that_observations_tell(fumehood, tmp_path):
    """They count if a cut .traj has no others, but not those that an agent may have printed."""
    said = {"state": "{}", "response": "", "thought": "", "execution_time": 1.0}
    told = "Baseline Score: {{'Score': 1.0}}\nEvaluation Score: {{'x': nan, 'Score': {}}}"
    steps = [
        ("validate", told.format(1.5)),
        ("python3 cheat.py", told.format(99.0)),
        ("cat x && validate", told.format(98.0)),
        ("validate\n", "Evaluation Score: {'Score': 97.0}\n" + told.format(1.25)),
    ]
    trajectory = [said | {"action": a, "observation": o} for a, o in steps]
    record = {"environment": "e", "trajectory": trajectory, "history": [], "info": {}}
    text = json.dumps(record, indent=2)
    names = ["blotto", "nobodysTask"]
    for name in names:
        run = tmp_path / "runs" / f"m__{name}__default__run_0"
        run.mkdir(parents=True)
        (run / f"{name}.traj").write_text(text[: text.index('"history"')])
    done = fumehood("report", tmp_path / "runs", "--json")
    found = tables(done)
    assert cells(found["scores-attempt"])["blotto"] == {"baseline": 1.0, "m": 1.5}
    assert cells(found["scores-submission"])["blotto"]["m"] == 1.25
    assert [row[0].split(", ")[:2] for row in found["troubles"]["rows"]] == [
        ["damaged record", "scores read from observations 2"]
    ] * 2
    notes = " ".join(json.loads(done.stdout)["notes"])
    assert "Scores of 2 damaged records were read from observations" in notes
    assert "nobodysTask: no task of this name is known, so its metric is guessed: Score" in notes
    # Scores of the record itself come before those.
    (run / "results.json").write_text('{"agent": [{"Score": 5}], "baseline": {"Score": 4}}')
    found = tables(fumehood("report", tmp_path / "runs", "--json"))
    assert cells(found["scores-attempt"])["nobodysTask"] == {"baseline": 4.0, "m": 5.0}


def test_unknown_costs_of_steps(fumehood, tmp_path):
    """A .traj tells the cost of a run, but not of its steps, so no curve over cost has it."""
    shown = "Baseline Score: {'Score': 1.0}\nEvaluation Score: {'Score': 2.0}"
    step = {"action": "validate", "observation": shown, "state": "{}", "response": ""}
    step |= {"thought": "", "execution_time": 1.0}
    info = {"exit_status": "submitted", "model_stats": {"task_cost": 4.5}}
    info["score"] = [{"Score": 2.0}]
    record = {"environment": "e", "trajectory": [step], "history": [], "info": info}
    run = mlgym_run(tmp_path / "runs", "m", "blotto", 0, [2.0])
    (run / "blotto.traj").write_text(json.dumps(record))
    args = ("report", tmp_path / "runs")
    found = tables(fumehood(*args, "--json"))
    assert found["over-steps"]["rows"] == [[1, 1]] and found["over-cost"]["rows"] == []
    for form in "text", "md", "html":
        text = fumehood(*args, "--tables", "over-cost", "--format", form).stdout
        assert "Left out are 1 of 1 runs" in " ".join(text.split()) and "<svg" not in text
    assert fumehood(*args, "--tables", "over-cost").stdout.endswith("don't.\n")
    events = [
        {"event": "open", "task": "blotto", "metric": "Score", "model": "own"},
        {"event": "spent", "model_stats": {"task_cost": 0.5}},
        {"event": "step", "action": "validate", "info": {"score": {"Score": 1.5}}},
    ]
    events[0]["baseline"] = {"Score": 1.0}
    (tmp_path / "runs" / "own").mkdir()
    text = "".join(json.dumps(e) + "\n" for e in events)
    (tmp_path / "runs" / "own" / "events.jsonl").write_text(text)
    over = tables(fumehood(*args, "--json"))["over-cost"]
    assert over["rows"][-1] == [0.5, None, 0.5] and over["columns"] == ["$", "m", "own"]
    assert "Left out are 1 of 2 runs" in over["note"]
    assert "Left out are 1 of 2 runs" in fumehood(*args, "--format", "html").stdout


def test_models_without_a_price(fumehood, tmp_path):
    """Tokens at a cost of 0 mean that no price is known, unless the record says that it is 0. Sums
    leave runs without a price out, and say so."""
    paid = {"task_cost": 0.5, "tokens_sent": 100, "tokens_received": 10}
    for name, model, spent in (
        ("a", "paid", paid),
        ("b", "paid", {**paid, "task_cost": 0.0}),
        ("c", "local", {**paid, "task_cost": 0.0}),
        ("d", "script", None),
        ("e", "free", {**paid, "task_cost": 0.0, "is_free": True}),
    ):
        (tmp_path / name).mkdir()
        events = [
            {"event": "open", "task": "t", "metric": "m", "model": model, "baseline": {"m": 1}}
            | {"format": "1"},
            {"event": "reset"},
            *([{"event": "spent", "model_stats": spent}] if spent else []),
            {"event": "step", "action": "validate", "info": {"score": {"m": 2}}},
        ]
        text = "".join(json.dumps(e) + "\n" for e in events)
        (tmp_path / name / "events.jsonl").write_text(text)
    lines = map(json.loads, fumehood("export", "--format", "steps", tmp_path).stdout.splitlines())
    costs = {line["record"].split("/")[-2]: line["cost"] for line in lines}
    assert costs == {"a": 0.5, "b": None, "c": None, "d": None, "e": 0.0}
    found = tables(fumehood("report", tmp_path, "--json"))
    rows = cells(found["costs"])
    dollars = {m: [row[c] for c in ("Total $", "Mean $", "$ per step")] for m, row in rows.items()}
    assert dollars == {
        "paid": [0.5, 0.5, 0.5],
        "local": ["unknown"] * 3,
        "script": [None] * 3,
        "free": [0.0] * 3,
    }
    assert found["costs"]["note"].endswith("is not known: 1 of 2 of paid.")
    for table in "iqm", "models":
        assert cells(found[table])["local"]["Mean $"] == "unknown"
    for form in "text", "csv", "md":
        text = fumehood("report", tmp_path, "--tables", "costs", "--format", form).stdout
        assert text.count("unknown") == 3, form
    page = fumehood("report", tmp_path, "--tables", "iqm", "--format", "html").stdout
    picture = page[page.index("<svg") : page.index("</svg>")]
    assert "paid" in picture and "local" not in picture and "script" not in picture
    assert "unknown" in page


def test_small_p_values(fumehood, tmp_path):
    """People read that a p-value is small, programs read all of its digits."""
    for task in range(12):
        mlgym_run(tmp_path, "a", f"task{task}", 0, [3.0])
        mlgym_run(tmp_path, "b", f"task{task}", 0, [2.0])
    args = ("report", tmp_path, "--compare", "a,b", "--tables", "compare-total", "--format")
    name, least = "p-value of the permutation test", 2 / 2**12
    (table,) = json.loads(fumehood(*args, "json").stdout)["tables"]
    assert table["rows"][1][:2] == [name, least]
    assert f"compare-total,{name},Value,{least}\n" in fumehood(*args, "csv").stdout
    for form, small in ("text", "< 0.001"), ("md", r"\< 0.001"), ("html", "&lt; 0.001"):
        assert small in fumehood(*args, form).stdout


def test_small_costs_keep_their_digits(fumehood, tmp_path):
    events = [
        {"event": "open", "task": "t", "metric": "m", "model": "one", "baseline": {"m": 1}},
        {"event": "spent", "model_stats": {"task_cost": 0.00123456}},
        {"event": "step", "action": "validate", "info": {"score": {"m": 2}}},
    ]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
    text = fumehood("report", tmp_path, "--tables", "costs,over-cost").stdout
    assert text.count("0.00123") >= 3 and "0.001\n" not in text


def test_equal_scores_share_their_ranks(fumehood, tmp_path):
    """Names do not rank models: two that are the best have rank 1.5 each."""
    for model, score in ("a", 2.0), ("b", 3.0), ("c", 3.0), ("d", 1.0):
        mlgym_run(tmp_path, model, "blotto", 0, [score])
    found = tables(fumehood("report", tmp_path, "--json"))
    ranks = {row[0]: row[1:] for row in found["borda-attempt"]["rows"]}
    # The model d has the baseline's score. BORDA is the number of competitors less the rank.
    expected = {"b": 1.5, "c": 1.5, "a": 3, "d": 4.5, "baseline": 4.5}
    assert ranks == {who: [rank, 5 - rank] for who, rank in expected.items()}
    assert cells(found["models"])["b"]["Mean rank"] == cells(found["models"])["c"]["Mean rank"]
    for table in "models", "borda-attempt", "ranks-attempt":
        assert "qual scores" in found[table]["note"] or "same score" in found[table]["note"]
