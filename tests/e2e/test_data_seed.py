# SPDX-License-Identifier: Apache-2.0
"""--data-seed: other data of the same kind, with a baseline of its own."""

import json
import subprocess
from pathlib import Path

import pytest
from test_agent import act, serve  # noqa: F401

HOUSES = "regressionKaggleHousePrice:micro"
LOOK = "sha256sum data/train.csv"


@pytest.fixture
def machine(fumehood):
    """A machine that has generated no data yet."""
    fumehood.env["FUMEHOOD_STATE"] = str(fumehood.folder / "state")
    return fumehood


def made(machine, dataset: str) -> list[bytes]:
    data = Path(machine.env["FUMEHOOD_STATE"]) / "data"
    return [path.read_bytes() for path in data.glob(f"{dataset}/*/answers.csv")]


def observations(result: dict) -> list[str]:
    traj = json.loads(Path(result["trajectory"]).read_text())
    return [step["observation"] for step in traj["trajectory"]]


def opened(result: dict) -> dict:
    log = Path(result["trajectory"]).with_name("events.jsonl")
    return json.loads(log.read_text().splitlines()[0])


def test_a_data_seed_gives_other_data_and_another_baseline(machine):
    words = ("--task", HOUSES, "--model", machine.actions(LOOK, "submit"))
    runs = [machine.run_json(*words, "--data-seed", seed)[0] for seed in (0, 1, 1)]
    zero, one, again = (observations(run)[0] for run in runs)
    assert zero != one == again
    assert runs[0]["baseline"] != runs[1]["baseline"] == runs[2]["baseline"]
    assert [run.get("data_seed") for run in runs] == [None, 1, 1]
    assert [opened(run)["data_seed"] for run in runs] == [0, 1, 1]
    assert len(set(made(machine, "kaggleHousePrice-micro"))) == 2
    assert len(list(Path(machine.env["FUMEHOOD_STATE"]).glob("baselines/*.json"))) == 2
    # A run without --data-seed uses the data seed 0.
    assert observations(machine.run_json(*words)[0])[0] == zero


def test_a_replay_has_the_data_seed_of_the_record(machine):
    words = ("--task", "titanic", "--model", machine.actions(LOOK, "python3 baseline.py", "submit"))
    (run,) = machine.run_json(*words, "--data-seed", 5)
    again = ("replay", "--compare", "--out", machine.out / "again", run["trajectory"])
    machine(*again)
    # Another data seed must fail, which shows that a replay compares the data.
    assert "1 different" in machine(*again, "--data-seed", 6, status=1).stdout
    assert len(made(machine, "titanic-micro")) == 2


def test_skip_existing_tells_data_seeds_apart(machine):
    words = ("--task", "titanic", "--skip-existing", "--data-seed")
    first = [machine.run_json(*words, seed)[0] for seed in (0, 1)]
    assert not any("skipped" in run for run in first)
    again = [machine.run_json(*words, seed)[0] for seed in (0, 1)]
    assert all(run["skipped"] for run in again)
    assert [run["trajectory"] for run in again] == [run["trajectory"] for run in first]
    args = Path(first[1]["trajectory"]).with_name("args.yaml").read_text()
    assert "\n  data_seed: 1\n" in args


def test_a_resumed_run_has_the_data_seed_of_the_record(machine, serve):  # noqa: F811
    server = serve([act(LOOK), act("cat data/train.csv | sha256sum"), act("submit")])
    url = ("--url", server.url + "/v1", "--api-key", "k")
    (run,) = machine.run_json("--task", "titanic", "--model", "openai:m", "--data-seed", 3, *url)
    log = Path(run["trajectory"]).with_name("events.jsonl")
    lines = log.read_text().splitlines(keepends=True)
    steps = [i for i, line in enumerate(lines) if '"event":"step"' in line]
    log.write_text("".join(lines[: steps[1]]))
    words = ("--resume", log.parent)
    assert "leave --data-seed out" in machine.run(*words, "--data-seed", 3, status=2).stderr
    (resumed,) = machine.run_json(*words, *url)
    assert resumed["data_seed"] == 3
    assert observations(resumed)[0] == observations(run)[0]
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [e["different"] for e in events if e["event"] == "resumed"] == [0]


def test_a_sweep_names_a_data_seed(machine):
    file = machine.folder / "sweep.yaml"
    file.write_text("tasks: [titanic]\ndata_seed: 7\n")
    assert [run["data_seed"] for run in machine.run_json("--sweep", file)] == [7]
    (run,) = machine.run_json("--sweep", file, "--data-seed", 8)
    assert run["data_seed"] == 8


def test_a_served_environment_tells_its_data_seed(machine):
    def reset(*words) -> dict:
        done = machine("env", "--task", "titanic", *words, input='{"op":"reset"}\n')
        return json.loads(done.stdout)["info"]

    assert reset("--data-seed", 2)["data_seed"] == 2
    assert "data_seed" not in reset()


def test_check_plays_the_data_of_a_seed(machine):
    done = machine("task", "check", "--run", "--data-seed", 4, "titanic", "--json")
    report = json.loads(done.stdout)
    assert report["ok"] and 0.55 < report["played"]["baseline"]["accuracy"] < 0.75
    assert len(made(machine, "titanic-micro")) == 1


@pytest.mark.parametrize("task", ["battleOfSexes", "titanic:full"])
@pytest.mark.parametrize("command", ["run --task", "env --task", "task check"])
def test_data_that_is_not_generated_takes_no_seed(machine, command, task):
    state = Path(machine.env["FUMEHOOD_STATE"])
    if task == "titanic:full":
        place = state / "data/titanic"
        place.mkdir(parents=True)
        for name in ("train", "test", "sample_submission", "answers"):
            (place / f"{name}.csv").write_text("PassengerId,Survived\n1,0\n")
    done = machine(*command.split(), task, "--data-seed", 1, status=2, stdin=subprocess.DEVNULL)
    said = done.stdout if command == "task check" else done.stderr
    assert said.count("has no generated data, so its data seed can only be 0") == 1


@pytest.mark.parametrize("seed", ["-1", "x", "9007199254740992"])
def test_what_is_no_data_seed(machine, seed):
    told = machine.run("--task", "titanic", f"--data-seed={seed}", status=2).stderr
    assert "--data-seed wants a whole number from 0 to 9007199254740991" in told


@pytest.mark.once
def test_all_leaves_out_what_has_no_generated_data(machine):
    done = machine.run("--task", "all", "--data-seed", 1, "--model", "baseline", "--json")
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert {run["data_seed"] for run in runs} == {1}
    assert {run["variant"] for run in runs} == {"micro"}
    assert "battleOfSexes is left out: task 'battleOfSexes'" in done.stderr
