# SPDX-License-Identifier: Apache-2.0
"""tests/corpus/run counts damaged records, and compares the others."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP = {
    "state": '{"open_file": "n/a", "working_dir": "/home/agent/workspace"}',
    "response": "r",
    "thought": "t",
    "action": "ls\n",
    "execution_time": 0.1,
    "observation": "x",
}


def record(**changes) -> str:
    return json.dumps({"trajectory": [STEP | changes], "history": []})


def checks_of(folder: Path, *args: str) -> tuple[subprocess.CompletedProcess, dict]:
    done = subprocess.run(
        [ROOT / "tests/corpus/run", "--json", *args, folder],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done, json.loads(done.stdout)["checks"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100000,
        '{"trajectory": 7}',
        '{"trajectory": ["x"], "history": []}',
        '{"trajectory": [{"state": 7}], "history": []}',
        record(action=7),
        record(observation=[1]),
    ],
)
def test_a_damaged_record(tmp_path, text):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "rows.traj").write_text(text)
    (tmp_path / "rows.traj").write_text(record(action="cd /tmp"))
    done, checks = checks_of(tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "a/rows.traj: it can't be played again: " in done.stderr
    assert checks["damaged"]["different"] == 1 and checks["round_trip"]["different"] >= 1


@pytest.mark.parametrize(
    ("spoil", "results", "baselines"),
    [
        (lambda r: None, 0, 0),
        (lambda r: r["agent"].pop(), 1, 0),
        (lambda r: r["agent"][0].update(s=0.25), 1, 0),
        (lambda r: r["baseline"].update(s=0.25), 0, 1),
        (lambda r: r.pop("baseline"), 1, 1),
        (dict.clear, 1, 1),
    ],
)
def test_results(tmp_path, spoil, results, baselines):
    """Two runs of a task, the second of which was shown the baseline."""
    info = {"exit_status": "submitted", "score": [{"s": 0.75}]}
    for i, shown in enumerate(["x", "Baseline Score: {'s': 0.5}"]):
        run = tmp_path / str(i)
        run.mkdir()
        traj = {"environment": "e", "trajectory": [STEP | {"observation": shown}]}
        traj |= {"history": [], "info": info}
        (run / "rows.traj").write_text(json.dumps(traj))
        results_json = {"agent": [{"s": 0.75}], "baseline": {"s": 0.5}}
        if i == 0:
            spoil(results_json)
        (run / "results.json").write_text(json.dumps(results_json, indent=2))
    _, checks = checks_of(tmp_path, "--only", "results,baselines")
    assert [checks[c]["different"] for c in ("results", "baselines")] == [results, baselines]
    (tmp_path / "0" / "results.json").unlink()
    _, checks = checks_of(tmp_path, "--only", "results,baselines")
    assert [checks[c]["different"] for c in ("results", "baselines")] == [1, 1]


@pytest.mark.parametrize(("recorded", "runs"), [(1.43, 1), (1.2, 0), (None, 0)])
def test_scores_of_a_game(tmp_path, recorded, runs):
    """Always 0 is worth 1.44. The record has another score for its validate, or none."""
    (tmp_path / "mlgym/data/battleOfSexes").mkdir(parents=True)
    (tmp_path / "mlgym/data/battleOfSexes/strategy.py").write_text(
        "def row_strategy(history): return 1\n"
    )
    write = "echo 'def row_strategy(history): return 0' >strategy.py"
    said = f"Evaluation Score: {{'Score': {recorded}}}" if recorded else "It failed."
    steps = [STEP | {"action": write}, STEP | {"action": "validate", "observation": said}]
    scores = [{"Score": recorded}] if recorded else []
    info = {"exit_status": "submitted", "score": [*scores, {"Score": 1.44}]}
    steps.append(STEP | {"action": "submit", "observation": None})
    (tmp_path / "runs/a").mkdir(parents=True)
    (tmp_path / "runs/a/battleOfSexes.traj").write_text(
        json.dumps({"environment": "e", "trajectory": steps, "history": [], "info": info})
    )
    done = subprocess.run(
        [ROOT / "tests/corpus/scores", tmp_path / "runs", "battleOfSexes"],
        env={**os.environ, "FUMEHOOD_MLGYM": str(tmp_path / "mlgym")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    first, _, rest = done.stdout.partition("\n")
    assert first.startswith(f"battleOfSexes: {runs} of 1 runs, {1 + runs} of 2 gradings are equal")
    assert done.returncode == 1 - runs and ("a, step 1: " in rest) == (not runs), done.stderr
