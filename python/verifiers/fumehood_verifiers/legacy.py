# SPDX-License-Identifier: Apache-2.0
"""The environment for verifiers.legacy, which verifiers 0.3.1 was the last to have."""

import random
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import fumehood
import verifiers.legacy as vf
from fumehood.rewards import PathName
from verifiers.legacy.utils.message_utils import normalize_messages

from datasets import Dataset

from .checks import SEEDS, check
from .episode import SYSTEM_PROMPT, Episode, Rules, task_id
from .parser import first_command
from .policy import BROADCASTS_DIR, PolicyStep, policy_step_now
from .record import Board, save
from .schemes import Schemes

EPISODE = "fumehood_episode"  # key of a rollout's state


class FirstCommand(vf.Parser):
    """Parses a reply to its first command: see fumehood_verifiers.parser."""

    def parse(self, text: str) -> str | None:
        """Returns the first command of a reply. None: it has none."""
        return first_command(text)


def _examples(tasks: Sequence[str], number: int, seed: int) -> list[dict[str, Any]]:
    """Returns the rows of the data set, in an order that follows from the seed."""
    rows: list[dict[str, Any]] = []
    for task in tasks:
        description = fumehood.describe(task).description or task
        for i in range(number):
            rows.append(
                {
                    "example_id": len(rows),
                    "prompt": [
                        {"role": "system", "content": SYSTEM_PROMPT},
                        {"role": "user", "content": description},
                    ],
                    "info": {"task_name": task, "seed": (seed + i) % SEEDS},
                }
            )
    random.Random(seed).shuffle(rows)
    return rows


class FumehoodEnvironment(vf.MultiTurnEnv):
    """Rollouts that play episodes, each in a sandbox of its own.

    The prompt of a rollout is the observation of its reset. The last reply of max_turns is played
    too, and then the episode is scored. The scheme makes a single reward when the rollout ends; it
    is 0.0 if there was no sandbox. verifiers keeps a SandboxError in state["error"]: the task can't
    be opened, or the machine failed for the third time.
    """

    def __init__(
        self,
        dataset: Callable[[], Dataset],
        rules: Rules,
        schemes: Schemes,
        board: Board,
        *,
        trajectory_dir: Path | None,
        broadcasts_dir: PathName,
        policy_step: PolicyStep,
    ) -> None:
        parser = FirstCommand()
        rubric = vf.Rubric(funcs=[_reward(schemes)], parser=parser)
        super().__init__(dataset=dataset, parser=parser, rubric=rubric, max_turns=rules.max_turns)
        self.rules = rules
        self.board = board
        self.trajectory_dir = trajectory_dir
        self.broadcasts_dir = broadcasts_dir
        self.policy_step = policy_step

    async def setup_state(self, state: vf.State) -> vf.State:
        """Begins the episode of a rollout."""
        info = state["info"]
        state["policy_step"] = policy_step_now(self.policy_step, self.broadcasts_dir)
        try:
            episode = await Episode.open(info["task_name"], info["seed"], self.rules)
        except fumehood.Error as error:
            raise vf.SandboxError(str(error)) from error
        state[EPISODE] = episode
        state["prompt"] = normalize_messages(episode.prompt(), field_name="prompt")
        return state

    async def env_response(self, messages: vf.Messages, state: vf.State, **_: Any) -> vf.Messages:
        """Runs the command of the last reply. Returns its observation."""
        episode: Episode = state[EPISODE]
        reply = self.parser.get_assistant_messages(messages)[-1].content
        try:
            observation = await episode.act(self.parser._content_to_text(reply))
        except fumehood.Error as error:
            raise vf.SandboxError(str(error)) from error
        response: vf.Messages = [vf.UserMessage(content=observation)]
        if episode.done:
            state["final_env_response"] = response
            state["is_truncated"] = episode.last.truncated
        return response

    async def max_turns_reached(self, state: vf.State) -> bool:
        """Is no reason to stop here: the episode itself ends with that step."""
        return False

    @vf.cleanup
    async def end_episode(self, state: vf.State) -> None:
        """Ends the episode of a rollout, and records it."""
        episode: Episode | None = state.get(EPISODE)
        if episode is None:
            return
        episode.close()
        record = episode.record(state["example_id"], state["policy_step"])
        if self.trajectory_dir:
            save(record, self.trajectory_dir)
        self.board.add(record)


