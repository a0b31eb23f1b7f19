# SPDX-License-Identifier: Apache-2.0
"""Mends faults of torchrl.envs.llm.libs.mlgym (TorchRL 0.14.1) from outside: see repair().

docs/torchrl.md lists the faults.
"""

import ast
import functools
import re
from collections.abc import Callable
from typing import Any

import torch
from tensordict import NonTensorData, TensorDict, TensorDictBase
from torchrl.data import Composite
from torchrl.data.llm.history import _CHAT_TEMPLATES, History
from torchrl.envs import TransformedEnv
from torchrl.envs.llm.libs import mlgym as module

COMPLAINT = "The reply needs exactly one command in a fenced block. Nothing was run."
SCORES = re.compile(r"^(Baseline|Evaluation) Score: (\{.*\})", re.MULTILINE)


def repair() -> None:
    """Mends TorchRL's module for MLGym, in this process. Call it before make_mlgym().

    A second call does nothing. Call it in each process that is spawned, too; forks have it already.
    """
    if getattr(module, "fumehood_repaired", False):
        return
    module.fumehood_repaired = True
    for repair_part in (
        _show_the_new_observation,
        _skip_replies_without_action,
        _keep_replies_of_any_template,
        _reward_any_metric,
        _make_specs_true,
    ):
        repair_part()


def _wrap(kind: type, name: str) -> Callable[[Callable[..., Any]], None]:
    """Replaces a method by a function that gets the old method as its first argument."""
    old = getattr(kind, name)

    def set_method(new: Callable[..., Any]) -> None:
        @functools.wraps(old)
        def method(self: Any, *args: Any, **keywords: Any) -> Any:
            return new(old, self, *args, **keywords)

        setattr(kind, name, method)

    return set_method


def _show_the_new_observation() -> None:
    """StateToMessage reads observation and state of the step before."""

    @_wrap(module.StateToMessage, "_step")
    def _(old: Any, self: Any, td: TensorDictBase, next_td: TensorDictBase) -> Any:
        td = td.copy()
        td["observation"] = next_td["observation"]
        td["state"] = next_td["state"]
        return old(self, td, next_td)


def _skip_replies_without_action() -> None:
    """ConditionalSkip fails on histories. MLGymWrapper skips the step itself."""

    @_wrap(module.MLGymWrapper, "_step")
    def _(old: Any, self: Any, td: TensorDictBase) -> TensorDictBase:
        retry = td.get("retry")
        self.skipped = retry is not None and bool(retry.any())
        if not self.skipped:
            return old(self, td)
        skipped = TensorDict(batch_size=self.batch_size, device=self.device)
        skipped.update(self.full_reward_spec.zero()).update(self.full_done_spec.zero())
        return skipped.set("observation", COMPLAINT)

    make = module.make_mlgym

    @functools.wraps(make)
    def make_mlgym(**keywords: Any) -> TransformedEnv:
        env = make(**keywords)
        for i, transform in enumerate(env.transform):
            if isinstance(transform, module.ConditionalSkip):
                env.transform.pop(i)
                break
        env.empty_cache()
        return env

    module.make_mlgym = make_mlgym


def _keep_replies_of_any_template() -> None:
    """TemplateTransform looks for the reply in the whole text, by the marks of ChatML alone."""

    def template(self: Any) -> str:
        if self.chat_template_name:
            return str(_CHAT_TEMPLATES[self.chat_template_name])
        if not self.tokenizer.chat_template:
            raise ValueError("the tokenizer has no chat template: give chat_template_name")
        return str(self.tokenizer.chat_template)

    def take_reply(self: Any, td: TensorDictBase) -> TensorDictBase:
        if not self.in_keys_inv:
            return td
        reply = td[self.response_key]
        if isinstance(reply, torch.Tensor):
            reply = self.tokenizer.decode(reply.reshape(-1))
        reply = without_special(reply, self.tokenizer, "<|im_end|>")  # the mark of ChatML
        td["local_history"] = History(role="assistant", content=reply)
        td[self.response_key] = reply
        return td

    module.TemplateTransform._chat_template = property(template)
    module.TemplateTransform._inv_call = take_reply


def without_special(reply: str, tokenizer: Any, *others: str) -> str:
    """Removes special tokens, newlines and other texts from the end of a reply."""
    ends = [end for end in (*getattr(tokenizer, "all_special_tokens", ()), *others, "\n") if end]
    at = len(reply)
    while reply.endswith(tuple(ends), 0, at):
        at -= next(len(end) for end in ends if reply.endswith(end, 0, at))
    return reply[:at]


def _reward_any_metric() -> None:
    """The parser of rewards knows only a metric of the name 'Score', and no minimised ones."""

    def assign(self: Any, td: TensorDictBase) -> TensorDictBase:
        if getattr(self.parent.base_env, "skipped", False):
            return td
        env = self.parent.base_env._env
        step = getattr(env, "last", None)
        if step is not None:  # fumehood-mlgym
            better = 1 if env.info["maximize"] else -1
            scores = {"Evaluation": step.score, "Baseline": step.baseline}
            metric = env.info["metric"]
        else:
            better, metric = 1, None
            scores = {
                kind: ast.literal_eval(text)
                for kind, text in SCORES.findall(td["history"][-1].content)
            }
        new, baseline = scores.get("Evaluation"), scores.get("Baseline")
        if new and baseline:
            metric = metric or next(iter(new))
            td["reward"] = td["reward"] + better * (new[metric] - baseline[metric])
        return td

    module.MLGymRewardAssignment._call = assign


def _make_specs_true() -> None:
    """MessageToHistory names a key `chat` that is not there. Others of the specs are missing."""

    @_wrap(module.MessageToHistory, "__init__")
    def _(old: Any, self: Any) -> None:
        old(self)
        self.out_keys = ["history"]

    def add_task(self: Any, td: TensorDictBase, td_reset: TensorDictBase) -> TensorDictBase:
        return td_reset.set("task", NonTensorData(str(self._current_task)))

    module.TaskSampler._reset = add_task

    for name in ("transform_observation_spec", "transform_state_spec"):

        @_wrap(module.ResetModule, name)
        def _(old: Any, self: Any, spec: Composite) -> Composite:
            spec = old(self, spec)
            for absent in ("tool_calls", "tool_responses"):
                del spec["history", absent]
            return spec
