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
)
from .aio import AsyncEnv
from .env import Env, Gym, default_gym
from .pool import EnvPool
from .tasks import Task, describe, tasks

__all__ = [
    "AsyncEnv",
    "BusyError",
    "ClosedError",
    "Env",
    "EnvPool",
    "Error",
    "Gym",
    "InputError",
    "InternalError",
    "MachineError",
    "MissingError",
    "StateError",
    "Step",
    "Task",
    "__version__",
    "default_gym",
    "describe",
    "tasks",
]
