# SPDX-License-Identifier: Apache-2.0
"""The values that the arguments and keys of both doors may have."""

import math
import re
from collections.abc import Callable
from typing import Any

import fumehood

from .episode import task_id

SEEDS = 1 << 64  # number of seeds

# Options of fumehood.Env, but those that the rules of an episode set themselves.
_OPTIONS = frozenset(fumehood.env.EnvOptions.__annotations__) - {"max_steps", "gpus"}
_GPUS = re.compile(r"cpu|\d+(?:, ?\d+)*")


def _is_int(value: Any, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return _is_int(value, 1)


def _is_time(value: Any) -> bool:
    return value is None or (_is_number(value) and value > 0)


def _is_options(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= _OPTIONS


def _are_tasks(names: Any) -> bool:
    """Whether there are names, all of tasks. Raises fumehood.MissingError for an unknown task."""
    return bool(names) and all(fumehood.describe(task_id(name)) for name in names)


Check = tuple[str, Callable[[Any], bool]]

_COUNT: Check = ("a whole number from 1", _is_count)
_TIME: Check = ("a positive number of seconds, or None", _is_time)
_TASKS: Check = ("the names of one or more tasks", _are_tasks)
_KEYS: Check = (f"a dict with keys among {', '.join(sorted(_OPTIONS))}", _is_options)

_CHECKS: dict[str, Check] = {
    "tasks": _TASKS,
    "task_configs": _TASKS,
    "max_turns": _COUNT,
    "num_examples_per_task": _COUNT,
    "reward_batch_size": _COUNT,
    "wandb_batch_size": _COUNT,
    "training_timeout": _TIME,
    "agent_timeout": _TIME,
    "options": _KEYS,
    "env_options": _KEYS,
    "seed": ("a whole number from 0 to 2^64 - 1", lambda value: _is_int(value, 0, SEEDS - 1)),
    "v7_tau": ("a number", _is_number),
    "env_gpu": (
        "'cpu', or numbers of GPUs as in '0,1'",
        lambda value: isinstance(value, str) and bool(_GPUS.fullmatch(value)),
    ),
    "policy_step": (
        "a whole number from 0, or None",
        lambda value: value is None or _is_int(value, 0),
    ),
}


def check(key: str, value: Any) -> Any:
    """Returns the value of an argument or key. ValueError: it is wrong. Other keys pass."""
    if key not in _CHECKS:
        return value
    what, holds = _CHECKS[key]
    try:
        if holds(value):
            return value
    except fumehood.Error as error:
        raise ValueError(f"{key}: {error}") from error
    raise ValueError(f"{key} should be {what}, not {value!r}")
