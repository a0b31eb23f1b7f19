# SPDX-License-Identifier: Apache-2.0
"""A task's environment, with MLGym's attributes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fumehood
import gymnasium
from fumehood.gymnasium import ACTION_MAX, OBSERVATION_MAX, Prose

FILES = {"titanic": "titanicSurvival", "rlMetaMaze": "rlMetaMazeMisc"}  # ids of MLGym's files


@dataclass
class TaskConfig:
    """A task, as prompts use it."""

    id: str
    name: str
    description: str
    max_steps: int
    training_timeout: int


@dataclass
class Task:
    """An opened task."""

    id: str
    args: TaskConfig | None = None


@dataclass
class Container:
    """Names an episode's sandbox."""

    id: str


class EnvironmentArguments:
    """Options of an environment. Those that Fumehood has no use for are taken and ignored.

    Args:
        task_config_path: the name without ".yaml" is the task's id, T or T-VARIANT.
        max_steps: limit of an episode.
        seed: seed of the first episode; each later one has the next.
    """

    def __init__(
        self, task_config_path: str, max_steps: int = 100, seed: int = 42, **_: Any
    ) -> None:
        self.task = Task(Path(task_config_path).name.removesuffix(".yaml"))
        self.max_steps = max_steps
        self.seed = seed


class MLGymEnv(gymnasium.Env[str, str]):
    """An agent's task: reset() and step() return what MLGym's do."""

    def __init__(self, args: EnvironmentArguments, devices: Any = None, **_: Any) -> None:
        task = FILES.get(args.task.id, args.task.id)
        known = {item.id for item in fumehood.tasks()}
        if task not in known:
            task = ":".join(task.rsplit("-", 1))
        self.env = fumehood.Env(task, max_steps=args.max_steps)
        self.info = info = self.env.info
        self.task = Task(
            args.task.id,
            TaskConfig(
                args.task.id,
                info["name"],
                info["description"],
                info["max_steps"],
                int(info["training_timeout_s"]),
            ),
        )
        self.action_space = Prose(ACTION_MAX)
        self.observation_space = Prose(OBSERVATION_MAX)
        self.task_workspace = Path("/home/agent/workspace")
        self.max_steps: int = info["max_steps"]
        self.container_obj = Container(f"fumehood-{id(self):x}")
        self.returncode = 0
        self.last: fumehood.Step | None = None
        self.config: Any = None  # the caller's
        self._seed = args.seed

    @property
    def current_step(self) -> int:
        """Number of steps of the episode."""
        return self.last.step if self.last else 0

    def reset_container(self) -> None:
        """Begins an episode in a new sandbox."""
        self.last = self.env.reset(self._seed)
        self._seed += 1

    def reset(self, **_: Any) -> Any:
        """Enters the workspace. The episode is that of reset_container()."""
        if self.last is None or self.last.step:
            self.reset_container()
        self.communicate(f"cd {self.task_workspace}")
        return {"observation": None}

    def step(self, action: str) -> Any:
        """Runs a command. Returns (observation, reward, done, info); the reward is 0."""
        step = self.last = self.env.step(action)
        info = {"exit_status": step.exit_status, "score": step.score}
        return step.observation, 0.0, step.terminated or step.truncated, info

    def communicate(self, input: str, timeout_duration: float = 25, **_: Any) -> str:  # noqa: A002
        """Runs a command that is not a step, and sets `returncode`. "state" tells the state."""
        if input.strip() == "state" and self.last:
            step = self.last
            return json.dumps({"open_file": step.open_file, "working_dir": step.working_dir})
        done = self.env.aside(input, timeout_s=timeout_duration)
        self.returncode = done.exit_code if done.exit_code is not None else 1
        return done.observation

    def add_commands(self, commands: list[dict[str, str]]) -> None:
        """Puts command files into the sandbox, and sources those of the type "source_file"."""
        for file in commands:
            path = f"/home/agent/commands/{file['name']}"
            mode = 0o755 if file["type"] == "script" else 0o644
            self.env.put_file(path, file["contents"].encode(), mode)
        self.communicate("PATH=/home/agent/commands:$PATH")
        for file in commands:
            if file["type"] == "source_file":
                self.communicate(f"source '/home/agent/commands/{file['name']}'")

    def close(self) -> None:
        """Ends the episode."""
        self.env.close()
