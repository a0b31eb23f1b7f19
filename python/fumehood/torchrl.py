# SPDX-License-Identifier: Apache-2.0
"""Fumehood's tasks as a TorchRL environment for language models.

    from fumehood.torchrl import MLGymEnv

    env = MLGymEnv("titanicSurvival:micro", batch_size=4)
    data = env.rollout(20, policy)  # any policy of torchrl.modules.llm

The keys are those of TorchRL's ChatEnv. The prompt is in ("history", "prompt"). The policy writes
("history", "full"): the prompt with its reply. docs/torchrl.md explains all keys,
and `repair()`.
"""

import json
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    NonTensorStack,
    TensorDict,
    TensorDictBase,
    lazy_stack,
)
from torchrl.data import Categorical, Composite, NonTensor, Unbounded
from torchrl.data.llm.history import History
from torchrl.envs import EnvBase
from torchrl.modules.llm.policies.common import ChatHistory, Text, Tokens

from ._core import ClosedError, Step
from .agent import Agent, Chat
from .env import Env, EnvOptions, Gym, default_gym
from .tasks import describe
from .torchrl_repair import repair, without_special

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["MLGymEnv", "repair"]

HARMLESS = ("ls", "pwd")  # commands of random actions


def _fence(command: str) -> str:
    return f"```\n{command}\n```"


class _Reply(NonTensor):
    """The spec of texts, of which a sample is a reply with a harmless command."""

    def rand(self, shape: Any = None) -> Any:
        command = HARMLESS[int(torch.randint(len(HARMLESS), ()))]
        spec = NonTensor(shape=self.shape, device=self.device, example_data=_fence(command))
        return spec.rand(shape)


def _chat_spec(shape: torch.Size, key: str, kind: type[NonTensor]) -> Composite:
    """Returns the spec of a ChatHistory with one member, of any number of messages.

    kind: spec of the messages' texts.
    """
    shape = torch.Size((*shape, -1))

    history = Composite(
        role=NonTensor(shape=shape, example_data="assistant"),
        content=kind(shape=shape, example_data="a text"),
        is_complete=NonTensor(shape=shape, example_data=True),
        shape=shape[:-1],
        data_cls=History,
    )
    return Composite({key: history}, shape=shape[:-1], data_cls=ChatHistory, step_mdp_static=True)


def _texts(field: Any) -> list[str]:
    """Returns a field of messages as a flat list."""
    if isinstance(field, str):
        return [field]
    if isinstance(field, NonTensorData):
        return _texts(field.data)
    return [text for item in field for text in _texts(item)]


def _plain(text: str) -> str:
    """Returns a text without lone surrogates, which no tokenizer takes."""
    return text.encode(errors="backslashreplace").decode()


class _Slot:
    """An environment of the batch: its episode, and the conversation as the policy sees it."""

    def __init__(self) -> None:
        self.env: Env | None = None
        self.task = ""
        self.chat: Chat | None = None
        self.prompt: History | None = None
        self.text = ""  # the rendered prompt, if there is a tokenizer
        self.tokens: torch.Tensor | None = None
        self.message = ""
        self.step: Step | None = None
        self.retry = False
        self.reward = 0.0

    def open(self, task: str, agent: Agent, gym: Gym, options: EnvOptions) -> None:
        """Opens the task, unless it is open."""
        if self.env and self.task == task:
            return
        self.close()
        self.env = Env(task, gym=gym, **options)
        self.task = task
        agent.set_up(self.env)

    def begin(self, step: Step, agent: Agent) -> None:
        """Begins a conversation with an episode's first observation."""
        assert self.env
        self.chat = agent.chat(self.env)
        self.chat.observe(step)
        messages = self.chat.messages
        self.prompt = History.from_chats(
            [{"role": m["role"], "content": m["content"]} for m in messages]
        )
        self.step, self.message, self.retry = step, messages[-1]["content"], False
        self.reward = 0.0

    def decide(self, reply: str) -> str | None:
        """Returns the action of a reply. None: it has none, and `message` says why."""
        assert self.chat
        decision = self.chat.reply(reply)
        self.retry = decision.kind == "ask_again"
        if self.retry:
            self.message = decision.complaint or ""
        return None if self.retry else decision.action

    def observe(self, step: Step) -> None:
        """Makes a message of a step's result."""
        assert self.chat
        self.chat.observe(step)
        self.step, self.message = step, self.chat.messages[-1]["content"]

    @property
    def state(self) -> str:
        """State of the agent's tools, as JSON."""
        assert self.step
        own = {"open_file": self.step.open_file, "working_dir": self.step.working_dir}
        return self.step.state or json.dumps(own)

    @property
    def score(self) -> float:
        """The score of the last step; NaN: it was not scored."""
        assert self.env and self.step
        return (self.step.score or {}).get(self.env.info["metric"], float("nan"))

    def close(self) -> None:
        """Ends the episode."""
        if self.env:
            self.env.close()
        self.env = self.chat = None


