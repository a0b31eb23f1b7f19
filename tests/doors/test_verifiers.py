# SPDX-License-Identifier: Apache-2.0
"""verifiers 0.3.1 plays our environments: the legacy door."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pages
import pytest
import verifiers as vf
from scripted_model import ScriptedModel
from verifiers.types import ClientConfig

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/verifiers"))

from fumehood_verifiers.episode import task_id
from fumehood_verifiers.policy import newest_broadcast

GAME = "battleOfSexes:micro"
PATHS = f"{os.environ['PYTHONPATH']}:{Path(__file__).resolve().parents[2]}/python/verifiers"


def play(script, examples=1, rollouts=1, **args):
    """Evaluates an environment. Returns its outputs, and the bodies of the model's requests."""
    args = {"task_configs": [GAME], "save_trajectories": False, "num_examples_per_task": 1} | args
    timeout_s = args.pop("timeout_s", None)
    env = vf.load_environment("fumehood-verifiers", **args)
    env.timeout_seconds = timeout_s
    os.environ["NO_KEY"] = "none"
    with ScriptedModel(script) as model:
        client = ClientConfig(
            client_type="openai_chat_completions", api_base_url=model.url, api_key_var="NO_KEY"
        )
        results = asyncio.run(
            env.evaluate(
                client=client,
                model="scripted",
                num_examples=examples,
                rollouts_per_example=rollouts,
                state_columns=["policy_step", "trajectory"],
            )
        )
    return results["outputs"], model.asked


def test_the_parser():
    parser = vf.load_environment("fumehood-verifiers", task_configs=[GAME]).parser
    assert parser.parse("<think>ls</think>\n```bash\nfor i in 1; do\n  ls\ndone\npwd\n```") == (
        "for i in 1; do\n  ls\ndone"
    )


def test_newest_broadcast(tmp_path):
    assert newest_broadcast(tmp_path / "none") == 0
    for name in ("step_2", "step_10", "step_x", "other_99"):
        (tmp_path / name).mkdir()
    assert newest_broadcast(tmp_path) == 10
    (tmp_path / "step_2/STABLE").touch()
    assert newest_broadcast(tmp_path) == 2


def test_names_of_task_files():
    assert task_id("titanic.yaml") == task_id("tasks/titanic.yaml") == "titanicSurvival"
    assert task_id("tasks/titanic.yaml:micro") == "titanicSurvival:micro"
    assert task_id("tasks/blotto.yaml") == "blotto" and task_id(GAME) == GAME


def test_a_rollout(tmp_path):
    (tmp_path / "broadcasts/step_3").mkdir(parents=True)
    script = ["<think>hm</think>\n```\nls\n```", "What now?", "false", "validate", "submit"]
    (output,), asked = play(
        script,
        reward_scheme="continuous",
        save_trajectories=True,
        trajectory_dir=tmp_path / "t",
        broadcasts_dir=tmp_path / "broadcasts",
        seed=5,
    )
    assert [m["role"] for m in asked[-1]["messages"]] == ["system"] + ["user", "assistant"] * 4 + [
        "user"
    ]
    assert "Baseline" in asked[0]["messages"][1]["content"]  # the reset's own observation
    assert "no command" in asked[2]["messages"][-1]["content"]
    assert "Exited (submit)" in output["completion"][-1]["content"]
    assert output["stop_condition"] == "has_final_env_response" and not output["is_truncated"]
    assert output["policy_step"] == 3

    (path,) = (tmp_path / "t").iterdir()
    assert re.fullmatch(r"battleOfSexes-micro_pi3_\d{8}_\d{6}\.json", path.name)
    record = json.loads(path.read_text())
    assert {"task", "example_id", "policy_step", "trajectory", "metrics", "info", "timestamp"} == {
        *record
    }
    metrics = record["metrics"]
    assert [turn for turn, _ in metrics["validation_history"]] == [4, 5]
    assert metrics["improvement"] == pytest.approx(
        metrics["final_score"] - metrics["baseline_score"]
    )
    assert [t["action"] for t in record["trajectory"]] == ["ls", None, "false", *script[3:]]
    assert record["info"]["exit_status"] == "submitted" and record["info"]["errors"] == 2
    expected = max(-1.0, min(1.0, 5 * metrics["improvement"] - 0.5 - 0.5 * 2 / 5))
    assert output["reward"] == output["metrics"]["continuous"] == pytest.approx(expected)