def _reward(schemes: Schemes) -> Callable[[vf.State], float]:
    def reward(state: vf.State) -> float:
        episode: Episode | None = state.get(EPISODE)
        if episode is None:
            return 0.0  # there was no sandbox: state["error"] tells why
        return schemes(episode.task, episode.account)

    reward.__name__ = schemes.name  # names the metric
    return reward


def load_environment(
    task_configs: str | Sequence[str] = ("titanicSurvival:micro",),
    max_turns: int = 50,
    num_examples_per_task: int = 100,
    env_gpu: str = "cpu",
    container_type: str | None = None,
    image_name: str | None = None,
    training_timeout: float | None = None,
    save_trajectories: bool = True,
    trajectory_dir: PathName = "trajectories",
    seed: int = 42,
    reward_scheme: str = "delta",
    v7_tau: float = 0.88,
    reward_batch_size: int = 8,
    persist_path: PathName | None = None,
    broadcasts_dir: PathName = BROADCASTS_DIR,
    policy_step: PolicyStep = None,
    wandb: dict[str, Any] | None = None,
    env_options: dict[str, Any] | None = None,
    **others: Any,
) -> FumehoodEnvironment:
    """Returns an environment of verifiers.legacy.

    Args:
        task_configs: ids of tasks, or names of MLGym's files such as `tasks/titanic.yaml`. A text
            is a single one.
        max_turns: replies of the model in a rollout.
        num_examples_per_task: rows of the data set for each task, with consecutive seeds.
        env_gpu: numbers of GPUs as in "0,1", or "cpu". As many are leased, and each episode has
            one; others wait for it.
        container_type, image_name: not used, because sandboxes need neither.
        training_timeout: seconds of a command that trains; None is the task's own limit.
        save_trajectories, trajectory_dir: whether and where each episode is written as JSON.
        seed: seed of each task's first row, and of the order of all.
        reward_scheme: name of a scheme in fumehood.rewards.
        v7_tau: threshold of v7_fixed_tier, a score of the task's metric.
        reward_batch_size: rollouts of a training step: schemes and W&B take them together.
        persist_path: file with the state of v8_global_best and v9_percentile.
        broadcasts_dir: folder where the trainer writes weights; it tells the policy step.
        policy_step: the policy step, or a function that returns it when a rollout starts.
        wandb: arguments of wandb.init. Without them a run of this process is used, if there is one.
        env_options: more options of fumehood.Env.
        others: are ignored, with a warning.

    ValueError: an argument is wrong, or names an unknown task or scheme. ModuleNotFoundError: there
    are arguments for wandb, which is not installed.
    """
    for name in others:
        warnings.warn(f"load_environment ignores the argument {name!r}", stacklevel=2)
    names = [task_configs] if isinstance(task_configs, str) else task_configs
    options = env_options or {}
    for key, value in {
        "task_configs": names,
        "max_turns": max_turns,
        "num_examples_per_task": num_examples_per_task,
        "env_gpu": env_gpu,
        "training_timeout": training_timeout,
        "seed": seed,
        "v7_tau": v7_tau,
        "reward_batch_size": reward_batch_size,
        "policy_step": None if callable(policy_step) else policy_step,
        "env_options": options,
    }.items():
        check(key, value)
    tasks = [task_id(name) for name in names]
    return FumehoodEnvironment(
        lambda: Dataset.from_list(_examples(tasks, num_examples_per_task, seed)),
        Rules(
            max_turns=max_turns,
            env_gpu=env_gpu,
            training_timeout_s=training_timeout,
            options=options,
        ),
        Schemes(
            reward_scheme,
            persist_path,
            per_task=len(tasks) > 1,
            tau=v7_tau,
            batch_size=reward_batch_size,
        ),
        Board(reward_batch_size, wandb, tags=tasks),
        trajectory_dir=Path(trajectory_dir) if save_trajectories else None,
        broadcasts_dir=broadcasts_dir,
        policy_step=policy_step,
    )
