# SPDX-License-Identifier: Apache-2.0
"""Gymnasium's own checks and wrappers over our environments."""

import json
import os
import pathlib
import signal
import threading
import warnings

import gymnasium
import numpy as np
import pages
import pytest
from fumehood.gymnasium import FumehoodEnv
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

GAME = "fumehood.gymnasium:fumehood/battleOfSexes"


def test_check_env_says_nothing():
    env = gymnasium.make(GAME, render_mode="ansi").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=False)
    env.close()


def test_every_task_is_registered():
    names = {name for name in gymnasium.registry if name.startswith("fumehood/")}
    assert {"fumehood/titanicSurvival", "fumehood/titanicSurvival-micro"} <= names
    assert len(names) > 30


def test_an_episode():
    with gymnasium.make(GAME, max_steps=3, reward="improvement") as env:
        observation, info = env.reset(seed=3)
        assert "battle" in observation.lower() or observation
        assert info["step"] == 0 and info["baseline"]
        observation, reward, terminated, truncated, info = env.step("echo hi")
        assert (observation, reward, terminated, truncated) == ("hi\n", 0.0, False, False)
        *_, terminated, truncated, info = env.step("validate")
        assert info["score"] and env.unwrapped.last.duration_s > 0
        *_, terminated, truncated, info = env.step("true")
        assert truncated and not terminated and info["exit_status"]


def test_an_equal_seed_gives_an_equal_episode():
    with gymnasium.make(GAME) as env:
        printed = []
        for seed in (5, 5, 6):
            env.reset(seed=seed)
            printed.append(env.step("echo $RANDOM")[0])
    assert printed[0] == printed[1] != printed[2]


def test_actions_outside_the_space():
    env = FumehoodEnv("battleOfSexes")
    assert env.action_space.contains("echo é\n\t漢") and not env.action_space.contains(3)
    assert env.action_space.sample() in ("ls", "pwd")
    env.reset()
    for action in ("\0", "\ud800", "é" * (1 << 20)):
        assert not env.action_space.contains(action)
        with pytest.raises(ValueError):
            env.step(action)
    env.close()


def test_render():
    with gymnasium.make(GAME, render_mode="ansi") as env:
        env.reset(seed=0)
        env.step("echo hi")
        assert env.render() == "$ echo hi\nhi\n"


def make_vec(mode, **options):
    return gymnasium.make_vec(
        GAME,
        num_envs=3,
        vectorization_mode="vector_entry_point",
        autoreset_mode=mode,
        **options,
    )


def test_autoreset_in_the_next_step():
    envs = make_vec("NextStep", max_steps=2)
    with pytest.raises(gymnasium.error.ResetNeeded, match="before step"):
        envs.step(("true",) * 3)
    observations, infos = envs.reset(seed=1)
    assert len(observations) == 3 and list(infos["step"]) == [0, 0, 0]
    envs.step(("true",) * 3)
    *_, truncations, infos = envs.step(("true", "submit", "true"))
    assert list(truncations | _[2]) == [True] * 3
    observations, rewards, terminations, truncations, infos = envs.step(("echo ignored",) * 3)
    assert list(infos["step"]) == [0, 0, 0] and not (terminations | truncations).any()
    assert not rewards.any() and "ignored" not in observations[0]
    envs.close()


def test_autoreset_in_the_same_step():
    envs = make_vec(AutoresetMode.SAME_STEP)
    envs.reset(seed=1)
    observations, rewards, terminations, truncations, infos = envs.step(
        ("echo a", "submit", "echo c")
    )
    assert list(terminations) == [False, True, False]
    assert infos["final_info"]["exit_status"][1] == "submitted" and infos["final_obs"][1]
    assert observations[0] == "a\n" and list(infos["step"]) == [1, 0, 1]
    envs.close()


def test_autoreset_disabled():
    envs = make_vec("Disabled")
    envs.reset(seed=[4, 5, None])
    envs.step(("true", "submit", "true"))
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(("true",) * 3)
    _, infos = envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert list(infos["_step"]) == [False, True, False]
    envs.step(("true",) * 3)
    envs.close()