def test_the_last_turn_is_played_and_a_timeout_is_an_error(tmp_path):
    (output,), asked = play(
        ["python3 -c 'import time; time.sleep(60)'", "echo a\0b", "touch now"],
        max_turns=3,
        training_timeout=1,
        save_trajectories=True,
        trajectory_dir=tmp_path,
        policy_step=lambda: 7,
    )
    assert len(asked) == 3 and output["is_truncated"] and output["policy_step"] == 7
    record = json.loads(next(tmp_path.glob("*_pi7_*")).read_text())
    assert [t["outcome"] for t in record["trajectory"]] == ["timeout", "ok", "ok"]
    assert record["trajectory"][1]["action"] is None and record["info"]["errors"] == 2
    assert record["info"]["exit_status"] == "autosubmission (max_steps)"


def test_a_cancelled_rollout_ends_its_episode(tmp_path):
    (output,), _ = play(["sleep 20"], timeout_s=2, save_trajectories=True, trajectory_dir=tmp_path)
    assert output["stop_condition"] == "timeout_reached" and output["error"] is None
    assert output["reward"] == 0.0
    assert json.loads(next(tmp_path.iterdir()).read_text())["trajectory"] == []


def test_rollouts_have_sandboxes_of_their_own(tmp_path):
    script = ["cat mine; echo $RANDOM >mine; cat mine", "cat mine", "submit"]
    outputs, _ = play(
        script, 2, 2, num_examples_per_task=2, save_trajectories=True, trajectory_dir=tmp_path
    )
    records = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert len(outputs) == len(records) == 4
    printed = {}
    for record in records:
        first, second, _ = (turn["observation"] for turn in record["trajectory"])
        assert "No such file" in first and first.endswith(second)
        printed.setdefault(record["example_id"], set()).add(second)
    assert [len(numbers) for numbers in printed.values()] == [1, 1]  # a seed for each example
    assert len(set.union(*printed.values())) == 2


def kill_sandbox(marker):
    """Kills PID 1 of the sandbox with a process of that name."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found = path.read_bytes().startswith(marker.encode() + b"\0")
        except OSError:
            continue
        pid = int(path.parent.name)
        while found:
            status = Path(f"/proc/{pid}/status").read_text()
            if re.search(r"^NSpid:.*\t1$", status, re.MULTILINE):
                os.kill(pid, signal.SIGKILL)
                return
            pid = int(re.search(r"^PPid:\t(\d+)", status, re.MULTILINE)[1])
    raise AssertionError(f"no process {marker}")


def test_a_dead_sandbox_is_replaced(tmp_path):
    marker = f"marker-{os.getpid()}"
    script = ["echo kept >file", f"bash -c 'exec -a {marker} sleep 99' & cat file", "cat file"]

    def answer(messages):
        turn = sum(m["role"] == "assistant" for m in messages)
        if turn == 2:
            kill_sandbox(marker)
        return [*script, "submit"][turn]

    (output,), _ = play(answer, save_trajectories=True, trajectory_dir=tmp_path)
    record = json.loads(next(tmp_path.iterdir()).read_text())
    assert output["error"] is None and record["info"]["recoveries"] == 1
    assert record["trajectory"][2]["observation"] == "kept\n"
    assert record["info"]["exit_status"] == "submitted"


DEVICES = """
mount -t tmpfs -o mode=755 none /dev
for device in null=3 zero=5 full=7 random=8 urandom=9 nvidia0=3 nvidia1=3 nvidiactl=3; do
    mknod -m 666 "/dev/${device%=*}" c 1 "${device#*=}"
done
mknod -m 666 /dev/tty c 5 0
"""
EPISODES = """
import asyncio
from fumehood_verifiers.episode import Episode, Rules

async def play():
    episode = await Episode.open("battleOfSexes:micro", 0, Rules(env_gpu="0,1"))
    device = await episode.act("ls /dev | grep nvidia[01]")
    await episode.act("sleep 1")
    episode.close()
    return device

async def main():
    return await asyncio.gather(*(play() for _ in range(3)))

