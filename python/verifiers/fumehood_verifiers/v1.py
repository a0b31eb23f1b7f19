# SPDX-License-Identifier: Apache-2.0
"""The taskset and harness for verifiers.v1.

A task of the taskset is an episode's task and seed. The harness plays it in this process. It calls
the model at the rollout's endpoint, and runs the replies' commands in a sandbox of its own. So the
runtime has nothing to do. Rewards are made of what the harness notes in `trace.info`.
"""

import dataclasses
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import fumehood
import httpx
import verifiers.v1 as vf
from fumehood.rewards import Account, make
from pydantic import Field, ValidationInfo, field_validator

from .checks import SEEDS, check
from .episode import Episode, Rules, task_id
from .foreign import Command, play
from .policy import BROADCASTS_DIR, policy_step_now
from .record import Board, Record, save
from .schemes import Schemes

INFO = "fumehood"  # key of trace.info

Trace: TypeAlias = vf.Trace[Any, Any, Any]


class FumehoodData(vf.TaskData):
    """An episode: its task and the seed of its random numbers."""

    task: str
    seed: int = 0


class FumehoodTaskConfig(vf.TaskConfig):
    """How episodes are rewarded: docs/verifiers.md has the schemes."""

    reward_scheme: str = "delta"
    v7_tau: float = 0.88  # threshold of v7_fixed_tier, a score of the task's metric
    reward_batch_size: int = 8  # episodes after which a scheme's threshold may move
    persist_path: Path | None = None  # file with a scheme's state; the task's name is added

    @field_validator("*")
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        return check(info.field_name or "", value)

    @field_validator("reward_scheme")
    @classmethod
    def _refuse_unknown(cls, name: str) -> str:
        make(name)
        return name


_schemes: dict[tuple[Any, ...], Schemes] = {}  # by their configuration


def _schemes_of(config: FumehoodTaskConfig) -> Schemes:
    key = (config.reward_scheme, config.v7_tau, config.reward_batch_size, config.persist_path)
    if key not in _schemes:
        _schemes[key] = Schemes(
            config.reward_scheme,
            config.persist_path,
            per_task=True,
            tau=config.v7_tau,
            batch_size=config.reward_batch_size,
        )
    return _schemes[key]


class FumehoodTask(vf.Task[FumehoodData, vf.State, FumehoodTaskConfig]):
    """A task whose reward is made by a scheme of fumehood.rewards."""

    @vf.reward(weight=1.0)
    async def scheme(self, trace: Trace) -> float:
        """Returns the reward of the configured scheme."""
        account = Account(**trace.info[INFO]["account"])
        return _schemes_of(self.config)(self.data.task, account)

    @vf.metric
    async def episode(self, trace: Trace) -> dict[str, float]:
        """Returns what the episode reached, in units of the task's metric.

        improvement: last score minus baseline; a gain is positive, and 0.0 also means no score.
        steps and errors: counts. final_score: last score; absent if there is none.
        """
        noted = trace.info[INFO]
        account = Account(**noted["account"])
        numbers = {
            "improvement": noted["metrics"]["improvement"],
            "steps": float(account.steps),
            "errors": float(account.errors),
        }
        if account.scores:
            numbers["final_score"] = account.scores[-1]
        return numbers


class FumehoodTasksetConfig(vf.TasksetConfig):
    """Which episodes a taskset has. A wrong value, or an unknown task, is a ValidationError."""

    id: str = "fumehood-verifiers"
    tasks: list[str] = ["titanicSurvival:micro"]  # ids, or names of MLGym's files
    num_examples_per_task: int = 100  # with consecutive seeds
    seed: int = 42  # seed of each task's first example
    task: FumehoodTaskConfig = FumehoodTaskConfig()

    @field_validator("*")
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        return check(info.field_name or "", value)


class FumehoodTaskset(vf.Taskset[FumehoodTask, FumehoodTasksetConfig]):
    """Episodes of tasks: `num_examples_per_task` of each, with consecutive seeds."""

    def load(self) -> Iterator[FumehoodTask]:
        """Yields the episodes. Those of different tasks alternate."""
        tasks = [task_id(name) for name in self.config.tasks]
        prompts = {task: fumehood.describe(task).description or task for task in tasks}
        for i in range(self.config.num_examples_per_task):
            for task in tasks:
                seed = (self.config.seed + i) % SEEDS
                data = {"id": f"{task}-{seed}", "name": task, "task": task, "seed": seed}
                data["prompt"] = prompts[task]
                yield FumehoodTask(FumehoodData.model_validate(data), self.config.task)


