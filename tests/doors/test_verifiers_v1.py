# SPDX-License-Identifier: Apache-2.0
"""verifiers 0.4.0 plays our environments: the taskset and the harness."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import fumehood
import jsonschema
import pages
import pytest
import verifiers.v1 as vf
from scripted_model import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/verifiers"))

GAME = "battleOfSexes:micro"
ID = "fumehood-verifiers"


def play(script, rollouts=1, *, taskset=None, agent=None, **harness):
    """Plays the tasks of a taskset. Returns the traces, and the bodies of the model's requests."""
    taskset = {"id": ID, "tasks": [GAME], "num_examples_per_task": 1} | (taskset or {})
    config = vf.resolve_env_config(
        {
            "taskset": taskset,
            "agent": {"harness": {"id": ID} | harness, "runtime": {"type": "subprocess"}}
            | (agent or {}),
            "interception": {"type": "server"},
        }
    )
    env = vf.load_environment(config)

    async def run(url):
        client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
        context = vf.ModelContext(model="scripted", client=client, sampling=vf.SamplingConfig())
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, rollouts)]
            return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))

    with ScriptedModel(script) as model:
        episodes = asyncio.run(run(model.url))
    return [trace for episode in episodes for trace in episode.traces], model.asked


SCRIPT = ["ls", "What now?", "false", "validate", "submit"]


def test_an_episode_is_one_branch(tmp_path):
    (tmp_path / "step_4").mkdir()
    (trace,), asked = play(
        SCRIPT,
        taskset={"task": {"reward_scheme": "continuous"}},
        broadcasts_dir=str(tmp_path),
        save_trajectories=True,
        trajectory_dir=str(tmp_path / "t"),
    )
    assert trace.ok and not trace.errors and trace.num_turns == len(asked) == 5
    assert trace.num_branches == 1
    assert [m.content for m in trace.branches[0].messages if m.role == "assistant"] == SCRIPT
    noted = trace.info["fumehood"]
    assert noted["exit_status"] == "submitted" and noted["policy_step"] == 4
    gain = noted["metrics"]["improvement"]
    assert trace.metrics["errors"] == 2 and trace.metrics["improvement"] == gain
    assert trace.reward == pytest.approx(max(-1, min(1, 5 * gain - 0.5 - 0.5 * 2 / 5)))
    record = json.loads(next((tmp_path / "t").glob("battleOfSexes-micro_pi4_*.json")).read_text())
    assert [turn["completion"] for turn in record["trajectory"]] == SCRIPT


def test_each_turn_is_a_branch():
    replies = iter(SCRIPT)
    (trace,), asked = play(lambda _: next(replies), history="last_2")
    assert trace.ok and trace.num_turns == trace.num_branches == 5
    assert [b.messages[-1].content for b in trace.branches] == SCRIPT
    shown = [sum(m["role"] == "assistant" for m in body["messages"]) for body in asked]
    assert shown == [0, 1, 2, 2, 2]
    for branch in trace.branches:
        assert sum(node.sampled for node in branch.nodes) == 1


def test_a_group_and_its_seeds():
    script = ["echo $RANDOM", "submit"]
    traces, _ = play(script, 2, taskset={"num_examples_per_task": 2, "seed": 7})
    printed = {}
    for trace in traces:
        seed = trace.info["fumehood"]["seed"]
        (number,) = (
            m.content for n in trace.nodes if (m := n.message).role == "user" and n.parent == 2
        )
        printed.setdefault(seed, set()).add(number)
    assert sorted(printed) == [7, 8] and all(len(numbers) == 1 for numbers in printed.values())


def test_the_last_turn_is_scored(tmp_path):
    scheme = {"reward_scheme": "v8_global_best", "reward_batch_size": 1}
    (trace,), asked = play(
        ["true", "true"],
        max_turns=2,
        policy_step=9,
        taskset={"task": scheme | {"persist_path": str(tmp_path / "best.json")}},
    )
    best = json.loads((tmp_path / "best-battleOfSexes-micro.json").read_text())["best_ever"]
    assert [best] == trace.info["fumehood"]["account"]["scores"]
    assert len(asked) == 2 and trace.info["fumehood"]["policy_step"] == 9
    assert trace.info["fumehood"]["exit_status"].startswith("autosubmission")


# A program that asks the model with no package but Python's, and runs what it replies.
AGENT = """
import json, os, subprocess, urllib.request
messages = [{"role": "user", "content": os.environ["FUMEHOOD_TASK"]}]
while True:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": os.environ["FUMEHOOD_MODEL"], "messages": messages}).encode(),
        {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    reply = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    done = subprocess.run(reply["content"], shell=True, capture_output=True, text=True)
    messages += [reply, {"role": "user", "content": done.stdout + done.stderr + "."}]
    if reply["content"] == "submit":
        break
"""


def test_a_program_is_the_agent(tmp_path):
    harness = {"agent_command": f"python3 -c '{AGENT}'", "save_trajectories": True}
    folder = tmp_path / "t"
    (trace,), asked = play(["id -un", "validate", "submit"], **harness, trajectory_dir=str(folder))
    assert trace.ok and not trace.errors and trace.num_turns == len(asked) == 3
    assert trace.num_branches == 1 and asked[1]["messages"][2]["content"] == "agent\n."
    assert "Evaluation Score: " in asked[2]["messages"][-1]["content"]
    noted = trace.info["fumehood"]
    assert noted["exit_status"] == "submitted" and noted["api_calls"] == 3
    assert len(noted["account"]["scores"]) == 2 and not noted["account"]["errors"]
    assert trace.reward == pytest.approx(noted["metrics"]["improvement"])
    (record,) = (json.loads(path.read_text()) for path in folder.iterdir())
    assert record["task"] == GAME and "validate" in str(trace.branches[0].messages)


