# SPDX-License-Identifier: Apache-2.0
"""Fumehood: a gym for agents that do machine-learning research.

    import fumehood

    with fumehood.Env("titanicSurvival:micro") as env:
        step = env.reset(seed=0)
        step = env.step("python3 baseline.py && validate")
        print(step.observation, step.reward)

`EnvPool` steps many environments at once, `AsyncEnv` is for asyncio. docs/python.md has the whole.
"""

from ._core import (
    BusyError,
    ClosedError,
    Error,
    InputError,
    InternalError,
    MachineError,
    MissingError,
    StateError,
    Step,
    __version__,
    parse_reply,
)
from .agent import Agent, Chat, Decision
from .aio import AsyncEnv
from .env import Env, Gym, default_gym
from .info import EnvInfo, FinalInfo, Info
from .pool import EnvPool
from .recorder import RECORD_TEXT_BYTES, Recorder
from .tasks import Task, describe, tasks
from .trajectory import Trajectory, TrajectoryStep

__all__ = [
    "Agent",
    "AsyncEnv",
    "BusyError",
    "Chat",
    "ClosedError",
    "Decision",
    "Env",
    "EnvInfo",
    "EnvPool",
    "Error",
    "FinalInfo",
    "Gym",
    "Info",
    "InputError",
    "InternalError",
    "MachineError",
    "MissingError",
    "RECORD_TEXT_BYTES",
    "Recorder",
    "StateError",
    "Step",
    "Task",
    "Trajectory",
    "TrajectoryStep",
    "__version__",
    "default_gym",
    "describe",
    "parse_reply",
    "tasks",
]