@pytest.mark.parametrize("seed", [3, [3, 4, 5], np.arange(3, 6)])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_an_equal_seed_gives_equal_autoresets(seed, mode):
    envs = make_vec(mode)
    played = []
    for _ in range(2):
        envs.reset(seed=seed)
        numbers = []
        for _ in range(3):
            numbers += envs.step(("echo $RANDOM",) * 3)[0]
            envs.step(("skip",) * 3)  # ends the episodes
            if mode == "NextStep":
                envs.step(("true",) * 3)
        played.append(numbers)
    assert played[0] == played[1] and len(set(played[0])) > 6
    envs.close()


def test_an_error_leaves_a_vector_usable():
    envs = make_vec("NextStep")
    envs.reset(seed=1)
    for action in ("a\0", "x" * (2 << 20)):
        with pytest.raises(ValueError):
            envs.step(("echo $((++n))", "echo $((++n))", action))
    for actions in ("pwd", ("echo $((++n))",) * 2, ("echo $((++n))",) * 4):
        with pytest.raises(ValueError, match="a list of 3 actions"):
            envs.step(actions)
    observations, *_, infos = envs.step(("echo $((++n))",) * 3)
    assert observations == ("1\n",) * 3 and list(infos["step"]) == [1, 1, 1]
    envs.close()


def test_ctrl_c_leaves_a_vector_usable():
    envs = make_vec("NextStep")
    envs.reset(seed=1)
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        envs.step(("sleep 30", "true", "sleep 30"))
    signal.signal(signal.SIGINT, old)
    assert envs.step(("echo on",) * 3)[0] == ("on\n",) * 3
    assert list(envs.reset(seed=2)[1]["step"]) == [0, 0, 0]
    envs.close()


def test_gymnasiums_own_vectors():
    envs = gymnasium.make_vec(GAME, num_envs=2, vectorization_mode="sync")
    envs.reset(seed=0)
    observations, *_ = envs.step(("echo a", "echo b"))
    assert tuple(observations) == ("a\n", "b\n")
    envs.close()


def test_gymnasiums_own_processes():
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.make_vec(GAME, num_envs=2, vectorization_mode="async")
    options = {"shared_memory": False}
    envs = gymnasium.make_vec(GAME, num_envs=2, vectorization_mode="async", vector_kwargs=options)
    envs.reset(seed=0)
    assert tuple(envs.step(("echo a", "echo b"))[0]) == ("a\n", "b\n")
    envs.close()


def test_the_program_of_the_page():
    (program,) = pages.programs("python.md", "gymnasium")
    played = pages.run(program)
    assert played["envs"].num_envs == 8
    played["env"].close()
    played["envs"].close()


def test_the_module_mlgym(monkeypatch):
    """Makes the calls of TorchRL's make_mlgym(). test_torchrl.py has the function itself."""
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[2] / "python/mlgym")
    from mlgym.agent.base import AgentArguments
    from mlgym.agent.parsing import ThoughtActionParser
    from mlgym.backend.base import ModelArguments
    from mlgym.environment.env import EnvironmentArguments
    from mlgym.environment.registration import register_task
    from mlgym.exceptions import FormatError

    config = AgentArguments(ModelArguments("none"), "configs/agents/default.yaml").config
    assert "{command_docs}" in config.system_template and config.tools_handler.command_docs
    args = EnvironmentArguments("tasks/battleOfSexes.yaml", max_steps=2)
    register_task(args)
    env = gymnasium.make("mlgym/battleOfSexes", devices=["cpu_0"]).unwrapped
    env.reset_container()
    env.communicate("cd /; N=5")
    assert env.reset() == {"observation": None} and env.current_step == 0
    env.add_commands([{"name": "greet", "type": "script", "contents": "#!/bin/sh\necho hi $1\n"}])
    parse = ThoughtActionParser()
    with pytest.raises(FormatError):
        parse("I look.", [])
    thought, action = parse("I look.\n```\ngreet $N; pwd\n```", [])
    observation, reward, done, info = env.step(action)
    assert thought.strip() == "I look." and observation == f"hi 5\n{env.task_workspace}\n"
    assert (reward, done, info["score"]) == (0.0, False, None)
    assert env.communicate("false") == "" and env.returncode == 1
    state = json.loads(env.communicate(config.state_command.name))
    assert state == {"open_file": "n/a", "working_dir": str(env.task_workspace)}
    observation, _, done, info = env.step("validate")
    assert done and "Score" in info["score"] and env.current_step == env.max_steps == 2
    env.close()
