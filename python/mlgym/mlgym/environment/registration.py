# SPDX-License-Identifier: Apache-2.0
"""Tasks as Gymnasium environments."""

import gymnasium

from mlgym.environment.env import EnvironmentArguments


def register_task(args: EnvironmentArguments) -> None:
    """Registers the task as mlgym/ID."""
    gymnasium.register(
        f"mlgym/{args.task.id}",
        entry_point="mlgym.environment.env:MLGymEnv",
        kwargs={"args": args},
        disable_env_checker=True,
        order_enforce=False,
    )
