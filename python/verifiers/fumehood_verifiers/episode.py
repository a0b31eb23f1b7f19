# SPDX-License-Identifier: Apache-2.0
"""Episode: a rollout's own sandbox, led by the replies of a language model."""

import asyncio
import logging
import os
import time
from dataclasses import dataclass, field
from typing import Any

import fumehood
from fumehood.rewards import Account

from .parser import first_command

logger = logging.getLogger(__name__)

SYSTEM_PROMPT = """\
You are a machine-learning researcher in a Linux shell. A number scores your result: make it as good as you can.

Reply with one command. Nothing else in your reply is read. Besides the commands of a shell there are:
open PATH [LINE]     show a file; goto LINE, scroll_down and scroll_up move in it
create PATH          make a file and open it
edit FIRST:LAST      replace lines of the open file by the lines that follow, up to a line end_of_edit
insert LINE          insert the lines that follow, up to a line end_of_insert, after a line
search_dir TERM, search_file TERM, find_file NAME
validate             score what you have; do it often
submit               score it and end

Programs that wait for a terminal don't work. Look at the files first, get something scored early, then improve it."""

NO_COMMAND = """\
Your reply has no command. Reply with one command, such as `ls` or `validate`, at the beginning of a line."""

FILES = {"titanic": "titanicSurvival", "rlMetaMaze": "rlMetaMazeMisc"}  # ids of MLGym's files
TRAINERS = ("python", "torchrun", "accelerate", "deepspeed")  # commands with the long timeout
BUSY_S = 0.5  # time between two looks for a free GPU
RECOVERIES = 2  # sandboxes of an episode that may die

Message = dict[str, str]


def task_id(name: str) -> str:
    """Returns the id of a task, which may be named by MLGym's file, as in `tasks/titanic.yaml`.

    A variant may follow both: `titanic.yaml:micro`.
    """
    task, colon, variant = name.removeprefix("tasks/").partition(":")
    if task.endswith(".yaml"):
        task = task.removesuffix(".yaml")
        task = FILES.get(task, task)
    return task + colon + variant


_gyms: dict[tuple[int, int], fumehood.Gym] = {}  # with GPUs, by process and their number


def gym_with(env_gpu: str) -> fumehood.Gym | None:
    """Returns a gym that leases as many GPUs as a list such as "0,1" names. "cpu": None."""
    if env_gpu == "cpu":
        return None
    number = len(env_gpu.split(","))
    key = (os.getpid(), number)
    if key not in _gyms:
        _gyms[key] = fumehood.Gym(gpus=number)
    return _gyms[key]


@dataclass(frozen=True)
class Rules:
    """Options that episodes share."""

    max_turns: int = 50  # replies of the model
    env_gpu: str = "cpu"  # or numbers of GPUs as in "0,1"; each episode has one of as many
    training_timeout_s: float | None = None  # None: the task's own
    options: dict[str, Any] = field(default_factory=dict)  # more options of fumehood.Env