class MLGymEnv(EnvBase):
    """A batch of episodes as a chat environment.

    A reset draws a task for each episode and starts it. A step takes these parts, in order:

    - isolate the code block of the reply;
    - without one, skip the sandbox and ask the policy again;
    - run the block;
    - read the state of the tools;
    - make a message of observation and state;
    - append it to the history;
    - apply the chat template;
    - assign the reward.

    Args:
        task: id of a task, or a list from which each reset draws one. The key "task" of reset()'s
            tensordict chooses one, too.
        batch_size: number of episodes B, which step at once; or a tuple with it.
        agent: configuration of prompts and commands: an Agent, its name, or the path of its file.
        input_mode: "history" or "text": the key that holds the prompt and the action.
        tokenizer: a tokenizer of transformers. With it the prompt is in ("text", "prompt"), too.
        tokenize: also gives ("tokens", "prompt").
        padding, truncation: for the tokenizer. Padding fills prompts to the length of the longest.
        chat_template, chat_template_name: for History.apply_chat_template(); the default is the
            tokenizer's own template.
        reward_wrong_format: reward of a reply without a code block; None: 0.
        seed: of episodes and drawn tasks; None takes one from torch's generator.
        gym: what environments share; None takes the process' default.
        device: of rewards, scores, flags and tokens. Texts have none.
        options: as for fumehood.Env, such as `reward` and `max_steps`.

    "reward" is a float32 of shape (B, 1), "score" a float64 of (B, 1): NaN without a score. "done",
    "terminated", "truncated" and "retry" are bools of (B, 1). Tokens are int64, a row for each
    episode. ValueError, TypeError: an argument is wrong. MissingError: no such task. A reset raises
    the errors of fumehood.Env.
    """

    def __init__(
        self,
        task: str | Sequence[str] = "titanicSurvival:micro",
        *,
        batch_size: int | Sequence[int] = 1,
        agent: str | Agent = "default",
        input_mode: Literal["history", "text"] = "history",
        tokenizer: Any = None,
        tokenize: bool = False,
        padding: bool | str = False,
        truncation: bool | str = False,
        chat_template: str | None = None,
        chat_template_name: str | None = None,
        reward_wrong_format: float | None = None,
        seed: int | None = None,
        gym: Gym | None = None,
        device: torch.device | str | None = None,
        **options: "Unpack[EnvOptions]",
    ) -> None:
        shape = torch.Size([batch_size] if isinstance(batch_size, int) else batch_size)
        if len(shape) != 1 or shape[0] < 1:
            raise ValueError("batch_size is a number of episodes from 1, or a tuple with one")
        if not task:
            raise ValueError("task is the id of a task, or a list with one or more")
        if input_mode not in ("history", "text"):
            raise ValueError(f"no input_mode {input_mode!r}: there are 'history' and 'text'")
        if (input_mode == "text" or tokenize or chat_template_name) and tokenizer is None:
            raise ValueError("input_mode 'text', tokenize and chat_template_name need a tokenizer")
        unknown = options.keys() - EnvOptions.__annotations__.keys()
        if unknown:
            raise TypeError(f"MLGymEnv has no option {', '.join(map(repr, sorted(unknown)))}")
        super().__init__(batch_size=shape, device=device)
        self.tasks = [task] if isinstance(task, str) else list(task)
        for name in self.tasks if gym is None else []:
            describe(name, options.get("variant"))  # MissingError: there is no such task
        self.agent = Agent(agent) if isinstance(agent, str) else agent
        if self.agent.info["tools"]:
            raise ValueError("agents with tool calls are not supported: replies are texts")
        self.input_mode = input_mode
        self.tokenizer = tokenizer
        self.tokenize = tokenize
        self.reward_wrong_format = reward_wrong_format or 0.0
        self._template = {
            "tokenizer": tokenizer,
            "add_generation_prompt": True,
            "chat_template": chat_template
            if chat_template or chat_template_name
            else getattr(tokenizer, "chat_template", None),
            "chat_template_name": chat_template_name,
        }
        if chat_template_name:
            self._check_template(chat_template_name)
        self._token_options = {"padding": padding, "truncation": truncation}
        self._options = options
        self._gym = gym
        self._is_over = False  # EnvBase's own is_closed begins as True
        self._slots = [_Slot() for _ in range(shape[0])]
        self._set_seed(int(torch.randint(1 << 31, ())) if seed is None else seed)
        self._make_specs()

    def _check_template(self, name: str) -> None:
        prompt = History.from_chats([{"role": "user", "content": "a text"}])
        try:
            prompt.apply_chat_template(tokenize=False, **self._template)
        except KeyError as error:
            raise ValueError(f"no chat_template_name {name!r}") from error

    # --- specs ------------------------------------------------------------------------------------

    def _make_specs(self) -> None:
        shape = self.batch_size
        n = (*shape, 1)
        observation = {
            name: NonTensor(shape=shape, example_data="a text")
            for name in ("task", "state", "message")
        }
        observation["retry"] = Categorical(2, shape=n, dtype=torch.bool)
        observation["score"] = Unbounded(n, dtype=torch.float64)
        observation["history"] = _chat_spec(shape, "prompt", NonTensor)
        if self.tokenizer is not None:
            observation["text"] = self._text_spec("prompt", NonTensor)
        if self.tokenize:
            prompt = Unbounded((*shape, -1), dtype=torch.int64)
            observation["tokens"] = Composite(
                prompt=prompt, shape=shape, data_cls=Tokens, step_mdp_static=True
            )
        if self.input_mode == "history":
            action = {"history": _chat_spec(shape, "full", _Reply)}
        else:
            action = {"text": self._text_spec("full", _Reply)}
        done = {
            name: Categorical(2, shape=n, dtype=torch.bool)
            for name in ("done", "terminated", "truncated")
        }
        device = self.device
        self.full_observation_spec = Composite(observation, shape=shape, device=device)
        self.full_action_spec = Composite(action, shape=shape, device=device)
        self.full_reward_spec = Composite(reward=Unbounded(n), shape=shape, device=device)
        self.full_done_spec = Composite(done, shape=shape, device=device)

    def _text_spec(self, key: str, kind: type[NonTensor]) -> Composite:
        shape = self.batch_size
        text = kind(shape=shape, example_data="a text")
        return Composite({key: text}, shape=shape, data_cls=Text, step_mdp_static=True)

    # --- episodes ---------------------------------------------------------------------------------

    def _set_seed(self, seed: int | None) -> None:
        self._random = random.Random(seed)

    def _gym_of_process(self) -> Gym:
        return self._gym or default_gym()

    def _draw_task(self, given: Any) -> str:
        return self._random.choice(self.tasks) if given is None else given

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        if self._is_over:
            raise ClosedError("the environment is closed")
        mask = [True] * len(self._slots)
        given: list[str | None] = [None] * len(self._slots)
        if tensordict is not None:
            chosen_slots, tasks_given = tensordict.get("_reset"), tensordict.get("task")
            if chosen_slots is not None:  # then "task" is that of the last episode
                mask = chosen_slots.reshape(-1).tolist()
            elif tasks_given is not None:
                tasks = _texts(tasks_given)
                given = [*(tasks * len(given) if len(tasks) == 1 else tasks)]
        slots = [slot for slot, chosen in zip(self._slots, mask, strict=True) if chosen]
        gym = self._gym_of_process()
        for slot, task, chosen in zip(self._slots, given, mask, strict=True):
            if chosen:
                slot.open(self._draw_task(task), self.agent, gym, self._options)
        seeds = [self._random.randrange(1 << 53) for _ in slots]
        for slot, step in zip(
            slots, gym.reset_many([slot.env for slot in slots], seeds), strict=True
        ):
            slot.begin(step, self.agent)
            self._render(slot)
        return self._output()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        stepping = tensordict.get("_step")
        mask = [True] * len(self._slots) if stepping is None else stepping.reshape(-1).tolist()
        running: list[tuple[_Slot, str]] = []
        slots = [slot for slot, chosen in zip(self._slots, mask, strict=True) if chosen]
        for i, slot in enumerate(self._slots):
            slot.reward = 0.0
            if not mask[i]:
                continue
            action = slot.decide(self._take_reply(tensordict, i))
            if action is None:
                slot.reward = self.reward_wrong_format
            else:
                running.append((slot, action))
        steps = self._gym_of_process().step_many(
            [slot.env for slot, _ in running], [action for _, action in running]
        )
        for (slot, _), step in zip(running, steps, strict=True):
            slot.observe(step)
            slot.reward = step.reward
        for slot in slots:
            assert slot.prompt is not None
            message = History(role="user", content=slot.message)
            slot.prompt = slot.prompt.append(message, inplace=False)
            self._render(slot)
        result = self._output()
        rewards = torch.tensor([[slot.reward] for slot in self._slots], device=self.device)
        return result.set("reward", rewards)

    def _take_reply(self, tensordict: TensorDictBase, i: int) -> str:
        """Appends the policy's reply to the history, and returns its text.

        An action of a single message, such as a random one, is the reply alone.
        """
        slot = self._slots[i]
        assert slot.prompt is not None
        if self.input_mode == "text":
            full = _texts(tensordict["text"][i].full)[-1]
            reply = without_special(full.removeprefix(slot.text), self.tokenizer)
            message = History(role="assistant", content=_plain(reply))
            slot.prompt = slot.prompt.append(message, inplace=False)
            return reply
        full = tensordict["history"].full[i]
        contents = _texts(full.content)
        reply = without_special(contents[-1], self.tokenizer)
        if len(contents) > 1 and _plain(reply) == reply:
            slot.prompt = full
        else:
            message = History(role="assistant", content=_plain(reply))
            slot.prompt = slot.prompt.append(message, inplace=False)
        return reply

    # --- output -----------------------------------------------------------------------------------

    def _render(self, slot: _Slot) -> None:
        if self.tokenizer is not None:
            assert slot.prompt is not None
            slot.text = slot.prompt.apply_chat_template(tokenize=False, **self._template)

    def _output(self) -> TensorDictBase:
        slots = self._slots
        shape = self.batch_size
        prompts = lazy_stack([slot.prompt for slot in slots])
        result = TensorDict(
            {
                "history": ChatHistory(prompt=prompts, batch_size=shape),
                "retry": torch.tensor([[slot.retry] for slot in slots]),
                "score": torch.tensor([[slot.score] for slot in slots], dtype=torch.float64),
            },
            batch_size=shape,
            device=self.device,
        )
        for name in ("task", "state", "message"):
            result.set(name, NonTensorStack(*[getattr(slot, name) for slot in slots]))
        if self.tokenizer is not None:
            texts = NonTensorStack(*[slot.text for slot in slots])
            result.set("text", Text(prompt=texts, batch_size=shape))
        if self.tokenize:
            result.set("tokens", self._tokens())
        for name in ("terminated", "truncated"):
            flags = [[bool(slot.step and getattr(slot.step, name))] for slot in slots]
            result.set(name, torch.tensor(flags))
        return result.set("done", result["terminated"] | result["truncated"])

    def _tokens(self) -> Tokens:
        encoded = self.tokenizer(
            [slot.text for slot in self._slots], add_special_tokens=False, **self._token_options
        )
        rows = [torch.tensor(ids, device=self.device) for ids in encoded["input_ids"]]
        items = [TensorDict({"prompt": row}) for row in rows]
        return Tokens.from_tensordict(LazyStackedTensorDict(*items))

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Ends all episodes. Then a reset raises ClosedError."""
        super().close(raise_if_closed=raise_if_closed)
        self._is_over = True
        for slot in self._slots:
            slot.close()