class FumehoodHarnessConfig(vf.HarnessConfig):
    """How episodes are played.

    history: "full" shows the whole conversation, so that an episode is one branch of its trace.
    "last_5" shows the last five turns, and makes each turn a branch of its own.

    agent_command: a command line that plays in place of this harness' own loop, inside the sandbox.
    It calls the model at the rollout's endpoint, `max_turns` times at most, and has its own prompts
    and history. `options` are then those of `fumehood run`.
    """

    id: str = "fumehood-verifiers"
    history: str = Field("full", pattern=r"^(full|last_[1-9][0-9]*)$")
    max_turns: int = 50  # replies of the model
    agent_command: str | None = None
    agent_timeout: float | None = None  # seconds of agent_command; None: an hour
    env_gpu: str = "cpu"  # or numbers as in "0,1": as many are leased, one for each episode
    training_timeout: float | None = None  # seconds of a command that trains; None: the task's
    options: dict[str, Any] = {}  # more options of fumehood.Env, or of `fumehood run`
    save_trajectories: bool = False
    trajectory_dir: Path = Path("trajectories")
    broadcasts_dir: Path = Path(BROADCASTS_DIR)
    policy_step: int | None = None  # None: the newest in broadcasts_dir
    wandb: dict[str, Any] | None = None  # arguments of wandb.init
    wandb_batch_size: int = 8  # episodes whose numbers are logged together

    @field_validator("*")
    @classmethod
    def _check(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "options" and info.data.get("agent_command") is not None:
            return value  # `fumehood run` refuses those that it does not know
        return check(info.field_name or "", value)


_boards: dict[str, Board] = {}  # by their configuration: each rollout has a harness of its own


def _board_of(config: FumehoodHarnessConfig) -> Board:
    key = json.dumps([config.wandb_batch_size, config.wandb], sort_keys=True, default=str)
    if key not in _boards:
        _boards[key] = Board(config.wandb_batch_size, config.wandb)
    return _boards[key]


class FumehoodHarness(vf.Harness[FumehoodHarnessConfig]):
    """Plays an episode in this process, with the model behind the rollout's endpoint."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False  # not in the runtime
    NEEDS_CONTAINER = False

    def __init__(self, config: FumehoodHarnessConfig) -> None:
        super().__init__(config)
        self.rules = Rules(
            max_turns=config.max_turns,
            env_gpu=config.env_gpu,
            training_timeout_s=config.training_timeout,
            options=config.options,
        )
        last = re.fullmatch(r"last_(\d+)", config.history)
        self.last_n = int(last[1]) if last else None
        self.board = _board_of(config)

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        tool_interception_url: str | None = None,
    ) -> vf.ProgramResult:
        """Plays the episode. Notes what it reached in trace.info["fumehood"].

        fumehood.Error: the task can't be opened, or the machine failed for the third time.
        RuntimeError: the agent's command failed. httpx.HTTPError: the endpoint did.
        """
        assert isinstance(data, FumehoodData)
        policy_step = policy_step_now(self.config.policy_step, self.config.broadcasts_dir)
        if self.config.agent_command is not None:
            return await self._run_command(ctx, trace, endpoint, secret, data, policy_step)
        episode = await Episode.open(data.task, data.seed, self.rules)
        try:
            await self._play(episode, trace, ctx.model, endpoint, secret)
        finally:
            episode.close()
            record = episode.record(data.idx or 0, policy_step)
            self._note(trace, episode.account, record)
        self._keep(record)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    def _note(self, trace: Trace, account: Account, record: Record) -> None:
        """Notes in trace.info what an episode reached."""
        trace.info[INFO] = {
            "account": dataclasses.asdict(account),
            "metrics": record["metrics"],
            "policy_step": record["policy_step"],
            **{key: value for key, value in record["info"].items() if key != "prompt"},
        }

    def _keep(self, record: Record) -> None:
        if self.config.save_trajectories:
            save(record, self.config.trajectory_dir)
        self.board.add(record)

    async def _run_command(
        self,
        ctx: vf.ModelContext,
        trace: Trace,
        endpoint: str,
        secret: str,
        data: FumehoodData,
        policy_step: int,
    ) -> vf.ProgramResult:
        """Plays the episode by the agent's command. A limit of the rollout is not a failure."""
        assert self.config.agent_command is not None
        played = await play(
            Command(
                command=self.config.agent_command,
                task=data.task,
                seed=data.seed,
                model=ctx.model,
                url=endpoint,
                key=secret,
                calls=self.config.max_turns,
                timeout_s=self.config.agent_timeout,
                gpu=self.config.env_gpu != "cpu",
                options=self.config.options,
            )
        )
        record = played.record(data.idx or 0, policy_step, time.strftime("%Y%m%d_%H%M%S"))
        self._note(trace, played.account, record)
        if played.error and trace.stop_condition is None:
            raise RuntimeError(played.error)
        self._keep(record)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def _play(
        self, episode: Episode, trace: Trace, model: str, endpoint: str, secret: str
    ) -> None:
        """Asks the model for each turn until the episode ends, or the rollout is stopped."""
        headers = {"Authorization": f"Bearer {secret}"}
        system = trace.task.data.system_prompt
        async with httpx.AsyncClient(timeout=None, headers=headers) as client:
            while not episode.done:
                messages = episode.messages(self.last_n)
                if system is not None:
                    messages[0]["content"] = system
                response = await client.post(
                    f"{endpoint}/chat/completions", json={"model": model, "messages": messages}
                )
                if response.is_error and trace.stop_condition is not None:
                    return  # a limit of the rollout was reached
                response.raise_for_status()
                reply = response.json()["choices"][0]["message"]["content"]
                await episode.act(reply or "")
