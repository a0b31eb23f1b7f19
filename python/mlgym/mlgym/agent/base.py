# SPDX-License-Identifier: Apache-2.0
"""Arguments of an agent."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fumehood

from mlgym.backend.base import ModelArguments


@dataclass
class Command:
    """A command of the agent's shell."""

    name: str
    code: str


@dataclass
class ToolsHandler:
    """The agent's commands, as prompts describe them."""

    command_docs: str
    env_variables: dict[str, str]


@dataclass
class AgentConfig:
    """Prompts and commands of an agent."""

    tools_handler: ToolsHandler
    env_variables: dict[str, str]
    state_command: Command
    command_files: tuple[str, ...]
    system_template: str
    task_template: str
    strategy_template: str | None
    next_step_template: str
    next_step_no_output_template: str


class AgentArguments:
    """Loads the prompts of an agent.

    Args:
        model: model that plays.
        agent_config_path: configuration's file; if there is none, the installed one of this name.
    """

    def __init__(self, model: ModelArguments, agent_config_path: str | Path) -> None:
        self.model = model
        self.agent_config_path = path = Path(agent_config_path)
        info = fumehood.Agent(str(path) if path.exists() else path.stem).info
        self.config = make_config(info)


def make_config(info: dict[str, Any]) -> AgentConfig:
    """Returns a configuration as MLGym's attributes."""
    variables = info["env_variables"]
    names = ("system_template", "task_template", "strategy_template", "next_step_template")
    return AgentConfig(
        tools_handler=ToolsHandler(info["command_docs"] or "", variables),
        env_variables=variables,
        # Fumehood's steps tell the state, so that the shell need not define a command.
        state_command=Command(info["state_command"] or "state", info["state_code"] or ":"),
        command_files=info["command_files"],
        **{name: info[name] for name in names},
        next_step_no_output_template=info["next_step_no_output_template"],
    )
