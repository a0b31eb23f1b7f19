# SPDX-License-Identifier: Apache-2.0
"""Agents without their model: prompts, history and parsers, for programs that call the model.

agent = fumehood.Agent("default")
agent.set_up(env)
step = env.reset(seed=0)
chat = agent.chat(env)
while not (step.terminated or step.truncated):
    chat.observe(step)
    decision = chat.reply(model(chat.messages))
    while decision.kind == "ask_again":
        decision = chat.reply(model(chat.messages))
    step = env.step(decision.action)
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _core
from .aio import AsyncEnv

if TYPE_CHECKING:
    from .recorder import Recorder

Message = dict[str, Any]  # a message in OpenAI's form: role, content, tool_calls, tool_call_id


class Decision(NamedTuple):
    """The action that a reply asks for.

    `kind` is "action" if `action` is for Env.step(). It is "ask_again" if `Chat.messages` has to be
    sent once more; they end with the complaint. It is "give_up" after the third such reply: then
    `action` is exit_format, which ends the episode.
    """

    kind: Literal["action", "ask_again", "give_up"]
    fault: Literal["format", "blocked"] | None  # why the reply could not be run
    action: str  # for Env.step(); "" when asking again
    thought: str | None  # rest of the reply's text
    response: str | None  # the reply as it is recorded; None: ask again
    complaint: str | None  # message to the model; None: no fault
    beside_bytes: int  # bytes of thought and response in a record


class Agent(_core.Agent):
    """A configuration of an agent: prompts, commands, an output parser (docs/agents.md).

    Args:
        config: path of a configuration's file, or name of an installed one.
        mlgym_root: a checkout of MLGym, from which relative paths start.
        aliases: path of a file of aliases that the agent's shells source.
        original_tools: run MLGym's own commands, not Fumehood's equal programs.

    MissingError: there is no such configuration; the error lists the installed ones. InputError: a
    file is malformed. An agent does not change, so threads may share it.
    """

    def __init__(
        self,
        config: str = "default",
        *,
        mlgym_root: str | None = None,
        aliases: str | None = None,
        original_tools: bool = False,
    ) -> None:
        super().__init__(
            config, mlgym_root=mlgym_root, aliases=aliases, original_tools=original_tools
        )

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """Tools to offer to the model, in OpenAI's form. None: replies have actions as text."""
        text = self.info["tools"]
        return None if text is None else json.loads(text)

    def set_up(self, env: "_core.Env | AsyncEnv") -> None:
        """Gives the agent's commands to the environment's episodes, from the next reset on."""
        super().set_up(env.env if isinstance(env, AsyncEnv) else env)

    def chat(self, env: "_core.Env | AsyncEnv", recorder: "Recorder | None" = None) -> "Chat":
        """Begins the conversation of an episode, with the system message and demonstrations.

        recorder: recorder of the episode, which then has the conversation. InputError: a template
        has an unknown field, or a demonstration is unreadable.
        """
        return Chat(self, env.env if isinstance(env, AsyncEnv) else env, recorder)


class Chat(_core.Chat):
    """The conversation of an episode: see Agent.chat(). Not for threads at once."""

    def observe(self, step: _core.Step) -> None:
        """Adds the result of a reset or step as a message, and begins a turn.

        StateError: the turn before has no action yet.
        """
        super().observe(step)

    @property
    def messages(self) -> list[Message]:
        """The messages to send to the model now, as the history processor shortens them."""
        messages: list[Message] = json.loads(self.json())
        return messages

    @property
    def history(self) -> list[Message]:
        """All messages so far in full, without complaints and replies that could not be run.

        Replies also have `thought` and `action`; messages of demonstrations have `is_demo`.
        """
        messages: list[Message] = json.loads(self.history_json())
        return messages

    def reply(self, reply: str | Mapping[str, Any]) -> Decision:
        """Takes the model's reply: its text, or a message in OpenAI's form (with tool calls).

        A text that no action can have, with a NUL or a lone surrogate, has a format fault.
        StateError: no turn waits for a reply. InputError: the message is malformed.
        """
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        data = text.encode("utf-8", "surrogatepass").replace(b"\0", b"\xff")
        if isinstance(reply, str) or not _is_utf8(data):
            return _decision(self.reply_text(data))
        return _decision(self.reply_json(text))

    def act(self, action: str, text: str = "") -> Decision:  # type: ignore[override]
        """Ends the turn with an action of the caller's choice, such as "exit_context".

        text: recorded as the reply.
        """
        return _decision(super().act(action, text))

    def __enter__(self) -> "Chat":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decision(fields: tuple[Any, ...]) -> Decision:
    decision = Decision(*fields)
    return decision._replace(action=decision.action or "")