print(*(text for text in asyncio.run(main())), sep="")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
def test_episodes_wait_for_a_gpu():
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", DEVICES + 'exec "$@"', "-", sys.executable, "-c", EPISODES],
        env=os.environ | {"PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    devices = done.stdout.split()
    assert len(devices) == 3 and set(devices) == {"nvidia0", "nvidia1"}


def test_rewards_with_a_state(tmp_path):
    state = tmp_path / "best.json"
    args = {"reward_scheme": "v8_global_best", "reward_batch_size": 2, "persist_path": state}
    outputs, _ = play(["validate", "submit"], rollouts=2, **args)
    assert {o["reward"] for o in outputs} <= {0.0, 1.0}
    best = json.loads(state.read_text())["best_ever"]
    state.write_text(json.dumps({"best_ever": 1e9, "baseline": 0}))
    outputs, _ = play(["validate", "submit"], rollouts=2, **args)
    assert {o["reward"] for o in outputs} <= {0.0, 0.2}
    assert 0 < best < 1e9 == json.loads(state.read_text())["best_ever"]
    outputs, _ = play(["exit_forfeit"], **args)
    assert outputs[0]["reward"] == -0.5


def test_arguments():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        vf.load_environment("fumehood_verifiers", image_name="any", unknown_one=1)
    assert [str(w.message) for w in warned if "load_environment" in str(w.message)] == [
        "load_environment ignores the argument 'unknown_one'"
    ]
    with pytest.raises(RuntimeError, match="no reward scheme 'v0': there are delta, "):
        vf.load_environment("fumehood_verifiers", reward_scheme="v0")
    env = vf.load_environment("fumehood_verifiers", task_configs=GAME, num_examples_per_task=3)
    assert [row["task_name"] for row in env.get_dataset()["info"]] == 3 * [GAME]
    (output,), _ = play([], task_configs=[GAME], env_options={"variant": "none"})
    assert output["error"] and output["reward"] == 0.0


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("task_configs", []),
        ("task_configs", "nope"),
        ("max_turns", 0),
        ("num_examples_per_task", 0),
        ("env_gpu", "gpu"),
        ("env_gpu", ""),
        ("training_timeout", 0),
        ("training_timeout", float("nan")),
        ("seed", -1),
        ("seed", 1 << 64),
        ("seed", "1"),
        ("v7_tau", "high"),
        ("reward_batch_size", 0),
        ("policy_step", -1),
        ("policy_step", 0.5),
        ("env_options", {"max_steps": 3}),
        ("env_options", {"rewards": "none"}),
    ],
)
def test_wrong_arguments(key, wrong):
    with pytest.raises(RuntimeError, match=f"{key}( should be |: no task )"):
        vf.load_environment("fumehood_verifiers", **{key: wrong})


def test_weights_and_biases(tmp_path, monkeypatch):
    import wandb

    monkeypatch.setenv("WANDB_SILENT", "true")
    settings = {"project": "p", "mode": "offline", "dir": str(tmp_path), "tags": ["mine"]}
    play(["validate", "submit"], rollouts=2, reward_batch_size=2, wandb=settings)
    assert wandb.run.tags == ("mine",)
    summary = dict(wandb.run.summary)
    wandb.finish()
    for key in (
        *(f"batch/{name}_improvement" for name in ("mean", "max", "min")),
        "batch/mean_final_score",
        f"batch/{GAME}/mean_improvement",
        *(f"trajectory/{GAME}/{n}" for n in ("improvement", "final_score", "baseline_score")),
    ):
        assert isinstance(summary[key], float), key
    assert summary["batch/num_trajectories"] == 2
    assert summary[f"trajectory/{GAME}/num_steps"] == 2
    assert summary["trajectories"]["nrows"] == 2
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))


def test_the_command_of_the_page(tmp_path):
    (words,) = (c for c in pages.commands("verifiers.md", "vf-eval") if "-a" in c)
    with ScriptedModel(["ls", "submit"]) as model:
        given = {"MODEL": "scripted", "http://localhost:8000/v1": model.url, "10": "1", "4": "2"}
        done = subprocess.run(
            [Path(sys.executable).parent / words[0], *(given.get(w, w) for w in words[1:])],
            env=os.environ | {"PYTHONPATH": PATHS, "MY_KEY": "none", "TERM": "dumb"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert len(model.asked) == 4 and "delta" in done.stdout


def test_the_program_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (program,) = [p for p in pages.programs("verifiers.md", "verifiers") if "verifiers.v1" not in p]
    assert len(pages.run(program)["env"].get_dataset()) == 10