def test_limits_of_a_program():
    command = f"python3 -c '{AGENT}'"
    script = 9 * ["true"]
    (trace,), asked = play(script, agent_command=command, agent={"max_turns": 2})
    assert len(asked) == 2 and trace.ok and trace.stop_condition == "max_turns"
    (trace,), asked = play(script, agent_command=command, max_turns=3)
    assert len(asked) == 3 and trace.ok and trace.info["fumehood"]["account"]["errors"] == 0
    assert "exit_cost" in trace.info["fumehood"]["exit_status"]
    (trace,), asked = play(script, agent_command=command, options={"variant": "none"})
    assert not asked and not trace.ok and "none" in trace.errors[0].message


def test_a_limit_of_the_rollout_ends_it():
    (trace,), asked = play(["validate", "true", "true"], agent={"max_turns": 2})
    assert len(asked) == 2 and trace.stop_condition == "max_turns" and not trace.errors
    assert trace.ok and "scheme" in trace.rewards and trace.metrics["steps"] == 2


def test_failures_are_errors_of_the_trace():
    (trace,), _ = play([], options={"variant": "none"})
    assert not trace.ok and "none" in trace.errors[0].message
    with pytest.raises(ValueError, match="history"):
        play([], history="some")
    with pytest.raises(ValueError, match="no reward scheme 'zzz': there are delta, .*percentile"):
        play([], taskset={"task": {"reward_scheme": "zzz"}})


@pytest.mark.parametrize(
    ("part", "key", "wrong"),
    [
        ("taskset", "tasks", []),
        ("taskset", "tasks", ["nope"]),
        ("taskset", "num_examples_per_task", 0),
        ("taskset", "seed", -1),
        ("taskset", "seed", 1 << 64),
        ("task", "v7_tau", "high"),
        ("task", "v7_tau", float("inf")),
        ("task", "reward_batch_size", 0),
        ("harness", "max_turns", 0),
        ("harness", "env_gpu", "gpu"),
        ("harness", "training_timeout", -1),
        ("harness", "agent_timeout", 0),
        ("harness", "policy_step", -1),
        ("harness", "policy_step", 0.5),
        ("harness", "wandb_batch_size", 0),
        ("harness", "options", {"gpus": 1}),
    ],
)
def test_wrong_keys(part, key, wrong):
    config = {"taskset": {"id": ID}, "agent": {"harness": {"id": ID}}}
    parts = {"taskset": config["taskset"], "harness": config["agent"]["harness"]}
    if part == "task":
        config["taskset"]["task"] = {key: wrong}
    else:
        parts[part][key] = wrong
    with pytest.raises(ValueError, match=rf"\b{key}\b"):
        vf.resolve_env_config(config)


@pytest.mark.parametrize("path", sorted((ROOT / "examples/prime-rl").glob("*.toml")), ids=str)
def test_examples_for_prime_rl(path):
    """The schema leaves the environments to verifiers, because their keys depend on the harness."""
    schema = json.loads((ROOT / "tests/doors/prime-rl.schema.json").read_text())
    config = tomllib.loads(path.read_text())
    for source in config["orchestrator"]["train"]["source"]:
        described = source.pop("env")
        for task in vf.resolve_env_config(described).taskset.tasks:
            assert fumehood.describe(task).problem is None
        described["agent"]["harness"]["max_turn"] = 1
        with pytest.raises(ValueError, match="max_turn"):
            vf.resolve_env_config(described)
    jsonschema.validate(config, schema)
    config["orchestrator"]["rollouts_per_example"] = 8
    with pytest.raises(jsonschema.ValidationError, match="rollouts_per_example"):
        jsonschema.validate(config, schema)


def test_the_command_of_the_page(tmp_path):
    (words,) = (c for c in pages.commands("verifiers.md", "vf-eval") if "-a" not in c)
    with ScriptedModel(["ls", "submit"]) as model:
        given = {"MODEL": "scripted", "http://localhost:8000/v1": model.url, "4": "2"}
        done = subprocess.run(
            [Path(sys.executable).parent / words[0], *(given.get(w, w) for w in words[1:])]
            + ["--env.taskset.num-examples-per-task", "1"],
            env=os.environ
            | {"PYTHONPATH": f"{os.environ['PYTHONPATH']}:{ROOT}/python/verifiers"}
            | {"MY_KEY": "none"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (path,) = tmp_path.glob("outputs/**/traces.jsonl")
    traces = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(traces) == 2 and not any(trace.get("errors") for trace in traces)
    assert len(model.asked) == 4


def test_weights_and_biases(tmp_path, monkeypatch):
    import wandb

    monkeypatch.setenv("WANDB_SILENT", "true")
    settings = {"project": "p", "mode": "offline", "dir": str(tmp_path)}
    play(["validate", "submit"], 2, wandb=settings, wandb_batch_size=2)
    summary = dict(wandb.run.summary)
    wandb.finish()
    assert isinstance(summary[f"batch/{GAME}/mean_improvement"], float)
    assert summary["batch/num_trajectories"] == summary["trajectories"]["nrows"] == 2
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))


def test_the_program_of_the_page():
    (program,) = pages.programs("verifiers.md", "verifiers.v1")
    assert len(list(pages.run(program)["env"].taskset)) == 100