class Episode:
    """An episode from its reset on.

    Args:
        env: environment whose episode begins.
        first: Step of its reset.

    If the sandbox dies, the episode goes on in a new one, where the actions so far are run again.
    """

    def __init__(
        self, env: fumehood.AsyncEnv, first: fumehood.Step, rules: Rules, task: str, seed: int
    ) -> None:
        self.env = env
        self.rules = rules
        self.task = task
        self.seed = seed
        self.first = first
        self.last = first
        self.account = Account.of(env.env)
        self.turns: list[dict[str, Any]] = []
        self.validations: list[tuple[int, float]] = []  # pairs of turn and score
        self.recoveries = 0

    @classmethod
    async def open(cls, task: str, seed: int, rules: Rules) -> "Episode":
        """Begins an episode in a sandbox of its own. A seed gives it its random numbers.

        Waits while other episodes have all GPUs. fumehood.Error: the task can't be opened.
        """
        env, first = await cls._begin(task, seed, rules)
        return cls(env, first, rules, task, seed)

    @staticmethod
    async def _begin(task: str, seed: int, rules: Rules) -> tuple[fumehood.AsyncEnv, fumehood.Step]:
        gym = gym_with(rules.env_gpu)
        gpus = int(gym is not None)
        while True:
            try:
                env = await fumehood.AsyncEnv.open(
                    task, gym=gym, max_steps=rules.max_turns, gpus=gpus, **rules.options
                )
                break
            except fumehood.BusyError:  # other episodes have all GPUs
                await asyncio.sleep(BUSY_S)
        try:
            return env, await env.reset(seed)
        except BaseException:
            env.close()
            raise

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.last.terminated or self.last.truncated

    def prompt(self) -> list[Message]:
        """Returns the messages of the first turn."""
        return [
            {"role": "system", "content": SYSTEM_PROMPT},
            {"role": "user", "content": self.first.observation},
        ]

    def messages(self, last_n: int | None = None) -> list[Message]:
        """Returns the conversation so far, for the next call of the model.

        last_n: number of turns that are shown. The message with the task then tells the turn, so
        no conversation extends an earlier one. None shows all turns.
        """
        system, task = self.prompt()
        shown = self.turns
        if last_n is not None:
            shown = self.turns[-last_n:]
            task["content"] += (
                f"\n(Turn {len(self.turns) + 1} of {self.rules.max_turns}, of which you see the "
                f"last {len(shown)})"
            )
        messages = [system, task]
        for turn in shown:
            messages.append({"role": "assistant", "content": turn["completion"]})
            messages.append({"role": "user", "content": turn["observation"]})
        return messages

    async def act(self, reply: str) -> str:
        """Runs the command of a reply. Returns the observation for the model.

        A reply without a command is a step that does nothing, and counts as an error.
        fumehood.MachineError, InternalError: the machine failed for the third time. StateError: the
        episode has ended.
        """
        action = first_command(reply)
        try:
            step = await self._step(action or ":")
        except ValueError:  # text that no command can have, such as a NUL
            action = None
            step = await self._step(":")
        self.last = step
        self.account.add(step)
        observation = step.observation
        if action is None:
            self.account.errors += 1
            observation = f"{NO_COMMAND}\n{observation}".rstrip("\n")
        score = (step.score or {}).get(self.account.metric)
        if score is not None:
            self.validations.append((len(self.turns) + 1, score))
        self.turns.append(
            {
                "completion": reply,
                "action": action,
                "observation": observation or "(The command printed nothing.)",
                "reward": step.reward,
                "exit_code": step.exit_code,
                "outcome": step.outcome,
                "score": step.score,
                "duration_s": step.duration_s,
                "grading_s": step.grading_s,
            }
        )
        return str(self.turns[-1]["observation"])

    async def _run(self, action: str) -> fumehood.Step:
        timeout_s = self.rules.training_timeout_s
        if timeout_s is None or not any(word in action for word in TRAINERS):
            timeout_s = 0.0
        return await self.env.step(action, timeout_s=timeout_s)

    async def _step(self, action: str) -> fumehood.Step:
        while True:
            try:
                step = await self._run(action)
                if step.outcome != "sandbox_gone" or self.recoveries == RECOVERIES:
                    return step
                why = "its sandbox is gone"
            except (fumehood.MachineError, fumehood.InternalError) as error:
                if self.recoveries == RECOVERIES:
                    raise
                why = str(error)
            self.recoveries += 1
            await self._recover(why)

    async def _recover(self, why: str) -> None:
        """Runs the actions so far again in a new sandbox."""
        logger.warning("%s: turn %d: %s; recovering", self.task, len(self.turns) + 1, why)
        self.env.close()
        self.env, _ = await self._begin(self.task, self.seed, self.rules)
        for turn in self.turns:
            await self._run(turn["action"] or ":")

    def metrics(self) -> dict[str, Any]:
        """Returns what the episode reached. Scores of the task's metric; a gain is positive."""
        return {
            "baseline_score": self.account.baseline,
            "final_score": self.validations[-1][1] if self.validations else None,
            "improvement": self.account.improvement() or 0.0,
            "validation_history": self.validations,
        }

    def record(self, example_id: int, policy_step: int) -> dict[str, Any]:
        """Returns the episode as a dict for JSON."""
        return {
            "task": self.task,
            "example_id": example_id,
            "policy_step": policy_step,
            "trajectory": self.turns,
            "metrics": self.metrics(),
            "info": {
                "seed": self.seed,
                "prompt": self.prompt(),
                "exit_status": self.last.exit_status,
                "best": self.last.best,
                "errors": self.account.errors,
                "recoveries": self.recoveries,
            },
            "timestamp": time.strftime("%Y%m%d_%H%M%S"),
        }

    def close(self) -> None:
        """Ends the episode."""
        self.env.close()
