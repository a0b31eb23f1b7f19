# SPDX-License-Identifier: Apache-2.0
"""Recorder: records of episodes that the caller plays, as `fumehood run` writes them."""

import json
import os
from collections.abc import Mapping
from typing import Any, SupportsIndex

from . import _core
from .agent import Agent, Decision
from .aio import AsyncEnv

RECORD_TEXT_BYTES = 64 << 20  # FH_RECORD_TEXT_BYTES


def _plain(value: Any) -> Any:
    """Gives numbers and arrays of numpy and torch to json."""
    if not hasattr(value, "tolist"):
        raise _core.InputError(f"numbers have a {type(value).__name__}, which JSON can't hold")
    return value.tolist()


def _numbers(numbers: Mapping[str, Any] | None) -> str | None:
    return None if numbers is None else json.dumps(dict(numbers), default=_plain)


class Recorder(_core.Recorder):
    """A record of an episode: a folder that `fumehood show`, `replay` and `export` read.

        with fumehood.Recorder(env, seed=7, model="mine", policy_step=12) as recorder:
            step = env.reset(seed=7)
            recorder.reset(step)
            while not (step.terminated or step.truncated):
                action = policy(step.observation)
                step = env.step(action)
                recorder.step(action, step, numbers={"value": 0.5})

    Args:
        env: the environment, open until reset() was recorded.
        seed: seed of the episode's reset.
        out: folder for records; None: "trajectories/<user>". Agents can't see it.
        model: name of what decides on actions.
        agent: configuration of the agent.
        temperature, top_p: numbers in the folder's name; a top_p of 0 means 0.95.
        suffix: last part of the folder's name.
        policy_step: training step of the policy, in the name of the .traj.

    Record each result before anyone acts on it: a killed process then loses nothing. Events are on
    the disk within a second, scored steps and ends at once. `with` ends the record; an exception
    becomes its error. Open the environment with `max_text_bytes=fumehood.RECORD_TEXT_BYTES`, so
    that a .traj is never too large to be written. A recorder is not for threads at once.
    """

    def __init__(
        self,
        env: "_core.Env | AsyncEnv",
        seed: SupportsIndex = 0,
        *,
        out: str | os.PathLike[str] | None = None,
        model: str = "policy",
        agent: Agent | None = None,
        temperature: float = 0.0,
        top_p: float = 0.0,
        suffix: str | None = None,
        policy_step: SupportsIndex | None = None,
    ) -> None:
        self._ended = False
        super().__init__(
            env.env if isinstance(env, AsyncEnv) else env,
            seed,
            out=None if out is None else os.fspath(out),
            model=model,
            agent=agent,
            temperature=temperature,
            top_p=top_p,
            suffix=suffix,
            policy_step=policy_step,
        )

    def step(  # type: ignore[override]
        self,
        action: str | Decision,
        step: _core.Step,
        *,
        response: str | None = None,
        thought: str | None = None,
        numbers: Mapping[str, Any] | None = None,
    ) -> None:
        """Records a step.

        Args:
            action: text of the action, or the Decision of a chat. For Env.validate() and
                Env.submit() it is "validate" or "submit".
            response, thought: reply and thought of a language model. A Decision has its own.
            numbers: the caller's own, such as values and log probabilities. As JSON they have at
                most 64 KiB. Values may be of numpy or torch.

        StateError: no reset was recorded, or a step that ended the episode was. InputError: the
        numbers are too large, or no JSON.
        """
        if isinstance(action, Decision):
            response, thought = action.response, action.thought
            action = action.action
        super().step(action, step, response, thought, _numbers(numbers))

    def end(  # type: ignore[override]
        self,
        *,
        exit_status: str | None = None,
        error: str | None = None,
        numbers: Mapping[str, Any] | None = None,
        calls: int = 0,
        tokens_sent: int = 0,
        tokens_received: int = 0,
        cost: float = 0.0,
    ) -> None:
        """Ends the record, and writes the .traj and results.json.

        exit_status: None takes that of the last step, else "early_exit". error: what broke the
        episode, so that the record is incomplete. calls, tokens_sent, tokens_received, cost (in
        dollars): what the model has cost.
        """
        super().end(
            exit_status, error, _numbers(numbers), calls, tokens_sent, tokens_received, cost
        )
        self._ended = True

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: object
    ) -> None:
        try:
            if not self._ended:
                self.end(error=f"{kind.__name__}: {value}" if kind else None)
        finally:
            self.close()
